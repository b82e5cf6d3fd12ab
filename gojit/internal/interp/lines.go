package interp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// LineProfile counts the lines that code runs while it is enabled: how many nodes of each ran, and the time until the next one began. Only the
// code of machines with Lines counts.
type LineProfile struct {
	mu      sync.Mutex
	enabled bool
	texts   []*source.Text // in the order in which they were first run
	lines   map[*source.Text]map[int]*LineCount
}

// LineCount is what is known of one line.
type LineCount struct {
	Hits int
	Time time.Duration
}

// lineProfiles are those that are enabled.
var (
	lineProfiles     atomic.Pointer[[]*LineProfile]
	lineProfilesLock sync.Mutex
)

// CountsLines reports whether any profile is enabled.
func CountsLines() bool { return lineProfiles.Load() != nil }

// Enable has the profile count from now on, or no more.
func (p *LineProfile) Enable(on bool) {
	lineProfilesLock.Lock()
	defer lineProfilesLock.Unlock()
	var active []*LineProfile
	if old := lineProfiles.Load(); old != nil {
		active = slices.DeleteFunc(slices.Clone(*old), func(other *LineProfile) bool { return other == p })
	}
	if on {
		active = append(active, p)
	}
	p.enabled = on
	if len(active) == 0 {
		lineProfiles.Store(nil)
	} else {
		lineProfiles.Store(&active)
	}
}

// Enabled reports whether the profile counts.
func (p *LineProfile) Enabled() bool {
	lineProfilesLock.Lock()
	defer lineProfilesLock.Unlock()
	return p.enabled
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

// lineClock is the node that a stack runs, and since when.
type lineClock struct {
	at    source.Range
	since time.Time
}

// tick ends the time of the node that has been running and begins that of the next one; a range that points nowhere begins none.
func (k *lineClock) tick(next source.Range) {
	now := time.Now()
	if k.at.IsValid() {
		if active := lineProfiles.Load(); active != nil {
			for _, p := range *active {
				p.add(k.at, now.Sub(k.since))
			}
		}
	}
	k.at, k.since = next, now
}

// line emits the count of a node.
func (l *lowering) line(n *ir.Node) {
	if l.machine.Lines && n.Range.IsValid() {
		l.emit(opLine, l.site(&site{name: "line", at: n.Range}), 0, 0)
	}
}
