// Package npy reads and writes tensors in NumPy's files: .npy holds one array, .npz, a zip archive, several under names.
//
// Read and Write handle one array, ReadArchive and WriteArchive several. Types without a NumPy counterpart (bfloat16, quantized and sparse tensors)
// fail; float16 and both byte orders are there. A header promises nothing: no more is read, and no more memory taken, than the data has.
package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/tensor"
)

const magic = "\x93NUMPY"

// codes are the element types by NumPy's kind and size.
var codes = map[string]tensor.DType{
	"b1": tensor.Bool, "u1": tensor.Uint8, "i1": tensor.Int8, "i2": tensor.Int16, "i4": tensor.Int32, "i8": tensor.Int64,
	"f2": tensor.Float16, "f4": tensor.Float32, "f8": tensor.Float64, "c8": tensor.Complex64, "c16": tensor.Complex128,
}

// IsNPY reports whether data begins as an .npy file does.
func IsNPY(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }

// IsNPZ reports whether data begins as a zip archive does.
func IsNPZ(data []byte) bool {
	return bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06"))
}

// header is what stands before the elements.
type header struct {
	dtype   tensor.DType
	swapped bool
	fortran bool
	shape   []int
}

var (
	descr   = regexp.MustCompile(`'descr':\s*'([<>|=]?)([a-zA-Z]+[0-9]*)'`)
	fortran = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shape   = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// Read reads one array from the bytes of a file. It fails on data that is not whole, on what stands behind the array, and on element types that tensors do not have.
func Read(data []byte) (*tensor.Tensor, error) {
	h, elements, err := readHeader(data)
	if err != nil {
		return nil, err
	}
	count, err := tensor.Numel(h.shape)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	if want := count * h.dtype.Size(); len(elements) != want {
		return nil, fmt.Errorf("npy: an array of shape %s and type %s has %d bytes, the file %d behind its header", tensor.FormatShape(h.shape), h.dtype, want, len(elements))
	}
	if h.swapped {
		elements = swap(elements, h.dtype)
	}
	if !h.fortran {
		return tensor.FromBytes(elements, h.shape, h.dtype)
	}
	backwards := slices.Clone(h.shape)
	slices.Reverse(backwards)
	t, err := tensor.FromBytes(elements, backwards, h.dtype)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(backwards))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	if t, err = t.Permute(order...); err != nil {
		return nil, err
	}
	return t.Contiguous()
}

func readHeader(data []byte) (*header, []byte, error) {
	if !IsNPY(data) || len(data) < len(magic)+4 {
		return nil, nil, fmt.Errorf("npy: the data is no array of NumPy: it begins with %q, expected %q", data[:min(len(data), 6)], magic)
	}
	major, rest := data[len(magic)], data[len(magic)+2:]
	var size int
	switch {
	case major == 1:
		size, rest = int(binary.LittleEndian.Uint16(rest)), rest[2:]
	case (major == 2 || major == 3) && len(rest) >= 4:
		size, rest = int(binary.LittleEndian.Uint32(rest)), rest[4:]
	default:
		return nil, nil, fmt.Errorf("npy: version %d of the format is not known, expected 1, 2 or 3", major)
	}
	if size < 0 || size > len(rest) {
		return nil, nil, fmt.Errorf("npy: the header ends behind the file: it is said to have %d bytes, %d are there", size, len(rest))
	}
	text := string(rest[:size])
	h, err := parseHeader(text)
	return h, rest[size:], err
}

func parseHeader(text string) (*header, error) {
	d, f, s := descr.FindStringSubmatch(text), fortran.FindStringSubmatch(text), shape.FindStringSubmatch(text)
	if d == nil || f == nil || s == nil {
		return nil, fmt.Errorf("npy: the header has no type, order and shape as expected: %.200q", text)
	}
	dtype, ok := codes[d[2]]
	if !ok {
		return nil, fmt.Errorf("npy: tensors have no elements of NumPy's type %q", d[1]+d[2])
	}
	h := &header{dtype: dtype, swapped: d[1] == ">" && dtype.Size() > 1, fortran: f[1] == "True"}
	for _, part := range strings.Split(s[1], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("npy: %q is no size of an array", part)
		}
		h.shape = append(h.shape, n)
	}
	return h, nil
}

// swap reverses the bytes of each number.
func swap(elements []byte, dtype tensor.DType) []byte {
	size := dtype.Size()
	if dtype.IsComplex() {
		size /= 2
	}
	out := bytes.Clone(elements)
	for i := 0; i+size <= len(out); i += size {
		slices.Reverse(out[i : i+size])
	}
	return out
}

// Write writes one array.
func Write(w io.Writer, t *tensor.Tensor) error {
	code := ""
	for c, dtype := range codes {
		if dtype == t.DType() {
			code = c
		}
	}
	if code == "" {
		return fmt.Errorf("npy: NumPy has no type for elements of type %s", t.DType())
	}
	order := "<"
	if t.DType().Size() == 1 {
		order = "|"
	}
	elements, err := t.Bytes()
	if err != nil {
		return err
	}
	sizes := make([]string, t.Dim())
	for i := range sizes {
		sizes[i] = strconv.Itoa(t.Size(i))
	}
	tuple := strings.Join(sizes, ", ")
	if len(sizes) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, tuple)
	const before = len(magic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n"
	head := append([]byte(magic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	if _, err := w.Write(append(head, text...)); err != nil {
		return err
	}
	_, err = w.Write(elements)
	return err
}

// Array is an array of an archive.
type Array struct {
	Name   string
	Tensor *tensor.Tensor
}

// ReadArchive reads the arrays of an .npz file in their order. It fails where one is damaged.
func ReadArchive(data []byte) ([]Array, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	var arrays []Array
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("npz: the record %q is no array", f.Name)
		}
		content, err := readRecord(f)
		if err != nil {
			return nil, fmt.Errorf("npz: %s: %w", name, err)
		}
		t, err := Read(content)
		if err != nil {
			return nil, fmt.Errorf("npz: %s: %w", name, err)
		}
		arrays = append(arrays, Array{name, t})
	}
	return arrays, nil
}

func readRecord(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// WriteArchive writes arrays under their names, uncompressed, as numpy.savez does.
func WriteArchive(w io.Writer, arrays ...Array) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := Write(f, a.Tensor); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return z.Close()
}
