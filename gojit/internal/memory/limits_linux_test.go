package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestGroupLimit(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("v2/memory.max", "max\n")
	write("v2/a/memory.max", "5000\n")
	write("v2/a/b/memory.max", "7000\n")
	write("v1/memory/memory.limit_in_bytes", "3000\n")
	for groups, want := range map[string]int{
		write("outer", "0::/\n"):                              5,
		write("inner", "0::/a/b\n"):                           5000,
		write("first", "3:cpu:/x\n2:memory:/docker/unseen\n"): 3000,
	} {
		mounted := filepath.Join(folder, "v2")
		if want == 3000 {
			mounted = filepath.Join(folder, "v1")
		}
		if want == 5 {
			want = math.MaxInt
		}
		if got := groupLimit(groups, mounted); got != want {
			t.Errorf("%s: %d, want %d", filepath.Base(groups), got, want)
		}
	}
	if got := groupLimit(filepath.Join(folder, "none"), folder); got != math.MaxInt {
		t.Errorf("without control groups: %d", got)
	}
}
