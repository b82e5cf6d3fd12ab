package export

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// predicate captures an operator on a truth value that depends on elements.
func (c *capture) predicate(n *ir.Node) {
	h := c.predicates[n.Input(0)]
	if n.Kind() == aten.Not && h != nil {
		c.predicates[n.Output()] = c.emit(ops.Find(aten.LogicalNot), []run{tensors(h.metas)}).handles[0]
		return
	}
	c.fail(source.RuntimeError, "%s of a value that depends on the elements of a tensor cannot be exported", n.Kind())
}

// element captures an operator that makes a number of an element of a tensor.
func (c *capture) element(n *ir.Node, o *ops.Operator, args []run) {
	switch o.Schema().Returns[0].Type.Kind() {
	case types.KindBool:
		c.predicates[n.Output()] = c.handleOf(args[0])
		return
	case types.KindInt, types.KindNumber:
		if c.handleOf(args[0]).metas[0].DType().IsIntegral() {
			c.env[n.Output()] = c.elementSymbol(args[0])
			return
		}
	case types.KindFloat:
		c.env[n.Output()] = c.elementFloat(args[0])
		return
	}
	c.fail(source.RuntimeError, "%s makes a number of the elements of a tensor, which an exported program can only do for integers", o.BaseName())
}

// elementSymbol makes a symbol of the integer that a tensor holds.
func (c *capture) elementSymbol(of run) run {
	c.distinguish()
	p := c.unknownNumbers()
	out := make(run, c.runs)
	for r := range p {
		out[r] = intValue(p[r])
	}
	size := c.unbacked(p)
	n := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name("item"), Target: aten.Item, Args: []exportir.Argument{exportir.Ref(c.read(c.handleOf(of)).Name)}, Meta: c.place()}
	n.Meta.Val = &exportir.Value{Kind: exportir.IntValue, Int: &size}
	c.scope.add(n)
	c.scope.numbers[size.Key()] = exportir.Ref(n.Name)
	return out
}

// elementFloat makes a number of the float that a tensor holds: one for each run, by which its node is found.
func (c *capture) elementFloat(of run) run {
	c.distinguish()
	out := make(run, c.runs)
	for r := range out {
		out[r] = value.Float(0.37 * float64(1000003+64*len(c.floats)+r))
	}
	n := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name("item"), Target: aten.Item, Meta: c.place()}
	n.Args = []exportir.Argument{exportir.Ref(c.read(c.handleOf(of)).Name)}
	n.Meta.Val = &exportir.Value{Kind: exportir.FloatValue}
	c.scope.add(n)
	c.floats[out[0].Float()] = n
	return out
}

// isElement reports whether a number stands for a float that a tensor holds.
func (c *capture) isElement(is run) bool { return is[0].IsFloat() && c.floats[is[0].Float()] != nil }

// comesOfFloat reports whether a number was computed from a float that a tensor holds. What stands for such a float tells nothing of it but which it is.
func (c *capture) comesOfFloat(v *ir.Value) bool {
	seen := map[*ir.Value]bool{}
	var comes func(v *ir.Value) bool
	comes = func(v *ir.Value) bool {
		if seen[v] || v.Node().Kind() == prim.Param {
			return false
		}
		seen[v] = true
		is, known := c.env[v]
		switch {
		case known && c.isElement(is):
			return true
		case known && is[0].IsTensor() && c.scope.handles[is[0].Tensor()] != nil:
			return false // a tensor of the program
		}
		return slices.ContainsFunc(v.Node().Inputs(), comes)
	}
	return comes(v)
}

// unbacked makes a symbol of a number that no size of an input tells.
func (c *capture) unbacked(p symbolic.Profile) symbolic.Size {
	size := symbolic.Symbol("i" + itoa(c.made))
	within := c.rangeOf(c.made)
	c.unbackedSymbols[size.Name] = c.made
	c.made++
	c.program.Symbols = append(c.program.Symbols, exportir.Symbol{Name: size.Name, Lower: within.lower, Upper: within.upper, Hint: p[0]})
	c.fit.Learn(p, size)
	return size
}

// unknownNumbers are what stands for an unknown number in the runs: another profile than all that are known, and no simple function of
// them.
func (c *capture) unknownNumbers() symbolic.Profile {
	within := c.rangeOf(c.made)
	p := make(symbolic.Profile, c.runs)
	for salt := range maxSalts {
		for r := range p {
			p[r] = unknownNumber(c.made, r, salt, max(1, c.options.factor), within)
		}
		if _, known := c.fit.Known[p.Key()]; !known && (c.runs == 1 || !p.IsConstant()) {
			break
		}
	}
	return p
}

// maxSalts bounds how many profiles are tried for an unknown number. Those of a narrow range may be all taken.
const maxSalts = 64

func unknownNumber(symbol, r, salt, factor int, within valueRange) int {
	n := (3 + 2*symbol + (31*r*r+r*(17*symbol+7)+13*symbol+salt*(5*r*r*r+3*r+1))%29) * factor
	if n < within.low {
		n += within.low
	}
	if within.high >= 0 && n > within.high {
		n = within.low + (n-within.low)%max(1, within.high-within.low+1)
	}
	return n
}
