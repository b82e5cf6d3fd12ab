package interp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// TestRandomGraphs runs random graphs of nested ifs and loops both as code and by evaluating the
// graph directly, and compares.
func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(1000) {
		r := &randomGraph{rand: rand.New(rand.NewPCG(seed, 1)), g: ir.NewGraph()}
		args := []value.Value{value.Int(3), value.Int(int64(seed % 5)), value.Str("a"), value.Str("b"), value.Bool(seed%2 == 0)}
		for _, a := range args {
			in := r.g.AddInput("")
			in.SetType(value.TypeOf(a))
			r.scope = append(r.scope, in)
		}
		for _, c := range []value.Value{value.Int(1), value.Int(2), value.Str("c"), value.Bool(true), value.Bool(false)} {
			r.scope = append(r.scope, r.g.Constant(c, source.Range{}))
		}
		r.block(r.g.Block(), 3)
		for range 3 {
			r.g.AddOutput(r.any(r.scope[r.rand.IntN(len(r.scope))].Type()))
		}
		r.check(t, &Options{}, seed, args)
		r.check(t, &Options{Native: true}, seed, args)
	}
}

// check runs the graph as code of a machine and compares it with what it means.
func (r *randomGraph) check(t *testing.T, o *Options, seed uint64, args []value.Value) {
	t.Helper()
	code, err := Lower("f", r.g, o)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, r.g)
	}
	out := make([]value.Value, len(r.g.Outputs()))
	if err := code.Run(context.Background(), args, out); err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, r.g, code)
	}
	want := evaluate(r.g, args)
	if showAll(out) != showAll(want) {
		t.Fatalf("seed %d: got %s, want %s\n%s\n%s", seed, showAll(out), showAll(want), r.g, code)
	}
}

type randomGraph struct {
	rand    *rand.Rand
	g       *ir.Graph
	scope   []*ir.Value // values that can be used
	numbers []string    // the operators to use, where there are numbers alone
}

func (r *randomGraph) any(t types.Type) *ir.Value {
	for {
		if v := r.scope[r.rand.IntN(len(r.scope))]; v.Type() == t {
			return v
		}
	}
}

// block appends random nodes to b.
func (r *randomGraph) block(b *ir.Block, depth int) {
	for range 2 + r.rand.IntN(5) {
		switch k := r.rand.IntN(10); {
		case k < 5 || depth == 0:
			r.operation(b)
		case k < 8:
			r.branch(b, depth-1)
		default:
			r.loop(b, depth-1)
		}
	}
}

func (r *randomGraph) add(b *ir.Block, kind string, t types.Type, inputs ...*ir.Value) {
	n := b.Append(r.g.Create(kind, inputs, 1))
	n.Output().SetType(t)
	r.scope = append(r.scope, n.Output())
}

func (r *randomGraph) operation(b *ir.Block) {
	if r.numbers != nil {
		r.numeric(b)
		return
	}
	switch r.rand.IntN(5) {
	case 0:
		r.add(b, "aten::add", types.Int, r.any(types.Int), r.any(types.Int))
	case 1:
		r.add(b, "aten::lt", types.Bool, r.any(types.Int), r.any(types.Int))
	case 2:
		r.add(b, "test::join", types.Str, r.any(types.Str), r.any(types.Str))
	case 3:
		r.add(b, "aten::__not__", types.Bool, r.any(types.Bool))
	case 4:
		n := b.Append(r.g.Create("test::pair", []*ir.Value{r.small(b)}, 2))
		n.Outputs()[0].SetType(types.Int)
		n.Outputs()[1].SetType(types.Str)
		r.scope = append(r.scope, n.Outputs()...)
	}
}

// small adds the remainder of an integer by two: 0 or 1.
func (r *randomGraph) small(b *ir.Block) *ir.Value {
	two := r.g.Create("prim::Constant", nil, 1).SetAttr("value", value.Int(2))
	two.Output().SetType(types.Int)
	b.Append(two)
	r.add(b, "aten::remainder", types.Int, r.any(types.Int), two.Output())
	return r.scope[len(r.scope)-1]
}

// inner fills a block of n and gives it results of the types.
func (r *randomGraph) inner(b *ir.Block, depth int, results []types.Type) {
	outer := len(r.scope)
	r.scope = append(r.scope, b.Inputs()...)
	r.block(b, depth)
	for _, t := range results {
		b.AddOutput(r.any(t))
	}
	r.scope = r.scope[:outer]
}

func (r *randomGraph) types() (ts []types.Type) {
	all := []types.Type{types.Int, types.Str, types.Bool}
	if r.numbers != nil {
		all[1] = types.Float
	}
	for range r.rand.IntN(4) {
		ts = append(ts, all[r.rand.IntN(3)])
	}
	return ts
}

func (r *randomGraph) branch(b *ir.Block, depth int) {
	ts := r.types()
	n := b.Append(r.g.Create("prim::If", []*ir.Value{r.any(types.Bool)}, len(ts)))
	r.inner(n.AddBlock(), depth, ts)
	r.inner(n.AddBlock(), depth, ts)
	for i, t := range ts {
		n.Outputs()[i].SetType(t)
	}
	r.scope = append(r.scope, n.Outputs()...)
}

func (r *randomGraph) loop(b *ir.Block, depth int) {
	ts := r.types()
	inputs := []*ir.Value{r.small(b), r.any(types.Bool)}
	for _, t := range ts {
		inputs = append(inputs, r.any(t))
	}
	n := b.Append(r.g.Create("prim::Loop", inputs, len(ts)))
	body := n.AddBlock()
	body.AddInput("").SetType(types.Int)
	for i, t := range ts {
		body.AddInput("").SetType(t)
		n.Outputs()[i].SetType(t)
	}
	r.inner(body, depth, append([]types.Type{types.Bool}, ts...))
	r.scope = append(r.scope, n.Outputs()...)
}

// evaluate is the meaning of a graph, without registers.
func evaluate(g *ir.Graph, args []value.Value) []value.Value {
	env := map[*ir.Value]value.Value{}
	for i, in := range g.Inputs() {
		env[in] = args[i]
	}
	return evaluateBlock(g.Block(), env)
}

func evaluateBlock(b *ir.Block, env map[*ir.Value]value.Value) []value.Value {
	get := func(vs []*ir.Value) []value.Value {
		out := make([]value.Value, len(vs))
		for i, v := range vs {
			out[i] = env[v]
		}
		return out
	}
	set := func(vs []*ir.Value, xs []value.Value) {
		for i, v := range vs {
			env[v] = xs[i]
		}
	}
	for n := b.First(); n != nil; n = n.Next() {
		in := get(n.Inputs())
		switch n.Kind() {
		case "prim::Constant":
			env[n.Output()] = constantOf(n.Output())
		case "prim::If":
			chosen := n.Blocks()[1]
			if in[0].Bool() {
				chosen = n.Blocks()[0]
			}
			set(n.Outputs(), evaluateBlock(chosen, env))
		case "prim::Loop":
			carried, body := in[1:], n.Blocks()[0]
			for i := int64(0); i < in[0].Int() && carried[0].Bool(); i++ {
				env[body.Inputs()[0]] = value.Int(i)
				set(body.Inputs()[1:], carried[1:])
				carried = evaluateBlock(body, env)
			}
			set(n.Outputs(), carried[1:])
		default:
			out := make([]value.Value, len(n.Outputs()))
			if err := n.Operator().Run(in, out); err != nil {
				panic(fmt.Sprint(n, err))
			}
			set(n.Outputs(), out)
		}
	}
	return get(b.Outputs())
}
