package function

import (
	"math"
	"math/rand/v2"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// FunctionGenerator makes random functions with which tests compare targets. Verify accepts them, they
// end, and their results do not show the bits of a NaN.
type FunctionGenerator struct {
	Rand  *rand.Rand
	Steps int // about how many instructions there are
	Depth int // of blocks within blocks

	b      *FunctionBuilder
	values []kernel.Value
	left   int
}

var functionTypes = []tensor.DType{tensor.Int64, tensor.Float64, tensor.Bool}

// Function makes the next function.
func (g *FunctionGenerator) Function() *Function {
	var params []tensor.DType
	for range g.Rand.IntN(5) {
		params = append(params, kernel.PickOf(g.Rand, functionTypes))
	}
	g.b, g.left = NewFunction(params...), g.Steps
	g.values = append([]kernel.Value(nil), g.b.f.Blocks[0].Params...)
	g.body(g.Steps, g.Depth)
	var results []kernel.Value
	for range 1 + g.Rand.IntN(4) {
		results = append(results, g.like(kernel.PickOf(g.Rand, functionTypes)))
	}
	g.b.Return(results...)
	return g.b.Function()
}

// body adds up to n instructions, ifs and loops.
func (g *FunctionGenerator) body(n, depth int) {
	for range n {
		if g.left <= 0 {
			return
		}
		switch g.left--; {
		case depth > 0 && g.Rand.IntN(8) == 0:
			g.either(n/2, depth-1)
		case depth > 0 && g.Rand.IntN(8) == 0:
			g.loop(n/2, depth-1)
		default:
			g.step()
		}
	}
}

// step adds an operation on random values.
func (g *FunctionGenerator) step() {
	x := g.like(kernel.PickOf(g.Rand, functionTypes))
	t := g.b.Type(x)
	op := kernel.Op(g.Rand.IntN(int(kernel.NumOps)))
	if !functionOps[op][t] {
		return
	}
	switch {
	case op == kernel.Const:
		g.add(g.number(t))
	case op == kernel.Select:
		y := g.like(kernel.PickOf(g.Rand, functionTypes))
		g.add(g.b.Select(x, y, g.like(g.b.Type(y))))
	case op == kernel.Convert:
		g.add(g.b.Convert(x, kernel.PickOf(g.Rand, functionTypes)))
	case op == kernel.Bits && t == tensor.Float64:
	case op.Operands() == 1:
		g.add(g.b.Unary(op, x))
	default:
		g.add(g.b.Binary(op, x, g.like(t)))
	}
}

func (g *FunctionGenerator) add(v kernel.Value) { g.values = append(g.values, v) }

// like returns a value of a type: one that is there, often one of the last, or a constant.
func (g *FunctionGenerator) like(t tensor.DType) kernel.Value {
	for range 6 {
		if len(g.values) == 0 {
			break
		}
		from := g.values
		if g.Rand.IntN(2) == 0 {
			from = from[max(0, len(from)-6):]
		}
		if v := kernel.PickOf(g.Rand, from); g.b.Type(v) == t {
			return v
		}
	}
	return g.number(t)
}

func (g *FunctionGenerator) number(t tensor.DType) kernel.Value {
	switch {
	case t == tensor.Float64:
		return g.b.Const(t, tensor.Float(kernel.PickOf(g.Rand, []float64{0, 1, -0.5, 3, 1e300, math.Inf(-1), math.Copysign(0, -1), 1e-310, 9.3e18})))
	case t == tensor.Bool:
		return g.b.Const(t, tensor.Boolean(g.Rand.IntN(2) == 0))
	case g.Rand.IntN(3) == 0:
		return g.b.Const(t, tensor.Int(kernel.PickOf(g.Rand, []int64{math.MinInt64, math.MaxInt64, 1 << 31, -1 << 31, 64, 63, 1 << 40, -8, 4})))
	}
	return g.b.Const(t, tensor.Int(int64(g.Rand.IntN(7)-2)))
}

// carried returns the types of some values, and values of these types.
func (g *FunctionGenerator) carried() (types []tensor.DType, values []kernel.Value) {
	for range g.Rand.IntN(7) {
		t := kernel.PickOf(g.Rand, functionTypes)
		types, values = append(types, t), append(values, g.like(t))
	}
	return types, values
}

func (g *FunctionGenerator) likes(types []tensor.DType) (values []kernel.Value) {
	for _, t := range types {
		values = append(values, g.like(t))
	}
	return values
}

// either adds an if with two sides, or with one that may trap.
func (g *FunctionGenerator) either(n, depth int) {
	c := g.like(tensor.Bool)
	types, _ := g.carried()
	yes, join := g.b.Block(), g.b.Block(types...)
	outside := g.values
	if g.Rand.IntN(3) == 0 {
		g.b.Branch(c, Edge{Block: yes}, Edge{join, g.likes(types)})
	} else {
		no := g.b.Block()
		g.b.Branch(c, Edge{Block: yes}, Edge{Block: no})
		g.b.Enter(no)
		g.body(n, depth)
		g.b.Jump(join, g.likes(types)...)
	}
	g.b.Enter(yes)
	g.values = outside[:len(outside):len(outside)]
	g.body(n, depth)
	if g.Rand.IntN(12) == 0 {
		g.b.Trap(int32(g.Rand.IntN(100)))
	} else {
		g.b.Jump(join, g.likes(types)...)
	}
	g.b.Enter(join)
	g.values = append(outside[:len(outside):len(outside)], g.b.f.Blocks[join].Params...)
}

// loop adds a loop of a few rounds, which may be left from within.
func (g *FunctionGenerator) loop(n, depth int) {
	types, first := g.carried()
	rounds := g.b.Const(tensor.Int64, tensor.Int(int64(g.Rand.IntN(5))))
	zero := g.b.Const(tensor.Int64, tensor.Int(0))
	head := g.b.Block(append([]tensor.DType{tensor.Int64}, types...)...)
	inside, exit := g.b.Block(), g.b.Block(types...)
	g.b.Jump(head, append([]kernel.Value{zero}, first...)...)
	g.b.Enter(head)
	outside := g.values
	counter := g.b.Param(head, 0)
	g.values = append(outside[:len(outside):len(outside)], g.b.f.Blocks[head].Params...)
	g.b.Branch(g.b.Binary(kernel.Lt, counter, rounds), Edge{Block: inside}, Edge{exit, g.likesOf(head, types)})
	g.b.Enter(inside)
	g.body(n, depth)
	if g.Rand.IntN(3) == 0 {
		rest := g.b.Block()
		g.b.Branch(g.like(tensor.Bool), Edge{Block: rest}, Edge{exit, g.likes(types)})
		g.b.Enter(rest)
		g.body(n/2, depth)
	}
	next := g.b.Binary(kernel.Add, counter, g.b.Const(tensor.Int64, tensor.Int(1)))
	g.b.Jump(head, append([]kernel.Value{next}, g.likes(types)...)...)
	g.b.Enter(exit)
	g.values = append(outside[:len(outside):len(outside)], g.b.f.Blocks[exit].Params...)
}

// likesOf returns the parameters of a loop's head that are carried.
func (g *FunctionGenerator) likesOf(head int, types []tensor.DType) []kernel.Value {
	return g.b.f.Blocks[head].Params[1 : 1+len(types)]
}
