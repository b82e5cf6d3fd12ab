package aten

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func drawNamed(g *rng.Generator, name string, x *tensor.Tensor) {
	switch name {
	case "uniform":
		random.DrawUniform(g, x, 0, 1)
	case "normal":
		random.DrawNormal(g, x, 0, 1)
	case "randperm":
		random.DrawPermutation(g, x)
	case "randint":
		random.DrawIntegers(g, x, -3, 10)
	case "bernoulli":
		random.DrawBernoulli(g, x, 0.4)
	case "bernoulli_tensor":
		p := source.Must(tensor.Full(x.Shape(), tensor.Float(0.4), x.DType()))
		random.DrawBernoulliFrom(g, x, p)
	case "bits":
		random.DrawBits(g, x)
	case "exponential":
		random.DrawExponential(g, x, 2)
	case "cauchy":
		random.DrawCauchy(g, x, 1, 2)
	case "log_normal":
		random.DrawLogNormal(g, x, 0.5, 0.25)
	case "geometric":
		random.DrawGeometric(g, x, 0.3)
	}
}

func TestStreamsMatchPyTorch(t *testing.T) {
	var seeds []struct {
		Seed  uint64
		Draws []struct {
			Name, DType string
			N           int
			Data        []json.RawMessage
		}
	}
	text := source.Must(os.ReadFile("testdata/random.json"))
	source.Throw(json.Unmarshal(text, &seeds))
	for _, s := range seeds {
		g := rng.New(s.Seed)
		for _, d := range s.Draws {
			dtype, _ := tensor.ParseDType(d.DType)
			x := define.Zeros([]int{d.N}, dtype)
			drawNamed(g, d.Name, x)
			got := elementwise.To(random.RealParts(x), tensor.Float64)
			want := make([]float64, len(d.Data))
			for i, raw := range d.Data {
				want[i] = parseNumber(t, raw)
			}
			tolerance := 1e-5
			if dtype == tensor.BFloat16 { // its intermediate roundings differ by one step now and then
				tolerance = 1e-2
			}
			step := 1
			if d.N > 100 {
				step = 84 // as in make_random.py
			}
			for i := range want {
				v := tensor.Data[float64](got)[i*step]
				if math.Abs(v-want[i]) > tolerance*math.Max(1, math.Abs(want[i])) {
					t.Errorf("seed %d, %s %s [%d] = %v, want %v", s.Seed, d.Name, d.DType, i, v, want[i])
					break
				}
			}
		}
	}
}

// A tensor gets the same numbers however it lies, but for those that normal numbers make of 16 and more in blocks.
func TestDrawsDoNotDependOnStrides(t *testing.T) {
	for _, name := range []string{"uniform", "normal", "exponential", "randint", "bits"} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			x, wide := define.Zeros([]int{3, 5}, d), define.Zeros([]int{3, 10}, d)
			y := source.Must(wide.Slice(1, 0, 10, 2))
			drawNamed(rng.New(5), name, x)
			drawNamed(rng.New(5), name, y)
			if !views.Equal(x, elementwise.Contiguous(y)) {
				t.Errorf("%s of %s: %v, with gaps %v", name, d, x, y)
			}
		}
	}
}
