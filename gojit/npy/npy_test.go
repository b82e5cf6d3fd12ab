package npy_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/npy"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func Example() {
	t, err := tensor.FromSlice([]float32{1, 2, 3}, 3)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := npy.WriteArchive(&file, npy.Array{Name: "x", Tensor: t}); err != nil {
		log.Fatal(err)
	}
	arrays, err := npy.ReadArchive(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(arrays[0].Name, arrays[0].Tensor)
	// Output: x tensor([1., 2., 3.])
}

// array is a file of NumPy with a header and elements.
func array(header, elements string) string {
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + elements
}

func TestOrderAndBytes(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{array("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }\n", "\x01\x00\x02\x00\x03\x00\x04\x00"), "tensor([[1, 3],\n        [2, 4]], dtype=torch.int16)"},
		{array("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", "\x00\x01\x01\x00"), "tensor([  1, 256], dtype=torch.int16)"},
		{array("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", "\x01"), "tensor(True)"},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }\n", ""), "tensor([], size=(0, 2))"},
	} {
		got, err := npy.Read([]byte(c.file))
		if err != nil || got.String() != c.want {
			t.Errorf("%q: %v %v, want %s", c.file, got, err, c.want)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "no array of NumPy"},
		{"\x93NUMPY\x01\x00", "no array of NumPy"},
		{"\x93NUMPY\x09\x00\x00\x00", "version 9"},
		{"\x93NUMPY\x01\x00\xff\xff{", "ends behind the file"},
		{"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "ends behind the file"},
		{array("nothing\n", ""), "no type, order and shape"},
		{array("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", ""), `NumPy's type "|O"`},
		{array("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }\n", "12345678"), `NumPy's type "<u8"`},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "1234"), "has 8 bytes, the file 4"},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "12345"), "has 4 bytes, the file 5"},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", ""), "no size"},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16), }\n", ""), "npy:"},
		{array("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x02"), "the byte 2"},
	} {
		if _, err := npy.Read([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
	if _, err := npy.ReadArchive([]byte("PK\x03\x04junk")); err == nil {
		t.Error("a damaged archive was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(array("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "1234")))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := npy.Read(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := npy.Write(&again, x); err != nil {
			t.Fatal(err)
		}
		y, err := npy.Read(again.Bytes())
		if err != nil || !tensor.SameShape(x.Shape(), y.Shape()) || !bytes.Equal(tensor.Raw(x), tensor.Raw(y)) {
			t.Fatalf("%v comes back as %v, %v", x, y, err)
		}
	})
}
