package archive_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
)

// A flipped byte among the numbers of a file is found before the module is given out, and the error names
// the record.
func TestDamagedNumbersAreFound(t *testing.T) {
	data, err := os.ReadFile("../../../tests/data/digits_cnn.pt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.LoadBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := m.SaveBytes(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(saved, []byte("archive/data/0")) + 200
	saved[at] ^= 1
	file := filepath.Join(t.TempDir(), "m.pt")
	if err := os.WriteFile(file, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, load := range []func() error{
		func() error { _, err := gojit.Load(file); return err },
		func() error { _, err := gojit.LoadBytes(saved); return err },
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), `The record "data/0" is damaged`) {
			t.Errorf("got %v", err)
		}
	}
}
