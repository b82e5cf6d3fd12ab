package archive_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var archives = []string{"char_lstm_lm.pt", "digits_cnn.pt", "transformer_majority.pt"}

// What is saved loads to an equal program: saving that again gives the same bytes.
func TestSavedArchivesAreStable(t *testing.T) {
	for _, name := range archives {
		m, err := gojit.Load("../../../tests/data/" + name)
		if err != nil {
			t.Fatal(name, err)
		}
		first, err := m.SaveBytes(nil)
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := gojit.LoadBytes(first)
		if err != nil {
			t.Fatal(name, err)
		}
		second, err := again.SaveBytes(nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s: the archive changes when it is loaded and saved", name)
		}
	}
}

func TestSaveFunction(t *testing.T) {
	p, err := gojit.Compile("f.py", "def inner(x):\n    return x * 2\n\ndef f(x, n: int = 3):\n    return inner(x) + n\n")
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Function("f"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "f.pt")
	extra := map[string][]byte{"notes/a": []byte("text")}
	if err := m.Save(file, extra); err != nil {
		t.Fatal(err)
	}
	loaded, err := gojit.Load(file, "notes/a")
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(loaded.Extra, extra, bytes.Equal) {
		t.Errorf("extra files: %q", loaded.Extra)
	}
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	v, err := loaded.Call(context.Background(), "forward", x)
	if err != nil || v.Tensor().At(1).Float64() != 7 {
		t.Errorf("forward: %v, %v", v, err)
	}
}

func TestSaveFails(t *testing.T) {
	m, err := gojit.Load("../../../tests/data/digits_cnn.pt")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.pt")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../up", "/root", "a//b", `a\b`} {
		if err := m.Save(file, map[string][]byte{name: nil}); err == nil {
			t.Errorf("an extra file can be named %q", name)
		}
	}
	list := value.NewList(nil)
	list.Items = append(list.Items, value.OfList(list))
	list.Elem = value.TypeOf(value.OfList(value.NewList(value.TypeOf(value.None))))
	m.Object.Slots[0] = value.OfList(list)
	if _, err := archive.Save(m.Object, nil, nil); err == nil {
		t.Error("a list that holds itself is saved")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "before" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

// A file that was saved tells in graphs where its program was written, also after a second save.
func TestPlacesOfTheProgramAreKept(t *testing.T) {
	m, err := gojit.Load("../../../tests/data/digits_cnn.pt")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Method("forward")
	if err != nil {
		t.Fatal(err)
	}
	want := f.Graph().String()
	for range 2 {
		data, err := m.SaveBytes(nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = gojit.LoadBytes(data); err != nil {
			t.Fatal(err)
		}
		f, err = m.Method("forward")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Graph().String(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}
