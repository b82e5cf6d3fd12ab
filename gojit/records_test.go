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
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// records calls visit for each operator that has a record under its first name.
func records(visit func(o *ops.Operator)) {
	gojit.LinkOperators()
	opstest.Records(visit)
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

// sampleOf makes arguments for an elementwise operator of a record. ok is false where an argument is of a kind that there are no samples of.
func sampleOf(t *testing.T, o *ops.Operator, at float64) (args []value.Value, ok bool) {
	return opstest.Sample(o, func(int) *tensor.Tensor {
		// away from the corners of absolute values, floors and limits
		x, err := tensor.FromSlice([]float64{at, at + 0.13, at + 0.29}, 3)
		if err != nil {
			t.Fatal(err)
		}
		at += 0.17
		return x
	})
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
		args, ok := sampleOf(t, o, at)
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

// keyed are the places that list operators by name outside of records, by file, each with its reason. They only get fewer.
const keyed = `
internal/ir/verifykind.go 1 kinds of nodes that are no operators
internal/interp/lower.go 1 each entry is the node's instruction
`

// TestTablesByOperatorNames: three or more operators are named together in records alone, not in composite literals, in the words of a string
// or in the cases of a switch.
func TestTablesByOperatorNames(t *testing.T) {
	allowed := map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(keyed)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			t.Fatalf("%q says no reason", line)
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		allowed[f[0]] = n
	}
	names, kinds := operatorWords(t), kindConstants(t)
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		if places := tablesIn(t, path, names, kinds); len(places) != allowed[filepath.ToSlash(path)] {
			t.Errorf("%s has %d tables by names of operators, at %s, and may have %d: what is known of an operator belongs into its record", path, len(places), strings.Join(places, ", "), allowed[filepath.ToSlash(path)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// operatorWords are the operators of tensors by their names, and all of ATen by those with the namespace. Words such as "int" are names of types.
func operatorWords(t *testing.T) map[string]bool {
	text, err := os.ReadFile("internal/ops/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(aten|quantized)::(\w+)[^(\s]*\((.*)$`).FindAllStringSubmatch(string(text), -1) {
		names[m[1]+"::"+m[2]] = true
		if len(m[2]) >= 3 && strings.HasPrefix(m[3], "Tensor") {
			names[m[2]] = true
		}
	}
	return names
}

// kindConstants are the kinds of nodes by the constants that name them: "aten.Add".
func kindConstants(t *testing.T) map[string]string {
	constants := map[string]string{}
	for _, space := range []string{"prim", "aten", "quantized"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("internal", "kinds", space, space+".go"), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil || !strings.HasPrefix(kind, space+"::") {
					t.Errorf("%s.%s is %q", space, spec.Names[0], kind)
				}
				constants[space+"."+spec.Names[0].Name] = kind
			}
			return true
		})
	}
	return constants
}

// TestKindsAreNamed: outside of records a kind of a node is a constant, so that one with a slip of the pen does not compile. Each constant is of an
// operator that there is, or of a kind that the compiler makes, and is used.
func TestKindsAreNamed(t *testing.T) {
	constants, used := kindConstants(t), map[string]bool{}
	isKind := func(text string) bool {
		space, name, _ := strings.Cut(text, "::")
		return space == "prim" && (token.IsIdentifier(name) || token.IsKeyword(name)) || (space == "aten" || space == "quantized") && len(ops.Overloads(text)) > 0
	}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		slashed := filepath.ToSlash(path)
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(slashed, "internal/kinds/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		free := strings.HasSuffix(path, "_test.go") || strings.HasPrefix(slashed, "internal/ops/")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					used[x.Name+"."+n.Sel.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && !free && isKind(text) {
					t.Errorf("%s quotes the kind %s: it is a constant of internal/kinds", files.Position(n.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for constant, kind := range constants {
		if !used[constant] {
			t.Errorf("%s (%s) is used nowhere", constant, kind)
		}
		if !isKind(kind) {
			t.Errorf("%s: there is no operator %s", constant, kind)
		}
	}
}

// tablesIn returns the lines of a file at which it lists operators, in quotes or by the constants of kinds.
func tablesIn(t *testing.T, path string, names map[string]bool, kinds map[string]string) (places []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := func(list []ast.Expr) (n int) {
		for _, e := range list {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Key
			}
			switch e := e.(type) {
			case *ast.SelectorExpr:
				if x, ok := e.X.(*ast.Ident); ok && names[kinds[x.Name+"."+e.Sel.Name]] {
					n++
				}
			case *ast.BasicLit:
				s, _ := strconv.Unquote(e.Value)
				if base, _, _ := strings.Cut(s, "."); e.Kind == token.STRING && names[base] {
					n++
				}
			}
		}
		return n
	}
	words := func(l *ast.BasicLit) (n int) {
		s, err := strconv.Unquote(l.Value)
		if l.Kind != token.STRING || err != nil {
			return 0
		}
		all := strings.Fields(s)
		for _, w := range all {
			if base, _, _ := strings.Cut(w, "."); names[base] {
				n++
			}
		}
		if n*2 < len(all) {
			return 0
		}
		return n
	}
	ast.Inspect(file, func(n ast.Node) bool {
		found := 0
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = count(n.Elts)
		case *ast.CaseClause:
			found = count(n.List)
		case *ast.BasicLit:
			found = words(n)
		case *ast.CallExpr:
			found = count(n.Args)
		}
		if found >= 3 {
			places = append(places, strconv.Itoa(files.Position(n.Pos()).Line))
		}
		return true
	})
	return places
}

// TestFactsAreRead: the key of each word behind a schema stands in quotes in the program that reads it.
func TestFactsAreRead(t *testing.T) {
	table, err := os.ReadFile("internal/ops/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	unread := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		_, words, _ := strings.Cut(line, " # ")
		words, _, _ = strings.Cut(words, "| ")
		for _, word := range strings.Fields(words) {
			key, _, _ := strings.Cut(word, "=")
			unread[key] = true
		}
	}
	for _, root := range []string{"internal", "bind", "../torchjit"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".py") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for key := range unread {
				if strings.Contains(string(text), `"`+key+`"`) {
					delete(unread, key)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range unread {
		t.Errorf("nothing reads the word %q behind schemas", key)
	}
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
