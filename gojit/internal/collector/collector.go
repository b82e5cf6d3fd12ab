// Package collector decides when Go collects garbage in a program whose objects are tensors.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The bytes that may be allocated between two collections follow from what collections cost: as many as leave the collector this share of the
// time, within bounds. With Go's own 4 MB a program that only makes small tensors spends half its time in the collector; what is granted
// for good is memory that the process has and nobody uses.
const (
	share      = 0.02
	window     = 50 * time.Millisecond // over which it is taken, at least
	firstSlack = 10 << 20
	leastSlack = 8 << 20
	mostSlack  = 64 << 20
	leastPart  = 32 // of what is in use, which is granted too: a process that grows collects the fewer times the larger it is
)

// usage is what is known of memory behind a collection.
type usage struct {
	at        time.Time
	live      uint64  // bytes in use
	scanned   uint64  // of them, those that the collector looks through
	allocated uint64  // bytes, since the process began
	spent     float64 // seconds of processor time by collections
}

// pace says how much may be allocated until the next collection.
type pace struct {
	slack   uint64
	percent int
	last    usage
}

// Tune has collections as pace says. It does nothing where GOGC says what is wanted. A program calls it once.
func Tune() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pace{slack: firstSlack, last: usage{at: time.Now()}}
	p.set(0)
	p.watch()
}

// percentFor returns the growth in percent from so many bytes that are in use.
func percentFor(live, slack uint64) int {
	const least = 4 << 20 // Go takes smaller heaps for this size
	return int(max(1, slack*100/max(live, least)))
}

func (p *pace) set(live uint64) {
	if percent := percentFor(live, max(p.slack, live/leastPart)); percent != p.percent {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
}

// collected takes in what is known behind a collection. More is granted only where half of what was allocated was garbage: collections of a
// process that grows find nothing, and end.
func (p *pace) collected(now usage) {
	if passed := now.at.Sub(p.last.at); passed >= window {
		slack, most := float64(p.slack), float64(max(mostSlack, now.scanned))
		wanted := slack * (now.spent - p.last.spent) / (share * passed.Seconds())
		if kept := now.live - min(now.live, p.last.live); 2*kept > now.allocated-p.last.allocated {
			wanted = min(wanted, slack)
		}
		p.slack = uint64(min(max(wanted, slack/2, leastSlack), 2*slack, most))
		p.last = now
	}
	p.set(now.live)
}

// sentinel is garbage that tells when a collection has run. It has a pointer so that it is not
// put together with others.
type sentinel struct{ _ *sentinel }

// watch has the pace follow each collection.
func (p *pace) watch() {
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
		if metrics.Read(sample); sample[3].Value.Kind() == metrics.KindFloat64 { // else this Go has other names
			p.collected(usage{time.Now(), sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64(), sample[3].Value.Float64()})
		}
		p.watch()
	})
}
