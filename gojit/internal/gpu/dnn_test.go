package gpu

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// shapeOf makes the shape of a convolution of sizes that the result's follow from.
func shapeOf(batch, groups, in, out int, size, kernelSize, stride, padding, dilation [3]int) kernel.ConvolutionShape {
	s := kernel.ConvolutionShape{Batch: batch, Groups: groups, InChannels: in * groups, OutChannels: out * groups, In: size, Kernel: kernelSize, Stride: stride, Padding: padding, Dilation: dilation}
	for i := range 3 {
		s.Out[i] = (size[i]+2*padding[i]-dilation[i]*(kernelSize[i]-1)-1)/stride[i] + 1
	}
	return s
}

var ones3 = [3]int{1, 1, 1}

var convolutionShapes = map[string]kernel.ConvolutionShape{
	"one dimension":    shapeOf(2, 1, 3, 4, [3]int{1, 1, 9}, [3]int{1, 1, 3}, [3]int{1, 1, 2}, [3]int{0, 0, 1}, ones3),
	"two dimensions":   shapeOf(2, 1, 3, 2, [3]int{1, 6, 7}, [3]int{1, 3, 2}, [3]int{1, 2, 1}, [3]int{0, 1, 0}, ones3),
	"groups, dilation": shapeOf(1, 2, 2, 3, [3]int{1, 7, 8}, [3]int{1, 2, 3}, ones3, [3]int{0, 2, 1}, [3]int{1, 3, 2}),
	"each channel":     shapeOf(2, 4, 1, 1, [3]int{1, 5, 5}, [3]int{1, 3, 3}, ones3, [3]int{0, 1, 1}, ones3),
	"three dimensions": shapeOf(2, 1, 2, 2, [3]int{3, 4, 5}, [3]int{2, 2, 3}, [3]int{1, 2, 1}, [3]int{1, 0, 1}, [3]int{2, 1, 1}),
	"one element":      shapeOf(1, 1, 1, 1, ones3, ones3, ones3, [3]int{}, ones3),
}

// eachProduct calls visit with the places in the input, the weight and the result of all elements that belong together.
func eachProduct(s *kernel.ConvolutionShape, visit func(x, w, y int)) {
	channels, filters := s.InChannels/s.Groups, s.OutChannels/s.Groups
	volume := func(n [3]int) int { return n[0] * n[1] * n[2] }
	for y := range s.Batch * s.OutChannels * volume(s.Out) {
		filter, o := y/volume(s.Out)%s.OutChannels, y%volume(s.Out)
		for tap := range channels * volume(s.Kernel) {
			k, step, at := tap%volume(s.Kernel), 1, 0
			place, left := o, k
			for d := 2; d >= 0; d-- {
				i := place%s.Out[d]*s.Stride[d] - s.Padding[d] + left%s.Kernel[d]*s.Dilation[d]
				if i < 0 || i >= s.In[d] {
					at = -1
					break
				}
				at += i * step
				step, place, left = step*s.In[d], place/s.Out[d], left/s.Kernel[d]
			}
			if at >= 0 {
				channel := filter/filters*channels + tap/volume(s.Kernel)
				visit((y/volume(s.Out)/s.OutChannels*s.InChannels+channel)*volume(s.In)+at, filter*channels*volume(s.Kernel)+tap, y)
			}
		}
	}
}

// convolutionOn makes a convolution of a shape on the device, with random elements whose channels lie together where last is set, and what it is to give.
func convolutionOn(t *testing.T, v *Device, rng *rand.Rand, s kernel.ConvolutionShape, of kernel.ConvolutionResult, d tensor.DType, last bool) (c *kernel.Convolution, want []float64, terms int) {
	t.Helper()
	sizes := [3][]int{{s.Batch, s.InChannels, s.In[0], s.In[1], s.In[2]}, {s.OutChannels, s.InChannels / s.Groups, s.Kernel[0], s.Kernel[1], s.Kernel[2]}, {s.Batch, s.OutChannels, s.Out[0], s.Out[1], s.Out[2]}}
	var here, there [3]*tensor.Tensor
	var data [3][]complex128
	for i, shape := range sizes {
		n, _ := tensor.Numel(shape)
		numbers := make([]float64, n)
		for j := range numbers {
			numbers[j] = rng.Float64()*2 - 1
		}
		here[i] = must(must(tensor.FromSlice(numbers, shape...)).To(d))
		there[i] = must(v.Upload(here[i]))
		if last {
			there[i] = must(must(v.Upload(must(here[i].Permute(0, 2, 3, 4, 1)))).Permute(0, 4, 1, 2, 3))
		}
		data[i] = elementsOf(t, here[i])
	}
	c = &kernel.Convolution{Shape: s, Of: of, ChannelsLast: last, Left: there[0], Right: there[1]}
	result := 2
	switch of {
	case kernel.ConvolutionOfInput:
		c.Left, c.Right, result = there[1], there[2], 0
	case kernel.ConvolutionOfWeight:
		c.Left, c.Right, result = there[0], there[2], 1
	}
	c.Out = must(v.Empty(sizes[result], d))
	if last {
		n := sizes[result]
		c.Out = must(must(v.Empty([]int{n[0], n[2], n[3], n[4], n[1]}, d)).Permute(0, 4, 1, 2, 3))
	}
	want = make([]float64, len(data[result]))
	eachProduct(&s, func(x, w, y int) {
		switch terms++; of {
		case kernel.ConvolutionForward:
			want[y] += real(data[0][x] * data[1][w])
		case kernel.ConvolutionOfInput:
			want[x] += real(data[1][w] * data[2][y])
		case kernel.ConvolutionOfWeight:
			want[w] += real(data[0][x] * data[2][y])
		}
	})
	return c, want, terms / len(want)
}

// withSettings has settings be others until the test ends.
func withSettings(t *testing.T, values map[Setting]bool) {
	for s, on := range values {
		was := s.IsSet()
		s.Set(on)
		t.Cleanup(func() { s.Set(was) })
	}
}

// TestConvolutions compares convolutions and their gradients by cuDNN with sums of the elements' products.
func TestConvolutions(t *testing.T) {
	v := testDevice(t)
	if v.convolutions() == nil {
		t.Skip("cuDNN is not here: ", v.convolution.why)
	}
	withSettings(t, map[Setting]bool{TF32Convolutions: false})
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(31, 32))
	for _, name := range slices.Sorted(maps.Keys(convolutionShapes)) {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
			for which := range 6 {
				of, last := kernel.ConvolutionResult(which%3), which >= 3
				shape := convolutionShapes[name]
				c, want, terms := convolutionOn(t, v, rng, shape, of, d, last)
				var bias []complex128
				if of == kernel.ConvolutionForward {
					numbers := make([]float64, shape.OutChannels)
					for i := range numbers {
						numbers[i] = rng.Float64()*2 - 1
					}
					here := must(must(tensor.FromSlice(numbers, len(numbers))).To(d))
					bias, c.Bias = elementsOf(t, here), must(v.Upload(here))
				}
				done, err := b.Convolve(c)
				if err != nil || !done && !onGPU() {
					t.Fatalf("%s, %s, %d, channels last %v: %v, %v", name, d, of, last, done, err)
				}
				if !done {
					t.Logf("%s, %s, %d, channels last %v: cuDNN refuses it", name, d, of, last)
					continue
				}
				if !onGPU() && c.IsBiased != (of == kernel.ConvolutionForward && d != tensor.Float64) { // the software device refuses it for them
					t.Errorf("%s, %s, %d: biased %v", name, d, of, c.IsBiased)
				}
				if c.IsBiased {
					for i := range want {
						want[i] += real(bias[i/(len(want)/shape.Batch/shape.OutChannels)%shape.OutChannels])
					}
				}
				for i, x := range elementsOf(t, must(v.Download(must(v.contiguous(c.Out, d))))) {
					if !(math.Abs(real(x)-want[i]) <= tolerances[d]*float64(terms+2)) {
						t.Fatalf("%s, %s, %d, channels last %v: element %d is %v, want %v", name, d, of, last, i, real(x), want[i])
					}
				}
			}
		}
	}
}

// TestConvolutionWays has settings choose how convolutions are computed, and what cuDNN refuses be computed in another way, or by others.
func TestConvolutionWays(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(33, 34))
	algorithm, mathOf := hostFunction[func() int32](t, "host_last_algorithm"), hostFunction[func() int32](t, "host_last_math")
	next := hostFunction[func(int32)](t, "host_next_convolution")
	shape := shapeOf(1, 1, 2, 2, [3]int{1, 4, 4}, [3]int{1, 2, 2}, ones3, [3]int{}, ones3)
	for i, c := range []struct {
		settings        map[Setting]bool
		of              kernel.ConvolutionResult
		d               tensor.DType
		algorithm, math int32
	}{
		{nil, kernel.ConvolutionForward, tensor.Float32, 1, dnnDefaultMath},
		{map[Setting]bool{TF32Convolutions: false}, kernel.ConvolutionForward, tensor.Float32, 1, dnnExactMath},
		{nil, kernel.ConvolutionOfInput, tensor.BFloat16, 1, dnnTensorMath},
		{map[Setting]bool{Deterministic: true}, kernel.ConvolutionForward, tensor.Float16, 1, dnnTensorMath},
		{map[Setting]bool{Deterministic: true}, kernel.ConvolutionOfWeight, tensor.Float64, 0, dnnDefaultMath},
		{map[Setting]bool{DeterministicAlgorithms: true}, kernel.ConvolutionOfInput, tensor.Float32, 0, dnnDefaultMath},
		{map[Setting]bool{Benchmark: true}, kernel.ConvolutionForward, tensor.Float32, 0, dnnDefaultMath},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			withSettings(t, c.settings)
			work, _, _ := convolutionOn(t, v, rng, shape, c.of, c.d, false)
			for range 2 { // the second is as the first was described
				if done, err := b.Convolve(work); !done || err != nil || algorithm() != c.algorithm || mathOf() != c.math {
					t.Errorf("%v, %v, by algorithm %d with %d", done, err, algorithm(), mathOf())
				}
			}
		})
	}
	shape.InChannels, shape.OutChannels = 3, 5 // another one
	c, _, _ := convolutionOn(t, v, rng, shape, kernel.ConvolutionForward, tensor.Float32, false)
	for _, want := range []int32{1, 0, 0} { // the fast way is refused the second time, and not tried again
		if done, err := b.Convolve(c); !done || err != nil || algorithm() != want {
			t.Errorf("%v, %v, by algorithm %d, want %d", done, err, algorithm(), want)
		}
		if want == 1 {
			next(3000)
		}
	}
	next(3000) // now there is none
	for range 2 {
		if done, err := b.Convolve(c); done || err != nil {
			t.Errorf("with every way refused: %v, %v", done, err)
		}
	}
	c, _, _ = convolutionOn(t, v, rng, shape, kernel.ConvolutionOfInput, tensor.Float32, false)
	next(dnnExecutionFailed)
	if _, err := b.Convolve(c); err == nil || !strings.Contains(err.Error(), "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED (cudnnConvolutionBackwardData)") {
		t.Errorf("the error is %v", err)
	}
	next(dnnAllocationFailed) // once
	if done, err := b.Convolve(c); !done || err != nil {
		t.Errorf("out of memory once: %v, %v", done, err)
	}
	larger := shapeOf(1, 1, 1, 1, [3]int{1, 1, 4}, ones3, [3]int{1, 1, 2}, [3]int{}, ones3)
	larger.In[2] = 6 // a transposed convolution with more behind its result than a stride
	for name, c := range map[string]*kernel.Convolution{
		"integers":                {Shape: shape, Out: must(v.Empty([]int{1}, tensor.Int64)), Left: c.Left, Right: c.Right},
		"a result that is larger": {Shape: larger, Of: kernel.ConvolutionOfInput, Left: must(v.Empty([]int{1, 1, 1, 1, 1}, tensor.Float32)), Right: must(v.Empty([]int{1, 1, 1, 1, 2}, tensor.Float32)), Out: must(v.Empty([]int{1, 1, 1, 1, 6}, tensor.Float32))},
		"nothing to be convolved": {Shape: shape, Left: must(v.Empty([]int{0, 1, 1, 1, 1}, tensor.Float32)), Right: c.Right, Out: c.Out},
	} {
		if done, err := b.Convolve(c); done || err != nil {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
	withSettings(t, map[Setting]bool{UseDNN: false})
	if done, err := b.Convolve(c); done || err != nil {
		t.Errorf("switched off: %v, %v", done, err)
	}
	l := v.convolutions()
	givesBack(t, "host_descriptors", &l.mu, l.forget)
}

// TestLibrariesOnStreams has libraries compute behind the work of the stream that the goroutine gives work on, and become part of graphs.
func TestLibrariesOnStreams(t *testing.T) {
	v := testDevice(t)
	if v.products() == nil || v.convolutions() == nil {
		t.Skip("the libraries are not here")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	if !onGPU() {
		setDeferred := hostFunction[func(int32)](t, "host_defer")
		setDeferred(1)
		t.Cleanup(func() { setDeferred(0) })
	}
	withSettings(t, map[Setting]bool{TF32Convolutions: false})
	other, err := v.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.SetStream(v.DefaultStream()) })
	for name, s := range map[string]*Stream{"default": v.DefaultStream(), "other": other} {
		v.SetStream(s)
		number := func(x float64, shape ...int) *tensor.Tensor {
			made := must(v.Empty(shape, tensor.Float32))
			if err := v.fill(made, tensor.Float(x)); err != nil {
				t.Fatal(err)
			}
			return made
		}
		x, y, row, image, filter := number(2, 3, 3), number(3, 3, 3), number(1, 3), number(2, 1, 1, 2, 2), number(5, 1, 1, 1, 1)
		out, sum, result := number(0, 3, 3), number(0, 3, 3), number(0, 1, 1, 2, 2)
		compute := func() {
			t.Helper()
			for _, p := range []*kernel.Product{{Out: out, Left: x, Right: y}, {Out: sum, Left: x, Right: y, Added: must(row.Expand(3, 3))}} {
				if done, err := b.Multiply(p); !done || err != nil {
					t.Fatal(name, done, err)
				}
			}
			c := &kernel.Convolution{Shape: shapeOf(1, 1, 1, 1, [3]int{1, 2, 2}, ones3, ones3, [3]int{}, ones3), Left: image, Right: filter, Out: result}
			if done, err := b.Convolve(c); !done || err != nil {
				t.Fatal(name, done, err)
			}
		}
		expect := func(when string, a, b, c float64) {
			t.Helper()
			for i, want := range []float64{a, b, c} {
				got := elementsOf(t, must(v.Download([]*tensor.Tensor{out, sum, result}[i])))
				if real(got[0]) != want {
					t.Errorf("%s, %s: result %d is %v, want %v", name, when, i, got[0], want)
				}
			}
		}
		compute()
		expect("at once", 18, 19, 10)
		g := v.NewGraph()
		if err := g.Begin(nil); err != nil {
			t.Fatal(err)
		}
		compute()
		if err := g.End(); err != nil {
			t.Fatal(err)
		}
		if n := g.Launches(); n != 3 && !onGPU() { // where cuBLASLt refuses a sum it is two
			t.Errorf("%s: the graph has %d calls", name, n)
		}
		for _, to := range []*tensor.Tensor{x, image} {
			if err := v.fill(to, tensor.Float(4)); err != nil {
				t.Fatal(err)
			}
		}
		expect("captured", 18, 19, 10)
		if err := g.Replay(); err != nil {
			t.Fatal(err)
		}
		expect("replayed", 36, 37, 20)
		g.Reset()
	}
}
