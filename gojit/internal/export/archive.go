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

// WriteForPyTorch returns the bytes of an archive that torch.export.load of PyTorch 2.15 reads. It fails on what PyTorch has no form of.
func WriteForPyTorch(a *exportir.Archive) ([]byte, error) {
	records, err := pt2archive.Records(a)
	if err != nil {
		return nil, err
	}
	return archive.RecordsArchive(records)
}

// SaveForPyTorch is WriteForPyTorch to a file, which stays as it is where that fails. progress may be nil.
func SaveForPyTorch(a *exportir.Archive, file string, progress archive.Progress) error {
	records, err := pt2archive.Records(a)
	if err != nil {
		return err
	}
	return archive.SaveRecords(file, records, progress)
}
