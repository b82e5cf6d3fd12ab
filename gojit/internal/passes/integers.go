package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// isIntegerOperation reports whether n calculates an int of two ints.
func isIntegerOperation(n *ir.Node, kinds ...string) bool {
	return n.Is(kinds...) && len(n.Inputs()) == 2 && len(n.Outputs()) == 1 && n.Output().Type().Kind() == types.KindInt &&
		n.Input(0).Type().Kind() == types.KindInt && n.Input(1).Type().Kind() == types.KindInt
}

func ConstantInt(v *ir.Value) (int64, bool) {
	c, ok := v.Constant()
	if !ok || c.Kind() != value.KindInt {
		return 0, false
	}
	return c.Int(), true
}

// constantsRight puts the constant of a sum or product of ints behind the other operand. It reports
// whether it changed anything.
//
//	%y = aten::mul(2, %x)   -- becomes aten::mul(%x, 2)
func constantsRight(n *ir.Node) bool {
	if !isIntegerOperation(n, aten.Add, aten.Mul) {
		return false
	}
	_, first := ConstantInt(n.Input(0))
	_, second := ConstantInt(n.Input(1))
	if !first || second {
		return false
	}
	n.PermuteInputs([]int{1, 0})
	return true
}

// chain adds up the constants of a sum of a sum.
//
//	%y = aten::add(%x, 1)
//	%z = aten::sub(%y, 3)   -- aten::sub(%x, 2)
func (p *peepholes) chain(n *ir.Node) *ir.Value {
	if !isIntegerOperation(n, aten.Add, aten.Sub) {
		return nil
	}
	inner := n.Input(0).Node()
	if !isIntegerOperation(inner, aten.Add, aten.Sub) {
		return nil
	}
	a, ok := ConstantInt(inner.Input(1))
	b, ok2 := ConstantInt(n.Input(1))
	if !ok || !ok2 {
		return nil
	}
	if inner.Kind() == aten.Sub {
		a = -a
	}
	if n.Kind() == aten.Sub {
		b = -b
	}
	kind, sum := aten.Add, a+b
	if sum == 0 {
		return inner.Input(0)
	}
	if sum < 0 {
		kind, sum = aten.Sub, -sum
	}
	c := p.constant(n, value.Int(sum))
	made := p.g.Create(kind, []*ir.Value{inner.Input(0), c}, 1).SetRange(n.Range).InsertBefore(n)
	return made.Output().SetType(types.Int).CopyMetadata(n.Output())
}

// integerIdentity returns the other operand where one of two ints is the neutral number of the operation.
func integerIdentity(n *ir.Node, neutral float64) *ir.Value {
	if len(n.Inputs()) != 2 || n.Output().Type().Kind() != types.KindInt {
		return nil
	}
	a, b := n.Input(0), n.Input(1)
	if a.Type().Kind() != types.KindInt || b.Type().Kind() != types.KindInt {
		return nil
	}
	switch {
	case isNumber(a, neutral) && n.Is(aten.Add, aten.Mul):
		return b
	case isNumber(b, neutral):
		return a
	}
	return nil
}
