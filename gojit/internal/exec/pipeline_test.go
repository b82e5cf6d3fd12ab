package exec_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestStepsStandInTheirOrder(t *testing.T) {
	place := map[string]int{}
	for i, s := range exec.Pipeline {
		if _, twice := place[s.Name]; twice || s.Does == "" || s.Place == "" {
			t.Errorf("step %q: it is there twice, or does not say what it does or why it stands where it stands", s.Name)
		}
		place[s.Name] = i
	}
	for _, o := range exec.Orderings {
		first, isStep := place[o.First]
		then, isStepToo := place[o.Then]
		switch {
		case !isStep || !isStepToo || o.Because == "":
			t.Errorf("%v names no steps, or no reason", o)
		case first >= then:
			t.Errorf("%s must stand before %s, because %s", o.First, o.Then, o.Because)
		}
	}
}

// TestGraphsAfterSteps prints programs as they are defined and after each step that changes them.
func TestGraphsAfterSteps(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		text, steps := "", []string{}
		e := exec.New(exec.Options{Watch: func(f *ir.Function, step string, g *ir.Graph) {
			if err := ir.Verify(g); err != nil {
				t.Errorf("after %q: %v\n%s", step, err, g)
			}
			if f.ShortName() != "f" {
				return
			}
			if now := g.Text(false); step == "" || now != text {
				name := step
				if step == "" {
					name = "defined"
				}
				text, steps = now, append(steps, name)
				c.Check("out/"+name, text)
			}
		}})
		p, err := gojit.Compile("in.py", c.Input("in.py"))
		if err != nil {
			t.Fatal(err)
		}
		var args []value.Value // of the call that the code is made for
		if c.Has("arguments") {
			args = argumentsOf(t, c.Input("arguments"))
		}
		if _, err := e.Code(p.Function("f"), args); err != nil {
			t.Fatal(err)
		}
		c.Check("out/steps", strings.Join(steps, " "))
	})
}

// argumentsOf reads a line for each argument: None, True, False, or the sizes of a tensor.
func argumentsOf(t *testing.T, text string) (args []value.Value) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch line {
		case "None":
			args = append(args, value.None)
		case "True", "False":
			args = append(args, value.Bool(line == "True"))
		default:
			var sizes []int
			for _, word := range strings.Fields(line) {
				n, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				sizes = append(sizes, n)
			}
			x, err := tensor.Full(sizes, tensor.Int(0), tensor.Float32)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, value.OfTensor(x))
		}
	}
	return args
}

// kinds are the kinds of the nodes of a graph, sorted, without constants.
func kinds(b *ir.Block) (all []string) {
	b.Walk(func(n *ir.Node) {
		if n.Kind() != "prim::Constant" {
			all = append(all, n.Kind())
		}
		if g := n.GraphAttr("Subgraph"); g != nil {
			all = append(all, kinds(g.Block())...)
		}
	})
	slices.Sort(all)
	return all
}

// TestShownGraphsAreWhatRan compares the nodes that code was made of, regions aside, with the graph that is shown of the call.
func TestShownGraphsAreWhatRan(t *testing.T) {
	gojit.LinkOperators()
	programs := map[string]string{
		"regions":  "def f(x):\n    y = torch.tanh(x * 2 + 1)\n    return y.sum() + y\n",
		"calls":    "def g(x):\n    return x.relu() * 3\ndef f(x):\n    return g(x) + g(x + 1)\n",
		"loops":    "def f(x):\n    n = 0\n    for i in range(40):\n        n = n + i * 2\n    for i in range(3):\n        x = x + n\n    return x\n",
		"branches": "def f(x):\n    if bool(x.sum() > 0):\n        x = x * 2\n        x = x - 1\n    return x\n",
		"in place": "def f(x):\n    y = x * 2\n    z = y.relu_()\n    z.add_(1)\n    return z + y\n",
	}
	for name, text := range programs {
		for _, way := range []string{"optimized", "as defined", "profiled", "specialized", "grouped", "grouped for any size"} {
			t.Run(name+", "+way, func(t *testing.T) {
				p, err := gojit.Compile("f.py", text)
				if err != nil {
					t.Fatal(err)
				}
				e := exec.New(exec.Options{AsDefined: way == "as defined"})
				calls := 1
				if way == "profiled" || way == "specialized" {
					e.Change(func(s *exec.Settings) { s.Profiling = true })
				}
				if strings.HasPrefix(way, "grouped") {
					e.Change(func(s *exec.Settings) {
						s.Profiling, s.Grouping, s.GroupInlining = true, true, false
						if way == "grouped for any size" {
							s.Strategy = []exec.Specializations{{Dynamic: true, Count: 1}}
						}
					})
				}
				if way != "optimized" && way != "as defined" && way != "profiled" {
					calls = 2
				}
				f := p.Function("f")
				var plan *exec.Plan
				for range calls {
					if plan, err = e.Function(f).Next(false, nil); err != nil {
						t.Fatal(err)
					}
					x, _ := tensor.FromSlice([]float32{1, 2}, 2)
					if err := x.SetRequiresGrad(way == "specialized" && name != "in place"); err != nil {
						t.Fatal(err)
					}
					if err := plan.Code.Run(context.Background(), []value.Value{value.OfTensor(x)}, make([]value.Value, 1)); err != nil {
						t.Fatal(err)
					}
				}
				isGroup := func(kind string) bool { return kind == "prim::TensorExprGroup" }
				ran := slices.DeleteFunc(plan.Code.Steps(), isGroup)
				slices.Sort(ran)
				shown := e.Function(f).Executed()
				want := kinds(shown.Block())
				if groups := slices.Contains(want, "prim::TensorExprGroup"); groups != strings.HasPrefix(way, "grouped") && name != "loops" {
					t.Errorf("groups are shown: %v\n%s", groups, shown)
				}
				if want = slices.DeleteFunc(want, isGroup); !slices.Equal(ran, want) {
					t.Errorf("the code ran\n%v\nbut what is shown has\n%v\n%s", ran, want, shown)
				}
				if inner := kinds(f.Graph().Block()); way == "as defined" && !slices.Equal(ran, inner) {
					t.Errorf("as defined ran %v, not %v", ran, inner)
				}
			})
		}
	}
}

func TestEnginesShareNothing(t *testing.T) {
	p, err := gojit.Compile("f.py", "def f(x):\n    return torch.tanh(x * 2)\n")
	if err != nil {
		t.Fatal(err)
	}
	a, b := exec.New(exec.Options{}), exec.New(exec.Options{})
	f := p.Function("f")
	if _, err := a.Code(f, nil); err != nil {
		t.Fatal(err)
	}
	if a.Function(f).Executed() == nil || b.Function(f).Executed() != nil {
		t.Error("a call of one engine is one of another")
	}
	a.Change(func(s *exec.Settings) { s.Profiling, s.Fusing = true, false })
	if s := b.Settings(); s.Profiling || !s.Fusing {
		t.Errorf("the settings of one engine are those of another: %v", s)
	}
}

func TestForgottenPlansAreMadeOfTheGraphAsItIs(t *testing.T) {
	gojit.LinkOperators()
	g, err := ir.Parse(program)
	if err != nil {
		t.Fatal(err)
	}
	f := ir.NewFunction("f", schema.MustParse("aten::f(Tensor x, Tensor y) -> Tensor"), g)
	e := exec.New(exec.Options{})
	before, err := e.Function(f).Next(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range slices.Values(g.Block().Nodes()) {
		if n.Kind() == "aten::tanh" {
			n.Output().ReplaceAllUsesWith(n.Input(0))
		}
	}
	passes.DCE(g)
	if again, _ := e.Function(f).Next(false, nil); again != before {
		t.Error("the plan changes without being forgotten")
	}
	e.Function(f).Forget()
	after, err := e.Function(f).Next(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(after.Graph.Text(false), "tanh") {
		t.Errorf("the new plan is of the old graph:\n%s", after.Graph)
	}
}

// TestNoMutablePackageVariables looks at the package variables of what an engine is made of: none is a lock, an atomic, a map that is written, or is assigned to.
func TestNoMutablePackageVariables(t *testing.T) {
	allowed := map[string]string{
		"interp.stacks":           "frames that wait to be used again, of any code",
		"interp.numericOperators": "made once, at the first use",
		"interp.nodeLowerings":    "filled when the program starts, because its functions refer to it",
	}
	for _, dir := range []string{".", "../interp", "../fuse"} {
		files := parsed(t, dir)
		name := files[0].Name.Name
		for _, v := range mutable(files, packageVariables(files)) {
			if allowed[name+"."+v] == "" {
				t.Errorf("%s.%s is a package variable that changes", name, v)
			}
		}
	}
}

// parsed reads the files of a package, without its tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// packageVariables returns the declarations of a package's variables by name.
func packageVariables(files []*ast.File) map[string]*ast.ValueSpec {
	found := map[string]*ast.ValueSpec{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					found[name.Name] = s.(*ast.ValueSpec)
				}
			}
		}
	}
	return found
}

// mutable returns the variables whose declaration has something of sync in it, or that a function assigns to, by index or field too.
func mutable(files []*ast.File, variables map[string]*ast.ValueSpec) (names []string) {
	for name, s := range variables {
		ast.Inspect(s, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := x.X.(*ast.Ident); ok && (id.Name == "sync" || id.Name == "atomic") && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			return true
		})
	}
	look := func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return true
		}
		for _, left := range a.Lhs {
			if id := root(left); id != nil && variables[id.Name] != nil && !isLocal(id) && !slices.Contains(names, id.Name) {
				names = append(names, id.Name)
			}
		}
		return true
	}
	for _, f := range files {
		ast.Inspect(f, look)
	}
	return names
}

// root is the variable that an assignment changes.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isLocal reports whether the parser has resolved an identifier to something declared in a function.
func isLocal(id *ast.Ident) bool {
	if id.Obj == nil {
		return false // of another file: a package variable
	}
	_, isPackages := id.Obj.Decl.(*ast.ValueSpec)
	return !isPackages
}

func TestTwinsHaveOneText(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("out/defined"))
		if err != nil {
			t.Fatal(err)
		}
		passes.Peephole(g)
		passes.UnrollShortLoops(g, false)
		twin := g.Twin()
		if err := ir.Verify(twin); err != nil {
			t.Error(err)
		}
		if twin.Text(false) != g.Text(false) {
			t.Errorf("the twin of\n%s\nis\n%s", g, twin)
		}
	})
}
