package main

import "sync/atomic"

// gradFunctions switch the recording of operations.
var gradFunctions = []function{
	{schema: "grad_enabled() -> bool", run: gradEnabled},
	{schema: "set_grad_enabled(bool on) -> None", run: setGradEnabled},
}

// recordingOff is whether operations are not recorded.
var recordingOff atomic.Bool

func gradEnabled(c *call) error {
	c.bool(!recordingOff.Load())
	return nil
}

func setGradEnabled(c *call) error {
	recordingOff.Store(!c.argBool(0))
	c.none()
	return nil
}
