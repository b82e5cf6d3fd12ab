package gpu

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// registered has tensors on CUDA devices be kept on the test device until the test ends.
func registered(t testing.TB) *Device {
	t.Helper()
	v := testDevice(t)
	before := tensor.RegisterCUDA(&Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }})
	t.Cleanup(func() { tensor.RegisterCUDA(before) })
	return v
}

// TestCopies copies between the processor and the device with types, strides and sizes that differ.
func TestCopies(t *testing.T) {
	place := registered(t).Place()
	rng := rand.New(rand.NewPCG(1, 2))
	x := randomTensor(t, rng, tensor.Float32, 5, 7)
	turned := must(must(randomTensor(t, rng, tensor.Float32, 7, 5).Transpose(0, 1)).Slice(0, 0, 5, 1))
	row := randomTensor(t, rng, tensor.Float64, 7)
	for name, src := range map[string]*tensor.Tensor{"dense": x, "turned": turned, "row": row, "part": must(must(tensor.Zeros([]int{5, 9}, tensor.Int16)).Slice(1, 1, 8, 1))} {
		want := must(tensor.Empty([]int{5, 7}, tensor.Float64))
		if err := tensor.Copy(want, src); err != nil {
			t.Fatal(err)
		}
		there := must(src.ToDevice(place))
		if there.Device() != place {
			t.Errorf("%s: the copy is on %s", name, there.Device())
		}
		sameBits(t, name, must(there.ToDevice(tensor.Device{})), src, false)
		for layout, dst := range map[string]*tensor.Tensor{
			"dense":  must(tensor.EmptyOn(place, []int{5, 7}, tensor.Float64)),
			"turned": must(must(tensor.EmptyOn(place, []int{7, 5}, tensor.Float64)).Transpose(0, 1)),
			"here":   must(tensor.Empty([]int{5, 7}, tensor.Float64)),
		} {
			for from, s := range map[string]*tensor.Tensor{"here": src, "there": there} {
				tensor.Fill(dst, tensor.Float(7))
				if err := tensor.Copy(dst, s); err != nil {
					t.Fatal(err)
				}
				sameBits(t, name+" "+from+" to "+layout, must(dst.ToDevice(tensor.Device{})), want, false)
			}
		}
	}
}

// TestProcessorHasNoAccess looks for the error of code of the processor that is given a tensor on a device.
func TestProcessorHasNoAccess(t *testing.T) {
	x := must(tensor.EmptyOn(registered(t).Place(), []int{3}, tensor.Float32))
	for name, read := range map[string]func(){
		"DataPtr": func() { x.DataPtr() },
		"Data":    func() { tensor.Data[float32](x) },
		"At":      func() { x.At(1) },
		"Bytes":   func() { x.Storage().Bytes() },
		"Pointer": func() { x.Storage().Pointer() },
		"Loop":    func() { new(tensor.Loop).Init([]int{3}, false, x) },
	} {
		func() {
			defer func() {
				var refused *tensor.HostAccessError
				if err := source.Thrown(recover()); !errors.As(err, &refused) {
					t.Errorf("%s gives %v", name, err)
				}
			}()
			read()
			t.Errorf("%s reads it", name)
		}()
	}
}

// TestResizeKeepsElements grows the storage of a tensor.
func TestResizeKeepsElements(t *testing.T) {
	x := must(must(tensor.FromSlice([]float32{1, 2, 3}, 3)).ToDevice(registered(t).Place()))
	if err := x.Resize([]int{2, 400}); err != nil {
		t.Fatal(err)
	}
	if got := must(must(x.Select(0, 0)).ToDevice(tensor.Device{})).At(2).Float64(); got != 3 {
		t.Errorf("the third element is %v", got)
	}
}
