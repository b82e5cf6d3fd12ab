package gojit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// TestCustomOperatorsAndForks: a source text compiled from Go names operators that were registered, and forks, as Python's programs do (the IR
// document of 2018, "Operators", and the JIT overview, "Fork/wait").
func TestCustomOperatorsAndForks(t *testing.T) {
	err := gojit.RegisterOperator("custom_test::twice(int n) -> int", func(args []gojit.Value) ([]gojit.Value, error) {
		return []gojit.Value{value.Int(2 * args[0].Int())}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := gojit.Compile("custom.py", `
def h(n: int) -> int:
    return torch.ops.custom_test.twice(n) + 1
def f(n: int) -> int:
    task = torch.jit.fork(h, n)
    return torch.jit.wait(task) + torch.ops.custom_test.twice(10)
`)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := p.Call(context.Background(), "f", 3); err != nil || found.Int() != 27 {
		t.Errorf("%v, %v", found, err)
	}
	if text := p.Function("f").Graph().String(); !strings.Contains(text, "prim::fork_0") {
		t.Error(text)
	}
	if err := gojit.RegisterOperator("custom_test::twice(int n) -> int", nil); err == nil {
		t.Error("an operator is registered twice")
	}
}

// TestResultsOfCustomOperatorsAreCounted: an operator gives as many results as its schema says.
func TestResultsOfCustomOperatorsAreCounted(t *testing.T) {
	err := gojit.RegisterOperator("custom_test::nothing(int n) -> int", func([]gojit.Value) ([]gojit.Value, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	p, err := gojit.Compile("nothing.py", "def f(n: int):\n    return torch.ops.custom_test.nothing(n)\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(context.Background(), "f", 3); err == nil || !strings.Contains(err.Error(), "gave 0 results") {
		t.Error(err)
	}
}
