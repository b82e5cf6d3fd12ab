package alias_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// values returns the values of a graph by name.
func values(g *ir.Graph) map[string]*ir.Value {
	out := map[string]*ir.Value{}
	for _, v := range g.Inputs() {
		out[v.Name()] = v
	}
	g.Block().Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			out[v.Name()] = v
		}
		for _, b := range n.Blocks() {
			for _, v := range b.Inputs() {
				out[v.Name()] = v
			}
		}
	})
	return out
}

func analyze(t *testing.T, text string) (*ir.Graph, *alias.Db, map[string]*ir.Value) {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g, alias.Analyze(g, alias.Options{}), values(g)
}

// Each case lists pairs that may be the same memory ("a=b"), pairs that may not ("a!b"), values
// with writers ("+a") and without ("-a"), and contents that may overlap ("a~b") or not ("a^b").
func TestAnalysis(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"views share, copies do not", `graph(%x : Tensor, %i : int):
  %c : Tensor = aten::relu(%x)
  %v : Tensor = aten::select(%c, %i, %i)
  %w : Tensor = aten::neg_(%v)
  %d : Tensor = aten::clone(%c, %n)
  return (%w)`, "v=c w=c c!x +c +v -x"},
		{"parameters may be each other", `graph(%x : Tensor, %y : Tensor, %l : int[]):
  %w : Tensor = aten::neg_(%x)
  return (%y, %l)`, "x=y +y l!x -l"},
		{"lists hold", `graph(%x : Tensor, %i : int):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%x)
  %l : Tensor[] = prim::ListConstruct(%a)
  %e : Tensor = aten::__getitem__(%l, %i)
  %w : Tensor = aten::relu_(%e)
  return (%l)`, "e=a e=x e!b +a -b l~a l^b -l"},
		{"what views that are kept show is kept", `graph(%x : Tensor, %l : Tensor[], %ll : Tensor[][], %i : int):
  %a : Tensor = aten::relu(%x)
  %v : Tensor = aten::t(%a)
  %k : Tensor[] = aten::append(%l, %v)
  %b : Tensor = aten::relu(%x)
  %w : Tensor = aten::t(%b)
  %p : Tensor[] = prim::ListConstruct(%w)
  %q : Tensor[][] = aten::append(%ll, %p)
  %c : Tensor = aten::relu(%x)
  %e : Tensor = aten::__getitem__(%l, %i)
  %f : Tensor = aten::relu_(%e)
  return (%k)`, "a=b a=e a=x +a +b -c c!a"},
		{"what is appended", `graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %l : Tensor[] = prim::ListConstruct()
  %m : Tensor[] = aten::append(%l, %a)
  return (%l)`, "m=l +l a=x b!x"},
		{"tuples", `graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%x)
  %t : (Tensor, Tensor) = prim::TupleConstruct(%a, %b)
  %c : Tensor, %d : Tensor = prim::TupleUnpack(%t)
  return (%c)`, "c=a d=b c=x t~x"},
		{"what an operator only reads, and a tuple that is only returned", `graph(%x : Tensor, %d : int):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%x)
  %l : Tensor[] = prim::ListConstruct(%a, %b)
  %c : Tensor = aten::cat(%l, %d)
  %t : (Tensor, Tensor) = prim::TupleConstruct(%a, %c)
  return (%t)`, "a!x b!x a!b l~a l^x t~a t^b t^x"},
		{"branches", `graph(%x : Tensor, %c : bool):
  %a : Tensor = aten::relu(%x)
  %y : Tensor = prim::If(%c)
    block0():
      %b : Tensor = aten::neg(%a)
      -> (%b)
    block1():
      -> (%a)
  %w : Tensor = aten::relu_(%y)
  return (%y)`, "y=a y=b a!b y!x +a +b"},
		{"loops", `graph(%x : Tensor, %n : int, %t : bool):
  %a : Tensor = aten::relu(%x)
  %o : Tensor = aten::relu(%x)
  %r : Tensor = prim::Loop(%n, %t, %a)
    block0(%i : int, %k : Tensor):
      %w : Tensor = aten::relu_(%k)
      -> (%t, %o)
  return (%r)`, "k=a k=o r=a r=o +a +o -x"},
		{"split shows parts", `graph(%x : Tensor, %i : int):
  %a : Tensor = aten::relu(%x)
  %p : Tensor[] = aten::split(%a, %i, %i)
  %f : Tensor, %s : Tensor = prim::ListUnpack(%p)
  return (%f)`, "f=a f=s f=x p~a"},
		{"calls do anything", `graph(%f : Function, %x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %y : Tensor = prim::CallFunction(%f, %a)
  return (%y)`, "y=a a=x +x +a -b b!x"},
	} {
		text := strings.ReplaceAll(c.text, "%d : Tensor = aten::clone(%c, %n)", "%n : NoneType = prim::Constant()\n  %d : Tensor = aten::clone(%c, %n)")
		_, db, v := analyze(t, text)
		for _, want := range strings.Fields(c.want) {
			if got := ask(t, db, v, want); !got {
				t.Errorf("%s: %s does not hold\n%s", c.name, want, db)
			}
		}
	}
}

func ask(t *testing.T, db *alias.Db, v map[string]*ir.Value, question string) bool {
	t.Helper()
	if name := question[1:]; question[0] == '+' || question[0] == '-' {
		return db.HasWriters(v[name]) == (question[0] == '+')
	}
	i := strings.IndexAny(question, "=!~^")
	a, b := v[question[:i]], v[question[i+1:]]
	switch question[i] {
	case '=':
		return db.MayAlias(a, b)
	case '!':
		return !db.MayAlias(a, b)
	case '~':
		return db.MayContainAlias([]*ir.Value{a}, []*ir.Value{b})
	}
	return !db.MayContainAlias([]*ir.Value{a}, []*ir.Value{b})
}

func TestMoves(t *testing.T) {
	const text = `graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%a)
  %c : Tensor = aten::abs(%x)
  %w : Tensor = aten::neg_(%c)
  %d : Tensor = aten::add(%c, %b, %one)
  return (%d)`
	parse := func() (*ir.Graph, *alias.Db, func(string) *ir.Node) {
		g, db, v := analyze(t, strings.Replace(text, "%d :", "%one : int = prim::Constant[value=1]()\n  %d :", 1))
		return g, db, func(name string) *ir.Node { return v[name].Node() }
	}
	for _, c := range []struct {
		node, place, other string
		want               string // kinds in order, "" where the move is refused
	}{
		{"a", "after", "c", "abs relu neg neg_ add"},  // its user goes along
		{"c", "before", "a", "abs relu neg neg_ add"}, // it depends on nothing before
		{"c", "after", "w", ""},                       // the write is to it
		{"d", "before", "w", ""},                      // it reads what is written
		{"w", "before", "b", "relu abs neg_ neg add"}, // what it writes goes along
		{"a", "before", "w", "abs relu neg_ neg add"}, // its user goes behind
		{"d", "after", "a", ""},
	} {
		g, db, node := parse()
		move := db.MoveAfter
		if c.place == "before" {
			move = db.MoveBefore
		}
		moved := move(node(c.node), node(c.other))
		var kinds []string
		for _, n := range g.Block().Nodes() {
			if n.Kind() != "prim::Constant" {
				kinds = append(kinds, strings.TrimPrefix(n.Kind(), "aten::"))
			}
		}
		if err := ir.Verify(g); err != nil {
			t.Error(err)
		}
		if got := strings.Join(kinds, " "); moved != (c.want != "") || moved && got != c.want {
			t.Errorf("%s %s %s: moved %v: %s, want %s", c.node, c.place, c.other, moved, got, c.want)
		}
	}
}
