package main

import "torchjit/gojit/tensor"

// gradFunctions switch the recording of operations.
var gradFunctions = []function{
	{schema: "grad_enabled() -> bool", run: gradEnabled},
	{schema: "set_grad_enabled(bool on) -> None", run: setGradEnabled},
}

func gradEnabled(c *call) error {
	c.bool(tensor.GradEnabled())
	return nil
}

func setGradEnabled(c *call) error {
	tensor.SetGradEnabled(c.argBool(0))
	c.none()
	return nil
}
