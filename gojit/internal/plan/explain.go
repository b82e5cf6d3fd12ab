package plan

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// timing is how long the steps of a plan took.
type timing struct {
	mu    sync.Mutex
	plan  *Plan // that ran last; its times alone are kept
	calls int
	spent []time.Duration
}

// run runs a step of a frame and notes how long that takes.
func (t *timing) run(x *frame, s step) error {
	start := time.Now()
	err := s.run(x)
	took := time.Since(start)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan != x.plan {
		t.plan, t.calls, t.spent = x.plan, 0, make([]time.Duration, len(x.plan.steps))
	}
	if x.step == 0 {
		t.calls++
	}
	t.spent[x.step] += took
	return err
}

// TimeSteps has calls note how long steps take, or no more.
func (r *Region) TimeSteps(on bool) {
	if on {
		r.times.Store(&timing{})
	} else {
		r.times.Store(nil)
	}
}

// Explain returns the steps of the plan that ran last, with the times of those where calls note them, in lines that begin with some spaces; what says
// that none has run where that is so.
func (r *Region) Explain(indent string) string {
	p := r.last.Load()
	if p == nil {
		return indent + "no call has run by a plan\n"
	}
	var times []string
	if t := r.times.Load(); t != nil {
		times = t.of(p)
	}
	return indent + strings.ReplaceAll(strings.TrimSuffix(p.text(times), "\n"), "\n", "\n"+indent) + "\n"
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
