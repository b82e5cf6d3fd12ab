package archive

import (
	"bytes"
	"context"
	"maps"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Options say how an archive is loaded.
type Options struct {
	// Extra names the extra files to read.
	Extra []string
	// RefuseCode has archives fail whose classes restore their state by a method __setstate__: no code of the program is run then.
	RefuseCode bool
	// CodeMemory is how many bytes of memory such methods may take together. 0: 256 MiB and 16 times the size of the archive.
	CodeMemory int
	// Storages are, by their keys, the memory of the module's tensors that is not read from the archive.
	Storages map[string]*tensor.Storage
	// Device is where the tensors are made, nil for where each was when it was saved.
	Device *tensor.Device
	// Progress is told now and then how many bytes of a large file have been read.
	Progress Progress
}

// Call runs a function of the program that is being loaded or saved.
type Call func(ctx context.Context, f *ir.Function, args ...value.Value) (value.Value, error)

// Loaded is what an archive holds.
type Loaded struct {
	Unit   *ir.Unit
	Module *value.Object
	// Extra are the extra files that were asked for and are there.
	Extra map[string][]byte
}

// Load makes the module of an archive in memory. data must stay as it is while the module's
// tensors are in use. Methods are compiled on first use, except those that call is needed for:
// __setstate__.
//
// Nothing in the archive runs but __setstate__ methods, which are compiled like any program: they can take any time, and the memory of
// Options.CodeMemory. See Options.RefuseCode.
func Load(data []byte, o Options, call Call) (*Loaded, error) {
	return load(data, o, call)
}

// LoadFile is Load of a file, which is read into memory: what happens to it later changes nothing.
func LoadFile(path string, o Options, call Call) (*Loaded, error) {
	data, err := ReadFile(path, o.Progress)
	if err != nil {
		return nil, err
	}
	return load(data, o, call)
}

// ReadFile reads a file into memory. An error of progress is returned as it is.
func ReadFile(path string, progress Progress) ([]byte, error) {
	var failed error
	tell := progress
	if progress != nil {
		tell = func(done, total int64) error {
			failed = progress(done, total)
			return failed
		}
	}
	data, err := safefile.ReadFile(path, tell)
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, archiveError("%s cannot be read: %s", path, err)
	}
	return data, nil
}

func load(content []byte, o Options, call Call) (*Loaded, error) {
	if IsFlat(content) {
		archive, err := ArchiveOfFlat(content)
		if err != nil {
			return nil, err
		}
		content = archive
	}
	a, err := OpenArchive(content)
	if err != nil {
		return nil, err
	}
	a.CheckAhead()
	defer a.Checked() // no check outlives the load
	l := &loader{a: a, refuseCode: o.RefuseCode, codeMemory: o.CodeMemory, call: call, unit: ir.NewUnit(), device: o.Device}
	if l.codeMemory == 0 {
		l.codeMemory = leastCodeMemory + codeMemoryRate*len(content)
	}
	l.importer = frontend.NewImporter(l.unit, l.source, nil)
	l.importer.Version = a.Version
	constants, err := l.unpickler("constants").read("constants.pkl")
	if err != nil {
		return nil, err
	}
	if constants.Kind() != value.KindTuple {
		return nil, archiveError("The record \"constants.pkl\" holds no tuple")
	}
	l.importer.Constants = constants.Tuple().Items
	data := l.unpickler("data")
	maps.Copy(data.storages, o.Storages)
	root, err := data.read("data.pkl")
	if err != nil {
		return nil, err
	}
	if root.Kind() != value.KindObject || !root.Object().Class.IsModule {
		return nil, archiveError("The archive holds a value of type %s, no module: torch.jit.save did not write it", value.TypeOf(root).Annotation(nil))
	}
	if err := a.Checked(); err != nil {
		return nil, err
	}
	loaded := &Loaded{Unit: l.unit, Module: root.Object(), Extra: map[string][]byte{}}
	for _, name := range o.Extra {
		if a.Has("extra/" + name) {
			data, err := a.Read("extra/" + name)
			if err != nil {
				return nil, err
			}
			loaded.Extra[name] = bytes.Clone(data)
		}
	}
	return loaded, nil
}

type loader struct {
	a        *Archive
	unit     *ir.Unit
	importer *frontend.Importer
	call     Call

	device     *tensor.Device
	refuseCode bool
	codeMemory int
	budget     *tensor.Budget // of the methods __setstate__, nil before the first one runs
}

// The memory that methods __setstate__ may take: so much, and so many times the size of the archive. Weights of which they make others,
// packed or of another type, take several times the room that they have in the archive.
const (
	leastCodeMemory = 256 << 20
	codeMemoryRate  = 16
)

func (l *loader) unpickler(folder string) *unpickler {
	return &unpickler{a: l.a, folder: folder, class: l.class, annotation: l.importer.Annotation, setState: l.setState, device: l.device,
		storages: map[string]*tensor.Storage{}, made: map[any]value.Value{}}
}

// source returns the text of the record that defines the names below a prefix.
func (l *loader) source(prefix string) (*source.Text, error) {
	name := "code/" + strings.ReplaceAll(prefix, ".", "/") + ".py"
	if !l.a.Has(name) {
		return nil, nil
	}
	data, err := l.a.Read(name)
	if err != nil {
		return nil, err
	}
	text := source.NewText(name, string(data), 1)
	if debug := name + ".debug_pkl"; l.a.Has(debug) {
		text.SetOrigins(func() []source.Origin { return readOrigins(l.a, debug) })
	}
	return text, nil
}

func (l *loader) class(name string) (types.Type, error) {
	t, err := l.importer.Type(name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, archiveError("The archive refers to the class %s and does not define it", name)
	}
	return t, nil
}

func (l *loader) setState(o *value.Object, state value.Value) (ok bool, err error) {
	f, isFunction := o.Class.FindMethod("__setstate__").(*ir.Function)
	if !isFunction || l.call == nil {
		return false, archiveError("The class %s restores its state by running code, which is not possible here", o.Class.Name)
	}
	if l.refuseCode {
		return false, archiveError("The class %s restores its state by running its method __setstate__, and code of the archive is refused", o.Class.Name)
	}
	if l.budget == nil {
		l.budget = tensor.NewBudget(l.codeMemory)
	}
	l.budget.Run(context.Background(), func(context.Context) { err = f.EnsureDefined() })
	if err != nil {
		return false, err
	}
	if err := l.a.Checked(); err != nil {
		return false, err
	}
	if len(f.Schema.Arguments) != 2 {
		return false, archiveError("__setstate__ of %s does not take one argument", o.Class.Name)
	}
	state, err = coerce(state, f.Schema.Arguments[1].Type)
	if err != nil {
		return false, err
	}
	l.budget.Run(parallel.InterruptContext(), func(ctx context.Context) { _, err = l.call(ctx, f, value.OfObject(o), state) })
	switch {
	case err != nil && l.budget.IsSpent():
		return true, archiveError("__setstate__ of %s takes more than the %d bytes of memory that code of the archive may take while it is loaded; code_memory is another limit", o.Class.Name, l.codeMemory)
	case err != nil:
		return true, raised{err}
	}
	return true, nil
}

// raised is an error of code that an archive runs: it stays what it is, an interrupt for one.
type raised struct{ error }

// Unwrap returns the error.
func (r raised) Unwrap() error { return r.error }
