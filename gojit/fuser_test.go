package gojit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// fusedStatements are what random programs are made of: %s is a variable, each of the others one more.
var fusedStatements = []string{
	"torch.mul(%s, %s)", "torch.add(%s, %s, alpha=2)", "%s - %s", "%s / %s", "torch.maximum(%s, %s)", "%s * k", "%s + r", "r - %s", "%s / k",
	"torch.sigmoid(%s)", "torch.tanh(%s)", "torch.exp(%s)", "torch.relu(%s)", "torch.abs(%s)", "%s ** 2", "%s ** 0.5", "%s ** k", "torch.clamp(%s, min=-1.0)",
	"torch.gelu(%s)", "torch.silu(%s)", "torch.leaky_relu(%s, 0.1)", "%s > %s", "torch.eq(%s, 0)", "torch.logical_not(%s)", "torch.sqrt(%s)",
	"torch.addcmul(%s, %s, %s, value=0.5)", "torch.neg(%s)", "torch.floor_divide(%s, 2)", "torch.cos(%s)", "torch.log1p(%s)", "torch.sum(%s, 0)",
}

// randomFused returns a program of elementwise operators with a few other statements between.
func randomFused(r *rand.Rand) string {
	variables := []string{"x", "y", "z"}
	pick := func() string { return variables[r.IntN(len(variables))] }
	var b strings.Builder
	b.WriteString("def f(x: Tensor, y: Tensor, z: Tensor, k: int, r: float) -> List[Tensor]:\n")
	for i := range 2 + r.IntN(9) {
		s := fusedStatements[r.IntN(len(fusedStatements))]
		for strings.Contains(s, "%s") {
			s = strings.Replace(s, "%s", pick(), 1)
		}
		name := fmt.Sprintf("v%d", i)
		fmt.Fprintf(&b, "    %s = %s\n", name, s)
		variables = append(variables, name)
		if r.IntN(12) == 0 {
			fmt.Fprintf(&b, "    %s.add_(1)\n", name)
		}
	}
	fmt.Fprintf(&b, "    return [%s, %s, %s]\n", variables[len(variables)-1], pick(), pick())
	return b.String()
}

var fusedShapes = [][]int{{2, 3}, {2, 3}, {2, 3}, {3}, {2, 1}, {1, 3}, {}, {0, 3}, {40, 3}}

func fusedOperand(r *rand.Rand) *tensor.Tensor {
	types := []tensor.DType{tensor.Float32, tensor.Float32, tensor.Float32, tensor.Float64, tensor.Int64, tensor.Bool, tensor.BFloat16, tensor.Int32}
	shape := slices.Clone(fusedShapes[r.IntN(len(fusedShapes))])
	transposed, sliced := r.IntN(6) == 0 && len(shape) == 2, r.IntN(6) == 0 && len(shape) == 2
	if transposed {
		shape[0], shape[1] = shape[1], shape[0]
	}
	if sliced {
		shape[1] *= 2
	}
	t, _ := tensor.Empty(shape, tensor.Float64)
	for i, data := 0, tensor.Data[float64](t); i < len(data); i++ {
		data[i] = float64(r.IntN(41)-20) / 8
	}
	t, _ = t.To(types[r.IntN(len(types))])
	if sliced {
		t, _ = t.Slice(1, 0, shape[1]/2, 1)
	}
	if transposed {
		t, _ = t.Transpose(0, 1)
	}
	return t
}

// text shows a result to the bit, its shape and its layout. Of several operators that would fail another may be the
// first in a group.
func text(v value.Value, err error) string {
	if err != nil {
		return "fails"
	}
	var b strings.Builder
	for _, x := range v.List().Items {
		t := x.Tensor()
		flat, _ := t.Contiguous()
		fmt.Fprintf(&b, "%v %v %v %s\n", t.DType(), t.Shape(), t.Strides(), elements(flat))
	}
	return b.String()
}

// TestFusedBits compares what random programs give with and without groups, to the bit, NaN aside.
func TestFusedBits(t *testing.T) {
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	plain := exec.New(exec.Options{AsDefined: true})
	done := 0
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		source := randomFused(r)
		p, err := gojit.Compile("f.py", source)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		f := p.Function("f")
		fused := exec.New(exec.Options{})
		for range 2 {
			seedOfArguments := r.Uint64()
			run := func(e *exec.Engine) string {
				a := rand.New(rand.NewPCG(seedOfArguments, 1))
				args := []value.Value{value.OfTensor(fusedOperand(a)), value.OfTensor(fusedOperand(a)), value.OfTensor(fusedOperand(a)),
					value.Int(int64(a.IntN(4))), value.Float(float64(a.IntN(9)) / 4)}
				code, err := e.Code(f, nil)
				if err != nil {
					t.Fatal(err)
				}
				var out [1]value.Value
				err = code.Run(context.Background(), args, out[:])
				return text(out[0], err)
			}
			if got, want := run(fused), run(plain); got != want {
				t.Fatalf("seed %d:\n%s\nfused:\n%s\none by one:\n%s", seed, source, got, want)
			}
		}
		told, err := fused.Explain(f)
		if err != nil {
			t.Fatal(err)
		}
		text := told.String()
		done += max(0, strings.Count(text, "as one kernel")-strings.Count(text, "ran one by one"))
	}
	if done < runs/10 {
		t.Errorf("%d groups ran fused in %d programs: the test tests nothing", done, runs)
	}
}

// elements shows every bit of the elements; one NaN is like another.
func elements(t *tensor.Tensor) string {
	switch t.DType() {
	case tensor.Float32:
		return fmt.Sprintf("%x", tensor.Data[float32](t)) // hexadecimal floats
	case tensor.Float64:
		return fmt.Sprintf("%x", tensor.Data[float64](t))
	case tensor.BFloat16:
		return fmt.Sprintf("%x", tensor.Data[tensor.BF16](t))
	case tensor.Bool:
		return fmt.Sprint(tensor.Data[bool](t))
	case tensor.Int32:
		return fmt.Sprint(tensor.Data[int32](t))
	}
	return fmt.Sprint(tensor.Data[int64](t))
}
