package modules

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// serializeFunctions read and write archives.
var serializeFunctions = []abi.Function{
	{Schema: "load_module(str path, list extra_files, bool refuse_code=False, int code_memory=0, object? progress=None, device? device=None) -> any", Run: loadModule},
	{Schema: "load_module_from_bytes(bytes data, list extra_files, bool refuse_code=False, int code_memory=0, device? device=None) -> any", Run: loadModuleFromBytes},
	{Schema: "load_module_with_memory(bytes data, list keys, list memory) -> any", Run: loadModuleWithMemory},
	{Schema: "module_memory(any module) -> list", Run: moduleMemory},
	{Schema: "inspect_archive(str path) -> str", Run: inspectArchive},
	{Schema: "inspect_archive_bytes(bytes data) -> str", Run: inspectArchiveBytes},
	{Schema: "function_of_module(any module, str name) -> any", Run: functionOfModule},
	{Schema: "save_module(any module, str path, dict extra_files, object? progress=None) -> None", Run: saveModule},
	{Schema: "save_module_to_bytes(any module, dict extra_files) -> bytes", Run: saveModuleToBytes},
	{Schema: "bytecode_operators(any module) -> list", Run: bytecodeOperators},
	{Schema: "file_begin(str path) -> int", Run: fileBegin},
	{Schema: "file_end(int file, bool commit) -> None", Run: fileEnd},
	{Schema: "save_lite(any module, str path, dict extra_files, int bytecode, bool debug_info, bool interface_calls) -> None", Run: saveLite},
	{Schema: "save_lite_to_bytes(any module, dict extra_files, int bytecode, bool debug_info, bool interface_calls) -> bytes", Run: saveLiteToBytes},
	{Schema: "save_flatbuffer(any module, dict extra_files, bool interface_calls) -> bytes", Run: saveFlatBuffer},
	{Schema: "archive_of_flatbuffer(bytes data) -> bytes", Run: archiveOfFlatBuffer},
}

// loadModule replies the module in a file and a dict of its extra files.
func loadModule(c *abi.Call) error {
	path, options := c.ArgString(0), argOptions(c, 5)
	options.Progress = ArgProgress(c, 4)
	return load(c, func() (*gojit.Module, error) { return scripts.Facade.LoadWith(path, options) })
}

func loadModuleFromBytes(c *abi.Call) error {
	return loadBytes(c, argOptions(c, 4))
}

// loadModuleWithMemory is loadModuleFromBytes for an archive without the memory of the module's tensors.
func loadModuleWithMemory(c *abi.Call) error {
	memory, err := c.ArgTensors(2)
	if err != nil {
		return err
	}
	storages := map[string]*tensor.Storage{}
	for i, key := range c.ArgStrings(1) {
		storages[key] = memory[i].Storage()
	}
	return loadBytes(c, archive.Options{Storages: storages})
}

// moduleMemory replies the memories of a module's tensors in the order of their keys in archives, as tensors of bytes.
func moduleMemory(c *abi.Call) error {
	m, err := argModule(c, 0)
	if err != nil {
		return err
	}
	storages, err := archive.Storages(m.Object, scripts.Facade.Run)
	if err != nil {
		return err
	}
	c.Open(abi.KindList, len(storages))
	for _, s := range storages {
		t, err := tensor.FromStorage(s, 0, []int{s.NBytes()}, []int{1}, tensor.Uint8)
		if err != nil {
			return err
		}
		c.Tensor(t)
	}
	return nil
}

func loadBytes(c *abi.Call, options archive.Options) error {
	text := c.ArgText(0)
	data, err := tensor.TryLargeBytes(len(text))
	if err != nil {
		return err
	}
	copy(data, text)
	return load(c, func() (*gojit.Module, error) { return scripts.Facade.LoadBytesWith(data, options) })
}

// argOptions returns how an archive is loaded; argument device is the device for its tensors.
func argOptions(c *abi.Call, device int) archive.Options {
	o := archive.Options{Extra: c.ArgStrings(1), RefuseCode: c.ArgBool(2), CodeMemory: int(c.ArgInt(3))}
	if !c.IsNone(device) {
		d := abi.DeviceOfCode(c.Arg(device).Int())
		o.Device = &d
	}
	return o
}

// load reads an archive without the GIL and replies what it holds.
func load(c *abi.Call, read func() (*gojit.Module, error)) error {
	var m *gojit.Module
	err := c.WithoutGIL(func() (err error) {
		m, err = read()
		return err
	})
	if err != nil {
		return err
	}
	c.Open(abi.KindTuple, 2)
	c.Handle(abi.HandleModule, m.Object)
	c.Open(abi.KindDict, len(m.Extra))
	for name, data := range m.Extra {
		c.String(name)
		c.Bytes(abi.KindBytes, string(data))
	}
	return nil
}

// argModule returns the module that argument i is; a compiled function is a module with that method.
func argModule(c *abi.Call, i int) (*gojit.Module, error) {
	if o, ok := c.Arg(i).Content().(*value.Object); ok && o.Class.IsModule {
		return scripts.Facade.Module(o), nil
	}
	if f, ok := c.Arg(i).Callable().(*scripts.Function); ok && f.Self == nil {
		return scripts.Facade.ModuleOf(f.Function)
	}
	return nil, abi.TypeErrorf("expected a compiled module or a compiled function, not %s", c.Arg(i).KindName())
}

// ArgFiles returns a copy of the names and contents in the dict that argument i is.
func ArgFiles(c *abi.Call, i int) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, item := range c.Arg(i).Entries {
		if item.Kind() != abi.KindString && item.Kind() != abi.KindBytes {
			return nil, abi.TypeErrorf("the extra file '%s' must be str or bytes, not %s", name, item.KindName())
		}
		files[strings.Clone(name)] = []byte(item.Text())
	}
	return files, nil
}

// argSaved returns the module and the extra files of a call that saves.
func argSaved(c *abi.Call, files int) (*gojit.Module, map[string][]byte, error) {
	m, err := argModule(c, 0)
	if err != nil {
		return nil, nil, err
	}
	extra, err := ArgFiles(c, files)
	return m, extra, err
}

// ArgProgress returns what calls the object that argument i is, nil for None.
func ArgProgress(c *abi.Call, i int) archive.Progress {
	if c.IsNone(i) {
		return nil
	}
	told := c.ArgObject(i)
	return func(done, total int64) error {
		return told.Invoke("", 2, func(w *abi.Writer) { w.Int64(done); w.Int64(total) }, nil)
	}
}

// saveModule keeps the GIL: methods that are not compiled yet may ask Python for what they name.
func saveModule(c *abi.Call) error {
	m, extra, err := argSaved(c, 2)
	if err != nil {
		return err
	}
	if err := m.SaveReporting(c.ArgString(1), extra, ArgProgress(c, 3)); err != nil {
		return err
	}
	c.None()
	return nil
}

func saveModuleToBytes(c *abi.Call) error {
	m, extra, err := argSaved(c, 1)
	if err != nil {
		return err
	}
	data, err := m.SaveBytes(extra)
	if err != nil {
		return err
	}
	c.Bytes(abi.KindBytes, string(data))
	return nil
}

// replacements are the files that Python writes, by their descriptors.
var replacements = struct {
	sync.Mutex
	open map[int]*safefile.Replacement
}{open: map[int]*safefile.Replacement{}}

// fileBegin replies the descriptor of a file that takes the place of another when it is whole.
func fileBegin(c *abi.Call) error {
	path := c.ArgString(0)
	var r *safefile.Replacement
	err := c.WithoutGIL(func() (err error) {
		r, err = safefile.NewReplacement(path)
		return err
	})
	if err != nil {
		return abi.RuntimeErrorf("File %s cannot be opened: %s", path, err)
	}
	fd := int(r.File.Fd())
	replacements.Lock()
	defer replacements.Unlock()
	replacements.open[fd] = r
	c.Int(fd)
	return nil
}

// fileEnd puts a file in its place, or gives it up.
func fileEnd(c *abi.Call) error {
	fd, commit := c.ArgInt(0), c.ArgBool(1)
	replacements.Lock()
	r := replacements.open[fd]
	delete(replacements.open, fd)
	replacements.Unlock()
	c.None()
	switch {
	case r == nil:
		return abi.RuntimeErrorf("The file is not being written")
	case !commit:
		r.Abandon()
		return nil
	}
	if err := c.WithoutGIL(r.Commit); err != nil {
		return abi.RuntimeErrorf("The file cannot be written: %s", err)
	}
	return nil
}

// bytecodeOperators replies the names of the operators that a module's bytecode calls.
func bytecodeOperators(c *abi.Call) error {
	m, err := argModule(c, 0)
	if err != nil {
		return err
	}
	names, err := archive.OperatorNames(m.Object)
	if err != nil {
		return err
	}
	c.Open(abi.KindList, len(names))
	for _, name := range names {
		c.String(name)
	}
	return nil
}

// argLite returns the options of a call that saves for the lite interpreter.
func argLite(c *abi.Call, first int) archive.LiteOptions {
	return archive.LiteOptions{Bytecode: c.ArgInt(first), DebugInfo: c.ArgBool(first + 1), InterfaceCalls: c.ArgBool(first + 2)}
}

func saveLite(c *abi.Call) error {
	m, extra, err := argSaved(c, 2)
	if err != nil {
		return err
	}
	if err := m.SaveLite(c.ArgString(1), extra, argLite(c, 3)); err != nil {
		return err
	}
	c.None()
	return nil
}

func saveLiteToBytes(c *abi.Call) error {
	m, extra, err := argSaved(c, 1)
	if err != nil {
		return err
	}
	data, err := m.SaveLiteBytes(extra, argLite(c, 2))
	if err != nil {
		return err
	}
	c.Bytes(abi.KindBytes, string(data))
	return nil
}

func saveFlatBuffer(c *abi.Call) error {
	m, extra, err := argSaved(c, 1)
	if err != nil {
		return err
	}
	data, err := m.SaveFlatBuffer(extra, archive.LiteOptions{InterfaceCalls: c.ArgBool(2)})
	if err != nil {
		return err
	}
	c.Bytes(abi.KindBytes, string(data))
	return nil
}

// archiveOfFlatBuffer replies what a FlatBuffer says as an archive, and anything else as it is.
func archiveOfFlatBuffer(c *abi.Call) error {
	data := []byte(c.ArgString(0))
	if archive.IsFlat(data) {
		made, err := archive.ArchiveOfFlat(data)
		if err != nil {
			return err
		}
		data = made
	}
	c.Bytes(abi.KindBytes, string(data))
	return nil
}

// functionOfModule replies the function that was saved as the forward of a module.
func functionOfModule(c *abi.Call) error {
	m, err := argModule(c, 0)
	if err != nil {
		return err
	}
	f, err := gojit.FunctionOf(m, strings.Clone(c.ArgString(1)))
	if err != nil {
		return err
	}
	c.ScriptFunction(&scripts.Function{Function: f})
	return nil
}

// inspectArchive replies the report on a file as JSON.
func inspectArchive(c *abi.Call) error {
	path := strings.Clone(c.ArgString(0))
	return inspect(c, func() (*archive.Report, error) { return gojit.Inspect(path) })
}

func inspectArchiveBytes(c *abi.Call) error {
	data := []byte(c.ArgText(0))
	return inspect(c, func() (*archive.Report, error) { return gojit.InspectBytes(data) })
}

func inspect(c *abi.Call, read func() (*archive.Report, error)) error {
	var text []byte
	err := c.WithoutGIL(func() error {
		r, err := read()
		if err == nil {
			text, err = json.Marshal(r)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.String(string(text))
	return nil
}
