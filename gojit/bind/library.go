package bind

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// libraryFunctions are about the library itself: its state and its contact with Python.
var libraryFunctions = []abi.Function{
	{Schema: "live_handles() -> int", Run: liveHandles},
	{Schema: "heap_statistics() -> tuple", Doc: "How often Go's collector has run, and the bytes that have been allocated on Go's heap.", Run: heapStatistics},
	{Schema: "function_schemas() -> list", Run: functionSchemas},
	{Schema: "collect() -> None", Run: collect},
	{Schema: "wait(float seconds) -> None", Run: wait},
	{Schema: "invoke(object callable, any argument) -> any", Run: invoke},
	{Schema: "echo(any value) -> any", Run: echo},
	{Schema: "fault(str message) -> None", Run: fault},
}

// liveHandles replies how many objects Python holds.
func liveHandles(c *abi.Call) error {
	c.Int(abi.LiveSlots())
	return nil
}

func heapStatistics(c *abi.Call) error {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return c.Value(value.OfTuple(value.NewTuple(value.Int(int64(samples[0].Value.Uint64())), value.Int(int64(samples[1].Value.Uint64())))))
}

// functionSchemas replies the schemas of all registered functions.
func functionSchemas(c *abi.Call) error {
	c.Strings(abi.Schemas())
	return nil
}

// collect runs the garbage collector and returns memory to the system.
func collect(c *abi.Call) error {
	err := c.WithoutGIL(func() error {
		tensor.EmptyCache()
		runtime.GC()
		debug.FreeOSMemory()
		return nil
	})
	c.None()
	return err
}

// wait sleeps without the GIL; signals interrupt it.
func wait(c *abi.Call) error {
	end := time.Now().Add(time.Duration(c.ArgFloat(0) * float64(time.Second)))
	err := c.WithoutGIL(func() error {
		var s abi.Signals
		for time.Now().Before(end) {
			if err := s.Poll(); err != nil {
				return err
			}
			time.Sleep(min(time.Until(end), abi.SignalInterval))
		}
		return nil
	})
	c.None()
	return err
}

// invoke calls a Python callable from Go and replies its result.
func invoke(c *abi.Call) error {
	argument := c.Arg(1)
	return c.ArgObject(0).Invoke("", 1, func(w *abi.Writer) { w.Copy(argument) }, func(result *abi.Word) error {
		c.Copy(result)
		return nil
	})
}

// echo replies its argument.
func echo(c *abi.Call) error {
	c.Copy(c.Arg(0))
	return nil
}

// fault panics: it shows that a mistake in the library becomes an exception.
func fault(c *abi.Call) error { panic(c.ArgString(0)) }
