package bind

import "github.com/torchjit/torchjit/gojit/internal/autograd"

// profilerFunctions collect the times of operators.
var profilerFunctions = []function{
	{schema: "profiler_begin() -> None", run: profilerBegin},
	{schema: "profiler_end() -> list", run: profilerEnd},
	{schema: "profiler_push(str name) -> None", run: profilerPush},
	{schema: "profiler_pop() -> None", run: profilerPop},
}

func profilerBegin(c *call) error {
	c.none()
	return autograd.BeginProfile()
}

// profilerEnd replies tuples of name, thread, start and end in nanoseconds of the monotonic clock.
func profilerEnd(c *call) error {
	events := autograd.EndProfile()
	c.open(kindList, len(events))
	for _, e := range events {
		c.open(kindTuple, 4)
		c.string(e.Name)
		c.int(e.Thread)
		c.int64(e.Start)
		c.int64(e.End)
	}
	return nil
}

func profilerPush(c *call) error {
	c.thread.events = append(c.thread.events, c.thread.mode.BeginEvent(c.argString(0)))
	c.none()
	return nil
}

func profilerPop(c *call) error {
	if n := len(c.thread.events); n > 0 {
		c.thread.events[n-1].End()
		c.thread.events = c.thread.events[:n-1]
	}
	c.none()
	return nil
}
