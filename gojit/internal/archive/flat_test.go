package archive_test

import (
	"encoding/binary"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/flatbuffer"
)

// Modules come back from FlatBuffers as they were saved.
func TestFlatBuffers(t *testing.T) {
	for _, name := range archives {
		m, err := gojit.Load("../../../tests/data/" + name)
		if err != nil {
			t.Fatal(name, err)
		}
		flat, err := m.SaveFlatBuffer(map[string][]byte{"a": []byte("b")}, archive.LiteOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := gojit.LoadBytes(flat, "a")
		if err != nil {
			t.Fatal(name, err)
		}
		saved, err := again.SaveFlatBuffer(again.Extra, archive.LiteOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		first, second := recordsOfFlat(t, flat), recordsOfFlat(t, saved)
		delete(first, "bytecode.pkl") // warnings are numbered in the order in which they are compiled
		delete(second, "bytecode.pkl")
		if !maps.Equal(first, second) || first["extra/a"] != "b" {
			t.Errorf("%s: another program comes back", name)
		}
	}
}

func recordsOfFlat(t *testing.T, flat []byte) map[string]string {
	t.Helper()
	made, err := archive.ArchiveOfFlat(flat)
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.OpenArchive(made)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range a.Names() {
		data, err := a.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(data)
	}
	return found
}

// The bytecode in a FlatBuffer that PyTorch wrote is read under the names that PyTorch gives the instructions.
func TestFlatBufferOfPyTorch(t *testing.T) {
	data, err := os.ReadFile("testdata/module.ff")
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.LoadBytes(data, "f")
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Extra["f"]) != "text" {
		t.Errorf("the extra file is %q", m.Extra["f"])
	}
	code := recordsOfFlat(t, data)["bytecode.pkl"]
	for _, word := range []string{"__torch__.M.forward", "UN_INITIALIZED", "TO_LIST", "WARN", "FORMAT", "List[float]"} {
		if !strings.Contains(code, word) {
			t.Errorf("the bytecode has no %s", word)
		}
	}
}

// Whatever is wrong with a FlatBuffer is an error with a text.
func TestDamagedFlatBuffers(t *testing.T) {
	data, err := os.ReadFile("testdata/module.ff")
	if err != nil {
		t.Fatal(err)
	}
	for n := 8; n < len(data); n += 397 {
		checkLoad(t, data[:n])
	}
	for i := 8; i < len(data); i += 13 {
		damaged := append([]byte{}, data...)
		damaged[i] ^= byte(0xff >> (i % 8))
		checkLoad(t, damaged)
	}
}

// A FlatBuffer whose values lie over each other is not unpacked to any size.
func TestFlatBuffersOverEachOther(t *testing.T) {
	at, items, numbers := 0, []byte{}, make([]byte, 8<<12)
	list := func(w *flatbuffer.Writer) int { // one for all values
		if at == 0 {
			held := flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Bytes(len(numbers)/8, numbers, 8) })
			at = w.Table(flatbuffer.Uint8(11), flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Table(held) }))
		}
		return at
	}
	var values []flatbuffer.Ref
	for i := range 2000 {
		values = append(values, list)
		items = binary.LittleEndian.AppendUint32(items, uint32(i))
	}
	values = append(values, func(w *flatbuffer.Writer) int {
		held := flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Bytes(len(items)/4, items, 4) })
		return w.Table(flatbuffer.Uint8(8), flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Table(held) }))
	})
	name := func(w *flatbuffer.Writer) int {
		return w.Table(flatbuffer.Text("__torch__"), flatbuffer.Text("class M(Module):\n  pass\n"))
	}
	refs := func(rs ...flatbuffer.Ref) flatbuffer.Field {
		return flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Refs(rs) })
	}
	none := flatbuffer.Field{}
	data := flatbuffer.Finish("PTMF", flatbuffer.Uint32(9), none, none, flatbuffer.Uint32(2000), refs(values...), none, none, none, refs(name))
	if _, err := archive.ArchiveOfFlat(data); err == nil || !strings.Contains(err.Error(), "says more than its size allows") {
		t.Errorf("%d bytes give the error %v", len(data), err)
	}
}

func FuzzFlatBuffer(f *testing.F) {
	data, err := os.ReadFile("testdata/module.ff")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[8:])
	f.Fuzz(func(t *testing.T, data []byte) { checkLoad(t, append([]byte("\x30\x00\x00\x00PTMF"), data...)) })
}
