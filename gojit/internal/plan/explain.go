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

// Step is a step of a plan.
type Step struct {
	Text         string  `json:"text"`
	Microseconds float64 `json:"microseconds,omitempty"` // of a call, where calls note them
}

// Report tells how calls of a region ran.
type Report struct {
	Steps   []Step   `json:"steps,omitempty"`   // of the plan that ran last; none where no call has run by one
	Arena   int      `json:"arena,omitempty"`   // its bytes
	Reasons []string `json:"reasons,omitempty"` // why calls ran the nodes one by one
}

// Report returns what calls of the region have done so far.
func (r *Region) Report() (report Report) {
	if p := r.last.Load(); p != nil {
		report = Report{Steps: p.report(), Arena: p.memory.size}
		if t := r.times.Load(); t != nil {
			t.fill(p, report.Steps)
		}
	}
	r.reasonsMu.Lock()
	defer r.reasonsMu.Unlock()
	report.Reasons = slices.Clone(r.reasons)
	return report
}

// fill gives the steps of a plan their times for a call, where these are known.
func (t *timing) fill(p *Plan, steps []Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan != p || t.calls == 0 {
		return
	}
	for i, spent := range t.spent {
		steps[i].Microseconds = float64(spent.Nanoseconds()) / 1e3 / float64(t.calls)
	}
}

// Text prints a report in lines that begin with some spaces, each step behind its time where that is known.
func (r *Report) Text(indent string) string {
	var lines []string
	for _, s := range r.Steps {
		if s.Microseconds > 0 {
			s.Text = fmt.Sprintf("%9.1f us  %s", s.Microseconds, s.Text)
		}
		lines = append(lines, s.Text)
	}
	if len(r.Steps) > 0 {
		lines = append(lines, fmt.Sprintf("arena of %d bytes", r.Arena))
	} else {
		lines = append(lines, "no call has run by a plan")
	}
	for _, why := range r.Reasons {
		lines = append(lines, "ran one by one: "+why)
	}
	return indent + strings.Join(lines, "\n"+indent) + "\n"
}

// String prints the steps.
func (p *Plan) String() string {
	r := Report{Steps: p.report(), Arena: p.memory.size}
	return r.Text("")
}

// report returns the steps: what each gives, what it does and reads, and where results and memory lie in the arena.
func (p *Plan) report() []Step {
	steps := make([]Step, len(p.steps))
	for i, s := range p.steps {
		var b strings.Builder
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
		steps[i].Text = b.String()
	}
	return steps
}
