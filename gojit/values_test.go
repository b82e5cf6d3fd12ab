package gojit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestArguments(t *testing.T) {
	p := compiled(`
def f(x: Optional[Tensor] = None, i: int = 1, f: float = 1.0, b: bool = True, s: str = "", l: List[float] = [], t: Tuple[int, str] = (1, "a"), d: Dict[str, int] = {}):
    return str(i) + str(f) + str(b) + s + str(l) + str(t) + str(d)
`)
	for _, c := range []struct {
		name  string
		value any
		want  string // of the result, or of the error
	}{
		{"i", int8(-3), "-31.True"}, {"i", uint64(7), "71."}, {"i", json.Number("5"), "51."},
		{"f", float32(0.5), "10.5True"}, {"f", 3, "13.True"}, {"b", false, "11.False"}, {"s", "text", "Truetext"},
		{"l", []float32{1, 2.5}, "[1., 2.5]"}, {"l", []int{1, 2}, "[1., 2.]"}, {"t", []any{3, "b"}, "(3, b)"},
		{"t", struct {
			N int
			S string
		}{4, "c"}, "(4, c)"},
		{"d", map[string]int{"a": 1}, "{a: 1}"}, {"d", json.RawMessage(`{"b": 2}`), "{b: 2}"},

		{"i", 1.5, "for the argument 'i': found a Go value of type float64"}, {"i", uint64(math.MaxUint64), "more than 64 bits hold"},
		{"i", nil, "found NoneType"}, {"b", 1, "found a Go value of type int"}, {"s", []byte("x"), "found a Go value of type []uint8"},
		{"l", []string{"a"}, "element 0: expected float, found a Go value of type string"}, {"t", []any{3}, "found 1 elements, expected 2"},
		{"d", map[int]int{1: 1}, "key 1: expected str"}, {"d", map[string]any{"a": "b"}, "value of a: expected int"},
		{"x", [][]float32{{1}, {1, 2}}, "[1]: expected a row of 1, found one of 2"}, {"x", "text", "found a Go value of type string"},
		{"x", json.RawMessage(`{"dtype": "uint8", "shape": [1], "data": [256]}`), "256 is no uint8"},
		{"x", json.RawMessage(`{"dtype": "float32", "shape": [2], "data": [1]}`), "found 1 elements for the shape [2]"},
		{"i", json.RawMessage(`1 2`), "found more behind the JSON value"},
		{"y", 1, "has no argument 'y'"},
	} {
		out, err := p.Call(ctx, "f", gojit.Keyword{Name: c.name, Value: c.value})
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			text = out.Str()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s=%v: %s, want %s", c.name, c.value, text, c.want)
		}
	}
	for want, args := range map[string][]any{
		"is given the argument 'x' by its place and by its name": {nil, gojit.Keyword{Name: "x"}},
		"is given the argument 'i' twice":                        {gojit.Keyword{Name: "i", Value: 1}, gojit.Keyword{Name: "i", Value: 2}},
		"takes 8 positional arguments, 9 are given":              {nil, 1, 1.0, true, "", []float64{}, []any{1, "a"}, map[string]int{}, 1},
	} {
		if _, err := p.Call(ctx, "f", args...); err == nil || !strings.Contains(err.Error(), want) || errs.FaultOf(err) != errs.CallerFault {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTensorsOfGoValues(t *testing.T) {
	p := compiled("def f(x):\n    return x\n")
	for want, x := range map[string]any{
		"tensor([1., 2.])": []float32{1, 2}, "tensor([[1], [2]])": [][]int{{1}, {2}}, "tensor([ True, False])": []bool{true, false},
		"tensor([1.0000, 2.5000])": json.RawMessage(`[1, 2.5]`), "tensor(3)": json.RawMessage(`3`), "tensor([1], dtype=torch.int8)": [1]int8{1},
		"tensor([nan, inf])": json.RawMessage(`["NaN", "Infinity"]`), "tensor([1.+2.j])": []complex64{1 + 2i}, "tensor([], size=(0, 0))": [][]float32{},
		"tensor([1, 2], dtype=torch.uint8)": json.RawMessage(`{"dtype": "uint8", "data": "AQI=", "shape": [2]}`),
	} {
		out, err := p.Call(ctx, "f", x)
		if err != nil {
			t.Errorf("%v: %v", x, err)
			continue
		}
		if got := strings.ReplaceAll(out.Tensor().String(), "\n       ", ""); got != want && want != "tensor([], size=(0, 0))" {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestAsRefuses(t *testing.T) {
	p := compiled("def f(x):\n    return x, 2.5, [1, 2], None, 'text', 1 << 40\n")
	x, err := tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Call(ctx, "f", x)
	if err != nil {
		t.Fatal(err)
	}
	parts := gojit.Outputs(out)
	check := func(name string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || errs.FaultOf(err) != errs.CallerFault {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, err = gojit.As[[]float64](parts[0].Value)
	check("dimensions", err, "a tensor of type float64 and shape [2, 2], not one of 1 dimensions")
	_, err = gojit.As[[][]float32](parts[0].Value)
	check("narrowing", err, "whose elements float32 holds")
	_, err = gojit.As[float64](parts[0].Value)
	check("several elements", err, "not a value that the Go type float64 holds")
	_, err = gojit.As[int](parts[1].Value)
	check("a fraction", err, "is float")
	_, err = gojit.As[string](parts[2].Value)
	check("a list", err, "not a string")
	_, err = gojit.As[int](parts[3].Value)
	check("None", err, "NoneType")
	_, err = gojit.As[int32](parts[5].Value)
	check("overflow", err, "int32")
	_, err = gojit.As[struct{ A, B int }](parts[2].Value)
	check("a list as a struct", err, "a tuple or a dictionary")
	if none, err := gojit.As[*int](parts[3].Value); none != nil || err != nil {
		t.Errorf("None as a pointer: %v, %v", none, err)
	}
	if all, err := gojit.As[[]any](out); err != nil || all[4] != "text" {
		t.Errorf("any: %v, %v", all, err)
	}
	view, err := x.Transpose(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := gojit.ValueOf(view)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := gojit.As[[][]float64](v); err != nil || rows[0][1] != 3 {
		t.Errorf("a view: %v, %v", rows, err)
	}
}

// A result keeps nothing of what it was computed from, unless the call records.
func TestNoTapeUnlessAsked(t *testing.T) {
	p := compiled("def f(x):\n    return x * 2, torch.is_grad_enabled()\n")
	x, err := tensor.FromSlice([]float32{1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.SetRequiresGrad(true); err != nil {
		t.Fatal(err)
	}
	for _, recording := range []bool{false, true} {
		args := []any{x}
		if recording {
			args = append(args, gojit.WithGradients())
		}
		out, err := p.Call(ctx, "f", args...)
		if err != nil {
			t.Fatal(err)
		}
		parts := gojit.Outputs(out)
		if enabled, _ := gojit.As[bool](parts[1].Value); parts[0].Value.Tensor().RequiresGrad() != recording || enabled != recording {
			t.Errorf("recording %v: the result requires a gradient: %v", recording, parts[0].Value.Tensor().RequiresGrad())
		}
	}
}

// Errors of compilation and of running programs have a place.
func TestPlaces(t *testing.T) {
	_, err := gojit.Compile("wrong.py", "def f(x: int):\n    return x.nothing_of_that_name\n")
	if file, line, column, ok := errs.PlaceOf(err); file != "wrong.py" || line != 2 || column != 11 || !ok {
		t.Errorf("compiling: %s:%d:%d %v", file, line, column, ok)
	}
	p := compiled("def g(x):\n    return torch.mm(x, x)\n\ndef f(x):\n    return g(x)\n")
	_, err = p.Call(ctx, "f", []float32{1})
	if file, line, column, ok := errs.PlaceOf(err); file != "example.py" || line != 2 || column != 11 || !ok {
		t.Errorf("running: %s:%d:%d %v", file, line, column, ok)
	}
	if _, _, _, ok := errs.PlaceOf(nil); ok {
		t.Error("no error has a place")
	}
}

// Values print as Python's repr shows them.
func TestValuesAsText(t *testing.T) {
	p, err := gojit.CompileFile("text.py", `
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional

class Point(NamedTuple):
    x: Tensor
    y: int = 2

class Color(Enum):
    RED = 1

class Counter:
    def __init__(self):
        self.n = 1

def numbers():
    return (True, 3, 3.0, 1e16, 1e-5, 0.1, float("inf"), 2j, complex(1.5, -2.0), None)

def texts():
    return ["a'b", 'a"b\'', "tab\t\n\\ \x01 \u00e9"]

def containers(x):
    empty: List[int] = []
    none: Dict[str, int] = {}
    return (empty, none, (1,), {"a": [1.5, 2.0], "b": []}, [x, x + 1])

def kinds(x):
    return (Point(x), Color.RED, x.device)

def own():
    return Counter()

def within(l: List[Any]):
    l.append(l)
    return l
`)
	if err != nil {
		t.Fatal(err)
	}
	x := []float32{1}
	for name, want := range map[string]string{
		"numbers":    "(True, 3, 3.0, 1e+16, 1e-05, 0.1, inf, 2j, (1.5-2j), None)",
		"texts":      `["a'b", 'a"b\'', 'tab\t\n\\ \x01 é']`,
		"containers": "([], {}, (1,), {'a': [1.5, 2.0], 'b': []}, [tensor([1.]), tensor([2.])])",
		"kinds":      "(Point(x=tensor([1.]), y=2), <Color.RED: 1>, device(type='cpu'))",
		"own":        "<__torch__.Counter object>",
		"within":     "[1, ...]",
	} {
		var args []any
		switch name {
		case "containers", "kinds":
			args = []any{x}
		case "within":
			args = []any{[]any{1}}
		}
		if out, err := p.Call(t.Context(), name, args...); err != nil || fmt.Sprint(out) != want {
			t.Errorf("%s: found %v, %v; want %s", name, out, err, want)
		}
	}
}
