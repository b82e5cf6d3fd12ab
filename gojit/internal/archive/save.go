package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/checksum"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

const (
	noFile    = "archive" // the folder of the records where no file gives it its name
	alignment = 64        // of the records' bytes in the file
)

// record is one entry of an archive that is being written.
type record struct {
	name string
	data []byte
}

// Save returns the archive of a module and of the extra files. It fails on values that archives cannot hold,
// and on methods that do not compile or call Python. call runs __getstate__ of classes that have it.
func Save(m *value.Object, extra map[string][]byte, call Call) ([]byte, error) {
	records, err := recordsOf(m, extra, call)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeArchive(&b, noFile, records)
	return b.Bytes(), err
}

// folderOf is the folder of the records in a file: the file's name without its last extension.
func folderOf(file string) string {
	name := filepath.Base(file)
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "" {
		return stem
	}
	return noFile
}

// Progress is told how many bytes of an archive have been read or written, of how many. An error of it ends that.
type Progress = safefile.Progress

// SaveFile is Save to a file. A file of that name is replaced when the archive has been written to the
// disk, and stays as it is where that fails, or where the process ends before. progress may be nil.
func SaveFile(m *value.Object, file string, extra map[string][]byte, progress Progress, call Call) error {
	records, err := recordsOf(m, extra, call)
	if err != nil {
		return err
	}
	return saveRecords(file, records, progress)
}

func saveRecords(file string, records []record, progress Progress) error {
	var failed error
	err := safefile.ReplaceFile(file, func(w io.Writer) error {
		folder := folderOf(file)
		w = &reporter{w: w, total: sizeOf(folder, records), tell: progress, failed: &failed}
		return writeArchive(w, folder, records)
	})
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return archiveError("%s cannot be written: %s", file, err)
	}
	return nil
}

// reporter tells of what is written through it, every reportStep bytes.
type reporter struct {
	w                    io.Writer
	written, told, total int64
	tell                 Progress
	failed               *error // of tell
}

const reportStep = 4 << 20

func (r *reporter) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		n, err := r.w.Write(b[:min(len(b), reportStep)])
		written += n
		r.written += int64(n)
		if err != nil {
			return written, err
		}
		b = b[n:]
		if r.tell != nil && r.written-r.told >= reportStep {
			r.told = r.written
			if *r.failed = r.tell(min(r.written, r.total), r.total); *r.failed != nil {
				return written, *r.failed
			}
		}
	}
	return written, nil
}

// sizeOf is about the size of an archive.
func sizeOf(folder string, records []record) int64 {
	total := int64(0)
	for _, r := range records {
		total += int64(len(r.data)) + 2*int64(len(folder)+len(r.name)) + 140
	}
	return total
}

// Storages are the memories of a module's tensors in the order of their keys in archives: "0", "1" ...
func Storages(m *value.Object, call Call) ([]*tensor.Storage, error) {
	p := newPickler(code.NewExporter().TypeName, call)
	err := p.value(value.OfObject(m))
	return p.storages, err
}

func recordsOf(m *value.Object, extra map[string][]byte, call Call) ([]record, error) {
	if !m.Class.IsModule {
		return nil, archiveError("An object of %s is no module: only modules are saved", m.Class.Name)
	}
	x := code.NewExporter()
	data := newPickler(x.TypeName, call)
	if err := data.value(value.OfObject(m)); err != nil {
		return nil, err
	}
	constants, err := finish(x, call)
	if err != nil {
		return nil, err
	}
	records := append(data.records("data"), sourceRecords(x)...)
	records = append(records, constants.records("constants")...)
	return appendExtra(append(records, versionRecord(x)), extra)
}

// sourceRecords are those of the source text.
func sourceRecords(x *code.Exporter) (records []record) {
	for _, prefix := range x.Prefixes {
		name := "code/" + strings.ReplaceAll(prefix, ".", "/") + ".py"
		text, origins := x.Printers[prefix].Places.Unmark(x.Printers[prefix].B.String())
		records = append(records, record{name, []byte(text)}, record{name + ".debug_pkl", code.WriteOrigins(origins, x.Tags)})
	}
	return records
}

func versionRecord(x *code.Exporter) record {
	return record{"version", []byte(strconv.Itoa(max(code.MinimalVersion, x.Version)) + "\n")}
}

// finish writes the definitions, and pickles the constants that they refer to: these may need definitions
// in turn.
func finish(x *code.Exporter, call Call) (*pickler, error) {
	for {
		if err := x.Drain(); err != nil {
			return nil, err
		}
		p := newPickler(x.TypeName, call)
		p.e.Mark()
		err := p.values(x.Constants)
		p.e.Tuple()
		if err != nil {
			return nil, err
		}
		if len(x.Pending) == 0 {
			return p, nil
		}
	}
}

// records ends the pickle and returns it after its storages.
func (p *pickler) records(name string) []record {
	return append(p.storageRecords(name), record{name + ".pkl", p.e.Finish()})
}

func (p *pickler) storageRecords(name string) (records []record) {
	for key, s := range p.storages {
		if here := p.fetched[s]; here != nil {
			s = here
		}
		records = append(records, record{name + "/" + strconv.Itoa(key), s.Bytes()})
	}
	return records
}

func appendExtra(records []record, extra map[string][]byte) ([]record, error) {
	names := make([]string, 0, len(extra))
	for name := range extra {
		if name == "" || strings.Contains(name, "\\") || path.Clean("/"+name) != "/"+name {
			return nil, archiveError("%q cannot be the name of an extra file", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		records = append(records, record{"extra/" + name, extra[name]})
	}
	return records, nil
}

// counter counts the bytes that go through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// writeArchive writes records, which are in a folder, uncompressed but for code, each with its bytes at a multiple of the alignment.
func writeArchive(w io.Writer, folder string, records []record) error {
	at := &counter{w: w}
	z := zip.NewWriter(at)
	for _, r := range records {
		if err := z.Flush(); err != nil {
			return err
		}
		h := &zip.FileHeader{
			Name: folder + "/" + r.name, Method: zip.Store, CRC32: checksum.Update(0, r.data),
			CompressedSize64: uint64(len(r.data)), UncompressedSize64: uint64(len(r.data)),
		}
		data := r.data
		if strings.HasPrefix(r.name, "code/") && len(data) > leastDeflated {
			data = deflated(data)
			h.Method, h.CompressedSize64 = zip.Deflate, uint64(len(data))
		}
		if !code.IsASCII(h.Name) {
			h.Flags |= 0x800
		}
		h.Extra = padding(at.n + localHeader + int64(len(h.Name)))
		entry, err := z.CreateRaw(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

// leastDeflated is how many bytes of code are stored as they are.
const leastDeflated = 200

// deflated compresses data.
func deflated(data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is right
	}
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return b.Bytes()
}

const localHeader = 30 // bytes before the name of an entry

// padding returns an extra field after which an entry's bytes, which would begin at start, are
// aligned.
func padding(start int64) []byte {
	const fieldHeader = 4
	n := int(alignment-(start+fieldHeader)%alignment) % alignment
	field := append([]byte{'F', 'B', byte(n), byte(n >> 8)}, bytes.Repeat([]byte{'Z'}, n)...)
	return field
}
