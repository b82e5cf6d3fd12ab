package tensors

import (
	"bytes"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// safeTensorsFunctions read and write files of safetensors.
var safeTensorsFunctions = []abi.Function{
	{Schema: "safetensors_load(str path) -> any", Run: loadSafeTensors},
	{Schema: "safetensors_open(str path) -> any", Run: openSafeTensors},
	{Schema: "safetensors_tensor(int file, str name) -> Tensor", Run: safeTensor},
	{Schema: "safetensors_close(int file) -> None", Run: closeSafeTensors},
	{Schema: "safetensors_parse(bytes data) -> any", Run: parseSafeTensors},
	{Schema: "safetensors_save(dict tensors, dict metadata, str path) -> None", Run: saveSafeTensors},
	{Schema: "safetensors_bytes(dict tensors, dict metadata) -> bytes", Run: safeTensorsBytes},
}

func loadSafeTensors(c *abi.Call) error {
	path := strings.Clone(c.ArgString(0))
	return safeTensors(c, func() (*safetensors.SafeTensors, error) { return safetensors.Load(path) })
}

// safeFiles are the files that Python has opened, by number.
var safeFiles = struct {
	sync.Mutex
	open map[int]*safetensors.File
	last int
}{open: map[int]*safetensors.File{}}

// openSafeTensors replies the number of an open file, the names of its tensors and its metadata.
func openSafeTensors(c *abi.Call) error {
	path := c.ArgString(0)
	var f *safetensors.File
	err := c.WithoutGIL(func() (err error) {
		f, err = safetensors.Open(path)
		return err
	})
	if err != nil {
		return err
	}
	safeFiles.Lock()
	safeFiles.last++
	number := safeFiles.last
	safeFiles.open[number] = f
	safeFiles.Unlock()
	c.Open(abi.KindTuple, 3)
	c.Int(number)
	c.Open(abi.KindList, len(f.Names))
	for _, name := range f.Names {
		c.String(name)
	}
	metadata(c, f.Metadata)
	return nil
}

// safeTensor replies a tensor of an open file.
func safeTensor(c *abi.Call) error {
	number, name := c.ArgInt(0), c.ArgString(1)
	safeFiles.Lock()
	f := safeFiles.open[number]
	safeFiles.Unlock()
	if f == nil {
		return abi.RuntimeErrorf("The file is closed")
	}
	var t *tensor.Tensor
	err := c.WithoutGIL(func() (err error) {
		t, err = f.Tensor(name)
		return err
	})
	if err != nil {
		return err
	}
	c.Tensor(t)
	return nil
}

func closeSafeTensors(c *abi.Call) error {
	safeFiles.Lock()
	f := safeFiles.open[c.ArgInt(0)]
	delete(safeFiles.open, c.ArgInt(0))
	safeFiles.Unlock()
	if f != nil {
		f.Close()
	}
	c.None()
	return nil
}

// metadata replies texts by their names.
func metadata(c *abi.Call, texts map[string]string) {
	c.Open(abi.KindDict, len(texts))
	for key, text := range texts {
		c.String(key)
		c.String(text)
	}
}

func parseSafeTensors(c *abi.Call) error {
	data := []byte(c.ArgText(0))
	return safeTensors(c, func() (*safetensors.SafeTensors, error) { return safetensors.Read(data) })
}

// safeTensors reads a file without the GIL and replies the tensors and the metadata.
func safeTensors(c *abi.Call, read func() (*safetensors.SafeTensors, error)) error {
	var f *safetensors.SafeTensors
	err := c.WithoutGIL(func() (err error) {
		f, err = read()
		return err
	})
	if err != nil {
		return err
	}
	c.Open(abi.KindTuple, 2)
	c.Open(abi.KindDict, len(f.Names))
	for _, name := range f.Names {
		c.String(name)
		c.Tensor(f.Tensors[name])
	}
	metadata(c, f.Metadata)
	return nil
}

// argSafeTensors returns the tensors and the metadata in the first two arguments.
func argSafeTensors(c *abi.Call) (tensors map[string]*tensor.Tensor, metadata map[string]string, err error) {
	tensors, metadata = map[string]*tensor.Tensor{}, map[string]string{}
	for name, item := range c.Arg(0).Entries {
		t := item.Tensor()
		if t == nil {
			return nil, nil, abi.ValueErrorf("Key `%s` is invalid, expected torch.Tensor but received %s", name, item.KindName())
		}
		tensors[strings.Clone(name)] = t
	}
	for key, item := range c.Arg(1).Entries {
		if item.Kind() != abi.KindString {
			return nil, nil, abi.ValueErrorf("the metadata %q must be str, not %s", key, item.KindName())
		}
		metadata[strings.Clone(key)] = strings.Clone(item.Text())
	}
	return tensors, metadata, nil
}

func saveSafeTensors(c *abi.Call) error {
	tensors, metadata, err := argSafeTensors(c)
	if err != nil {
		return err
	}
	path := strings.Clone(c.ArgString(2))
	err = c.WithoutGIL(func() error { return safetensors.Save(path, tensors, metadata) })
	c.None()
	return err
}

func safeTensorsBytes(c *abi.Call) error {
	tensors, metadata, err := argSafeTensors(c)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, metadata); err != nil {
		return err
	}
	c.Bytes(abi.KindBytes, b.String())
	return nil
}
