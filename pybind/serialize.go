package main

import "torchjit/gojit"

// serializeFunctions read and write archives.
var serializeFunctions = []function{
	{schema: "load_module(str path, list extra_files) -> any", run: loadModule},
	{schema: "load_module_from_bytes(bytes data, list extra_files) -> any", run: loadModuleFromBytes},
}

// loadModule replies the module in a file and a dict of its extra files.
func loadModule(c *call) error {
	path, extra := c.argString(0), c.argStrings(1)
	return c.load(func() (*gojit.Module, error) { return gojit.Load(path, extra...) })
}

func loadModuleFromBytes(c *call) error {
	data, extra := []byte(c.argText(0)), c.argStrings(1)
	return c.load(func() (*gojit.Module, error) { return gojit.LoadBytes(data, extra...) })
}

// load reads an archive without the GIL and replies what it holds.
func (c *call) load(read func() (*gojit.Module, error)) error {
	var m *gojit.Module
	err := c.withoutGIL(func() (err error) {
		m, err = read()
		return err
	})
	if err != nil {
		return err
	}
	c.open(kindTuple, 2)
	c.handle(handleModule, m.Object)
	c.open(kindDict, len(m.Extra))
	for name, data := range m.Extra {
		c.string(name)
		c.bytes(kindBytes, string(data))
	}
	return nil
}
