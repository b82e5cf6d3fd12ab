package interp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// LineProfiles are the profiles that count the lines of some code.
type LineProfiles struct {
	mu     sync.Mutex
	active atomic.Pointer[[]*LineProfile] // nil: none
}

// Count reports whether any profile counts.
func (l *LineProfiles) Count() bool { return l.active.Load() != nil }

// Enable has a profile count from now on, or no more.
func (l *LineProfiles) Enable(p *LineProfile, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var active []*LineProfile
	if old := l.active.Load(); old != nil {
		active = slices.DeleteFunc(slices.Clone(*old), func(other *LineProfile) bool { return other == p })
	}
	if on {
		active = append(active, p)
	}
	if len(active) == 0 {
		l.active.Store(nil)
	} else {
		l.active.Store(&active)
	}
}

// Enabled reports whether a profile counts.
func (l *LineProfiles) Enabled(p *LineProfile) bool {
	active := l.active.Load()
	return active != nil && slices.Contains(*active, p)
}

// LineProfile is a count of the lines that code ran: how many nodes of each, and the time until the next one began.
type LineProfile struct {
	mu    sync.Mutex
	texts []*source.Text // in the order in which they were first run
	lines map[*source.Text]map[int]*LineCount
}

// LineCount is what is known of one line.
type LineCount struct {
	Hits int
	Time time.Duration
}

// Each calls visit with the lines of each text, counted from 0; texts come in the order in which they were first run.
func (p *LineProfile) Each(visit func(t *source.Text, lines map[int]*LineCount)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.texts {
		visit(t, p.lines[t])
	}
}

func (p *LineProfile) add(at source.Range, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines[at.Text] == nil {
		if p.lines == nil {
			p.lines = map[*source.Text]map[int]*LineCount{}
		}
		p.texts = append(p.texts, at.Text)
		p.lines[at.Text] = map[int]*LineCount{}
	}
	line := at.Text.LineOf(at.Start)
	count := p.lines[at.Text][line]
	if count == nil {
		count = &LineCount{}
		p.lines[at.Text][line] = count
	}
	count.Hits++
	count.Time += d
}

// lineClock is the node that a stack runs, since when, and whose profiles count it.
type lineClock struct {
	at    source.Range
	since time.Time
	of    *LineProfiles
}

// tick ends the time of the node that has been running and begins that of the next one; a range that points nowhere begins none.
func (k *lineClock) tick(of *LineProfiles, next source.Range) {
	now := time.Now()
	if k.at.IsValid() {
		if active := k.of.active.Load(); active != nil {
			for _, p := range *active {
				p.add(k.at, now.Sub(k.since))
			}
		}
	}
	k.at, k.since, k.of = next, now, of
}

// line emits the count of a node.
func (l *lowering) line(n *ir.Node) {
	if l.options.Lines != nil && n.Range.IsValid() {
		l.emit(opLine, l.site(&site{name: "line", at: n.Range}), 0, 0)
	}
}
