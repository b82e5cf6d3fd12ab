package tensor

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Sizes, strides and offsets whose bytes cannot be counted are refused before anything is made.
func TestSizesThatOverflow(t *testing.T) {
	x, err := Zeros([]int{4}, Float64)
	mustT(t, x, err)
	one, err := Zeros([]int{1}, Float64)
	mustT(t, one, err)
	for name, f := range map[string]func() error{
		"empty":                func() error { _, err := Empty([]int{1 << 31, 1 << 31}, Float64); return err },
		"meta":                 func() error { _, err := EmptyMeta([]int{1 << 60}, Uint8); return err },
		"a zero does not hide": func() error { _, err := Empty([]int{1 << 40, 1 << 40, -1, 0}, Float64); return err },
		"strides":              func() error { _, err := EmptyStrided([]int{3}, []int{1 << 62}, Float64); return err },
		"strides that add up":  func() error { _, err := EmptyStrided([]int{3, 3}, []int{1 << 57, 1 << 57}, Float64); return err },
		"fewer strides":        func() error { _, err := EmptyStrided([]int{2, 2}, []int{1}, Float64); return err },
		"later memory":         func() error { _, err := EmptyHollow([]int{3}, []int{1 << 62}, Float64, nil); return err },
		"resize":               func() error { return x.Resize([]int{1 << 62}) },
		"expand":               func() error { _, err := one.Expand(1<<61 + 1); return err },
		"as_strided":           func() error { _, err := x.AsStrided([]int{2}, []int{math.MaxInt}, 0); return err },
		"offset":               func() error { _, err := x.AsStrided([]int{1}, []int{1}, math.MaxInt); return err },
		"geometry":             func() error { return x.SetGeometry(0, []int{2, 2}, []int{1}) },
		"storage": func() error {
			_, err := FromStorage(x.Storage(), 0, []int{1 << 30, 1 << 30}, []int{1 << 40, 0}, Float32)
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if wide, err := one.Expand(1<<29, 1<<29); err != nil {
		t.Error(err)
	} else if _, err := wide.Unfold(1, 1<<20, 1); err == nil {
		t.Error("windows without number: accepted")
	}
	if n, err := Numel([]int{1 << 40, 1 << 40, 0}); n != 0 || err != nil {
		t.Errorf("no elements: %d, %v", n, err)
	}
	if n, err := CheckedProduct(3, 5, 7); n != 105 || err != nil {
		t.Errorf("a product: %d, %v", n, err)
	}
}

// Memory whose address others have keeps its place until they have returned it, whatever happens to its tensors.
func TestLentStorage(t *testing.T) {
	x, err := Full([]int{100_000}, Float(3), Float32)
	mustT(t, x, err)
	s := x.Storage()
	s.Lend()
	if x.Resize([]int{200_000}) == nil {
		t.Error("lent memory was resized")
	}
	if err := x.Resize([]int{10}); err != nil {
		t.Errorf("a smaller size needs no other memory: %v", err)
	}
	x.Release()
	if s.NBytes() != 400_000 || s.Bytes()[3] != 0x40 {
		t.Error("lent memory was given back")
	}
	s.Return()
	if s.NBytes() != 0 {
		t.Error("memory that was returned stays")
	}
}

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
