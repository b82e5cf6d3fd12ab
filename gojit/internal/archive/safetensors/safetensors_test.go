package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// safeFile is a file with a header and elements.
func safeFile(header string, elements int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, elements)...)
}

func TestSafeTensorsRoundTrip(t *testing.T) {
	numbers, err := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	counts, _ := tensor.FromSlice([]int64{7}, 1)
	none, _ := tensor.FromSlice([]bool{}, 0, 4)
	path := filepath.Join(t.TempDir(), "model.safetensors")
	given := map[string]*tensor.Tensor{"w": numbers, "n<é>": counts, "none": none}
	if err := safetensors.Save(path, given, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Names, " "); got != "n<é> w none" || f.Metadata["format"] != "pt" {
		t.Errorf("%s, %v", got, f.Metadata)
	}
	for name, want := range given {
		if got := f.Tensors[name].String(); got != want.String() {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	first, _ := os.ReadFile(path)
	var again bytes.Buffer
	if err := safetensors.Write(&again, f.Tensors, f.Metadata); err != nil || !bytes.Equal(again.Bytes(), first) {
		t.Errorf("what was read is written in another way: %v", err)
	}
}

func TestSafeTensorsThatAreRefused(t *testing.T) {
	for header, elements := range map[string]int{
		``:        0,
		`[]`:      0,
		`{"a":1}`: 0,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`:                                                       4,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}x`:                                                     4,
		`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`:                                                      4,
		`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`:                                                     4,
		`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`:                                  0,
		`{"a":{"dtype":"F9","shape":[1],"data_offsets":[0,4]}}`:                                                       4,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`:                                                      4,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`:                                                      8,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} `:                                                     5,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`:                                                      4,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}}`:                                             4,
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`: 4,
		`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`:   2,
		`{"__metadata__":{"a":1},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`:                                1,
		`{"__metadata__":{"a":"1"},"__metadata__":{},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`:            1,
	} {
		if _, err := safetensors.Read(safeFile(header, elements)); err == nil {
			t.Errorf("%s with %d bytes was read", header, elements)
		}
	}
	for _, data := range []string{"", "short", "\xff\xff\xff\xff\xff\xff\xff\xff{}", "\x00\xe1\xf5\x05\x00\x00\x00\x00{}", "\x09\x00\x00\x00\x00\x00\x00\x00{}"} {
		if _, err := safetensors.Read([]byte(data)); err == nil {
			t.Errorf("%q was read", data)
		}
	}
}

// An element that does not lie at a multiple of its size is read all the same.
func TestSafeTensorsOutOfAlignment(t *testing.T) {
	f, err := safetensors.Read(safeFile(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[],"data_offsets":[1,9]}}`, 9))
	if err != nil || f.Tensors["b"].String() != "tensor(0., dtype=torch.float64)" {
		t.Errorf("%v, %v", f, err)
	}
}

// FuzzSafeTensors: whatever a file contains, reading gives an error, or tensors that can be written and read again.
func FuzzSafeTensors(f *testing.F) {
	f.Add(safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[2,0],"data_offsets":[4,4]}}`, 4))
	f.Add(safeFile(`{"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}}  `, 16))
	f.Add(safeFile(`{"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,4]}}`, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := safetensors.Read(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, read.Tensors, read.Metadata); err != nil {
			t.Fatal(err)
		}
		again, err := safetensors.Read(b.Bytes())
		if err != nil || len(again.Tensors) != len(read.Tensors) {
			t.Fatal(err)
		}
	})
}

// FuzzSafeTensorsInFiles: a file gives what its bytes give.
func FuzzSafeTensorsInFiles(f *testing.F) {
	for _, header := range []string{
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, `{"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}`,
		`{"a":{"dtype":"F64","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, `{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`,
	} {
		f.Add(safeFile(header, 4))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := safetensors.Read(data)
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err2 := safetensors.Load(path)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("in memory: %v, in a file: %v", err, err2)
		}
		if err != nil {
			return
		}
		for name, x := range read.Tensors {
			if !slices.Equal(x.Shape(), loaded.Tensors[name].Shape()) {
				t.Errorf("%s has the shapes %v and %v", name, x.Shape(), loaded.Tensors[name].Shape())
			}
			if _, err := x.Clone(tensor.ContiguousFormat); err != nil {
				t.Error(err)
			}
		}
	})
}
