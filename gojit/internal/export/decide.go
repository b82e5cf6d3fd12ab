package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// extremes are the ends of the ranges of the symbols, and what is near them: the other symbols are what they are in the example.
func (c *capture) extremes() []map[string]int {
	hints := map[string]int{}
	for _, s := range c.program.Symbols {
		hints[s.Name] = s.Hint
	}
	var list []map[string]int
	for _, s := range c.program.Symbols {
		_, unbacked := c.unbackedSymbols[s.Name]
		if !unbacked && !c.options.declares(s.Name) {
			continue
		}
		low := s.Lower
		if !unbacked {
			low = max(2, low)
		}
		values := []int{low, low + 1}
		if s.Upper >= 0 {
			values = append(values, s.Upper, s.Upper-1)
		} else {
			values = append(values, 1<<20+7, 1<<20+8)
		}
		for _, n := range values {
			if n >= low && (s.Upper < 0 || n <= s.Upper) {
				at := maps.Clone(hints)
				at[s.Name] = n
				list = append(list, at)
			}
		}
	}
	return list
}

func (o *Options) declares(name string) bool {
	return slices.ContainsFunc(o.Symbols, func(s exportir.Symbol) bool { return s.Name == name })
}

// decided fails where a number that the program decides by would be another at the ends of the ranges of the symbols.
func (c *capture) decided(v *ir.Value, is value.Value) {
	for _, at := range c.extremes() {
		found, ok := c.evaluate(v, at, 0)
		if !ok {
			return
		}
		if found = number(found); !value.EqualConstants(found, is) {
			var where []string
			for _, s := range c.options.Symbols {
				if n, ok := at[s.Name]; ok && n != s.Hint {
					where = append(where, fmt.Sprintf("%s = %s is %d", s.Called(), s.Place, n))
				}
			}
			err := source.Errorf(source.RuntimeError, c.node.Range,
				"The program decides by a size here: this is %s for the example, and %s where %s",
				value.Repr(is, nil), value.Repr(found, nil), strings.Join(where, ", "))
			source.Throw(&conflict{err: err, run: -1, reached: c.reached, guard: c.guardOf(v, is)})
		}
	}
}

// number is what a tensor of one element holds; other values are what they are.
func number(v value.Value) value.Value {
	if v.IsTensor() {
		return value.OfScalar(source.Must(v.Tensor().Item()))
	}
	return v
}

// guard is what a decision of the program asks of a symbol: to be in a range, or to be a multiple of a number.
type guard struct {
	symbol       string
	lower, upper int // -1: no upper end
	multiple     int // 0: any number in the range
}

// farNumber stands for all sizes that are not small.
const farNumber = 1<<20 + 7

// guardOf returns what a decision asks of a symbol so that it stays what it is for the example; nil where no single symbol tells.
func (c *capture) guardOf(v *ir.Value, is value.Value) *guard {
	hints := map[string]int{}
	for _, s := range c.program.Symbols {
		hints[s.Name] = s.Hint
	}
	for _, s := range c.options.Symbols {
		if !c.options.isFree(s) {
			continue
		}
		holds := func(n int) bool {
			at := maps.Clone(hints)
			at[s.Name] = n
			found, ok := c.evaluate(v, at, 0)
			return ok && value.EqualConstants(number(found), is)
		}
		if !holds(s.Hint) {
			return nil
		}
		if found := guardOn(s, holds); found != nil {
			return found
		}
	}
	return nil
}

// guardOn looks for the range around the example in which something holds.
func guardOn(s exportir.Symbol, holds func(int) bool) *guard {
	low, high := max(2, s.Lower), s.Upper
	if high < 0 {
		high = farNumber
	}
	found := &guard{symbol: s.Name, lower: s.Lower, upper: s.Upper}
	if n := lastThatHolds(s.Hint, high, 1, holds); n < high {
		found.upper = n
	}
	if n := lastThatHolds(s.Hint, low, -1, holds); n > low {
		found.lower = n
	}
	switch {
	case found.lower == s.Lower && found.upper == s.Upper:
		return nil
	case found.lower == s.Hint && found.upper == s.Hint:
		return multipleGuard(s, low, high, holds)
	}
	return found
}

// lastThatHolds is the last number from a first one towards an end up to which something holds, which changes once at most.
func lastThatHolds(from, end, direction int, holds func(int) bool) int {
	if from == end || holds(end) && holds(from+direction) {
		return end
	}
	good, bad := from, end
	if !holds(from + direction) {
		return from
	}
	for (bad-good)*direction > 1 {
		if middle := good + (bad-good)/2; holds(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	return good
}

// multipleGuard is for what holds for the multiples of a number alone.
func multipleGuard(s exportir.Symbol, low, high int, holds func(int) bool) *guard {
	for d := 2; d <= s.Hint; d++ {
		if s.Hint%d != 0 {
			continue
		}
		fits := true
		for n := low; fits && n <= min(high, 6*d+low); n++ {
			fits = holds(n) == (n%d == 0)
		}
		if fits && 2*d <= high {
			return &guard{symbol: s.Name, lower: s.Lower, upper: s.Upper, multiple: d}
		}
	}
	return nil
}

// maxExpression bounds how deep the computations of sizes are that are looked at.
const maxExpression = 200

// evaluate computes a number that comes from sizes, where symbols are what at says. ok is false where it comes from something else.
func (c *capture) evaluate(v *ir.Value, at map[string]int, depth int) (is value.Value, ok bool) {
	if constant, ok := v.Constant(); ok {
		return constant, true
	}
	n := v.Node()
	if depth > maxExpression || len(n.Blocks()) > 0 || n.Kind() == prim.Param {
		return value.None, false
	}
	if (n.AsksSize() || n.Kind() == aten.Len) && c.env[n.Input(0)] != nil && c.env[n.Input(0)][0].IsTensor() {
		return c.evaluateSize(n, at)
	}
	if is, ok := c.env[v]; ok && is[0].IsInt() && c.isUnbacked(v, 0) {
		return c.evaluateUnbacked(is, at)
	}
	args := make([]value.Value, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if args[i], ok = c.evaluate(in, at, depth+1); !ok {
			return value.None, false
		}
	}
	if n.Kind() == prim.NumToTensor {
		switch args[0].Kind() {
		case value.KindInt:
			return value.OfTensor(tensor.FromScalar(tensor.Int(args[0].Int()), tensor.Int64)), true
		case value.KindFloat:
			return value.OfTensor(tensor.FromScalar(tensor.Float(args[0].Float()), tensor.Float64)), true
		}
		return value.None, false
	}
	o := operatorOf(n)
	if o == nil || o.Run == nil || o.Schema().IsMutable() || o.Schema().IsVararg || len(o.Schema().Returns) != 1 {
		return value.None, false
	}
	out := make([]value.Value, 1)
	if err := o.Run(args, out); err != nil {
		return value.None, false
	}
	return out[0], true
}

// evaluateUnbacked computes a number that elements tell.
func (c *capture) evaluateUnbacked(is run, at map[string]int) (value.Value, bool) {
	p := make(symbolic.Profile, c.runs)
	for r := range p {
		p[r] = int(is[r].Int())
	}
	n, err := c.fit.Size(p).Eval(at)
	return intValue(n), err == nil
}

// evaluateSize computes a size of a tensor.
func (c *capture) evaluateSize(n *ir.Node, at map[string]int) (value.Value, bool) {
	h := c.scope.handles[c.env[n.Input(0)][0].Tensor()]
	if h == nil {
		return value.None, false
	}
	described := c.describe(h)
	size := func(d int) (int, bool) {
		if d < 0 {
			d += len(described.Sizes)
		}
		if d < 0 || d >= len(described.Sizes) {
			return 0, false
		}
		found, err := described.Sizes[d].Eval(at)
		return found, err == nil
	}
	switch n.Kind() {
	case aten.Dim:
		return intValue(len(described.Sizes)), true
	case aten.Numel:
		product := 1
		for d := range described.Sizes {
			one, ok := size(d)
			if !ok {
				return value.None, false
			}
			product *= one
		}
		return intValue(product), true
	}
	d := 0
	if len(n.Inputs()) == 2 {
		constant, ok := n.Input(1).Constant()
		if !ok {
			return value.None, false
		}
		d = int(constant.Int())
	} else if n.Kind() == aten.Size {
		return value.None, false
	}
	found, ok := size(d)
	return intValue(found), ok
}
