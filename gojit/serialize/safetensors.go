package serialize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// The format of safetensors: eight bytes with the length of a header, the header in JSON, and the elements of all tensors one
// behind the other. The header maps names to element type, shape and place.

const (
	maxSafeHeader  = 100_000_000
	safeMetadata   = "__metadata__"
	safeLengthSize = 8
	safeAlignment  = 8
)

// SafeTensors is what a file of safetensors holds.
type SafeTensors struct {
	Names    []string // in the order of the elements
	Tensors  map[string]*tensor.Tensor
	Metadata map[string]string
}

// safeEntry is one tensor in a header.
type safeEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
	name    string
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

// LoadSafeTensors reads a file, which is mapped into memory: elements are read when they are used. The file must stay as it is
// while the tensors are in use. It fails on a file that is not whole, or not of the format.
func LoadSafeTensors(path string) (*SafeTensors, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, archiveError("%s cannot be read: %s", path, err)
	}
	return readSafeTensors(m)
}

// ReadSafeTensors is LoadSafeTensors of a file in memory, which must stay as it is while the tensors are in use.
func ReadSafeTensors(data []byte) (*SafeTensors, error) { return readSafeTensors(&mapping{data: data}) }

func readSafeTensors(m *mapping) (*SafeTensors, error) {
	if len(m.data) < safeLengthSize {
		return nil, safeError("HeaderTooSmall")
	}
	length := binary.LittleEndian.Uint64(m.data)
	if length > maxSafeHeader {
		return nil, safeError("HeaderTooLarge")
	}
	if length > uint64(len(m.data)-safeLengthSize) {
		return nil, safeError("InvalidHeaderLength")
	}
	elements := m.data[safeLengthSize+int(length):]
	f := &SafeTensors{Tensors: map[string]*tensor.Tensor{}}
	entries, err := f.parse(m.data[safeLengthSize : safeLengthSize+int(length)])
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b safeEntry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	end := int64(0)
	for i := range entries {
		e := &entries[i]
		if e.Offsets[0] != end || e.Offsets[1] < end || e.Offsets[1] > int64(len(elements)) {
			return nil, safeError("InvalidOffset(%q)", e.name)
		}
		end = e.Offsets[1]
		t, err := e.tensor(m, elements[e.Offsets[0]:end:end])
		if err != nil {
			return nil, err
		}
		f.Names, f.Tensors[e.name] = append(f.Names, e.name), t
	}
	if end != int64(len(elements)) {
		return nil, safeError("MetadataIncompleteBuffer")
	}
	return f, nil
}

// parse reads a header: an object whose keys differ.
func (f *SafeTensors) parse(header []byte) ([]safeEntry, error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, safeError("InvalidHeaderStart")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return nil, safeError("InvalidHeaderDeserialization: %s", err)
	}
	var entries []safeEntry
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok || seen[name] {
			return nil, safeError("InvalidHeaderDeserialization: a name is missing, or twice there: %q", name)
		}
		seen[name] = true
		if name == safeMetadata {
			if err := d.Decode(&f.Metadata); err != nil {
				return nil, safeError("InvalidHeaderDeserialization: %s", err)
			}
			continue
		}
		e := safeEntry{name: strings.Clone(name)}
		if err := d.Decode(&e); err != nil {
			return nil, safeError("InvalidHeaderDeserialization: %s", err)
		}
		if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
			return nil, safeError("InvalidOffset(%q)", name)
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, safeError("InvalidHeaderDeserialization: %s", err)
	}
	if strings.TrimRight(string(header[d.InputOffset():]), " ") != "" {
		return nil, safeError("InvalidHeaderDeserialization: something follows the header")
	}
	return entries, nil
}

// tensor makes the tensor over its elements. Elements that are not aligned for their type are copied.
func (e *safeEntry) tensor(m *mapping, elements []byte) (*tensor.Tensor, error) {
	dtype, ok := safeType(e.DType)
	if !ok {
		return nil, safeError("the tensor %q has elements of the type %q, which is not known", e.name, e.DType)
	}
	shape, size := make([]int, len(e.Shape)), int64(dtype.Size())
	for i, n := range e.Shape {
		if n < 0 || n > math.MaxInt64/max(size, 1) {
			return nil, safeError("TensorInvalidInfo(%q)", e.name)
		}
		shape[i] = int(n)
		size *= n
	}
	if size != int64(len(elements)) {
		return nil, safeError("TensorInvalidInfo(%q)", e.name)
	}
	if len(elements) == 0 {
		return tensor.Empty(shape, dtype)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(elements)))%uintptr(dtype.Size()) != 0 {
		elements = slices.Clone(elements)
	}
	s := tensor.ForeignStorage(elements, func() { runtime.KeepAlive(m) })
	strides, next := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = next
		next *= shape[i]
	}
	return tensor.FromStorage(s, 0, shape, strides, dtype)
}

// SaveSafeTensors writes tensors to a file, which is replaced when its successor is whole. Equal tensors give equal bytes. It
// fails on tensors with gaps, and on element types that the format does not have.
func SaveSafeTensors(path string, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	return replaceFile(path, func(w io.Writer) error { return WriteSafeTensors(w, tensors, metadata) })
}

// WriteSafeTensors writes tensors in the format of safetensors. See SaveSafeTensors.
func WriteSafeTensors(w io.Writer, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
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
		if err := part(name, safeEntry{DType: safeTypes[safeRank(t.DType())].name, Shape: shape, Offsets: []int64{offset, end}}); err != nil {
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
