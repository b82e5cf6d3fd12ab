package launch

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gate is sigmoid(x*w + b) * tanh(x).
func gate() *kernel.Kernel {
	b := kernel.NewBuilder()
	x, w, bias := b.Input(tensor.Float32, tensor.Float32), b.Param(tensor.Float32), b.Param(tensor.Float32)
	one := b.Number(x, 1)
	y := b.Div(one, b.Add(one, b.Exp(b.Neg(b.Add(b.Mul(x, w), bias)))))
	b.Output(b.Mul(y, b.Unary(kernel.Tanh, x)), tensor.Float32)
	return b.Kernel()
}

func unaryKernel(f func(b *kernel.Builder, x kernel.Value) kernel.Value) *kernel.Kernel {
	b := kernel.NewBuilder()
	b.Output(f(b, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
	return b.Kernel()
}

func BenchmarkKernels(b *testing.B) {
	add := kernel.NewBuilder()
	add.Output(add.Add(add.Input(tensor.Float32, tensor.Float32), add.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
	for _, c := range []struct {
		name   string
		k      *kernel.Kernel
		inputs int
		params []tensor.Scalar
	}{
		{"add", add.Kernel(), 2, nil},
		{"gate", gate(), 1, []tensor.Scalar{tensor.Float(2), tensor.Float(0.5)}},
		{"gelu", unaryKernel(func(b *kernel.Builder, x kernel.Value) kernel.Value {
			return b.Mul(b.Mul(x, b.Number(x, 0.5)), b.Add(b.Number(x, 1), b.Unary(kernel.Erf, b.Mul(x, b.Number(x, 0.70710678)))))
		}), 1, nil},
		{"exp", unaryKernel(func(b *kernel.Builder, x kernel.Value) kernel.Value { return b.Exp(x) }), 1, nil},
	} {
		p, err := NewProgram(c.k)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{4, 32 << 10, 1 << 20} {
			b.Run(c.name+"/"+tensor.Int(int64(n)).String(), func(b *testing.B) {
				ts := []*tensor.Tensor{}
				for range c.inputs + 1 {
					x, _ := tensor.Full([]int{n}, tensor.Float(0.5), tensor.Float32)
					ts = append(ts, x)
				}
				parallel.SetNumThreads(1)
				defer parallel.SetNumThreads(0)
				for b.Loop() {
					p.Run(ts, c.params)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
		}
	}
}
