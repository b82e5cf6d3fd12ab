package interp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func init() {
	err := ops.Register([]ops.Operator{
		{Name: "test::pair(int a) -> (int, str)", Run: func(args, out []value.Value) error {
			out[0], out[1] = value.Int(args[0].Int()+1), value.Str(strings.Repeat("s", int(args[0].Int())))
			return nil
		}},
		{Name: "test::fail(str a) -> str", Run: func(args, out []value.Value) error {
			return source.Errorf(source.ValueError, source.Range{}, "no %s", args[0].Str())
		}},
		{Name: "test::join(str a, str b) -> str", Run: func(args, out []value.Value) error {
			out[0] = value.Str(args[0].Str() + args[1].Str())
			return nil
		}},
		{Name: "test::first(str a, str b) -> str", Run: func(args, out []value.Value) error {
			out[0] = args[0]
			return nil
		}},
		{Name: "test::wait(Future(t) f) -> t", Run: func(args, out []value.Value) (err error) {
			out[0], err = args[0].Future().Wait()
			return err
		}},
	})
	if err != nil {
		panic(err)
	}
}

// argument reads an argument of a test: an integer, a number, a truth value or a string.
func argument(t *testing.T, text string) value.Value {
	r := &graphReader{t: t}
	switch {
	case text == "True" || text == "False":
		return value.Bool(text == "True")
	case strings.HasPrefix(text, `"`):
		return r.literal(text, types.Str)
	case strings.ContainsAny(text, "."):
		return r.literal(text, types.Float)
	}
	return r.literal(text, types.Int)
}

// TestPrograms lowers and runs the graphs of testdata: out/code is the code and out/result what
// comes out for each line of arguments.
func TestPrograms(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		code := lower(t, readGraph(t, c.Input("in.ir"), nil))
		c.Check("out/code", code.String())
		var results strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(c.Input("args")), "\n") {
			var args []value.Value
			for _, a := range strings.Fields(line) {
				args = append(args, argument(t, a))
			}
			out := make([]value.Value, code.NumOutputs())
			if err := code.Run(context.Background(), args, out); err != nil {
				results.WriteString(err.Error())
			} else {
				results.WriteString(showAll(out) + "\n")
			}
		}
		c.Check("out/result", results.String())
	})
}

const infiniteLoop = `
graph(%n : int):
  %max : int = prim::Constant[value=9223372036854775807]()
  %true : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %r : int = prim::Loop(%max, %true, %n)
    block0(%i : int, %c : int):
      %d : int = aten::add(%c, %one)
      -> (%true, %d)
  return (%r)
`

func TestRunStopsWhenCancelled(t *testing.T) {
	code := lower(t, readGraph(t, infiniteLoop, nil))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var out [1]value.Value
	if err := code.Run(ctx, []value.Value{value.Int(0)}, out[:]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	code := lower(t, readGraph(t, infiniteLoop, nil))
	var out [1]value.Value
	err := code.Run(context.Background(), []value.Value{value.Str("a")}, out[:])
	if err == nil || !strings.Contains(err.Error(), "Expected a value of type 'int' for argument 'n' but instead found type 'str'") {
		t.Errorf("got %v", err)
	}
	if err := code.Run(context.Background(), nil, out[:]); err == nil {
		t.Error("a missing argument is accepted")
	}
}

// functionOf makes a function of a graph and its type.
func functionOf(name string, g *ir.Graph) (*ir.Function, *types.Function) {
	f := ir.NewFunction("__torch__."+name, nil, g)
	return f, &types.Function{Name: name, Target: f}
}

func TestRecursionIsBounded(t *testing.T) {
	named := map[string]types.Type{}
	f, _ := functionOf("f", nil)
	self := types.NewClass("__torch__.Self", false)
	self.AddMethod("f", f)
	named["__torch__.Self"] = self
	g := readGraph(t, `
graph(%self : __torch__.Self, %n : int):
  %one : int = prim::Constant[value=1]()
  %m : int = aten::add(%n, %one)
  %r : int = prim::CallMethod[name="f"](%self, %m)
  return (%r)
`, named)
	f.SetDefinition(nil, g)
	var out [1]value.Value
	err := lower(t, g).Run(context.Background(), []value.Value{value.OfObject(value.NewObject(self)), value.Int(0)}, out[:])
	if err == nil || !strings.Contains(err.Error(), "maximum recursion depth") {
		t.Errorf("got %.300v", err)
	}
}

func TestErrorsOfCalleesShowAllFrames(t *testing.T) {
	inner, innerType := functionOf("inner", readGraph(t, `
graph(%s : str):
  %r : str = test::fail(%s)
  return (%r)
`, nil))
	_ = inner
	g := ir.NewGraph()
	s := g.AddInput("s")
	s.SetType(types.Str)
	f := g.Constant(value.OfFunction(&value.Function{Name: innerType.Name, Target: innerType.Target}), source.Range{})
	call := g.InsertNode(g.Create("prim::CallFunction", []*ir.Value{f, s}, 1))
	call.Output().SetType(types.Str)
	call.Range = source.Range{Text: source.NewText("outer.py", "return inner(s)\n", 7), Start: 7, End: 12}
	g.AddOutput(call.Output())
	var out [1]value.Value
	err := lower(t, g).Run(context.Background(), []value.Value{value.Str("luck")}, out[:])
	want := `The following operation failed in the TorchScript interpreter.
Traceback of TorchScript (most recent call last):
  File "outer.py", line 7, in f
return inner(s)
       ~~~~~ <--- HERE
  File "g.ir", line 3, in inner

graph(%s : str):
  %r : str = test::fail(%s)
  ~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
  return (%r)
RuntimeError: no luck
`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if source.ClassOf(err) != source.RuntimeError {
		t.Errorf("class %s", source.ClassOf(err))
	}
}

// manager is a class whose __enter__ and __exit__ set an attribute.
func manager(t *testing.T) *types.Class {
	class := types.NewClass("__torch__.Manager", false)
	class.AddAttribute(types.Attribute{Name: "state", Type: types.Str})
	named := map[string]types.Type{class.Name: class}
	enter, _ := functionOf("Manager.__enter__", readGraph(t, `
graph(%self : __torch__.Manager):
  %s : str = prim::Constant[value="open"]()
  %none : NoneType = prim::Constant()
   = prim::SetAttr[name="state"](%self, %s)
  return (%none)
`, named))
	exit, _ := functionOf("Manager.__exit__", readGraph(t, `
graph(%self : __torch__.Manager, %type : Any, %value : Any, %trace : Any):
  %s : str = prim::Constant[value="closed"]()
  %none : NoneType = prim::Constant()
   = prim::SetAttr[name="state"](%self, %s)
  return (%none)
`, named))
	class.AddMethod("__enter__", enter)
	class.AddMethod("__exit__", exit)
	return class
}

func TestWith(t *testing.T) {
	class := manager(t)
	for _, c := range []struct{ body, want string }{
		{"%r : str = prim::GetAttr[name=\"state\"](%m)", "open"},
		{"%r : str = test::fail(%word)", ""},
	} {
		g := readGraph(t, `
graph(%m : __torch__.Manager):
  %word : str = prim::Constant[value="word"]()
  %e : NoneType = prim::Enter(%m)
  `+c.body+`
  %x : NoneType = prim::Exit(%m)
  return (%r)
`, map[string]types.Type{class.Name: class})
		object := value.NewObject(class)
		var out [1]value.Value
		err := lower(t, g).Run(context.Background(), []value.Value{value.OfObject(object)}, out[:])
		if (err == nil) != (c.want != "") || err == nil && out[0].Str() != c.want {
			t.Errorf("%s: got %v, %v", c.body, show(out[0]), err)
		}
		if state, _ := object.Attr("state"); state.Str() != "closed" {
			t.Errorf("%s: the state is %s afterwards", c.body, show(state))
		}
	}
}

func TestFork(t *testing.T) {
	body := readGraph(t, `
graph(%a : str, %b : str):
  %r : str = test::join(%a, %b)
  return (%r)
`, nil)
	g := readGraph(t, `
graph(%a : str, %b : str):
  %f : Future(str) = prim::fork(%a, %b)
  %r : str = test::wait(%f)
  return (%r)
`, nil)
	g.Block().First().SetAttr("Subgraph", body)
	var out [1]value.Value
	if err := lower(t, g).Run(context.Background(), []value.Value{value.Str("x"), value.Str("y")}, out[:]); err != nil || out[0].Str() != "xy" {
		t.Errorf("got %s, %v", show(out[0]), err)
	}
}

func TestRaise(t *testing.T) {
	g := readGraph(t, `
graph(%s : str):
  %c : str = prim::Constant[value="builtins.ValueError"]()
   = prim::RaiseException(%s, %c)
  return (%s)
`, nil)
	var out [1]value.Value
	err := lower(t, g).Run(context.Background(), []value.Value{value.Str("bad")}, out[:])
	if err == nil || !strings.HasSuffix(err.Error(), "\nbuiltins.ValueError: bad\n") || source.ClassOf(err) != source.ScriptError {
		t.Errorf("got %s: %v", source.ClassOf(err), err)
	}
}

func TestCastIsChecked(t *testing.T) {
	g := readGraph(t, `
graph(%x : Any):
  %i : int = prim::unchecked_cast(%x)
  %j : int = aten::add(%i, %i)
  return (%j)
`, nil)
	var out [1]value.Value
	if err := lower(t, g).Run(context.Background(), []value.Value{value.Int(4)}, out[:]); err != nil || out[0].Int() != 8 {
		t.Errorf("got %s, %v", show(out[0]), err)
	}
	if err := lower(t, g).Run(context.Background(), []value.Value{value.Str("4")}, out[:]); err == nil {
		t.Error("a str is cast to int")
	}
}

func TestUnknownOperator(t *testing.T) {
	g := readGraph(t, "graph(%x : int):\n  %y : int = nowhere::nothing(%x)\n  return (%y)\n", nil)
	if _, err := Lower("f", g, &Options{}); err == nil || !strings.Contains(err.Error(), "no operator runs nowhere::nothing") {
		t.Errorf("got %v", err)
	}
}
