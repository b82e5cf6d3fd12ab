package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// How sizes that are not known go through a graph: each of the parameters' unknown sizes is a symbol, a number below
// -1. The shapes are propagated several times with other numbers for the symbols. A size that is the same every time is
// known; one that is each time what a symbol is, is that symbol; sizes that agree every time otherwise are one new symbol.

// trials are how many times shapes are propagated.
const trials = 3

// numbersOfSymbols stand for symbols, other ones for each in each trial. They are primes, larger than the sizes that programs
// often write, so that no other size is one of them by chance.
var numbersOfSymbols = [...]int{
	11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173,
}

// sizeProfile is what a size is in each of the trials.
type sizeProfile [trials]int

// symbolsOf are the symbols by what they are in the trials.
type symbolsOf map[sizeProfile]int

// hasSymbols reports whether a size of a parameter is not known, though their number is.
func hasSymbols(g *ir.Graph) bool {
	return slices.ContainsFunc(g.Inputs(), func(v *ir.Value) bool {
		t, ok := v.Type().(*types.TensorInfo)
		return ok && slices.ContainsFunc(t.Sizes, func(n int) bool { return n < 0 })
	})
}

// propagateSymbols is PropagateShapes for a graph that hasSymbols; ok is false where there are too many of them.
func propagateSymbols(g *ir.Graph) (ok bool) {
	named := map[int]int{} // the place of each symbol among the parameters
	for _, v := range g.Inputs() {
		if t, ok := v.Type().(*types.TensorInfo); ok && t.Sizes != nil {
			v.SetType(nameSizes(t, named))
		}
	}
	if len(named)*trials > len(numbersOfSymbols) {
		return false
	}
	s := symbolsOf{}
	for symbol, place := range named {
		var p sizeProfile
		copy(p[:], numbersOfSymbols[trials*place:])
		s[p] = symbol
	}
	var copies [trials][]*ir.Value
	for trial := range trials {
		c := g.Copy()
		for _, v := range c.Inputs() {
			if t, ok := v.Type().(*types.TensorInfo); ok && t.Sizes != nil {
				v.SetType(numbered(t, named, trial))
			}
		}
		propagateKnown(c, true)
		copies[trial] = valuesOf(c.Block())
	}
	for i, v := range valuesOf(g.Block()) {
		if v.Type().Kind() == types.KindTensor && v.Node().Kind() != prim.Constant && !slices.Contains(g.Inputs(), v) {
			var tried [trials]*types.TensorInfo
			for trial := range trials {
				tried[trial], _ = copies[trial][i].Type().(*types.TensorInfo)
			}
			s.learn(v, tried)
		}
	}
	return true
}

// nameSizes gives sizes that are not known symbols, and notes them all.
func nameSizes(t *types.TensorInfo, named map[int]int) *types.TensorInfo {
	c := *t
	c.Sizes = slices.Clone(t.Sizes)
	for i, n := range c.Sizes {
		if n == -1 {
			c.Sizes[i] = types.NewSymbol()
		}
		if n := c.Sizes[i]; n < 0 {
			if _, ok := named[n]; !ok {
				named[n] = len(named)
			}
		}
	}
	return &c
}

// numbered is a type with numbers for its symbols.
func numbered(t *types.TensorInfo, named map[int]int, trial int) *types.TensorInfo {
	c := *t
	c.Sizes, c.Strides = slices.Clone(t.Sizes), nil
	for i, n := range c.Sizes {
		if n < 0 {
			c.Sizes[i] = numbersOfSymbols[trials*named[n]+trial]
		}
	}
	return &c
}

// valuesOf lists the values of a block in the order of the text.
func valuesOf(b *ir.Block) []*ir.Value {
	found := slices.Clone(b.Inputs())
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			found = append(found, valuesOf(inner)...)
		}
		found = append(found, n.Outputs()...)
	}
	return found
}

// learn gives a tensor the sizes that its types in the trials say.
func (s symbolsOf) learn(v *ir.Value, tried [trials]*types.TensorInfo) {
	first := tried[0]
	for _, t := range tried {
		if t == nil || t.Sizes == nil || slices.Contains(t.Sizes, -1) || len(t.Sizes) != len(first.Sizes) {
			return
		}
	}
	found := *first
	found.Sizes = make([]int, len(first.Sizes))
	for d := range found.Sizes {
		var p sizeProfile
		for trial, t := range tried {
			p[trial] = t.Sizes[d]
		}
		if found.Sizes[d] = s.size(p); found.Sizes[d] < 0 {
			found.Strides = nil
		}
	}
	v.SetType(&found)
}

func (s symbolsOf) size(p sizeProfile) int {
	if slices.Min(p[:]) == slices.Max(p[:]) {
		return p[0]
	}
	if s[p] == 0 {
		s[p] = types.NewSymbol()
	}
	return s[p]
}

// agreeing runs an operator that has refused its tensors on ones whose symbols agree with each other: first as it broadcasts,
// where it may, then with a symbol that is another size of the tensors. Where two symbols agree the size is a new one.
func agreeing(args []value.Value, broadcasts bool, run func(args []value.Value) ([]value.Value, bool)) (outs []value.Value, ok bool) {
	if common, ok := broadcastSizes(args); ok && broadcasts {
		if outs, ok := run(withSizes(args, func(n, fromLast int) int { return common[len(common)-1-fromLast] })); ok {
			return outs, true
		}
	}
	sizes := sizesOf(args)
	for i, p := range sizes {
		for j, q := range sizes {
			if i == j || q == 1 || !isSymbolNumber(p) || isSymbolNumber(q) && j < i {
				continue
			}
			both := q
			if isSymbolNumber(q) {
				both = p * q
			}
			agreed := withSizes(args, func(n, _ int) int {
				if n == p || n == q {
					return both
				}
				return n
			})
			if outs, ok := run(agreed); ok {
				return outs, true
			}
		}
	}
	return nil, false
}

// sizesOf lists the sizes of the tensors among the arguments, each once.
func sizesOf(args []value.Value) []int {
	var sizes []int
	for _, v := range args {
		if v.IsTensor() {
			sizes = append(sizes, v.Tensor().Shape()...)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// withSizes returns the arguments with other symbols: to tells what a symbol becomes, fromLast counts the dimensions after it.
func withSizes(args []value.Value, to func(n, fromLast int) int) []value.Value {
	changed := slices.Clone(args)
	for i, v := range args {
		if !v.IsTensor() {
			continue
		}
		shape := slices.Clone(v.Tensor().Shape())
		for d, n := range shape {
			if isSymbolNumber(n) {
				shape[d] = to(n, len(shape)-1-d)
			}
		}
		if slices.Equal(shape, v.Tensor().Shape()) {
			continue
		}
		if n, err := tensor.Numel(shape); err != nil || n > mostElements {
			return args
		}
		other, err := tensor.EmptyMeta(shape, v.Tensor().DType())
		if err != nil {
			return args
		}
		changed[i] = value.OfTensor(other)
	}
	return changed
}

// broadcastSizes is the shape that the tensors among the arguments broadcast to if symbols let them.
func broadcastSizes(args []value.Value) (common []int, ok bool) {
	for _, v := range args {
		if v.IsTensor() {
			if common, ok = commonSizes(common, v.Tensor().Shape()); !ok {
				return nil, false
			}
		}
	}
	return common, true
}

// commonSizes is the shape that two broadcast to if symbols let them.
func commonSizes(a, b []int) (common []int, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	common = slices.Clone(a)
	for i, n := range b {
		m := &common[len(a)-len(b)+i]
		switch {
		case *m == n || n == 1:
		case *m == 1:
			*m = n
		case isSymbolNumber(*m) && isSymbolNumber(n):
			*m *= n
		case isSymbolNumber(*m):
			*m = n
		case !isSymbolNumber(n):
			return nil, false
		}
	}
	return common, true
}

// isSymbolNumber reports whether a size is one that stands for a symbol, or for several that broadcast.
func isSymbolNumber(n int) bool {
	if n <= 1 {
		return false
	}
	for _, p := range numbersOfSymbols {
		if n%p == 0 {
			n /= p
		}
	}
	return n == 1
}
