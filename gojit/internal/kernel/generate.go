package kernel

import (
	"math/rand/v2"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Generator makes random kernels with which tests compare targets. Verify accepts them, and their
// meaning does not depend on the machine: integers are not divided by zero, and only small numbers
// are converted to integers.
type Generator struct {
	Rand         *rand.Rand
	Types        []tensor.DType // to compute with
	Memory       []tensor.DType // of inputs and outputs, besides Types
	Ops          []Op           // nil: all
	Instructions int            // about how many
	Reduce       bool           // the first output reduces

	b      *Builder
	values []Value
}

// Kernel makes the next kernel, with one to three inputs, up to two parameters and one or two outputs.
func (g *Generator) Kernel() *Kernel {
	g.b, g.values = NewBuilder(), nil
	memory := append(append([]tensor.DType(nil), g.Types...), g.Memory...)
	for range 1 + g.Rand.IntN(3) {
		m := PickOf(g.Rand, memory)
		g.add(g.b.Input(m, ComputeType(m)))
	}
	for range g.Rand.IntN(3) {
		g.add(g.b.Param(PickOf(g.Rand, g.Types)))
	}
	for range g.Instructions {
		g.instruction()
	}
	last := g.values[len(g.values)-1]
	if op := ReduceOp(1 + g.Rand.IntN(int(ReduceMax))); g.Reduce && Loops[op.Op()][g.b.Type(last)] != nil {
		g.b.Reduce(op, last, g.b.Type(last))
	} else {
		g.b.Output(last, g.b.Type(last))
	}
	if g.Rand.IntN(3) == 0 {
		v := g.small(PickOf(g.Rand, g.values))
		if to := PickOf(g.Rand, memory); !g.b.Type(v).IsComplex() || !to.IsIntegral() {
			g.b.Output(v, to)
		}
	}
	return g.b.Kernel()
}

func PickOf[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func (g *Generator) add(v Value) { g.values = append(g.values, v) }

// instruction adds an operation on random values, where the one drawn is defined for the type drawn.
func (g *Generator) instruction() {
	op := Op(g.Rand.IntN(int(NumOps)))
	if len(g.Ops) > 0 {
		op = PickOf(g.Rand, g.Ops)
	}
	x := PickOf(g.Rand, g.values)
	if g.Rand.IntN(2) == 0 {
		x = g.values[len(g.values)-1]
	}
	t := g.b.Type(x)
	switch {
	case op == Iota:
		if want := []tensor.DType{tensor.Int32, tensor.Int64}[g.Rand.IntN(2)]; g.allows(want) {
			g.add(g.b.Iota(want))
		}
	case op == Const:
		g.add(g.number(PickOf(g.Rand, g.Types)))
	case op == Select:
		if g.allows(tensor.Bool) {
			g.add(g.b.Select(g.like(tensor.Bool), x, g.like(t)))
		}
	case op == Convert:
		if to := PickOf(g.Rand, g.Types); !t.IsComplex() || !to.IsIntegral() {
			g.add(g.b.Convert(g.small(x), to))
		}
	case op.Operands() == 0 || Loops[op][t] == nil || !g.allows(ResultType(op, t)):
	case op == Fma:
		g.add(g.b.Fma(x, g.like(t), g.like(t)))
	case op.Operands() == 1:
		g.add(g.b.Unary(op, x))
	default:
		y := g.like(t)
		if (op == Div || op == Rem || op == Mod || op == FloorDiv) && t.IsIntegral() {
			y = g.b.Binary(Or, y, g.b.Const(t, tensor.Int(1)))
		}
		g.add(g.b.Binary(op, x, y))
	}
}

func (g *Generator) allows(t tensor.DType) bool {
	for _, allowed := range g.Types {
		if t == allowed {
			return true
		}
	}
	return false
}

// like returns a value of a type: one that is there, or a constant.
func (g *Generator) like(t tensor.DType) Value {
	for range 8 {
		if v := PickOf(g.Rand, g.values); g.b.Type(v) == t {
			return v
		}
	}
	return g.number(t)
}

// number makes a small constant.
func (g *Generator) number(t tensor.DType) Value {
	if t.IsComplex() {
		return g.b.Const(t, tensor.Complex(complex(float64(g.Rand.IntN(33)-16)/8, float64(g.Rand.IntN(5)-2))))
	}
	if t.IsFloating() {
		return g.b.Const(t, tensor.Float(float64(g.Rand.IntN(33)-16)/8))
	}
	return g.b.Const(t, tensor.Int(int64(g.Rand.IntN(9)-3)))
}

// small replaces floats that are not between -100 and 100.
func (g *Generator) small(x Value) Value {
	t := g.b.Type(x)
	if !isReal(t) {
		return x
	}
	b := g.b
	small := b.Binary(And, b.Binary(Gt, x, b.Number(x, -100)), b.Binary(Lt, x, b.Number(x, 100)))
	return b.Select(small, x, b.Number(x, 1))
}
