package tensor

import (
	"runtime"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/memory"
)

func mustT(t *testing.T, v *Tensor, err error) *Tensor {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func iota32(t *testing.T, shape ...int) *Tensor {
	t.Helper()
	n, _ := Numel(shape)
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i)
	}
	v, err := FromSlice(data, shape...)
	return mustT(t, v, err)
}

func TestViewsShareElements(t *testing.T) {
	x := iota32(t, 2, 3, 4)
	v, err := x.Permute(2, 0, 1)
	mustT(t, v, err)
	c, err := v.Contiguous()
	mustT(t, c, err)
	for i := range 4 {
		for j := range 2 {
			for k := range 3 {
				if got, want := c.At(i, j, k).Float64(), x.At(j, k, i).Float64(); got != want {
					t.Fatalf("[%d %d %d] = %v, want %v", i, j, k, got, want)
				}
			}
		}
	}
	row, err := x.Select(0, 1)
	mustT(t, row, err)
	Fill(row, Float(7))
	if x.At(1, 2, 3).Float64() != 7 || x.At(0, 2, 3).Float64() != 11 {
		t.Fatal("fill through a view missed the base")
	}
}

func TestViewStrides(t *testing.T) {
	x := iota32(t, 4, 3)
	tr, _ := x.T()
	if _, err := tr.View(12); err == nil {
		t.Fatal("view of a transposed matrix as a vector must fail")
	}
	r, err := tr.Reshape(2, -1)
	mustT(t, r, err)
	if got := r.At(0, 1).Float64(); got != 3 {
		t.Fatalf("reshape copied %v", got)
	}
}

func TestErrorTexts(t *testing.T) {
	x := iota32(t, 2, 3)
	cases := []struct {
		run  func() error
		want string
	}{
		{func() error { _, err := Broadcast([]int{2, 3}, []int{2, 4}); return err },
			"The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
		{func() error { _, err := x.View(4, -1); return err }, "shape '[4, -1]' is invalid for input of size 6"},
		{func() error { _, err := x.Transpose(0, 2); return err },
			"Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
		{func() error { _, err := x.Select(0, 5); return err },
			"select(): index 5 out of range for tensor of size [2, 3] at dimension 0"},
		{func() error { _, err := Empty([]int{1 << 40, 1 << 40}, Float32); return err },
			"Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]"},
		{func() error { _, err := x.AsStrided([]int{3, 3}, []int{3, 1}, 0); return err },
			"setStorage: sizes [3, 3], strides [3, 1], storage offset 0, and itemsize 4 requiring a storage size of 36 are out of bounds for storage of size 24"},
	}
	for _, c := range cases {
		err := c.run()
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestPromotion(t *testing.T) {
	cases := []struct{ a, b, want DType }{
		{Uint8, Int8, Int16}, {Int64, Float16, Float16}, {Float16, BFloat16, Float32},
		{Float64, Complex64, Complex128}, {Bool, Uint8, Uint8}, {Float32, Complex32, Complex64}, {Int32, Int64, Int64},
	}
	for _, c := range cases {
		if Promote(c.a, c.b) != c.want || Promote(c.b, c.a) != c.want {
			t.Errorf("Promote(%v, %v) = %v, want %v", c.a, c.b, Promote(c.a, c.b), c.want)
		}
	}
	x := iota32(t, 2)
	zero := FromScalar(Float(1), Float64)
	r := NewResultType()
	r.Tensor(x)
	r.Tensor(zero)
	r.Scalar(Float(2))
	if r.DType() != Float32 {
		t.Errorf("float32 vector with a float64 scalar gives %v", r.DType())
	}
	r = NewResultType()
	r.Tensor(FromScalar(Int(1), Int32))
	r.Scalar(Float(2))
	if r.DType() != Float32 {
		t.Errorf("int32 scalar tensor with a float gives %v", r.DType())
	}
}

func TestHalfRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := F16(i)
		f := h.Float32()
		if f != f {
			continue
		}
		if got := ToF16(f); got != h {
			t.Fatalf("%#x -> %v -> %#x", i, f, got)
		}
		b := BF16(i)
		if g := b.Float32(); g == g && ToBF16(g) != b {
			t.Fatalf("bfloat16 %#x", i)
		}
	}
	for f, want := range map[float32]F16{65520: 0x7c00, 65519: 0x7bff, 1.0009765625 / 2: 0x3801, 5.9604645e-8: 1, 2.9802322e-8: 0, 2.99e-8: 1} {
		if got := ToF16(f); got != want {
			t.Errorf("ToF16(%v) = %#x, want %#x", f, got, want)
		}
	}
}

func TestConversions(t *testing.T) {
	src := iota32(t, 3)
	Data[float32](src)[0] = -1.5
	for to := Uint8; to <= BFloat16; to++ {
		if to.IsQuantized() {
			continue
		}
		c, err := src.To(to)
		mustT(t, c, err)
		back, err := c.To(Float32)
		mustT(t, back, err)
		want := []float32{-1.5, 1, 2}
		switch {
		case to == Bool:
			want = []float32{1, 1, 1}
		case to == Uint8:
			want = []float32{255, 1, 2}
		case to.IsIntegral():
			want = []float32{-1, 1, 2}
		}
		for i, w := range want {
			if Data[float32](back)[i] != w {
				t.Errorf("%v[%d] = %v, want %v", to, i, Data[float32](back)[i], w)
			}
		}
	}
}

func TestStorageSharing(t *testing.T) {
	x, err := Empty([]int{1 << 16}, Float32)
	mustT(t, x, err)
	v, _ := x.View(256, 256)
	s := x.Storage()
	x.Release()
	x.Release()
	if s.NBytes() == 0 {
		t.Fatal("a released tensor took the memory of its view")
	}
	v.Release()
	if s.NBytes() != 0 {
		t.Fatal("memory kept after the last tensor")
	}
	released := 0
	f := ForeignStorage(make([]byte, 64), func() { released++ })
	w, err := FromStorage(f, 0, []int{16}, []int{1}, Float32)
	mustT(t, w, err)
	w.Release()
	if released != 1 {
		t.Fatalf("foreign memory released %d times", released)
	}
}

// A released tensor is used again only when nothing needs it: not its views, not whoever retained it.
func TestReleasedTensorsAreUsedAgain(t *testing.T) {
	filled := func(shape ...int) *Tensor {
		x, err := Full(shape, Float(7), Float32)
		mustT(t, x, err)
		return x
	}
	for _, n := range []int{1, 4, 100} {
		base, kept, retained := filled(n), filled(n), filled(n)
		view, err := base.View(1, n)
		mustT(t, view, err)
		flat, err := kept.View(n, 1)
		mustT(t, flat, err)
		retained.Retain()
		flat.Retain()
		for _, x := range []*Tensor{base, retained, flat} {
			x.Release()
			x.Release()
		}
		for range 10 {
			x := filled(n + 1)
			v, err := x.View(1, 1, n+1)
			mustT(t, v, err)
			Fill(x, Float(1))
			v.Release()
			x.Release()
			z, err := Zeros([]int{n}, Float32)
			mustT(t, z, err)
			if z.At(n-1).Float64() != 0 || z.Version() != 0 || z.Base() != nil || z.Users() != 1 {
				t.Fatalf("a tensor of %d zeros has something of the one before", n)
			}
			Fill(z, Float(2))
			z.Bump()
			z.Release()
		}
		for name, x := range map[string]*Tensor{"a view": view, "what was retained": retained, "a retained view": flat} {
			if x.Numel() != n || x.At(make([]int, x.Dim())...).Float64() != 7 {
				t.Errorf("%s of %d elements changed when others were made", name, n)
			}
		}
	}
}

func TestCachedBlocksAreReusedAndAge(t *testing.T) {
	if memory.Guarding {
		t.Skip("guarded blocks are not reused")
	}
	for _, n := range []int{17, 1000, 1 << 16} {
		EmptyCache()
		x, err := Empty([]int{n}, Float32)
		mustT(t, x, err)
		first := x.Storage().Pointer()
		x.Release()
		y, err := Empty([]int{n}, Float32)
		mustT(t, y, err)
		if y.Storage().Pointer() != first {
			t.Errorf("a released block of %d elements was not reused", n)
		}
		Fill(y, Float(3))
		y.Release()
		z, err := Zeros([]int{n}, Float32)
		mustT(t, z, err)
		if z.Storage().Pointer() != first || z.At(5).Float64() != 0 {
			t.Errorf("a reused block of %d elements was not cleared", n)
		}
		z.Release()
	}
}

// Goroutines take and release blocks at once; none may get a block that another has.
func TestBlocksHaveOneOwner(t *testing.T) {
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 400 {
				n := []int{20, 300, 9000}[i%3]
				x, err := Empty([]int{n}, Float32)
				if err != nil {
					t.Error(err)
					return
				}
				Fill(x, Float(float64(g)))
				runtime.Gosched()
				for _, v := range Data[float32](x) {
					if v != float32(g) {
						t.Errorf("a block of %d was written by %v", g, v)
						return
					}
				}
				x.Release()
			}
		})
	}
	group.Wait()
}

func TestAlignment(t *testing.T) {
	if memory.Guarding {
		t.Skip("guarded blocks end at a page")
	}
	for n := 1; n < 1<<20; n = n*5/4 + 1 {
		s, err := NewStorage(n)
		if err != nil {
			t.Fatal(err)
		}
		if n >= Alignment && uintptr(s.Pointer())%Alignment != 0 {
			t.Errorf("%d bytes at %p", n, s.Pointer())
		}
	}
}

func TestLoopJoinsDimensions(t *testing.T) {
	x := iota32(t, 4, 5, 6)
	tr, _ := x.Permute(2, 1, 0)
	var l Loop
	l.Init(tr.Shape(), false, tr)
	runs, sum := 0, 0.0
	for l.Next() {
		runs++
		for i := range l.N {
			sum += float64(*at[float32](l.Ptr[0], l.Step[0], i))
		}
	}
	if runs != 1 || sum != 119*60 {
		t.Fatalf("%d runs, sum %v", runs, sum)
	}
}
