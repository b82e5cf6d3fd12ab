package bind

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// serializeFunctions read and write archives.
var serializeFunctions = []function{
	{schema: "load_module(str path, list extra_files, bool refuse_code=False, int code_memory=0, object? progress=None, device? device=None) -> any", run: loadModule},
	{schema: "load_module_from_bytes(bytes data, list extra_files, bool refuse_code=False, int code_memory=0, device? device=None) -> any", run: loadModuleFromBytes},
	{schema: "load_module_with_memory(bytes data, list keys, list memory) -> any", run: loadModuleWithMemory},
	{schema: "module_memory(any module) -> list", run: moduleMemory},
	{schema: "inspect_archive(str path) -> str", run: inspectArchive},
	{schema: "inspect_archive_bytes(bytes data) -> str", run: inspectArchiveBytes},
	{schema: "function_of_module(any module, str name) -> any", run: functionOfModule},
	{schema: "save_module(any module, str path, dict extra_files, object? progress=None) -> None", run: saveModule},
	{schema: "save_module_to_bytes(any module, dict extra_files) -> bytes", run: saveModuleToBytes},
	{schema: "bytecode_operators(any module) -> list", run: bytecodeOperators},
	{schema: "file_begin(str path) -> int", run: fileBegin},
	{schema: "file_end(int file, bool commit) -> None", run: fileEnd},
	{schema: "save_lite(any module, str path, dict extra_files, int bytecode, bool debug_info, bool interface_calls) -> None", run: saveLite},
	{schema: "save_lite_to_bytes(any module, dict extra_files, int bytecode, bool debug_info, bool interface_calls) -> bytes", run: saveLiteToBytes},
	{schema: "save_flatbuffer(any module, dict extra_files, bool interface_calls) -> bytes", run: saveFlatBuffer},
	{schema: "archive_of_flatbuffer(bytes data) -> bytes", run: archiveOfFlatBuffer},
}

// loadModule replies the module in a file and a dict of its extra files.
func loadModule(c *call) error {
	path, options := c.argString(0), c.argOptions(5)
	options.Progress = c.argProgress(4)
	return c.load(func() (*gojit.Module, error) { return facade.LoadWith(path, options) })
}

func loadModuleFromBytes(c *call) error {
	return c.loadBytes(c.argOptions(4))
}

// loadModuleWithMemory is loadModuleFromBytes for an archive without the memory of the module's tensors.
func loadModuleWithMemory(c *call) error {
	memory, err := c.argTensors(2)
	if err != nil {
		return err
	}
	storages := map[string]*tensor.Storage{}
	for i, key := range c.argStrings(1) {
		storages[key] = memory[i].Storage()
	}
	return c.loadBytes(archive.Options{Storages: storages})
}

// moduleMemory replies the memories of a module's tensors in the order of their keys in archives, as tensors of bytes.
func moduleMemory(c *call) error {
	m, err := c.argModule(0)
	if err != nil {
		return err
	}
	storages, err := archive.Storages(m.Object, facade.Run)
	if err != nil {
		return err
	}
	c.open(kindList, len(storages))
	for _, s := range storages {
		t, err := tensor.FromStorage(s, 0, []int{s.NBytes()}, []int{1}, tensor.Uint8)
		if err != nil {
			return err
		}
		c.tensor(t)
	}
	return nil
}

func (c *call) loadBytes(options archive.Options) error {
	text := c.argText(0)
	data, err := tensor.TryLargeBytes(len(text))
	if err != nil {
		return err
	}
	copy(data, text)
	return c.load(func() (*gojit.Module, error) { return facade.LoadBytesWith(data, options) })
}

// argOptions returns how an archive is loaded; argument device is the device for its tensors.
func (c *call) argOptions(device int) archive.Options {
	o := archive.Options{Extra: c.argStrings(1), RefuseCode: c.argBool(2), CodeMemory: int(c.argInt(3))}
	if !c.isNone(device) {
		d := deviceOfCode(c.arg(device).int())
		o.Device = &d
	}
	return o
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

// argModule returns the module that argument i is; a compiled function is a module with that method.
func (c *call) argModule(i int) (*gojit.Module, error) {
	if o, ok := c.arg(i).content().(*value.Object); ok && o.Class.IsModule {
		return facade.Module(o), nil
	}
	if f, ok := c.arg(i).callable().(*scriptFunction); ok && f.self == nil {
		return facade.ModuleOf(f.function)
	}
	return nil, typeErrorf("expected a compiled module or a compiled function, not %s", c.arg(i).kindName())
}

// argFiles returns a copy of the names and contents in the dict that argument i is.
func (c *call) argFiles(i int) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, item := range c.arg(i).entries {
		if item.kind() != kindString && item.kind() != kindBytes {
			return nil, typeErrorf("the extra file '%s' must be str or bytes, not %s", name, item.kindName())
		}
		files[strings.Clone(name)] = []byte(item.text())
	}
	return files, nil
}

// argSaved returns the module and the extra files of a call that saves.
func (c *call) argSaved(files int) (*gojit.Module, map[string][]byte, error) {
	m, err := c.argModule(0)
	if err != nil {
		return nil, nil, err
	}
	extra, err := c.argFiles(files)
	return m, extra, err
}

// argProgress returns what calls the object that argument i is, nil for None.
func (c *call) argProgress(i int) archive.Progress {
	if c.isNone(i) {
		return nil
	}
	told := c.argObject(i)
	return func(done, total int64) error {
		return told.invoke("", 2, func(w *writer) { w.int64(done); w.int64(total) }, nil)
	}
}

// saveModule keeps the GIL: methods that are not compiled yet may ask Python for what they name.
func saveModule(c *call) error {
	m, extra, err := c.argSaved(2)
	if err != nil {
		return err
	}
	if err := m.SaveReporting(c.argString(1), extra, c.argProgress(3)); err != nil {
		return err
	}
	c.none()
	return nil
}

func saveModuleToBytes(c *call) error {
	m, extra, err := c.argSaved(1)
	if err != nil {
		return err
	}
	data, err := m.SaveBytes(extra)
	if err != nil {
		return err
	}
	c.bytes(kindBytes, string(data))
	return nil
}

// replacements are the files that Python writes, by their descriptors.
var replacements = struct {
	sync.Mutex
	open map[int]*safefile.Replacement
}{open: map[int]*safefile.Replacement{}}

// fileBegin replies the descriptor of a file that takes the place of another when it is whole.
func fileBegin(c *call) error {
	path := c.argString(0)
	var r *safefile.Replacement
	err := c.withoutGIL(func() (err error) {
		r, err = safefile.NewReplacement(path)
		return err
	})
	if err != nil {
		return runtimeErrorf("File %s cannot be opened: %s", path, err)
	}
	fd := int(r.File.Fd())
	replacements.Lock()
	defer replacements.Unlock()
	replacements.open[fd] = r
	c.int(fd)
	return nil
}

// fileEnd puts a file in its place, or gives it up.
func fileEnd(c *call) error {
	fd, commit := c.argInt(0), c.argBool(1)
	replacements.Lock()
	r := replacements.open[fd]
	delete(replacements.open, fd)
	replacements.Unlock()
	c.none()
	switch {
	case r == nil:
		return runtimeErrorf("The file is not being written")
	case !commit:
		r.Abandon()
		return nil
	}
	if err := c.withoutGIL(r.Commit); err != nil {
		return runtimeErrorf("The file cannot be written: %s", err)
	}
	return nil
}

// bytecodeOperators replies the names of the operators that a module's bytecode calls.
func bytecodeOperators(c *call) error {
	m, err := c.argModule(0)
	if err != nil {
		return err
	}
	names, err := archive.OperatorNames(m.Object)
	if err != nil {
		return err
	}
	c.open(kindList, len(names))
	for _, name := range names {
		c.string(name)
	}
	return nil
}

// argLite returns the options of a call that saves for the lite interpreter.
func (c *call) argLite(first int) archive.LiteOptions {
	return archive.LiteOptions{Bytecode: c.argInt(first), DebugInfo: c.argBool(first + 1), InterfaceCalls: c.argBool(first + 2)}
}

func saveLite(c *call) error {
	m, extra, err := c.argSaved(2)
	if err != nil {
		return err
	}
	if err := m.SaveLite(c.argString(1), extra, c.argLite(3)); err != nil {
		return err
	}
	c.none()
	return nil
}

func saveLiteToBytes(c *call) error {
	m, extra, err := c.argSaved(1)
	if err != nil {
		return err
	}
	data, err := m.SaveLiteBytes(extra, c.argLite(2))
	if err != nil {
		return err
	}
	c.bytes(kindBytes, string(data))
	return nil
}

func saveFlatBuffer(c *call) error {
	m, extra, err := c.argSaved(1)
	if err != nil {
		return err
	}
	data, err := m.SaveFlatBuffer(extra, archive.LiteOptions{InterfaceCalls: c.argBool(2)})
	if err != nil {
		return err
	}
	c.bytes(kindBytes, string(data))
	return nil
}

// archiveOfFlatBuffer replies what a FlatBuffer says as an archive, and anything else as it is.
func archiveOfFlatBuffer(c *call) error {
	data := []byte(c.argString(0))
	if archive.IsFlat(data) {
		made, err := archive.ArchiveOfFlat(data)
		if err != nil {
			return err
		}
		data = made
	}
	c.bytes(kindBytes, string(data))
	return nil
}

// functionOfModule replies the function that was saved as the forward of a module.
func functionOfModule(c *call) error {
	m, err := c.argModule(0)
	if err != nil {
		return err
	}
	f, err := gojit.FunctionOf(m, strings.Clone(c.argString(1)))
	if err != nil {
		return err
	}
	c.scriptFunction(&scriptFunction{function: f})
	return nil
}

// inspectArchive replies the report on a file as JSON.
func inspectArchive(c *call) error {
	path := strings.Clone(c.argString(0))
	return c.inspect(func() (*archive.Report, error) { return gojit.Inspect(path) })
}

func inspectArchiveBytes(c *call) error {
	data := []byte(c.argText(0))
	return c.inspect(func() (*archive.Report, error) { return gojit.InspectBytes(data) })
}

func (c *call) inspect(read func() (*archive.Report, error)) error {
	var text []byte
	err := c.withoutGIL(func() error {
		r, err := read()
		if err == nil {
			text, err = json.Marshal(r)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.string(string(text))
	return nil
}
