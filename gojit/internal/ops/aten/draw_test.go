package aten

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

func drawNamed(g *tensor.Generator, name string, x *tensor.Tensor) {
	switch name {
	case "uniform":
		drawUniform(g, x, 0, 1)
	case "normal":
		drawNormal(g, x, 0, 1)
	case "randperm":
		drawPermutation(g, x)
	case "randint":
		drawIntegers(g, x, -3, 10)
	case "bernoulli":
		drawBernoulli(g, x, 0.4)
	case "bernoulli_tensor":
		p := must(tensor.Full(x.Shape(), tensor.Float(0.4), x.DType()))
		drawBernoulliFrom(g, x, p)
	case "bits":
		drawBits(g, x)
	case "exponential":
		drawExponential(g, x, 2)
	case "cauchy":
		drawCauchy(g, x, 1, 2)
	case "log_normal":
		drawLogNormal(g, x, 0.5, 0.25)
	case "geometric":
		drawGeometric(g, x, 0.3)
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
	text := must(os.ReadFile("testdata/random.json"))
	succeed(json.Unmarshal(text, &seeds))
	for _, s := range seeds {
		g := tensor.NewGenerator(s.Seed)
		for _, d := range s.Draws {
			dtype, _ := tensor.ParseDType(d.DType)
			x := zeros([]int{d.N}, dtype)
			drawNamed(g, d.Name, x)
			got := to(realParts(x), tensor.Float64)
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
			x, wide := zeros([]int{3, 5}, d), zeros([]int{3, 10}, d)
			y := must(wide.Slice(1, 0, 10, 2))
			drawNamed(tensor.NewGenerator(5), name, x)
			drawNamed(tensor.NewGenerator(5), name, y)
			if !equal(x, contiguous(y)) {
				t.Errorf("%s of %s: %v, with gaps %v", name, d, x, y)
			}
		}
	}
}
