package collector

import (
	"runtime/debug"
	"testing"
	"time"
)

// The slack follows what collections cost, within bounds.
func TestPaceFollowsTheCost(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	start := time.Now()
	for _, x := range []struct {
		cost       float64 // of a second
		kept       uint64  // of 100 MB that were allocated
		from, want uint64
	}{
		{share, 0, 32 << 20, 32 << 20}, {10 * share, 0, 20 << 20, 40 << 20}, {10 * share, 0, mostSlack, mostSlack},
		{0, 0, 30 << 20, 15 << 20}, {0, 0, leastSlack, leastSlack}, {10 * share, 80 << 20, 20 << 20, 20 << 20}, {0, 80 << 20, 30 << 20, 15 << 20},
	} {
		p := &pace{slack: x.from, last: usage{at: start, live: 1 << 30}}
		p.collected(usage{start.Add(time.Second), 1<<30 + x.kept, 1 << 20, 100 << 20, x.cost})
		if d := int64(p.slack) - int64(x.want); d > 1 || d < -1 {
			t.Errorf("%v of the time, %d bytes kept, %d granted before: %d bytes are granted, expected %d", x.cost, x.kept, x.from, p.slack, x.want)
		}
	}
	p := &pace{slack: 20 << 20, last: usage{at: start}}
	if p.collected(usage{at: start.Add(window / 2), spent: 1}); p.slack != 20<<20 || p.last.at != start {
		t.Error("a time that is too short changes something")
	}
}
