package exportir

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The records of an archive.
const (
	ProgramRecord = "program.json"
	tensorsRecord = "tensors.safetensors"
	extraFolder   = "extra/"
)

// ExamplePrefix begins the names of tensors that the program was captured with: the name of the input follows. An archive need not have
// them.
const ExamplePrefix = "example_inputs/"

// Archive is a program with its tensors: the parameters, buffers and constants by their names.
type Archive struct {
	Program *Program
	Tensors map[string]*tensor.Tensor
	Extra   map[string][]byte // other files
}

// content is what the record of the program holds.
type content struct {
	Format  string            `json:"format"`
	Program *Program          `json:"program"`
	Same    map[string]string `json:"same,omitempty"` // tensors that are others, by their names
}

// format names the form of the archives that are written.
const format = "torchjit export 1"

// records are those of an archive. It fails on tensors that cannot be written.
func (a *Archive) records() ([]archive.Record, error) {
	if err := a.Program.Check(); err != nil {
		return nil, err
	}
	c := content{Format: format, Program: a.Program, Same: map[string]string{}}
	first, distinct := map[*tensor.Tensor]string{}, map[string]*tensor.Tensor{}
	for _, in := range a.Program.Signature.Inputs {
		t := a.Tensors[in.Target]
		if in.Target == "" || distinct[in.Target] != nil {
			continue
		}
		if t == nil {
			return nil, source.Errorf(source.KeyError, source.Range{}, "there is no tensor %s, which the program takes", in.Target)
		}
		if name, known := first[t]; known {
			c.Same[in.Target] = name
			continue
		}
		first[t], distinct[in.Target] = in.Target, t
	}
	for name, t := range a.Tensors {
		if strings.HasPrefix(name, ExamplePrefix) {
			distinct[name] = t
		}
	}
	program, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	for name, t := range distinct {
		if distinct[name], err = t.Contiguous(); err != nil {
			return nil, err
		}
	}
	var tensors bytes.Buffer
	if err := safetensors.Write(&tensors, distinct, nil); err != nil {
		return nil, err
	}
	records := []archive.Record{{Name: "version", Data: []byte("1\n")}, {Name: ProgramRecord, Data: program}, {Name: tensorsRecord, Data: tensors.Bytes()}}
	for name, data := range a.Extra {
		records = append(records, archive.Record{Name: extraFolder + name, Data: data})
	}
	return records, nil
}

// Write returns the bytes of an archive. It fails where the program is not what Check allows, or lacks a tensor.
func (a *Archive) Write() ([]byte, error) {
	records, err := a.records()
	if err != nil {
		return nil, err
	}
	return archive.RecordsArchive(records)
}

// Save is Write to a file, which stays as it is where that fails.
func (a *Archive) Save(file string) error { return a.SaveReporting(file, nil) }

// SaveReporting is Save that tells now and then how far it is. An error of progress ends it.
func (a *Archive) SaveReporting(file string, progress archive.Progress) error {
	records, err := a.records()
	if err != nil {
		return err
	}
	return archive.SaveRecords(file, records, progress)
}
