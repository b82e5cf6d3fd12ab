package main

import (
	"context"
	"os"

	"torchjit/gojit/ir"
	"torchjit/gojit/serialize"
	"torchjit/gojit/source"
	"torchjit/gojit/value"
)

// serializeFunctions read and write archives.
var serializeFunctions = []function{
	{schema: "load_module(str path, list extra_files) -> any", run: loadModule},
	{schema: "load_module_from_bytes(bytes data, list extra_files) -> any", run: loadModuleFromBytes},
}

// loadModule replies the module in a file and a dict of its extra files.
func loadModule(c *call) error {
	path, extra := c.argString(0), c.argStrings(1)
	return c.load(extra, func() ([]byte, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "open file failed, file path: %s: %v", path, err)
		}
		return data, nil
	})
}

func loadModuleFromBytes(c *call) error {
	data, extra := []byte(c.argText(0)), c.argStrings(1)
	return c.load(extra, func() ([]byte, error) { return data, nil })
}

// load reads an archive without the GIL and replies what it holds.
func (c *call) load(extra []string, read func() ([]byte, error)) error {
	var loaded *serialize.Loaded
	err := c.withoutGIL(func() error {
		linkOperators()
		data, err := read()
		if err == nil {
			loaded, err = serialize.Load(data, extra, runFunction)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.open(kindTuple, 2)
	c.handle(handleModule, loaded.Module)
	c.open(kindDict, len(loaded.Extra))
	for name, data := range loaded.Extra {
		c.string(name)
		c.bytes(kindBytes, string(data))
	}
	return nil
}

// runFunction runs a function and returns its result.
func runFunction(f *ir.Function, args ...value.Value) (value.Value, error) {
	code, err := machine.CodeOf(f)
	if err != nil {
		return value.None, err
	}
	out := make([]value.Value, code.NumOutputs())
	if err := code.Run(context.Background(), args, out); err != nil || len(out) == 0 {
		return value.None, err
	}
	return out[0], nil
}
