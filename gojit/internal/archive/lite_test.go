package archive_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive"
)

// Archives for the lite interpreter, of every version, load to programs that are saved as before.
func TestLiteArchives(t *testing.T) {
	for _, name := range archives {
		m, err := gojit.Load("../../../tests/data/" + name)
		if err != nil {
			t.Fatal(name, err)
		}
		plain, err := m.SaveBytes(nil)
		if err != nil {
			t.Fatal(name, err)
		}
		for version := 4; version <= 8; version++ {
			lite, err := m.SaveLiteBytes(map[string][]byte{"a": []byte("b")}, archive.LiteOptions{Bytecode: version, DebugInfo: version == 8})
			if err != nil {
				t.Fatal(name, version, err)
			}
			again, err := gojit.LoadBytes(lite, "a")
			if err != nil {
				t.Fatal(name, version, err)
			}
			if saved, err := again.SaveBytes(nil); err != nil || string(saved) != string(plain) || string(again.Extra["a"]) != "b" {
				t.Errorf("%s, version %d: another program comes back (%v)", name, version, err)
			}
		}
		if _, err := m.SaveLiteBytes(nil, archive.LiteOptions{Bytecode: 9}); err == nil || !strings.Contains(err.Error(), "version 9 cannot be written") {
			t.Errorf("version 9 gives the error %v", err)
		}
	}
}
