package bind

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The bytes that may be allocated between two collections, and those together with the elements of tensors that live. Small tensors are
// made and dropped at a high rate; with Go's own bound of 4 MB a program that does nothing else spends half its time in the collector.
const (
	slack  = 32 << 20
	budget = 64 << 20
)

// tuneCollector has collections as percentFor says. It does nothing where GOGC says what is wanted.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percentFor(0, 0))
	watchCollections(percentFor(0, 0))
}

// percentFor returns the growth in percent until the next collection. A process with few elements takes what the budget leaves of them,
// one with many takes slack, and one in which the collector has more to look through takes as much as that.
func percentFor(live, scanned uint64) int {
	const least = 4 << 20 // Go takes smaller heaps for this size
	elements := min(budget, live-min(live, scanned))
	return int(max(1, max(slack, budget-elements, scanned)*100/max(live, least)))
}

// sentinel is garbage that tells when a collection has run. It has a pointer so that it is not
// put together with others.
type sentinel struct{ _ *sentinel }

// watchCollections adjusts the growth, which is percent now, after each collection.
func watchCollections(percent int) {
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 && sample[1].Value.Kind() == metrics.KindUint64 {
			if wanted := percentFor(sample[0].Value.Uint64(), sample[1].Value.Uint64()); wanted != percent {
				percent = wanted
				debug.SetGCPercent(percent)
			}
		}
		watchCollections(percent)
	})
}
