package aten

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/sparse"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// calm runs an operator; a panic becomes a failure of the test.
func calm(t *testing.T, label string, o *ops.Operator, args []value.Value) (out []value.Value, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s panics: %v", label, r)
			err = fmt.Errorf("panic")
		}
	}()
	out = make([]value.Value, len(o.Schema().Returns))
	return out, o.Run(args, out)
}

// TestSparseArguments gives every operator of the golden files each argument as a sparse tensor: it refuses it, or gives what it gives for
// one with elements.
func TestSparseArguments(t *testing.T) {
	paths, _ := filepath.Glob("testdata/cases_*.json")
	done := map[string]int{}
	for _, path := range paths {
		var file struct {
			Inputs map[string]*encoded
			Calls  []goldenCall
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for i := range file.Calls {
			g := &file.Calls[i]
			o := ops.Find("aten::" + g.Op)
			if g.Error != nil || o == nil || o.Run == nil || done[g.Op] > 2 {
				continue
			}
			done[g.Op]++
			for a := range g.arguments(t, o, file.Inputs) {
				for _, name := range []string{"to_sparse", "to_sparse_csr"} {
					sparseCase(t, g, o, a, name, file.Inputs)
				}
			}
		}
	}
}

func sparseCase(t *testing.T, g *goldenCall, o *ops.Operator, a int, name string, inputs map[string]*encoded) {
	t.Helper()
	args := g.arguments(t, o, inputs)
	if !args[a].IsTensor() || args[a].Tensor().DType().IsQuantized() || name == "to_sparse_csr" && args[a].Tensor().Dim() != 2 {
		return
	}
	args[a] = value.OfTensor(define.Apply(name, args[a].Tensor()))
	label := fmt.Sprintf("%s with a sparse argument %d (%s)", g.Op, a, name)
	out, err := calm(t, label, o, args)
	if err != nil || len(out) != 1 || !out[0].IsTensor() || o.IsNondeterministic() {
		return
	}
	sameResult(t, label, value.OfTensor(sparse.ToDenseOf(out[0].Tensor())), decode(t, g.Out, inputs))
}

// TestSparseArgumentsOfAll calls every operator with sparse tensors and plain numbers: whatever it says, it does not panic.
func TestSparseArgumentsOfAll(t *testing.T) {
	indices, values := source.Must(tensor.FromSlice([]int64{0, 1, 1, 2}, 2, 2)), source.Must(tensor.FromSlice([]float32{3, 4}, 2))
	for _, layout := range []string{"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr"} {
		fresh := func() *tensor.Tensor {
			x := views.Coo([]int{2, 3}, indices, source.Must(values.Clone(tensor.ContiguousFormat)), true)
			switch layout {
			case "sparse_csr":
				return define.Apply("to_sparse_csr", x)
			case "sparse_csc":
				return define.Apply("to_sparse_csc", x)
			case "sparse_bsr":
				return define.Apply("to_sparse_bsr", x, []int{1, 3})
			}
			return x
		}
		all := Operators()
		for i := range all {
			found := ops.Find(keyOf(all[i].Name))
			if args, ok := plainArguments(found, fresh); ok && found.Run != nil {
				calm(t, found.Name+" with "+layout, found, args)
			}
		}
	}
}

func keyOf(name string) string {
	for i, r := range name {
		if r == '(' {
			return name[:i]
		}
	}
	return name
}

// plainArguments makes arguments of an operator by their types; ok is false where there is no tensor among them.
func plainArguments(o *ops.Operator, fresh func() *tensor.Tensor) (args []value.Value, ok bool) {
	for _, a := range o.Schema().Arguments {
		switch typ := a.Type; typ.Kind() {
		case types.KindTensor:
			args, ok = append(args, value.OfTensor(fresh())), true
		case types.KindList:
			switch elem := typ.(*types.List).Elem; elem.Kind() {
			case types.KindTensor:
				args, ok = append(args, value.OfList(value.Tensors([]*tensor.Tensor{fresh(), fresh()}))), true
			case types.KindInt:
				args = append(args, value.OfList(value.Ints([]int{1, 2})))
			default:
				args = append(args, value.OfList(value.NewList(elem)))
			}
		case types.KindInt:
			args = append(args, value.Int(1))
		case types.KindFloat:
			args = append(args, value.Float(0.5))
		case types.KindBool:
			args = append(args, value.Bool(false))
		case types.KindNumber:
			args = append(args, value.Int(2))
		case types.KindString:
			args = append(args, value.Str("mean"))
		case types.KindOptional:
			args = append(args, value.None)
		default:
			args = append(args, a.Default)
		}
	}
	return args, ok
}
