package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
)

// timing is how long the steps of a plan took.
type timing struct {
	mu    sync.Mutex
	plan  *Plan // that ran last; its times alone are kept
	calls int
	spent []time.Duration
}

// runWatched runs a step as an event of a profile, where one is on, and notes in times, which may be nil, how long that takes.
func (x *frame) runWatched(m *autograd.Mode, s step, times *timing) error {
	span := m.BeginEvent(s.text())
	start := time.Now()
	err := s.run(x)
	took := time.Since(start)
	span.End()
	if times != nil {
		times.add(x, took)
	}
	return err
}

// add notes how long the running step of a frame took.
func (t *timing) add(x *frame, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan != x.plan {
		t.plan, t.calls, t.spent = x.plan, 0, make([]time.Duration, len(x.plan.steps))
	}
	if x.step == 0 {
		t.calls++
	}
	t.spent[x.step] += took
}

// TimeSteps has calls note how long steps take, or no more.
func (r *Region) TimeSteps(on bool) {
	if on {
		r.times.Store(&timing{})
	} else {
		r.times.Store(nil)
	}
}

// mostReasons bounds the reasons that a region keeps.
const mostReasons = 8

// note keeps why a call ran the nodes one by one.
func (r *Region) note(why string) {
	r.reasonsMu.Lock()
	defer r.reasonsMu.Unlock()
	if len(r.reasons) < mostReasons && !slices.Contains(r.reasons, why) {
		r.reasons = append(r.reasons, why)
	}
}

// Explain returns the steps of the plan that ran last, with the times of those where calls note them, and why calls ran the nodes one by one, in lines
// that begin with some spaces.
func (r *Region) Explain(indent string) string {
	lines := []string{"no call has run by a plan"}
	if p := r.last.Load(); p != nil {
		var times []string
		if t := r.times.Load(); t != nil {
			times = t.of(p)
		}
		lines = strings.Split(strings.TrimSuffix(p.text(times), "\n"), "\n")
	}
	r.reasonsMu.Lock()
	defer r.reasonsMu.Unlock()
	for _, why := range r.reasons {
		lines = append(lines, "ran one by one: "+why)
	}
	return indent + strings.Join(lines, "\n"+indent) + "\n"
}

// of returns the times of the steps of a plan for a call, nil where they are not known.
func (t *timing) of(p *Plan) (times []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan != p || t.calls == 0 {
		return nil
	}
	for _, spent := range t.spent {
		times = append(times, fmt.Sprintf("%9.1f us  ", float64(spent.Nanoseconds())/1e3/float64(t.calls)))
	}
	return times
}

// String prints the steps.
func (p *Plan) String() string { return p.text(nil) }

// text prints the steps, each behind its time where times are given.
func (p *Plan) text(times []string) string {
	var b strings.Builder
	for i, s := range p.steps {
		if times != nil {
			b.WriteString(times[i])
		}
		fmt.Fprintf(&b, "%%%d = %s", s.gives(), s.text())
		for j, v := range s.reads() {
			separator := ", "
			if j == 0 {
				separator = " "
			}
			fmt.Fprintf(&b, "%s%%%d", separator, v)
		}
		if at := p.memory.offsets[s.gives()]; at >= 0 {
			fmt.Fprintf(&b, "  # at %d", at)
		}
		if at := p.memory.rooms[i]; at >= 0 {
			fmt.Fprintf(&b, ", room at %d", at)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "arena of %d bytes\n", p.memory.size)
	return b.String()
}
