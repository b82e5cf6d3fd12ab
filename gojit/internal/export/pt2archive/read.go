package pt2archive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Is reports whether an archive is one of PyTorch 2.
func Is(z *archive.Archive) bool { return z.Has(formatRecord) }

// Read reads a program and its tensors. It fails where the archive is damaged, and where the program has what there is no form of here.
func Read(z *archive.Archive) (a *exportir.Archive, err error) {
	defer source.Catch(&err)
	model := modelOf(z)
	var program exportedProgram
	readJSON(z, modelFolder+model+modelEnd, &program)
	a = &exportir.Archive{Program: source.Must(programOf(&program)), Tensors: map[string]*tensor.Tensor{}, Extra: map[string][]byte{}}
	stored := map[string]*tensor.Tensor{}
	readTensors(z, weightFolder, model+weightsConfig, stored)
	readTensors(z, constantFolder, model+constantsConfig, stored)
	source.Throw(a.Place(stored, nil))
	readExample(z, exampleFolder+model+exampleEnd, a)
	for _, name := range z.Names() {
		if rest, ok := strings.CutPrefix(name, extraFolder); ok {
			a.Extra[rest] = source.Must(z.Read(name))
		}
	}
	return a, nil
}

// modelOf returns the name of the model that is read: the one that torch.export.save of PyTorch writes, or the first one.
func modelOf(z *archive.Archive) string {
	var models []string
	for _, name := range z.Names() {
		if model, ok := strings.CutPrefix(strings.TrimSuffix(name, modelEnd), modelFolder); ok && strings.HasSuffix(name, modelEnd) {
			models = append(models, model)
		}
	}
	if len(models) == 0 {
		source.Throw(exportir.Violation("the archive has no exported program: there is no record %sNAME%s", modelFolder, modelEnd))
	}
	if slices.Contains(models, defaultModelName) {
		return defaultModelName
	}
	return slices.Min(models)
}

func readJSON(z *archive.Archive, record string, into any) {
	text := source.Must(z.Read(record))
	if err := json.Unmarshal(text, into); err != nil {
		source.Throw(exportir.Violation("the record %q cannot be read: %s", record, err))
	}
}

// readTensors reads the tensors that a record lists, which are in records of a folder. Tensors of one record share memory.
func readTensors(z *archive.Archive, folder, config string, into map[string]*tensor.Tensor) {
	if !z.Has(folder + config) {
		return
	}
	var listed payload
	readJSON(z, folder+config, &listed)
	r := &tensorReader{z: z, storages: map[storageKey]*tensor.Storage{}}
	for path, entry := range listed.Config {
		t, err := r.tensor(folder+entry.Record, &entry)
		if err != nil {
			source.Throw(exportir.Violation("the tensor %q: %s", path, err))
		}
		into[path] = t
	}
}

type storageKey struct {
	record string
	dtype  tensor.DType
}

type tensorReader struct {
	z        *archive.Archive
	storages map[storageKey]*tensor.Storage
}

func (r *tensorReader) tensor(record string, entry *payloadEntry) (t *tensor.Tensor, err error) {
	defer source.Catch(&err)
	if entry.UsePickle {
		v := source.Must(archive.ReadSaved(source.Must(r.z.Read(record))))
		if !v.IsTensor() {
			return nil, exportir.Violation("the record %q holds no tensor", record)
		}
		return v.Tensor(), nil
	}
	if entry.Meta == nil {
		return nil, exportir.Violation("its type and its sizes are missing")
	}
	dtype := source.Must(dtypeOf(entry.Meta.DType))
	shape, strides := numbers(entry.Meta.Sizes), numbers(entry.Meta.Strides)
	key := storageKey{record, dtype}
	if r.storages[key] == nil {
		r.storages[key] = source.Must(r.z.Storage(record, dtype))
	}
	if r.storages[key].NBytes() == 0 { // whose strides reach nowhere
		source.Must(archive.Strided(r.storages[key], dtype, 0, shape, strides))
		return tensor.Empty(shape, dtype)
	}
	return archive.Strided(r.storages[key], dtype, read[int](entry.Meta.Offset), shape, strides)
}

// numbers reads sizes, which are numbers.
func numbers(sizes []union) []int {
	all := make([]int, len(sizes))
	for i, n := range sizes {
		all[i] = read[int](n)
	}
	return all
}

// readExample reads the arguments that the program was captured with, as far as they are tensors. A program does without them where the archive has none,
// or has what only its own classes can read.
func readExample(z *archive.Archive, record string, a *exportir.Archive) {
	if !z.Has(record) {
		return
	}
	saved, err := archive.ReadSaved(source.Must(z.Read(record)))
	var form exportir.CallForm
	if err != nil || json.Unmarshal([]byte(a.Program.InSpec), &form) != nil {
		return
	}
	leaves, ok := leavesOf(&form.Form, saved)
	for _, in := range a.Program.Signature.Inputs {
		if in.Target != "" {
			continue
		}
		if !ok || len(leaves) == 0 {
			return
		}
		if leaves[0].IsTensor() {
			a.Tensors[exportir.ExamplePrefix+in.Name] = leaves[0].Tensor()
		}
		leaves = leaves[1:]
	}
}

// leavesOf lists what is in containers that a form describes. ok is false where the containers are others.
func leavesOf(f *exportir.Form, v value.Value) (leaves []value.Value, ok bool) {
	if f == nil {
		return []value.Value{v}, true
	}
	items, ok := itemsIn(f, v)
	if !ok || len(items) != len(f.Children) {
		return nil, false
	}
	for i, child := range f.Children {
		inner, ok := leavesOf(child, items[i])
		if !ok {
			return nil, false
		}
		leaves = append(leaves, inner...)
	}
	return leaves, true
}

// itemsIn are the items of a container, those of a dictionary in the order of the form.
func itemsIn(f *exportir.Form, v value.Value) (items []value.Value, ok bool) {
	switch v.Kind() {
	case value.KindTuple:
		return v.Tuple().Items, f.Type == "tuple"
	case value.KindList:
		return v.List().Items, f.Type == "list"
	case value.KindDict:
		keys, _ := f.Context.([]any)
		for _, key := range keys {
			text, isText := key.(string)
			item, found := v.Dict().Get(value.Str(text))
			if !isText || !found {
				return nil, false
			}
			items = append(items, item)
		}
		return items, f.Type == "dict" || f.Type == "OrderedDict"
	}
	return nil, false
}
