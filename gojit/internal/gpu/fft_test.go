package gpu

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// transformOf makes a transform of rows of a length on the device, and what it is to give by the definition. kind says what there is: complex numbers, real ones or
// half a spectrum, whose numbers that should be real are not.
func transformOf(t *testing.T, v *Device, rng *rand.Rand, d tensor.DType, kind fftKind, length int, backwards bool, offset int) (x *kernel.Transform, want []complex128) {
	t.Helper()
	const rows = 3
	half := length/2 + 1
	from, to, in, out := length, length, d.ToComplex(), d.ToComplex()
	switch kind {
	case realToComplex:
		to, in = half, d
	case complexToReal:
		from, out = half, d
	}
	data := make([]complex128, offset+rows*from)
	for i := range data {
		data[i] = complex(rng.Float64()*2-1, rng.Float64()*2-1)
		if kind == realToComplex {
			data[i] = complex(real(data[i]), 0)
		}
	}
	whole := must(v.Upload(must(must(tensor.FromSlice(data, len(data))).To(in))))
	data = data[offset:]
	x = &kernel.Transform{In: must(must(whole.Slice(0, offset, offset+rows*from, 1)).View(rows, from)), Out: must(v.Empty([]int{rows, to}, out)), Length: length, Backwards: backwards, Scale: 0.25}
	turn := -2 * math.Pi / float64(length)
	if backwards {
		turn = -turn
	}
	for r := range rows {
		row := make([]complex128, length)
		for i := range row {
			switch {
			case i < from:
				row[i] = data[r*from+i]
			default:
				row[i] = cmplx.Conj(data[r*from+length-i])
			}
			if kind == complexToReal && (i == 0 || 2*i == length) {
				row[i] = complex(real(row[i]), 0)
			}
		}
		for k := range to {
			sum := complex128(0)
			for i, c := range row {
				sum += c * cmplx.Rect(1, turn*float64(i*k%length))
			}
			want = append(want, sum*complex(x.Scale, 0))
		}
	}
	return x, want
}

// TestTransforms compares transforms by cuFFT with the definition, for rows that begin where cuFFT reads them, or do not, and looks at what is left of what was given.
func TestTransforms(t *testing.T) {
	v := testDevice(t)
	if v.transforms() == nil {
		t.Skip("cuFFT is not here: ", v.transform.why)
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(51, 52))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for _, kind := range []fftKind{complexToComplex, realToComplex, complexToReal} {
			for which, length := range []int{2, 3, 8, 15, 2, 7, 10, 12} {
				backwards := which >= 4
				for offset := range 2 {
					x, want := transformOf(t, v, rng, d, kind, length, backwards, offset)
					name := fmt.Sprintf("%s, %#x, %d, backwards %v, from %d", d, kind, length, backwards, offset)
					before := elementsOf(t, must(v.Download(x.In)))
					done, err := b.Transform(x)
					if !done || err != nil {
						t.Fatalf("%s: %v, %v", name, done, err)
					}
					for i, got := range elementsOf(t, must(v.Download(x.Out))) {
						if !(cmplx.Abs(got-want[i]) <= tolerances[d]*float64(length)) {
							t.Fatalf("%s: element %d is %v, want %v", name, i, got, want[i])
						}
					}
					for i, got := range elementsOf(t, must(v.Download(x.In))) {
						if got != before[i] {
							t.Fatalf("%s: element %d of what was given is %v, and was %v", name, i, got, before[i])
						}
					}
				}
			}
		}
	}
}

// TestPlans bounds the plans that are kept, has graphs keep theirs, and has what cuFFT refuses be left to others.
func TestPlans(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	plans, transforms := hostFunction[func() int32](t, "host_plans"), hostFunction[func() int64](t, "host_transforms")
	nextPlan, next := hostFunction[func(int32)](t, "host_next_plan"), hostFunction[func(int32)](t, "host_next_transform")
	rng := rand.New(rand.NewPCG(53, 54))
	of := func(length int) *kernel.Transform {
		x, _ := transformOf(t, v, rng, tensor.Float32, complexToComplex, length, false, 0)
		return x
	}
	expect := func(what string, x *kernel.Transform, want bool, wantPlans int) {
		t.Helper()
		done, err := b.Transform(x)
		if kept, _ := v.Plans(); done != want || err != nil || kept != wantPlans || int(plans()) != wantPlans {
			t.Errorf("%s: %v, %v, %d plans are kept of %d", what, done, err, kept, plans())
		}
	}
	v.ForgetPlans()
	t.Cleanup(func() { check(t, v.LimitPlans(mostPlans)) })
	check(t, v.LimitPlans(2))
	expect("the first", of(4), true, 1)
	expect("the second", of(5), true, 2)
	expect("the first again", of(4), true, 2)
	expect("the third", of(6), true, 2)
	if v.transform.plans[planKey{4, 3, complexToComplex}] == nil {
		t.Error("the plan that was used last is gone, not the one before")
	}
	s := must(v.NewStream(0))
	x, known := of(7), of(6)
	g := capturedOn(t, v, s, nil, func() {
		if done, err := b.Transform(x); done || err != nil {
			t.Errorf("a plan is made within a capture: %v, %v", done, err)
		}
		if done, err := b.Transform(known); !done || err != nil {
			t.Errorf("within a capture: %v, %v", done, err)
		}
	})
	v.ForgetPlans()
	if plans() != 1 {
		t.Errorf("%d plans are there: that of the graph must be, and no other", plans())
	}
	was := transforms()
	on(v, s, func() { check(t, g.Replay()) })
	check(t, v.Synchronize())
	if transforms() != was+1 {
		t.Errorf("%d transforms by a replay", transforms()-was)
	}
	g.Reset()
	if plans() != 0 {
		t.Errorf("%d plans are there when the graph is gone", plans())
	}
	check(t, v.LimitPlans(0))
	expect("none is kept", of(4), true, 0)
	check(t, v.LimitPlans(2))
	for _, most := range []int{-1, math.MaxInt32 + 1} {
		if err := v.LimitPlans(most); err == nil || !strings.HasPrefix(err.Error(), "cuFFT plan cache size ") {
			t.Errorf("at most %d: %v", most, err)
		}
	}
	nextPlan(5)
	expect("a plan that it cannot make", of(4), false, 0)
	nextPlan(fftAllocFailed) // once
	expect("a plan that it makes the second time", of(4), true, 1)
	next(6)
	if _, err := b.Transform(of(4)); err == nil || !strings.Contains(err.Error(), "cuFFT error: CUFFT_EXEC_FAILED (cufftExecC2C)") {
		t.Errorf("the error is %v", err)
	}
	expect("one element", of(1), false, 1)
	x = of(4)
	x.Out = must(x.Out.Slice(1, 0, 2, 1))
	expect("a part of what is transformed", x, false, 1)
	v.ForgetPlans()
}
