package main

import (
	"bytes"
	"strings"

	"torchjit/gojit/serialize"
	"torchjit/gojit/tensor"
)

// safeTensorsFunctions read and write files of safetensors.
var safeTensorsFunctions = []function{
	{schema: "safetensors_load(str path) -> any", run: loadSafeTensors},
	{schema: "safetensors_parse(bytes data) -> any", run: parseSafeTensors},
	{schema: "safetensors_save(dict tensors, dict metadata, str path) -> None", run: saveSafeTensors},
	{schema: "safetensors_bytes(dict tensors, dict metadata) -> bytes", run: safeTensorsBytes},
}

func loadSafeTensors(c *call) error {
	path := strings.Clone(c.argString(0))
	return c.safeTensors(func() (*serialize.SafeTensors, error) { return serialize.LoadSafeTensors(path) })
}

func parseSafeTensors(c *call) error {
	data := []byte(c.argText(0))
	return c.safeTensors(func() (*serialize.SafeTensors, error) { return serialize.ReadSafeTensors(data) })
}

// safeTensors reads a file without the GIL and replies the tensors and the metadata.
func (c *call) safeTensors(read func() (*serialize.SafeTensors, error)) error {
	var f *serialize.SafeTensors
	err := c.withoutGIL(func() (err error) {
		f, err = read()
		return err
	})
	if err != nil {
		return err
	}
	c.open(kindTuple, 2)
	c.open(kindDict, len(f.Names))
	for _, name := range f.Names {
		c.string(name)
		c.tensor(f.Tensors[name])
	}
	c.open(kindDict, len(f.Metadata))
	for key, text := range f.Metadata {
		c.string(key)
		c.string(text)
	}
	return nil
}

// argSafeTensors returns the tensors and the metadata in the first two arguments.
func (c *call) argSafeTensors() (tensors map[string]*tensor.Tensor, metadata map[string]string, err error) {
	tensors, metadata = map[string]*tensor.Tensor{}, map[string]string{}
	for name, item := range c.arg(0).entries {
		t := item.tensor()
		if t == nil {
			return nil, nil, valueErrorf("Key `%s` is invalid, expected torch.Tensor but received %s", name, item.kindName())
		}
		tensors[strings.Clone(name)] = t
	}
	for key, item := range c.arg(1).entries {
		if item.kind() != kindString {
			return nil, nil, valueErrorf("the metadata %q must be str, not %s", key, item.kindName())
		}
		metadata[strings.Clone(key)] = strings.Clone(item.text())
	}
	return tensors, metadata, nil
}

func saveSafeTensors(c *call) error {
	tensors, metadata, err := c.argSafeTensors()
	if err != nil {
		return err
	}
	path := strings.Clone(c.argString(2))
	err = c.withoutGIL(func() error { return serialize.SaveSafeTensors(path, tensors, metadata) })
	c.none()
	return err
}

func safeTensorsBytes(c *call) error {
	tensors, metadata, err := c.argSafeTensors()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := serialize.WriteSafeTensors(&b, tensors, metadata); err != nil {
		return err
	}
	c.bytes(kindBytes, b.String())
	return nil
}
