package tensors

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
)

// profilerFunctions collect the times of operators.
var profilerFunctions = []abi.Function{
	{Schema: "profiler_begin(bool record_shapes=False) -> None", Run: profilerBegin},
	{Schema: "profiler_end() -> list", Run: profilerEnd},
	{Schema: "profiler_push(str name) -> None", Run: profilerPush},
	{Schema: "profiler_pop() -> None", Run: profilerPop},
}

func profilerBegin(c *abi.Call) error {
	c.None()
	return autograd.BeginProfile(c.ArgBool(0))
}

// profilerEnd replies tuples of name, thread, start and end in nanoseconds of the monotonic clock, and the shapes of the arguments.
func profilerEnd(c *abi.Call) error {
	events := autograd.EndProfile()
	c.Open(abi.KindList, len(events))
	for _, e := range events {
		c.Open(abi.KindTuple, 5)
		c.String(e.Name)
		c.Int(e.Thread)
		c.Int64(e.Start)
		c.Int64(e.End)
		c.Open(abi.KindList, len(e.Shapes))
		for _, shape := range e.Shapes {
			c.Open(abi.KindList, len(shape))
			for _, size := range shape {
				c.Int(size)
			}
		}
	}
	return nil
}

func profilerPush(c *abi.Call) error {
	c.Thread.Events = append(c.Thread.Events, c.Thread.Mode.BeginEvent(c.ArgString(0)))
	c.None()
	return nil
}

func profilerPop(c *abi.Call) error {
	if n := len(c.Thread.Events); n > 0 {
		c.Thread.Events[n-1].End()
		c.Thread.Events = c.Thread.Events[:n-1]
	}
	c.None()
	return nil
}
