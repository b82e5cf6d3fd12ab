package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// TestAdviceKeepsBytes has the first bytes of huge pages written to find out how long the system takes for them.
func TestAdviceKeepsBytes(t *testing.T) {
	block := make([]byte, 5*hugePage)
	for i := range block {
		block[i] = byte(i>>12 + i)
	}
	adviseHuge(block)
	for i := range block {
		if block[i] != byte(i>>12+i) {
			t.Fatalf("byte %d is %d", i, block[i])
		}
	}
	if d := timeToMap(&block[hugePage]); d <= 0 || d > time.Second {
		t.Errorf("a page that is there took %v", d)
	}
}

func TestHugePagesIn(t *testing.T) {
	const table = `Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      2
Node 0, zone   Normal   4381   1250    621    312    155     77     38     19      9     40    100
`
	if n := hugePagesIn(table); n != 1+2*2+40+2*100 {
		t.Errorf("%d huge pages", n)
	}
}
