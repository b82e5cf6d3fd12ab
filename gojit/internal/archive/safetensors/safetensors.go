// Package safetensors reads and writes files of named tensors in the format of that name.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The format of safetensors: eight bytes with the length of a header, the header in JSON, and the elements of all tensors one
// behind the other. The header maps names to element type, shape and place.

const (
	maxSafeHeader  = 100_000_000
	safeMetadata   = "__metadata__"
	safeLengthSize = 8
	safeAlignment  = 8

	maxSafeDimensions = 64
)

// SafeTensors is what a file of safetensors holds.
type SafeTensors struct {
	Names    []string // in the order of the elements
	Tensors  map[string]*tensor.Tensor
	Metadata map[string]string
}

// entry is one tensor in a header.
type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
	name    string
	dtype   tensor.DType
	shape   []int
}

// safeTypes are the names of element types, in the order in which tensors are written: the last first.
var safeTypes = []struct {
	name  string
	dtype tensor.DType
}{
	{"BOOL", tensor.Bool}, {"U8", tensor.Uint8}, {"I8", tensor.Int8}, {"I16", tensor.Int16}, {"F16", tensor.Float16},
	{"BF16", tensor.BFloat16}, {"I32", tensor.Int32}, {"F32", tensor.Float32}, {"F64", tensor.Float64}, {"I64", tensor.Int64},
}

func safeType(name string) (tensor.DType, bool) {
	for _, t := range safeTypes {
		if t.name == name {
			return t.dtype, true
		}
	}
	return 0, false
}

func safeRank(d tensor.DType) int {
	for i, t := range safeTypes {
		if t.dtype == d {
			return i
		}
	}
	return -1
}

func safeError(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, "Error while deserializing header: "+format, args...)
}

// Load reads a file into memory: what happens to it later changes nothing. It fails on a file that is not whole, or not of
// the format.
func Load(path string) (*SafeTensors, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &SafeTensors{Names: f.Names, Tensors: map[string]*tensor.Tensor{}, Metadata: f.Metadata}
	for _, name := range f.Names {
		if s.Tensors[name], err = f.Tensor(name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// File is an open file of safetensors, whose tensors are read when they are asked for.
type File struct {
	Names    []string // in the order of the elements
	Metadata map[string]string

	path     string
	file     *os.File
	elements int64 // where they begin
	entries  map[string]*entry
}

// Open opens a file and reads its header. It fails as LoadSafeTensors does.
func Open(path string) (*File, error) {
	file, size, err := safefile.OpenRegular(path)
	if err != nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "%s cannot be read: %s", path, err)
	}
	f := &File{path: path, file: file, entries: map[string]*entry{}}
	if err := f.readHeader(size); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) readHeader(size int64) error {
	var prefix [safeLengthSize]byte
	if size < safeLengthSize {
		return safeError("HeaderTooSmall")
	}
	if err := safefile.ReadPart(f.file, prefix[:], 0); err != nil {
		return err
	}
	length, err := headerLength(prefix[:], size)
	if err != nil {
		return err
	}
	header, err := tensor.TryLargeBytes(int(length))
	if err != nil {
		return err
	}
	if err := safefile.ReadPart(f.file, header, safeLengthSize); err != nil {
		return err
	}
	f.elements = safeLengthSize + length
	entries, metadata, err := safeEntries(header, size-f.elements)
	if err != nil {
		return err
	}
	f.Metadata = metadata
	for i := range entries {
		f.Names = append(f.Names, entries[i].name)
		f.entries[entries[i].name] = &entries[i]
	}
	return nil
}

// Tensor reads a tensor. It fails where the file has none of the name, and where it has become shorter.
func (f *File) Tensor(name string) (*tensor.Tensor, error) {
	e := f.entries[name]
	if e == nil {
		return nil, safeError("there is no tensor %q", name)
	}
	t, err := tensor.Empty(e.shape, e.dtype)
	if err != nil {
		return nil, err
	}
	if err := safefile.ReadAt(f.file, t.Storage().Bytes()[:e.Offsets[1]-e.Offsets[0]], f.elements+e.Offsets[0], nil); err != nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "%s cannot be read: %s", f.path, err)
	}
	return t, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// headerLength reads the length of a header from the bytes before it.
func headerLength(prefix []byte, size int64) (int64, error) {
	length := binary.LittleEndian.Uint64(prefix)
	if length > maxSafeHeader {
		return 0, safeError("HeaderTooLarge")
	}
	if int64(length) > size-safeLengthSize {
		return 0, safeError("InvalidHeaderLength")
	}
	return int64(length), nil
}

// Read is LoadSafeTensors of a file in memory, which must stay as it is while the tensors are in use.
func Read(data []byte) (*SafeTensors, error) {
	if len(data) < safeLengthSize {
		return nil, safeError("HeaderTooSmall")
	}
	length, err := headerLength(data, int64(len(data)))
	if err != nil {
		return nil, err
	}
	elements := data[safeLengthSize+length:]
	f := &SafeTensors{Tensors: map[string]*tensor.Tensor{}}
	entries, metadata, err := safeEntries(data[safeLengthSize:safeLengthSize+length], int64(len(elements)))
	if err != nil {
		return nil, err
	}
	f.Metadata = metadata
	for i := range entries {
		e := &entries[i]
		t, err := e.tensor(elements[e.Offsets[0]:e.Offsets[1]:e.Offsets[1]])
		if err != nil {
			return nil, err
		}
		f.Names, f.Tensors[e.name] = append(f.Names, e.name), t
	}
	return f, nil
}

// safeEntries reads a header. The entries are in the order of their elements, which are size bytes: all, with nothing between them.
func safeEntries(header []byte, size int64) ([]entry, map[string]string, error) {
	entries, metadata, err := parseSafeHeader(header)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	end := int64(0)
	for i := range entries {
		e := &entries[i]
		if e.Offsets[0] != end || e.Offsets[1] < end || e.Offsets[1] > size {
			return nil, nil, safeError("InvalidOffset(%q)", e.name)
		}
		end = e.Offsets[1]
		if err := e.check(); err != nil {
			return nil, nil, err
		}
	}
	if end != size {
		return nil, nil, safeError("MetadataIncompleteBuffer")
	}
	return entries, metadata, nil
}

// parseSafeHeader reads a header: an object whose keys differ.
func parseSafeHeader(header []byte) (entries []entry, metadata map[string]string, err error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, nil, safeError("InvalidHeaderStart")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return nil, nil, safeError("InvalidHeaderDeserialization: %s", err)
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok || seen[name] {
			return nil, nil, safeError("InvalidHeaderDeserialization: a name is missing, or twice there: %q", name)
		}
		seen[name] = true
		if name == safeMetadata {
			if err := d.Decode(&metadata); err != nil {
				return nil, nil, safeError("InvalidHeaderDeserialization: %s", err)
			}
			continue
		}
		e := entry{name: strings.Clone(name)}
		if err := d.Decode(&e); err != nil {
			return nil, nil, safeError("InvalidHeaderDeserialization: %s", err)
		}
		if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
			return nil, nil, safeError("InvalidOffset(%q)", name)
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, safeError("InvalidHeaderDeserialization: %s", err)
	}
	if strings.TrimRight(string(header[d.InputOffset():]), " ") != "" {
		return nil, nil, safeError("InvalidHeaderDeserialization: something follows the header")
	}
	return entries, metadata, nil
}

// check reads the element type and the shape of an entry, which fit its elements.
func (e *entry) check() (err error) {
	ok := false
	if e.dtype, ok = safeType(e.DType); !ok {
		return safeError("the tensor %q has elements of the type %q, which is not known", e.name, e.DType)
	}
	if len(e.Shape) > maxSafeDimensions {
		return safeError("TensorInvalidInfo(%q)", e.name)
	}
	e.shape = make([]int, len(e.Shape))
	size, counted := int64(e.dtype.Size()), int64(e.dtype.Size()) // counted takes dimensions of size 0 for 1
	for i, n := range e.Shape {
		if n < 0 || n > math.MaxInt64/counted {
			return safeError("TensorInvalidInfo(%q)", e.name)
		}
		e.shape[i] = int(n)
		size *= n
		counted *= max(n, 1)
	}
	if size != e.Offsets[1]-e.Offsets[0] {
		return safeError("TensorInvalidInfo(%q)", e.name)
	}
	return nil
}

// tensor makes the tensor over its elements. Elements that are not aligned for their type are copied.
func (e *entry) tensor(elements []byte) (*tensor.Tensor, error) {
	if len(elements) == 0 {
		return tensor.Empty(e.shape, e.dtype)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(elements)))%uintptr(e.dtype.Size()) != 0 {
		elements = slices.Clone(elements)
	}
	s := tensor.ForeignStorage(elements, nil)
	strides, next := make([]int, len(e.shape)), 1
	for i := len(e.shape) - 1; i >= 0; i-- {
		strides[i] = next
		next *= e.shape[i]
	}
	return tensor.FromStorage(s, 0, e.shape, strides, e.dtype)
}

// Save writes tensors to a file, which is replaced when its successor is whole. Equal tensors give equal bytes. It
// fails on tensors with gaps, and on element types that the format does not have.
func Save(path string, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	return safefile.ReplaceFile(path, func(w io.Writer) error { return Write(w, tensors, metadata) })
}

// Write writes tensors in the format of safetensors. See SaveSafeTensors.
func Write(w io.Writer, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	names := make([]string, 0, len(tensors))
	for name, t := range tensors {
		if name == safeMetadata || safeRank(t.DType()) < 0 || !t.IsContiguous() {
			return source.Errorf(source.ValueError, source.Range{}, "The tensor %q, with elements of type %s, cannot be written: the name is reserved, the type is not one of the format, or the tensor is not contiguous", name, t.DType())
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(safeRank(tensors[b].DType())-safeRank(tensors[a].DType()), strings.Compare(a, b))
	})
	header, err := safeHeader(names, tensors, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, name := range names {
		t := tensors[name]
		from := t.Offset() * t.DType().Size()
		if _, err := w.Write(t.Storage().Bytes()[from : from+t.Numel()*t.DType().Size()]); err != nil {
			return err
		}
	}
	return nil
}

func safeHeader(names []string, tensors map[string]*tensor.Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, safeLengthSize))
	b.WriteByte('{')
	part := func(name string, item any) error {
		if b.Len() > safeLengthSize+1 {
			b.WriteByte(',')
		}
		for i, x := range [2]any{name, item} {
			if i == 1 {
				b.WriteByte(':')
			}
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(x); err != nil {
				return err
			}
			b.Truncate(b.Len() - 1) // the end of the line
		}
		return nil
	}
	if len(metadata) > 0 {
		if err := part(safeMetadata, metadata); err != nil {
			return nil, err
		}
	}
	offset := int64(0)
	for _, name := range names {
		t := tensors[name]
		shape := make([]int64, t.Dim())
		for i, n := range t.Shape() {
			shape[i] = int64(n)
		}
		end := offset + int64(t.Numel()*t.DType().Size())
		if err := part(name, entry{DType: safeTypes[safeRank(t.DType())].name, Shape: shape, Offsets: []int64{offset, end}}); err != nil {
			return nil, err
		}
		offset = end
	}
	b.WriteByte('}')
	for b.Len()%safeAlignment != 0 {
		b.WriteByte(' ')
	}
	header := b.Bytes()
	binary.LittleEndian.PutUint64(header, uint64(len(header)-safeLengthSize))
	if len(header)-safeLengthSize > maxSafeHeader {
		return nil, source.Errorf(source.ValueError, source.Range{}, "The names and shapes take %d bytes; at most %d can be read", len(header), maxSafeHeader)
	}
	return header, nil
}
