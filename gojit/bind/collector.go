package bind

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The bytes that may be allocated between two collections follow from what collections cost: as many as leave the collector this share of the
// time, within bounds. With Go's own 4 MB a program that only makes small tensors spends half its time in the collector; what is always
// granted is memory that the process has and nobody uses.
const (
	share      = 0.02
	window     = 0.25 // seconds over which it is taken, at least
	firstSlack = 12 << 20
	leastSlack = 8 << 20
	mostSlack  = 64 << 20
)

// pace says how much may be allocated until the next collection, from the last one.
type pace struct {
	slack   uint64
	percent int
	spent   float64 // seconds of processor time, by all collections
	at      time.Time
}

// tuneCollector has collections as pace says. It does nothing where GOGC says what is wanted.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pace{slack: firstSlack, at: time.Now()}
	p.set(0)
	p.watch()
}

// percentFor returns the growth in percent from so many bytes that are in use.
func percentFor(live, slack uint64) int {
	const least = 4 << 20 // Go takes smaller heaps for this size
	return int(max(1, slack*100/max(live, least)))
}

func (p *pace) set(live uint64) {
	if percent := percentFor(live, p.slack); percent != p.percent {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
}

// collected takes in that there was a collection, which left so many bytes in use, of which it looked through some: the collections have taken
// spent seconds in all.
func (p *pace) collected(now time.Time, live, scanned uint64, spent float64) {
	if passed := now.Sub(p.at).Seconds(); passed >= window {
		wanted := float64(p.slack) * (spent - p.spent) / (share * passed)
		wanted = min(max(wanted, float64(p.slack)/2), 2*float64(p.slack))
		p.slack = uint64(min(max(wanted, leastSlack), float64(max(mostSlack, scanned))))
		p.spent, p.at = spent, now
	}
	p.set(live)
}

// sentinel is garbage that tells when a collection has run. It has a pointer so that it is not
// put together with others.
type sentinel struct{ _ *sentinel }

// watch has the pace follow each collection.
func (p *pace) watch() {
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 && sample[1].Value.Kind() == metrics.KindUint64 && sample[2].Value.Kind() == metrics.KindFloat64 {
			p.collected(time.Now(), sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Float64())
		}
		p.watch()
	})
}
