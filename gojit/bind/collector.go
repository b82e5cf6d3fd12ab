package bind

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// slack is how many bytes may be allocated between two collections. Small tensors are made and dropped at a high rate; with Go's own
// bound of 4 MB a program that does nothing else spends half its time in the collector.
const slack = 32 << 20

// tuneCollector lets slack bytes, or as many as the collector has to look through where that is more, be allocated between
// collections: elements of tensors, which it does not look through, do not count. It does nothing where GOGC says what is wanted.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percentFor(0, 0))
	watchCollections(percentFor(0, 0))
}

// percentFor returns the growth in percent that allows slack bytes, or as many as are scanned, over a live heap.
func percentFor(live, scanned uint64) int {
	const least = 4 << 20 // Go takes smaller heaps for this size
	return int(max(1, max(slack, scanned)*100/max(live, least)))
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
