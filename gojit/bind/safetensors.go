package bind

import (
	"bytes"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// safeTensorsFunctions read and write files of safetensors.
var safeTensorsFunctions = []function{
	{schema: "safetensors_load(str path) -> any", run: loadSafeTensors},
	{schema: "safetensors_open(str path) -> any", run: openSafeTensors},
	{schema: "safetensors_tensor(int file, str name) -> Tensor", run: safeTensor},
	{schema: "safetensors_close(int file) -> None", run: closeSafeTensors},
	{schema: "safetensors_parse(bytes data) -> any", run: parseSafeTensors},
	{schema: "safetensors_save(dict tensors, dict metadata, str path) -> None", run: saveSafeTensors},
	{schema: "safetensors_bytes(dict tensors, dict metadata) -> bytes", run: safeTensorsBytes},
}

func loadSafeTensors(c *call) error {
	path := strings.Clone(c.argString(0))
	return c.safeTensors(func() (*safetensors.SafeTensors, error) { return safetensors.Load(path) })
}

// safeFiles are the files that Python has opened, by number.
var safeFiles = struct {
	sync.Mutex
	open map[int]*safetensors.File
	last int
}{open: map[int]*safetensors.File{}}

// openSafeTensors replies the number of an open file, the names of its tensors and its metadata.
func openSafeTensors(c *call) error {
	path := c.argString(0)
	var f *safetensors.File
	err := c.withoutGIL(func() (err error) {
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
	c.open(kindTuple, 3)
	c.int(number)
	c.open(kindList, len(f.Names))
	for _, name := range f.Names {
		c.string(name)
	}
	c.metadata(f.Metadata)
	return nil
}

// safeTensor replies a tensor of an open file.
func safeTensor(c *call) error {
	number, name := c.argInt(0), c.argString(1)
	safeFiles.Lock()
	f := safeFiles.open[number]
	safeFiles.Unlock()
	if f == nil {
		return runtimeErrorf("The file is closed")
	}
	var t *tensor.Tensor
	err := c.withoutGIL(func() (err error) {
		t, err = f.Tensor(name)
		return err
	})
	if err != nil {
		return err
	}
	c.tensor(t)
	return nil
}

func closeSafeTensors(c *call) error {
	safeFiles.Lock()
	f := safeFiles.open[c.argInt(0)]
	delete(safeFiles.open, c.argInt(0))
	safeFiles.Unlock()
	if f != nil {
		f.Close()
	}
	c.none()
	return nil
}

// metadata replies texts by their names.
func (c *call) metadata(texts map[string]string) {
	c.open(kindDict, len(texts))
	for key, text := range texts {
		c.string(key)
		c.string(text)
	}
}

func parseSafeTensors(c *call) error {
	data := []byte(c.argText(0))
	return c.safeTensors(func() (*safetensors.SafeTensors, error) { return safetensors.Read(data) })
}

// safeTensors reads a file without the GIL and replies the tensors and the metadata.
func (c *call) safeTensors(read func() (*safetensors.SafeTensors, error)) error {
	var f *safetensors.SafeTensors
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
	c.metadata(f.Metadata)
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
	err = c.withoutGIL(func() error { return safetensors.Save(path, tensors, metadata) })
	c.none()
	return err
}

func safeTensorsBytes(c *call) error {
	tensors, metadata, err := c.argSafeTensors()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, metadata); err != nil {
		return err
	}
	c.bytes(kindBytes, b.String())
	return nil
}
