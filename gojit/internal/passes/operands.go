package passes

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// ReadOperands makes what reads the result of an operator in place read its operand, which is the same tensor: then one value has it, and its
// memory is given back behind the last use of that. It reports whether anything changed.
//
//	%b = aten::relu_(%a)           %b = aten::relu_(%a)
//	%c = aten::tanh(%b)      ->    %c = aten::tanh(%a)
func ReadOperands(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if operand := writtenOperand(n); operand != nil && n.Output().HasUses() {
			n.Output().ReplaceAllUsesWith(operand)
			changed = true
		}
	})
	return changed
}

// writtenOperand returns the operand that n, an operator in place, writes and gives back; nil where it is no such operator.
func writtenOperand(n *ir.Node) *ir.Value {
	o := n.Operator()
	if o == nil || !strings.HasPrefix(n.Kind(), "aten::") || len(n.Outputs()) != 1 || len(n.Inputs()) == 0 || n.Input(0).Type().Kind() != types.KindTensor {
		return nil
	}
	s := o.Schema()
	self, result := s.Arguments[0].Alias, s.Returns[0].Alias
	if self == nil || result == nil || !self.IsWrite || !result.IsWrite || !slices.Equal(self.Before, result.After) && !slices.Equal(self.Before, result.Before) {
		return nil
	}
	return n.Input(0)
}
