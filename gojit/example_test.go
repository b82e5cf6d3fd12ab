package gojit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var ctx = context.Background()

// compiled compiles functions for an example.
func compiled(text string) *gojit.Program {
	p, err := gojit.Compile("example.py", text)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// A model that PyTorch saved, called with a tensor.
func Example() {
	model, err := gojit.Load("../tests/data/digits_cnn.pt")
	if err != nil {
		log.Fatal(err)
	}
	image, err := tensor.Zeros([]int{1, 1, 12, 12}, tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	out, err := model.Forward(image)
	if err != nil {
		log.Fatal(err)
	}
	scores, err := gojit.As[[][]float32](out)
	fmt.Println(len(scores[0]), err)
	// Output: 10 <nil>
}

func ExampleCompile() {
	p, err := gojit.Compile("scale.py", "def scale(x, k: float = 2.0):\n    return x * k\n")
	if err != nil {
		log.Fatal(err)
	}
	out, err := p.Call(ctx, "scale", []float32{1, 2, 3})
	fmt.Println(out.Tensor(), err)
	// Output: tensor([2., 4., 6.]) <nil>
}

// Errors of the compiler show the place and what to do.
func ExampleCompile_error() {
	_, err := gojit.Compile("wrong.py", "def f(x: int):\n    return x.shape\n")
	fmt.Println(errs.FaultOf(err))
	// Output: program
}

// A file as people write it: what is no part of a program is named.
func ExampleCompileFile() {
	p, err := gojit.CompileFile("model.py", `
import os
import torch

@torch.jit.script
def twice(x: torch.Tensor) -> torch.Tensor:
    return x + x

def main():
    print(os.environ)
    yield
`)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Functions() {
		fmt.Println(f.Schema)
	}
	for _, s := range p.Skipped {
		fmt.Println(s.Line, s.Name)
	}
	// Output:
	// twice(Tensor x) -> Tensor
	// 2 import os
	// 9 def main()
}

func ExampleModule_Call() {
	model, err := gojit.Load("../tests/data/digits_cnn.pt")
	if err != nil {
		log.Fatal(err)
	}
	image, _ := tensor.Zeros([]int{1, 1, 12, 12}, tensor.Float32)
	out, err := model.Call(ctx, "predict", image)
	if err != nil {
		log.Fatal(err)
	}
	var digits []int64
	for _, part := range gojit.Outputs(out)[:1] {
		digits, err = gojit.As[[]int64](part.Value)
	}
	fmt.Println(len(digits), err)
	// Output: 1 <nil>
}

// Arguments by name, and how the call runs.
func ExampleKeyword() {
	p := compiled("def scale(x, k: float = 2.0, offset: int = 0):\n    return x * k + offset\n")
	out, err := p.Call(ctx, "scale", []float64{1, 2}, gojit.Keyword{Name: "offset", Value: 10}, gojit.WithThreads(1))
	fmt.Println(out.Tensor(), err)
	// Output: tensor([12., 14.], dtype=torch.float64) <nil>
}

// Go values become what the parameters are: lists, dictionaries, tuples, tensors.
func ExampleProgram_Call() {
	p := compiled(`
def total(weights: Dict[str, float], pairs: List[Tuple[str, int]]) -> float:
    sum = 0.0
    for name, n in pairs:
        sum += weights[name] * n
    return sum
`)
	out, err := p.Call(ctx, "total", map[string]float64{"a": 0.5, "b": 2}, [][]any{{"a", 4}, {"b", 3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gojit.As[float64](out))
	// Output: 8 <nil>
}

func ExampleAs() {
	p := compiled("def f(x):\n    return {'sum': float(x.sum()), 'max': float(x.max())}\n")
	out, err := p.Call(ctx, "f", []float32{1, 5, 2})
	if err != nil {
		log.Fatal(err)
	}
	statistics, err := gojit.As[map[string]float64](out)
	fmt.Println(statistics, err)
	// Output: map[max:5 sum:8] <nil>
}

// A struct takes a named tuple, a tuple or a dictionary.
func ExampleAs_struct() {
	p := compiled("def f(n: int):\n    return {'half': n // 2, 'double': n * 2}\n")
	out, err := p.Call(ctx, "f", 10)
	if err != nil {
		log.Fatal(err)
	}
	type result struct {
		Half  int
		Twice int `torch:"double"`
	}
	r, err := gojit.As[result](out)
	fmt.Println(r, err)
	// Output: {5 20} <nil>
}

// What a Go type does not hold is an error, not a zero.
func ExampleAs_error() {
	p := compiled("def f():\n    return [1, 2, 300]\n")
	out, err := p.Call(ctx, "f")
	if err != nil {
		log.Fatal(err)
	}
	_, err = gojit.As[[]uint8](out)
	fmt.Println(err)
	// Output: element 2 of the value is int, not a value that the Go type uint8 holds
}

func ExampleOutputs() {
	p := compiled("def f(x):\n    return x.min(), x.max()\n")
	out, err := p.Call(ctx, "f", []int64{3, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range gojit.Outputs(out) {
		n, err := gojit.As[int](o.Value)
		fmt.Println(o.Name, n, err)
	}
	// Output:
	// output_0 1 <nil>
	// output_1 3 <nil>
}

func ExampleModule_Signature() {
	model, err := gojit.Load("../tests/data/digits_cnn.pt")
	if err != nil {
		log.Fatal(err)
	}
	s, err := model.Signature("predict")
	fmt.Println(s, s.Outputs, err)
	// Output: (x: Tensor) -> Tuple[List[int], Tensor] [output_0 output_1] <nil>
}

func ExampleMarshalJSON() {
	p := compiled("def f(x):\n    return x / 2, 'half'\n")
	out, err := p.Call(ctx, "f", []float32{1, 2})
	if err != nil {
		log.Fatal(err)
	}
	text, err := gojit.MarshalJSON(out)
	fmt.Println(string(text), err)
	// Output: [{"dtype":"float32","shape":[2],"data":[0.5,1]},"half"] <nil>
}

// Arguments may be JSON: nested lists for tensors.
func ExampleProgram_Call_json() {
	p := compiled("def f(x, k: int):\n    return x.t() * k\n")
	out, err := p.Call(ctx, "f", json.RawMessage(`[[1, 2], [3, 4]]`), json.RawMessage(`3`))
	fmt.Println(out.Tensor(), err)
	// Output:
	// tensor([[ 3,  9],
	//         [ 6, 12]]) <nil>
}

// A call ends soon after its context does, within a loop or an operator.
func ExampleProgram_Call_deadline() {
	p := compiled("def spin():\n    n = 0\n    while True:\n        n += 1\n    return n\n")
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err := p.Call(short, "spin")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleGradients() {
	p := compiled("def f(x):\n    return (x * x).sum()\n")
	x, err := tensor.FromSlice([]float32{1, 2, 3}, 3)
	if err != nil {
		log.Fatal(err)
	}
	if err := x.SetRequiresGrad(true); err != nil {
		log.Fatal(err)
	}
	out, err := p.Call(ctx, "f", x, gojit.WithGradients())
	if err != nil {
		log.Fatal(err)
	}
	gradients, err := gojit.Gradients(out.Tensor(), x)
	fmt.Println(gradients[0], err)
	// Output: tensor([2., 4., 6.]) <nil>
}

// Open takes TorchScript archives and exported programs.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	module, err := gojit.Load("../tests/data/digits_cnn.pt")
	if err != nil {
		log.Fatal(err)
	}
	image, _ := tensor.Zeros([]int{1, 1, 12, 12}, tensor.Float32)
	exported, err := module.Export(image)
	if err != nil {
		log.Fatal(err)
	}
	if err := exported.Save(filepath.Join(folder, "model.pt2")); err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"../tests/data/digits_cnn.pt", filepath.Join(folder, "model.pt2")} {
		model, err := gojit.Open(path, gojit.LoadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		s, err := model.Signature("forward")
		fmt.Println(s, err)
	}
	// Output:
	// (x: Tensor) -> Tensor <nil>
	// (x: Tensor) -> Tensor <nil>
}

func ExampleModuleOf() {
	p := compiled("def scale(x, k: float = 2.0):\n    return x * k\n")
	m, err := gojit.ModuleOf(p.Function("scale"))
	if err != nil {
		log.Fatal(err)
	}
	archive, err := m.SaveBytes(nil) // what torch.jit.load reads
	if err != nil {
		log.Fatal(err)
	}
	again, err := gojit.LoadBytes(archive)
	if err != nil {
		log.Fatal(err)
	}
	out, err := again.Forward([]float32{1, 2})
	fmt.Println(out.Tensor(), err)
	// Output: tensor([2., 4.]) <nil>
}

// What is in a file, without running any of it.
func ExampleInspect() {
	report, err := gojit.Inspect("../tests/data/digits_cnn.pt")
	fmt.Println(report.Module, len(report.Problems), err)
	// Output: __torch__.models_shared.DigitNet 0 <nil>
}

func ExampleExplainFunction() {
	p := compiled("def f(x):\n    return (x * 2 + 1).relu()\n")
	x, err := gojit.ExplainFunction(p.Function("f"))
	fmt.Println(len(x.Groups), x.Groups[0].Operators, err)
	// Output: 1 [aten::mul aten::add aten::relu] <nil>
}
