package bind

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
		cost float64 // of a second
		from uint64
		want uint64
	}{{share, 32 << 20, 32 << 20}, {10 * share, 20 << 20, 40 << 20}, {10 * share, mostSlack, mostSlack}, {0, 30 << 20, 15 << 20}, {0, leastSlack, leastSlack}} {
		p := &pace{slack: x.from, at: start, percent: percentFor(1<<30, x.from)}
		p.collected(start.Add(time.Second), 1<<30, 1<<20, x.cost)
		if d := int64(p.slack) - int64(x.want); d > 1 || d < -1 {
			t.Errorf("%v of the time and %d bytes before: %d bytes are granted, expected %d", x.cost, x.from, p.slack, x.want)
		}
	}
}
