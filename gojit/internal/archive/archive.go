package archive

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/archive/checksum"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// The limits on what is read from an archive.
const (
	maxRecords        = 1 << 20
	maxDeflatedRecord = 64 << 20 // of source text, when unpacked
	maxDeflatedTotal  = 256 << 20
	minVersion        = 1
	maxVersion        = 10
)

// Archive gives access to the records of a zip archive by their names without the leading folder.
type Archive struct {
	Version int

	data    []byte
	records map[string]*zip.File
	large   []string // records that are stored as they are and worth checking by others, in order
	checks  checks
	swapped bool // the bytes of numbers do not stand as they do in memory

	mu       sync.Mutex
	unpacked int // bytes unpacked from deflated records so far
}

func archiveError(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

// leastArchive is how many bytes the end of a zip archive has.
const leastArchive = 22

// OpenArchive reads the directory of an archive in memory. data must stay as it is while the
// archive and the tensors made from it are in use.
func OpenArchive(data []byte) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		what := "failed finding central directory"
		if len(data) < leastArchive {
			what = "not a ZIP archive"
		}
		return nil, archiveError("PytorchStreamReader failed reading zip archive: %s\nnote: this is no archive that torch.jit.save wrote: %s", what, err)
	}
	if len(z.File) > maxRecords {
		return nil, archiveError("The archive has %d records; at most %d are read", len(z.File), maxRecords)
	}
	a := &Archive{data: data, records: map[string]*zip.File{}}
	for _, f := range z.File {
		name := f.Name
		if strings.HasPrefix(name, "/") || strings.Contains(name, "\\") || path.Clean(name) != strings.TrimSuffix(name, "/") || strings.HasPrefix(name, "..") {
			return nil, archiveError("The archive has a record with the unsafe name %q", name)
		}
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return nil, archiveError("The record %q is in no folder", name)
		}
		if a.records[rest] != nil {
			return nil, archiveError("The archive has two records with the name %q", rest)
		}
		a.records[rest] = f
		if f.Method == zip.Store && f.UncompressedSize64 >= checkedLater {
			a.large = append(a.large, rest)
		}
	}
	if err := a.readVersion(); err != nil {
		return nil, err
	}
	return a, a.readByteOrder()
}

// readByteOrder reads how the bytes of numbers stand. Archives that do not say it are little-endian.
func (a *Archive) readByteOrder() error {
	const name = "byteorder"
	order := "little"
	if a.Has(name) {
		text, err := a.Read(name)
		if err != nil {
			return err
		}
		order = string(text)
	}
	if order != "little" && order != "big" {
		return archiveError("The record %q says %.40q, not \"little\" or \"big\"", name, order)
	}
	one := uint16(1)
	a.swapped = (order == "little") != (*(*byte)(unsafe.Pointer(&one)) == 1)
	return nil
}

func (a *Archive) readVersion() error {
	name := "version"
	if a.Has(".data/version") {
		name = ".data/version"
	}
	text, err := a.Read(name)
	if err != nil {
		return err
	}
	a.Version, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return archiveError("The version of the archive is no number: %.40q", text)
	}
	if a.Version < minVersion || a.Version > maxVersion {
		return archiveError("Attempted to read a PyTorch file with version %d, but the versions that are supported are %d to %d", a.Version, minVersion, maxVersion)
	}
	return nil
}

// Has reports whether there is a record.
func (a *Archive) Has(name string) bool { return a.records[name] != nil }

// Names returns the names of the records.
func (a *Archive) Names() []string {
	names := make([]string, 0, len(a.records))
	for name := range a.records {
		names = append(names, name)
	}
	return names
}

// Read returns the bytes of a record. Those of a record that is stored as it is are part of the
// archive's memory. It fails where the record is missing, damaged or too large.
func (a *Archive) Read(name string) ([]byte, error) {
	f := a.records[name]
	if f == nil {
		return nil, archiveError("PytorchStreamReader failed locating file %s: file not found", name)
	}
	if f.Method == zip.Store {
		return a.stored(name, f, false)
	}
	return a.deflated(name, f)
}

// ReadLater is Read for a record that nothing looks into before Checked has returned.
func (a *Archive) ReadLater(name string) ([]byte, error) {
	if f := a.records[name]; f != nil && f.Method == zip.Store {
		return a.stored(name, f, true)
	}
	return a.Read(name)
}

// CheckAhead begins to check what ReadLater may be asked for.
func (a *Archive) CheckAhead() { a.checks.begin(a) }

// Checked waits for the checks of what ReadLater returned, and of all such records after CheckAhead. It fails where a
// record is damaged.
func (a *Archive) Checked() error { return a.checks.wait() }

func (a *Archive) stored(name string, f *zip.File, later bool) ([]byte, error) {
	b, err := a.place(name, f)
	if err != nil || f.CRC32 == 0 {
		return b, err
	}
	if later && len(b) >= checkedLater {
		a.checks.add(name, b, f.CRC32)
		return b, nil
	}
	if checksum.Update(0, b) != f.CRC32 {
		return nil, damaged(name)
	}
	return b, nil
}

// place returns the bytes of a record that is stored as it is, unchecked.
func (a *Archive) place(name string, f *zip.File) ([]byte, error) {
	offset, err := f.DataOffset()
	if err != nil {
		return nil, archiveError("The record %q is damaged: %s", name, err)
	}
	if f.UncompressedSize64 != f.CompressedSize64 || f.UncompressedSize64 > uint64(len(a.data)) || offset < 0 || uint64(offset) > uint64(len(a.data))-f.UncompressedSize64 {
		return nil, archiveError("The record %q is said to have %d bytes, more than the archive holds", name, f.UncompressedSize64)
	}
	return a.data[offset : offset+int64(f.UncompressedSize64)], nil
}

func damaged(name string) error {
	return archiveError("The record %q is damaged: its checksum is wrong", name)
}

func (a *Archive) deflated(name string, f *zip.File) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.UncompressedSize64 > maxDeflatedRecord || a.unpacked+int(f.UncompressedSize64) > maxDeflatedTotal {
		return nil, archiveError("The record %q unpacks to %d bytes, which is more than is read", name, f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return nil, archiveError("The record %q is damaged: %s", name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
	if err != nil {
		return nil, archiveError("The record %q is damaged: %s", name, err)
	}
	if uint64(len(b)) != f.UncompressedSize64 {
		return nil, archiveError("The record %q does not have the %d bytes that it is said to have", name, f.UncompressedSize64)
	}
	a.unpacked += len(b)
	return b, nil
}

// wrap names the record that an error is about.
func wrap(record string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*source.Error); ok {
		return e
	}
	var r raised
	if errors.As(err, &r) {
		return r.error
	}
	return archiveError("The record %q cannot be read: %s", record, fmt.Sprint(err))
}
