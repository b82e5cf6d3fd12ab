package gojit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// records calls visit for each operator that has a record under its first name.
func records(visit func(o *ops.Operator)) {
	gojit.LinkOperators()
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if o.IsFunctional() {
				visit(o)
			}
		}
	}
}

// TestRecords: what a record says does not contradict itself or the schema.
func TestRecords(t *testing.T) {
	count := 0
	records(func(o *ops.Operator) {
		count++
		d := o.Def()
		tensors := 0
		for _, a := range o.Schema().Arguments {
			if a.Type.Kind() == types.KindTensor {
				tensors++
			}
		}
		switch {
		case d.Grad != nil && d.Decomp != nil:
			t.Errorf("%s has a derivative and what it is made of", o.Name)
		case d.Grad != nil && o.Has(ops.NotDifferentiable):
			t.Errorf("%s has a derivative and is not differentiable", o.Name)
		case d.Scalar != nil && o.Run == nil:
			t.Errorf("%s has an expression and does not run", o.Name)
		case d.Operands > len(o.Schema().Arguments):
			t.Errorf("%s has %d operands and takes %d arguments", o.Name, d.Operands, len(o.Schema().Arguments))
		case o.Has(ops.ShapeOnly|ops.SavesOperand) && d.Operands < 2 && len(o.Schema().Arguments) < 2:
			t.Errorf("%s has no second argument", o.Name)
		case o.Has(ops.IgnoresSelf|ops.SelfIgnoresSelf) && tensors == 0:
			t.Errorf("%s takes no tensor", o.Name)
		case o.Has(ops.Grouped) && d.Grad == nil && d.Decomp == nil && !o.Has(ops.NotDifferentiable) && o.Name != "aten::dropout" && autograd.Kind(o) == "":
			t.Errorf("%s is part of differentiable graphs and has no gradient", o.Name)
		}
	})
	if count < 400 {
		t.Errorf("%d operators have records", count)
	}
}

// sampleOf makes arguments for an elementwise operator of a record: tensors first, then numbers, then defaults. ok is false where an argument
// is of another kind.
func sampleOf(o *ops.Operator, at float64) (args []value.Value, ok bool) {
	for i, a := range o.Schema().Arguments {
		kind := a.Type.Kind()
		if optional, ok := a.Type.(*types.Optional); ok && (optional.Elem.Kind() == types.KindTensor || optional.Elem.Kind() == types.KindNumber) {
			kind = optional.Elem.Kind()
		}
		switch {
		case kind == types.KindTensor:
			// away from the corners of absolute values, floors and limits
			x, err := tensor.FromSlice([]float64{at, at + 0.13, at + 0.29}, 3)
			if err != nil {
				return nil, false
			}
			args = append(args, value.OfTensor(x))
			at += 0.17
		case a.HasDefault && kind != types.KindNumber:
			args = append(args, a.NewDefault())
		case kind == types.KindNumber:
			args = append(args, value.Float(0.25*float64(i+1)))
		default:
			return nil, false
		}
	}
	return args, true
}

func resultOf(o *ops.Operator, args []value.Value) (*tensor.Tensor, error) {
	out := make([]value.Value, len(o.Schema().Returns))
	err := new(autograd.Mode).Run(o, args, out)
	if err != nil {
		return nil, err
	}
	return out[0].Tensor(), nil
}

// TestGradientsOfElementwiseRecords compares the derivatives of records with differences.
func TestGradientsOfElementwiseRecords(t *testing.T) {
	checked := 0
	records(func(o *ops.Operator) {
		d := o.Def()
		if d.Grad == nil || !(d.IsElementwise() || d.Scalar != nil) || len(o.Schema().Returns) != 1 || o.Has(ops.Constant) || d.Refuses != nil && strings.Contains(o.Name, "gcd") {
			return
		}
		at := 0.31
		if strings.Contains(o.Name, "acosh") {
			at = 1.31
		}
		args, ok := sampleOf(o, at)
		if !ok {
			return
		}
		checked++
		for i, a := range args {
			if a.IsTensor() {
				compareGradient(t, o, args, i)
			}
		}
	})
	if checked < 60 {
		t.Errorf("%d derivatives were compared", checked)
	}
}

// compareGradient compares the gradient of an argument, of the sum of the results, with central differences.
func compareGradient(t *testing.T, o *ops.Operator, args []value.Value, i int) {
	t.Helper()
	const step = 1e-6
	given := append([]value.Value(nil), args...)
	leaf, err := args[i].Tensor().Clone(tensor.ContiguousFormat)
	if err == nil {
		err = leaf.SetRequiresGrad(true)
	}
	if err != nil {
		t.Fatal(err)
	}
	given[i] = value.OfTensor(leaf)
	m := new(autograd.Mode)
	y, err := resultOf(o, given)
	if err != nil {
		t.Errorf("%s: %v", o.Name, err)
		return
	}
	ones, err := tensor.Full(y.Shape(), tensor.Int(1), y.DType())
	if err != nil {
		t.Fatal(err)
	}
	grads, err := m.Gradients([]*tensor.Tensor{y}, []*tensor.Tensor{leaf}, []*tensor.Tensor{ones}, autograd.Options{AllowUnused: true})
	if err != nil {
		t.Errorf("%s: %v", o.Name, err)
		return
	}
	for k := range leaf.Numel() {
		moved := func(by float64) float64 {
			x, _ := args[i].Tensor().Clone(tensor.ContiguousFormat)
			tensor.Data[float64](x)[k] += by
			given[i] = value.OfTensor(x)
			z, err := resultOf(o, given)
			if err != nil {
				t.Fatalf("%s: %v", o.Name, err)
			}
			return tensor.Data[float64](z)[k]
		}
		want, got := (moved(step)-moved(-step))/(2*step), 0.0
		if grads[0] != nil {
			got = grads[0].At(k).Float64()
		}
		if math.Abs(want-got) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s by argument %d at %v: the derivative gives %v, differences %v", o.Name, i, args[i].Tensor().At(k), got, want)
		}
	}
}

// keyed are the tables by operator names outside records that are left, by file. It only gets shorter.
const keyed = `
bind/deprecated.go 1          what PyTorch warns of
bind/fill.go 1                names of its dispatcher's kernels
bind/mismatch.go 1            words of its messages
bind/operator.go 1            methods that are written otherwise in Python
bind/register.go 1            kinds of lists of names
internal/archive/bytecode/bytecode.go 1 the operators of mobile archives that older runtimes know
internal/archive/code/printer.go 1    symbols of Python
internal/archive/sparse.go 1          the three layouts
internal/autograd/operators.go 1      operators that read the mode: each entry is the operator
internal/export/assume.go 1
internal/export/check.go 1
internal/export/emit.go 1             kinds of nodes of ATen export
internal/export/lower.go 1
internal/export/scope.go 2
internal/export/special.go 1
internal/frontend/annotation.go 1     names of types
internal/frontend/call.go 2           magic methods of Python
internal/frontend/module.go 1
internal/frontend/stmt.go 4           augmented assignment
internal/fuse/numbers.go 1
internal/interp/lower.go 1            kinds of nodes
internal/interp/native_operators.go 4 machine instructions
internal/ir/verifykind.go 1           kinds of nodes
internal/kernel/kernel.go 1           names of kernel instructions
internal/ops/aten/conv.go 2           names by dimension
internal/ops/aten/embedding.go 1
internal/ops/aten/foreach.go 1
internal/ops/aten/index.go 1          ways to reduce
internal/ops/aten/reduced.go 1        kernel reductions
internal/ops/aten/sparse.go 2         what runs operators on sparse tensors
internal/ops/aten/sparse_arithmetic.go 1
internal/ops/aten/sparse_convert.go 1
internal/ops/aten/sparse_coo.go 1
internal/ops/aten/sparse_create.go 2
internal/ops/aten/sparse_move.go 1
internal/ops/aten/sparse_products.go 1
internal/ops/aten/sparse_reduce.go 1
internal/passes/constant.go 1
internal/passes/peephole.go 1
internal/pyfile/names.go 1            functions of torch.nn.functional that are operators
internal/quantization/fuse.go 4       patterns of modules
internal/shapes/shapes.go 1           functions of sizes
internal/trace/number.go 1
internal/trace/trace.go 1
internal/trace/writes.go 1
internal/types/parse.go 1             names of types
`

// TestTablesByOperatorNames: composite literals in which three or more keys or elements are names of operators stand in records alone.
func TestTablesByOperatorNames(t *testing.T) {
	allowed := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(keyed), "\n") {
		f := strings.Fields(line)
		n, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		allowed[f[0]] = n
	}
	names := operatorWords(t)
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		if n := tablesIn(t, path, names); n > allowed[filepath.ToSlash(path)] {
			t.Errorf("%s has %d tables by names of operators, and may have %d: what is known of an operator belongs into its record", path, n, allowed[filepath.ToSlash(path)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func operatorWords(t *testing.T) map[string]bool {
	text, err := os.ReadFile("internal/ops/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)::(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if len(m[2]) >= 3 {
			names[m[2]] = true
			names[m[1]+"::"+m[2]] = true
		}
	}
	return names
}

// tablesIn counts the composite literals of a file that are tables by names.
func tablesIn(t *testing.T, path string, names map[string]bool) (tables int) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	isName := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return false
		}
		s, _ := strconv.Unquote(l.Value)
		base, _, _ := strings.Cut(s, ".")
		words := strings.Fields(s)
		known := 0
		for _, w := range words {
			if names[w] {
				known++
			}
		}
		return names[base] || known >= 3 && known*2 >= len(words)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		found := 0
		for _, e := range c.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Key
			}
			if isName(e) {
				found++
			}
		}
		if found >= 3 {
			tables++
		}
		return true
	})
	return tables
}

// TestOneDerivative: an operator with a derivative or a decomposition in its record has none among the definitions of package composite.
func TestOneDerivative(t *testing.T) {
	gojit.LinkOperators()
	for _, name := range composite.Names() {
		if d := ops.Find("aten::" + name).Def(); d.Grad != nil || d.Decomp != nil {
			t.Errorf("the derivative of %s is written in its record and in package composite", name)
		}
	}
}
