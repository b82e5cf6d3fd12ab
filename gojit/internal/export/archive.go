package export

import (
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/pt2archive"
)

// IsArchive reports whether an archive holds an exported program: in the form of this library, or in that of PyTorch 2.
func IsArchive(z *archive.Archive) bool { return z.Has(exportir.ProgramRecord) || pt2archive.Is(z) }

// ReadArchive reads an archive of either form, which must stay as it is while the tensors are in use. Nothing in it is run.
func ReadArchive(data []byte) (*exportir.Archive, error) {
	z, err := archive.OpenArchive(data)
	if err != nil {
		return nil, err
	}
	if pt2archive.Is(z) {
		return pt2archive.Read(z)
	}
	return exportir.Read(z)
}

// LoadArchive is ReadArchive of a file. progress may be nil.
func LoadArchive(file string, progress archive.Progress) (*exportir.Archive, error) {
	data, err := archive.ReadFile(file, progress)
	if err != nil {
		return nil, err
	}
	return ReadArchive(data)
}
