package archive

import (
	"bytes"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ReadSaved reads what torch.save wrote: tensors, numbers and texts in containers. It fails on what has classes, of which none is known. data must stay
// as it is while the tensors are in use.
func ReadSaved(data []byte) (value.Value, error) {
	a, err := OpenArchive(data)
	if err != nil {
		return value.None, err
	}
	u := &unpickler{
		a: a, folder: "data", storages: map[string]*tensor.Storage{}, made: map[any]value.Value{},
		class: func(name string) (types.Type, error) {
			return nil, archiveError("The class %s is not known here", name)
		},
	}
	u.annotation = func(text string) (types.Type, error) { return u.class(text) }
	v, err := u.read("data.pkl")
	if err != nil {
		return v, err
	}
	return v, a.Checked()
}

// WriteSaved writes what torch.load reads: tensors, numbers and texts in containers.
func WriteSaved(v value.Value) ([]byte, error) {
	p := newPickler(nil, nil)
	p.plain = true
	if err := p.value(v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := writeArchive(&b, noFile, append(p.records("data"), record{"version", []byte("3\n")}))
	return b.Bytes(), err
}
