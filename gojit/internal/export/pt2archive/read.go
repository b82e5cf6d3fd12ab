package pt2archive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/source"
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
