package bind

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// libraryFunctions are about the library itself: its state and its contact with Python.
var libraryFunctions = []function{
	{schema: "live_handles() -> int", run: liveHandles},
	{schema: "heap_statistics() -> tuple", doc: "How often Go's collector has run, and the bytes that have been allocated on Go's heap.", run: heapStatistics},
	{schema: "function_schemas() -> list", run: functionSchemas},
	{schema: "collect() -> None", run: collect},
	{schema: "wait(float seconds) -> None", run: wait},
	{schema: "invoke(object callable, any argument) -> any", run: invoke},
	{schema: "echo(any value) -> any", run: echo},
	{schema: "fault(str message) -> None", run: fault},
}

// liveHandles replies how many objects Python holds.
func liveHandles(c *call) error {
	c.int(len(slots) - 1 - len(freeSlots))
	return nil
}

func heapStatistics(c *call) error {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return c.value(value.OfTuple(value.NewTuple(value.Int(int64(samples[0].Value.Uint64())), value.Int(int64(samples[1].Value.Uint64())))))
}

// functionSchemas replies the schemas of all registered functions.
func functionSchemas(c *call) error {
	c.strings(registeredSchemas)
	return nil
}

// collect runs the garbage collector and returns memory to the system.
func collect(c *call) error {
	err := c.withoutGIL(func() error {
		tensor.EmptyCache()
		runtime.GC()
		debug.FreeOSMemory()
		return nil
	})
	c.none()
	return err
}

// wait sleeps without the GIL; signals interrupt it.
func wait(c *call) error {
	end := time.Now().Add(time.Duration(c.argFloat(0) * float64(time.Second)))
	err := c.withoutGIL(func() error {
		var s signals
		for time.Now().Before(end) {
			if err := s.poll(); err != nil {
				return err
			}
			time.Sleep(min(time.Until(end), signalInterval))
		}
		return nil
	})
	c.none()
	return err
}

// invoke calls a Python callable from Go and replies its result.
func invoke(c *call) error {
	argument := c.arg(1)
	return c.argObject(0).invoke("", 1, func(w *writer) { w.copy(argument) }, func(result *Word) error {
		c.copy(result)
		return nil
	})
}

// echo replies its argument.
func echo(c *call) error {
	c.copy(c.arg(0))
	return nil
}

// fault panics: it shows that a mistake in the library becomes an exception.
func fault(c *call) error { panic(c.argString(0)) }
