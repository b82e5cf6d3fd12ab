package gojit

import (
	"context"
	"os"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/export"
)

// Model is what can be called: a *Module, or an *Exported program.
type Model interface {
	// Methods returns the names of the methods.
	Methods() []string
	// Signature says what a method takes and gives.
	Signature(method string) (Signature, error)
	// Call calls a method; see Module.Call.
	Call(ctx context.Context, method string, args ...any) (Value, error)
}

var _, _ Model = (*Module)(nil), (*Exported)(nil)

// Open loads a file that torch.jit.save or torch.export.save wrote, whichever it is, with the options for the former.
func Open(path string, o LoadOptions) (Model, error) {
	data, err := readModel(path, o.Progress)
	if err != nil {
		return nil, &errs.FileError{Path: path, Err: err}
	}
	m, err := OpenBytes(data, o)
	if e, ok := err.(*errs.FileError); ok {
		e.Path = path
	}
	return m, err
}

// readModel reads a file, or all that a pipe gives.
func readModel(path string, progress func(done, total int64) error) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return os.ReadFile(path)
	}
	return safefile.ReadFile(path, progress)
}

// OpenBytes is Open of a file in memory, which must stay as it is while the model is in use.
func OpenBytes(data []byte, o LoadOptions) (m Model, err error) {
	defer guard(&err)
	if IsExported(data) {
		e, err := ReadExported(data)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	module, err := LoadBytesWith(data, o)
	if err != nil {
		return nil, err
	}
	return module, nil
}

// IsExported reports whether a file in memory holds an exported program.
func IsExported(data []byte) bool {
	a, err := archive.OpenArchive(data)
	return err == nil && export.IsArchive(a)
}
