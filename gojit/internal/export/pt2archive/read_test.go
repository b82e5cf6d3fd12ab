package pt2archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// saved is an archive that PyTorch 2.15 wrote, with its answers: torch2.pt2 of a program with dynamic sizes, writes, branches, several results and constants.
func saved(t testing.TB, name string) []byte {
	gojit.LinkOperators()
	data, err := os.ReadFile("../../../../tests/data/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestProgramsGiveTheAnswersOfPyTorch(t *testing.T) {
	counted := func(from float32) value.Value {
		elements := make([]float32, 12)
		for i := range elements {
			elements[i] = from + float32(i)
		}
		x, err := tensor.FromSlice(elements, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		return value.OfTensor(x)
	}
	two := value.OfTensor(tensor.FromScalar(tensor.Int(2), tensor.Int64))
	for name, inputs := range map[string][]value.Value{
		"torch2.pt2": nil, "torch2_parts.pt2": {counted(-5), counted(0), two}, "torch2_decomposed.pt2": {counted(-5), counted(0), two},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := gojit.ReadExported(saved(t, name))
			if err != nil {
				t.Fatal(err)
			}
			var answers [][]any
			if err := json.Unmarshal(e.Extra["answers"], &answers); err != nil {
				t.Fatal(err)
			}
			if inputs == nil {
				inputs = []value.Value{value.OfTensor(e.Tensors[exportir.ExamplePrefix+"x"]), value.Float(3)}
			}
			out, err := e.Run(context.Background(), inputs...)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) != len(answers[0]) {
				t.Fatalf("%d results, not %d", len(out), len(answers[0]))
			}
			for i, want := range answers[0] {
				if got, want := numbersOf(t, out[i]), numbersOf(t, want); !near(got, want) {
					t.Errorf("result %d is %v, not %v", i, got, want)
				}
			}
			if calls := e.Tensors["calls"]; calls != nil && (calls.At().Float64() != 1 || !e.Program.Writes()) {
				t.Errorf("the buffer that a call counts in has %v", calls)
			}
		})
	}
}

// numbersOf lists the numbers in lists, and the elements of tensors.
func numbersOf(t *testing.T, x any) (all []float64) {
	switch x := x.(type) {
	case float64:
		return []float64{x}
	case bool:
		return []float64{map[bool]float64{true: 1}[x]}
	case []any:
		for _, item := range x {
			all = append(all, numbersOf(t, item)...)
		}
	case value.Value:
		if x.IsInt() {
			return []float64{float64(x.Int())}
		}
		if x.IsTensor() {
			elements, err := x.Tensor().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return elements
		}
	}
	return all
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-5 })
}

// changed is the archive with another text in the record of its program.
func changed(t testing.TB, data []byte, from, to string) []byte {
	old, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range old.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.Name, "/models/") {
			content = bytes.ReplaceAll(content, []byte(from), []byte(to))
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.Name})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestProgramsThatAreRefused(t *testing.T) {
	whole := saved(t, "torch2.pt2")
	for _, test := range []struct{ from, to, want string }{
		{"aten.relu.default", "aten.nothing.default", "relu of the program: the program calls torch.ops.aten.nothing.default, which there is not here"},
		{"torch.ops.aten.relu.default", "builtins.eval", "relu of the program: the program calls builtins.eval, which there is not here"},
		{"torch.ops.higher_order.cond", "torch.ops.higher_order.flex", "calls the higher-order operator flex"},
		{`"dtype": 7`, `"dtype": 28`, "there is no element type uint16 here"},
		{`"dtype": 7`, `"dtype": 99`, "the number 99 stands for no element type"},
		{`"as_float": 3.0`, `"as_custom_obj": {}`, `an argument of the kind "as_custom_obj"`},
		{`"arg": {"as_int": 0}`, `"arg": {"as_int": 0, "as_none": true}`, "an object has 2 members"},
		{`"user_input"`, `"token"`, `an input of the kind "token"`},
		{`"buffer_name": "calls"`, `"buffer_name": "other"`, `no tensor "other"`},
		{`"[1, `, `"[2, `, "containers are described in version 2: 1 is read"},
		{`"in_spec": "`, `"in_spec": "{`, "is no list of a version and a description"},
		{`"graph_module"`, `"other"`, "the program has no graph"},
	} {
		if _, err := gojit.ReadExported(changed(t, whole, test.from, test.to)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: %v", test.to, test.from, err)
		}
	}
}

// FuzzRead reads archives that are damaged: nothing but an error may come of it.
func FuzzRead(f *testing.F) {
	whole := saved(f, "torch2.pt2")
	f.Add(whole)
	for _, change := range [][2]string{
		{"relu", "item"}, {"as_tensors", "as_tensor"}, {"as_int", "as_sym_int"}, {"Mul(", "Pow("}, {`"as_name"`, `"as_int"`}, {"builtins.dict", "collections.namedtuple"}, {"true_graph_0", "x"},
	} {
		f.Add(changed(f, whole, change[0], change[1]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := export.ReadArchive(data)
		if err != nil {
			return
		}
		_ = a.Program.Graph.String()
		_, _ = export.Function(a.Program, "__torch__.f")
		if data, err := export.WriteForPyTorch(a); err == nil {
			if _, err := export.ReadArchive(data); err != nil {
				t.Errorf("what was written cannot be read: %v", err)
			}
		}
	})
}

func TestWhatPyTorchCannotReadIsNotWritten(t *testing.T) {
	for from, want := range map[string]string{
		`"getitem_3": {"dtype"`: "sub, a call of torch.ops.aten.sub.Tensor: PyTorch 2.15 needs to know what getitem_3 is",
		`"relu": {"dtype"`:      "PyTorch 2.15 needs to know what relu is",
	} {
		a, err := export.ReadArchive(changed(t, saved(t, "torch2.pt2"), from, `"other": {"dtype"`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := export.WriteForPyTorch(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", from, err)
		}
	}
}
