package tensor

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// numbered returns a contiguous tensor whose bytes differ from element to element.
func numbered(t testing.TB, shape []int, d DType) *Tensor {
	t.Helper()
	x, err := Empty(shape, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := 0, x.storage.data; i < len(b); i++ {
		b[i] = byte(i*7 + i>>8*31)
	}
	return x
}

// sameElements compares two tensors of one shape and type element by element.
func sameElements(a, b *Tensor) bool {
	var l Loop
	l.Init(a.shape, true, a, b)
	size := a.dtype.Size()
	for l.Next() {
		for i := range l.N {
			x := unsafe.Slice((*byte)(unsafe.Add(l.Ptr[0], i*l.Step[0])), size)
			y := unsafe.Slice((*byte)(unsafe.Add(l.Ptr[1], i*l.Step[1])), size)
			if !bytes.Equal(x, y) {
				return false
			}
		}
	}
	return true
}

// permutations calls f with every order of n dimensions.
func permutations(n int, f func(order []int)) {
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == n {
			f(order)
			return
		}
		for d := range n {
			if !slices.Contains(order, d) {
				extend(append(slices.Clone(order), d))
			}
		}
	}
	extend(nil)
}

func TestCopiesOfPermutedTensors(t *testing.T) {
	defer SetNumThreads(0)
	for _, shape := range [][]int{{300, 257}, {257, 16}, {5, 33, 491}, {64, 2, 31, 17}, {3, 5, 4801}} {
		for _, d := range []DType{Uint8, Int16, Float32, Int64, Complex128} {
			x := numbered(t, shape, d)
			permutations(len(shape), func(order []int) {
				SetNumThreads(1 + order[0])
				src, err := x.Permute(order...)
				if err != nil {
					t.Fatal(err)
				}
				dst, err := Empty(src.shape, d)
				if err == nil {
					err = Copy(dst, src)
				}
				if err != nil || !sameElements(dst, src) {
					t.Fatalf("%v %v permuted by %v: copy differs, error %v", shape, d, order, err)
				}
				back, err := Empty(shape, d)
				if err != nil {
					t.Fatal(err)
				}
				target, err := back.Permute(order...)
				if err == nil {
					err = Copy(target, dst)
				}
				if err != nil || !bytes.Equal(back.storage.data, x.storage.data) {
					t.Fatalf("%v %v: the copy back through %v differs, error %v", shape, d, order, err)
				}
			})
		}
	}
}

// The elements beside those that a copy or a fill writes stay as they are.
func TestCopyAndFillKeepToTheirElements(t *testing.T) {
	x := numbered(t, []int{400, 390}, Float32)
	part := func(of *Tensor) *Tensor {
		rows, err := of.Slice(0, 3, 399, 2)
		if err != nil {
			t.Fatal(err)
		}
		v, err := rows.Slice(1, 5, 388, 1)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	source, err := numbered(t, []int{383, 198}, Float32).Transpose(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(v *Tensor){
		"copy": func(v *Tensor) {
			if err := Copy(v, source); err != nil {
				t.Fatal(err)
			}
			if !sameElements(v, source) {
				t.Error("the copy differs")
			}
		},
		"fill": func(v *Tensor) { Fill(v, Float(2)) },
	} {
		y := numbered(t, x.shape, Float32)
		write(part(y))
		if err := Copy(part(y), part(x)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.storage.data, y.storage.data) {
			t.Errorf("%s wrote other elements", name)
		}
	}
}

func TestFillLarge(t *testing.T) {
	for _, n := range []int{1, 15, 17, 1025, 70001} {
		x := numbered(t, []int{n}, Float32)
		Fill(x, Float(1.5))
		for i, v := range Data[float32](x) {
			if v != 1.5 {
				t.Fatalf("element %d of %d is %v", i, n, v)
			}
		}
	}
}

// TestFillAllTypes fills tensors that are larger than the nearer caches, but for some elements at both ends.
func TestFillAllTypes(t *testing.T) {
	for d := DType(0); d < NumDTypes; d++ {
		for _, n := range []int{1, 100, farBytes/d.Size() + 13} {
			whole, one := numbered(t, []int{n + 10}, d), numbered(t, []int{1}, d)
			part, err := whole.Narrow(0, 3, n)
			if err != nil {
				t.Fatal(err)
			}
			Fill(whole, Int(0))
			Fill(part, Int(1))
			storeScalar(one.DataPtr(), d, Int(1))
			element, bytesOf := one.storage.data[:d.Size()], whole.storage.data[:whole.numel*d.Size()]
			for i := range whole.numel {
				filled := i >= 3 && i < n+3
				if got := bytesOf[i*d.Size():][:d.Size()]; filled != bytes.Equal(got, element) || !filled && !bytes.Equal(got, make([]byte, d.Size())) {
					t.Fatalf("%v: element %d of %d is % x", d, i, n, got)
				}
			}
		}
	}
}

// TestCopyOfEveryOther copies elements that lie apart from each other.
func TestCopyOfEveryOther(t *testing.T) {
	for _, d := range []DType{Uint8, Int16, Float32, Float64, Complex128} {
		for step := 2; step <= 3; step++ {
			for n := range 70 {
				x, y := numbered(t, []int{n * step}, d), numbered(t, []int{n}, d)
				apart, err := x.Slice(0, 1, n*step, step)
				if err != nil {
					t.Fatal(err)
				}
				if err := Copy(y, apart); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					want, got := x.storage.data[(1+i*step)*d.Size():][:d.Size()], y.storage.data[i*d.Size():][:d.Size()]
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: element %d of %d, %d apart, is % x, want % x", d, i, n, step, got, want)
					}
				}
			}
		}
	}
}

// Images of few channels go to channels last, and parts of them to parts of such.
func TestCopyInterleavesFewChannels(t *testing.T) {
	for _, d := range []DType{Uint8, Int16, Float32, Float64, Complex128} {
		for _, channels := range []int{2, 3, 4, 5, 15} {
			x := numbered(t, []int{2, channels, 181, 199}, d)
			y, err := EmptyFormat(x, d, ChannelsLast)
			if err != nil {
				t.Fatal(err)
			}
			if err := Copy(y, x); err != nil {
				t.Fatal(err)
			}
			if !sameElements(y, x) {
				t.Errorf("%v: the copy of %d channels differs", d, channels)
			}
			from, _ := x.Slice(3, 1, 199, 1)
			to, _ := y.Slice(3, 0, 198, 1)
			if err := Copy(to, from); err != nil {
				t.Fatal(err)
			}
			last, _ := y.Slice(3, 198, 199, 1)
			wanted, _ := x.Slice(3, 198, 199, 1)
			if !sameElements(to, from) || !sameElements(last, wanted) {
				t.Errorf("%v: the copy of a part of %d channels differs", d, channels)
			}
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	SetNumThreads(1)
	defer SetNumThreads(0)
	x := numbered(b, []int{1024, 1024}, Float32)
	dst := numbered(b, []int{1024, 1024}, Float32)
	turned, err := x.Transpose(0, 1)
	if err != nil {
		b.Fatal(err)
	}
	for name, src := range map[string]*Tensor{"dense": x, "transposed": turned} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 << 20)
			for b.Loop() {
				if err := Copy(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	images := numbered(b, []int{1, 3, 224, 224}, Float32)
	last, err := EmptyFormat(images, Float32, ChannelsLast)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("interleaved", func(b *testing.B) {
		b.SetBytes(3 * 224 * 224 * 4)
		for b.Loop() {
			_ = Copy(last, images)
		}
	})
	b.Run("fill", func(b *testing.B) {
		b.SetBytes(4 << 20)
		for b.Loop() {
			Fill(dst, Float(2))
		}
	})
}
