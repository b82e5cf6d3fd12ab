package export

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchjit/gojit/ir"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// solve captures a graph that refuses the sizes that symbols have in some of the runs: it looks for symbols that are equal, or that
// have to be what they are in the example. It fails where they are ones that are to be dynamic.
func solve(g *ir.Graph, o *Options, first *conflict) (*Program, error) {
	found := *o
	found.Joined, found.Fixed = maps.Clone(o.Joined), maps.Clone(o.Fixed)
	if found.Joined == nil {
		found.Joined = map[string]string{}
	}
	if found.Fixed == nil {
		found.Fixed = map[string]int{}
	}
	reached := first.reached
	for range o.Symbols {
		var best *Options
		for _, candidate := range candidates(&found) {
			p, err := captureRuns(g, candidate, len(steps))
			var c *conflict
			switch {
			case err == nil:
				return p, candidate.explain(first)
			case !errors.As(err, &c):
				return nil, err
			case c.reached > reached:
				best, reached = candidate, c.reached
			}
		}
		if best == nil {
			break
		}
		found = *best
	}
	return nil, first.err
}

// candidates are the options with one thing more that holds of symbols.
func candidates(o *Options) []*Options {
	var list []*Options
	for i, s := range o.Symbols {
		if !o.isFree(s) {
			continue
		}
		for _, t := range o.Symbols[i+1:] {
			if o.isFree(t) && s.Hint == t.Hint {
				c := *o
				c.Joined = maps.Clone(o.Joined)
				c.Joined[t.Name] = s.Name
				list = append(list, &c)
			}
		}
	}
	for _, s := range o.Symbols {
		if o.isFree(s) {
			c := *o
			c.Fixed = maps.Clone(o.Fixed)
			c.Fixed[s.Name] = s.Hint
			list = append(list, &c)
		}
	}
	return list
}

// isFree reports whether a symbol is neither equal to another nor fixed.
func (o *Options) isFree(s Symbol) bool {
	_, fixed := o.Fixed[s.Name]
	return !fixed && o.Joined[s.Name] == ""
}

// symbol returns the symbol of a name.
func (o *Options) symbol(name string) *Symbol {
	for i := range o.Symbols {
		if o.Symbols[i].Name == name {
			return &o.Symbols[i]
		}
	}
	return nil
}

func (s *Symbol) label() string {
	if s.Label != "" {
		return s.Label
	}
	return s.Name
}

// explain fails where symbols that are to be dynamic have turned out to be fixed, or equal to others.
func (o *Options) explain(first *conflict) error {
	var names, reasons, fixes []string
	for _, s := range o.Symbols {
		if n, ok := o.Fixed[s.Name]; ok && s.Must {
			names = append(names, s.label())
			reasons = append(reasons, fmt.Sprintf("  - Not all values of %s = %s in the specified range are valid because %s was inferred to be a constant (%d).", s.label(), s.Place, s.label(), n))
			fixes = append(fixes, fmt.Sprintf("  %s = %d", s.label(), n))
		}
		if other := o.symbol(o.Joined[s.Name]); other != nil && s.Label != "" && other.Label != "" {
			names = append(names, s.label())
			reasons = append(reasons, fmt.Sprintf("  - The values of %s = %s and %s = %s must always be equal.", s.label(), s.Place, other.label(), other.Place))
			fixes = append(fixes, fmt.Sprintf("  %s = %s", s.label(), other.label()))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return source.Errorf(source.RuntimeError, first.err.Range, "Constraints violated (%s)!\n%s\nWith other sizes: %s\nSuggested fixes:\n%s",
		strings.Join(names, ", "), strings.Join(reasons, "\n"), first.err.Text, strings.Join(fixes, "\n"))
}

// extremes are the ends of the ranges of the symbols, and what is near them: the other symbols are what they are in the example.
func (c *capture) extremes() []map[string]int {
	hints := map[string]int{}
	for _, s := range c.program.Symbols {
		hints[s.Name] = s.Hint
	}
	var list []map[string]int
	for _, s := range c.program.Symbols {
		if !c.options.declares(s.Name) {
			continue
		}
		low := max(2, s.Lower)
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
	return slices.ContainsFunc(o.Symbols, func(s Symbol) bool { return s.Name == name })
}

// decided fails where a number that the program decides by would be another at the ends of the ranges of the symbols.
func (c *capture) decided(v *ir.Value, is value.Value) {
	for _, at := range c.extremes() {
		found, ok := c.evaluate(v, at, 0)
		if !ok {
			return
		}
		if found.IsTensor() {
			found = value.OfScalar(source.Must(found.Tensor().Item()))
		}
		if !value.EqualConstants(found, is) {
			var where []string
			for _, s := range c.options.Symbols {
				if n, ok := at[s.Name]; ok && n != s.Hint {
					where = append(where, fmt.Sprintf("%s = %s is %d", s.label(), s.Place, n))
				}
			}
			source.Throw(&conflict{err: source.Errorf(source.RuntimeError, c.node.Range, "The program decides by a size here: this is %s for the example, and %s where %s",
				value.Repr(is, nil), value.Repr(found, nil), strings.Join(where, ", ")), run: -1, reached: c.reached})
		}
	}
}

// maxExpression bounds how deep the computations of sizes are that are looked at.
const maxExpression = 200

// evaluate computes a number that comes from sizes, where symbols are what at says. ok is false where it comes from something else.
func (c *capture) evaluate(v *ir.Value, at map[string]int, depth int) (is value.Value, ok bool) {
	if constant, ok := v.Constant(); ok {
		return constant, true
	}
	n := v.Node()
	if depth > maxExpression || len(n.Blocks()) > 0 || n.Kind() == "prim::Param" {
		return value.None, false
	}
	if n.Is("aten::size", "aten::numel", "aten::len") && c.env[n.Input(0)] != nil && c.env[n.Input(0)][0].IsTensor() {
		return c.evaluateSize(n, at)
	}
	args := make([]value.Value, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if args[i], ok = c.evaluate(in, at, depth+1); !ok {
			return value.None, false
		}
	}
	if n.Kind() == "prim::NumToTensor" {
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
	if n.Kind() == "aten::numel" {
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
	} else if n.Kind() == "aten::size" {
		return value.None, false
	}
	found, ok := size(d)
	return intValue(found), ok
}
