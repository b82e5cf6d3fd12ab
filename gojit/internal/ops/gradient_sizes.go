package ops

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// What derivatives ask of sizes, dimensions and lists. On the tape the answers are known; in a graph they are nodes.

// knownTruth returns a truth value that is known.
func knownTruth(a any) (is, known bool) {
	switch a := a.(type) {
	case bool:
		return a, true
	case value.Value:
		return a.Bool(), true
	}
	return false, false
}

// knownInts returns a list of integers that is known; that of an integer has one element, that of None none.
func knownInts(a any) ([]int, bool) {
	switch a := a.(type) {
	case int:
		return []int{a}, true
	case []int:
		return a, true
	case value.Value:
		switch a.Kind() {
		case value.KindNone:
			return nil, true
		case value.KindInt:
			return []int{int(a.Int())}, true
		case value.KindList:
			return a.List().AppendInts(nil), true
		}
	}
	return nil, false
}

// Ints returns an argument that is a list of integers: as one where it is known, and else what stands for it.
func (g Gradient) Ints(i int) any {
	a := g.Arg(i)
	if xs, ok := knownInts(a); ok {
		return xs
	}
	return a
}

// Not negates a truth value.
func (g Gradient) Not(a any) any {
	if is, ok := knownTruth(a); ok {
		return !is
	}
	return g.Calculate("__not__", a)
}

// Integer returns a truth value or an integer as an integer.
func (g Gradient) Integer(a any) any {
	if k, ok := known(a); ok {
		return int(real(k))
	}
	return g.Calculate("Int", a)
}

// Rank returns the number of dimensions of a tensor argument.
func (g Gradient) Rank(argument int) any {
	if g.Concrete() != nil {
		return len(g.Sizes(argument).([]int))
	}
	t := g.In(argument)
	if n, ok := g.Dim(t); ok {
		return n
	}
	return g.Calculate("dim", t)
}

// Size returns the size of a tensor argument along a dimension, counted from the end where that is negative.
func (g Gradient) Size(argument, dim int) any {
	sizes := g.Sizes(argument)
	if s, ok := sizes.([]int); ok {
		if dim < 0 {
			dim += len(s)
		}
		return s[dim]
	}
	return g.Calculate("__getitem__", sizes, dim)
}

// Numel returns how many elements a tensor argument has.
func (g Gradient) Numel(argument int) any { return g.ReducedCount(argument, nil) }

// KeptSizes are the sizes of a tensor argument with 1 along dimensions; no dimensions are all.
func (g Gradient) KeptSizes(argument int, dims any) any {
	sizes := g.Sizes(argument)
	s, first := sizes.([]int)
	d, second := knownInts(dims)
	if first && second {
		return KeptSizes(s, d)
	}
	return g.Calculate("prim::kept_sizes", sizes, dims)
}

// ReducedCount returns how many elements of a tensor argument a reduction over dimensions makes one of; no dimensions are all.
func (g Gradient) ReducedCount(argument int, dims any) any {
	sizes := g.Sizes(argument)
	s, first := sizes.([]int)
	d, second := knownInts(dims)
	if first && second {
		return ReducedCount(s, d)
	}
	return g.Calculate("prim::reduced_count", sizes, dims)
}

// isReduced reports whether dimension d of n is one of dims; no dims are all.
func isReduced(d, n int, dims []int) bool {
	for _, at := range dims {
		if at == d || at+n == d {
			return true
		}
	}
	return len(dims) == 0
}

// KeptSizes returns sizes with 1 along dimensions, without dimensions along all.
func KeptSizes(sizes, dims []int) []int {
	kept := make([]int, len(sizes))
	for d, n := range sizes {
		kept[d] = n
		if isReduced(d, len(sizes), dims) {
			kept[d] = 1
		}
	}
	return kept
}

// ReducedCount returns the product of the sizes along dimensions, without dimensions along all.
func ReducedCount(sizes, dims []int) int {
	count := 1
	for d, n := range sizes {
		if isReduced(d, len(sizes), dims) {
			count *= n
		}
	}
	return count
}

// SizesAlong returns the sizes of tensors that are concatenated along a dimension. Vectors without elements go with tensors of any shape.
func SizesAlong(shapes [][]int, dim int) []int {
	rank := 1
	for _, shape := range shapes {
		rank = max(rank, len(shape))
	}
	if dim < 0 {
		dim += rank
	}
	sizes := make([]int, len(shapes))
	for i, shape := range shapes {
		if dim < len(shape) {
			sizes[i] = shape[dim]
		}
	}
	return sizes
}

// StandIn is a tensor of the shape of an argument, whose elements are not read.
func (g Gradient) StandIn(argument int) Ref {
	c := g.Concrete()
	if c == nil {
		return g.In(argument)
	}
	shape, _ := c.Geometry(argument, -1)
	return source.Must(c.Zeros(nil, g.Grad(0).(*tensor.Tensor).DType()).Expand(shape...))
}

// ZerosOf gives zeros for the gradient of an argument.
func (g Gradient) ZerosOf(argument int) Ref {
	if c := g.Concrete(); c != nil {
		return c.Zeros(c.Geometry(argument, -1))
	}
	return g.Zeros(g.In(argument))
}

// Into runs an operator on zeros that nobody else has, in place where that can be.
func (g Gradient) Into(name string, zeros Ref, args ...any) Ref {
	if c := g.Concrete(); c != nil {
		return Into(c, name, zeros.(*tensor.Tensor), args...)
	}
	return g.Do(name, append([]any{zeros}, args...)...)
}

// Unbroadcast sums over the dimensions along which an argument was broadcast. On the tape Give does that.
func (g Gradient) Unbroadcast(dy Ref, argument int) Ref {
	if g.Concrete() != nil {
		return dy
	}
	return g.Choose(g.IsNone(argument), func() any { return nil }, func() any { return g.Do("_grad_sum_to_size", dy, g.Sizes(argument)) })
}

// InList returns an argument that is a list of tensors or indices.
func (g Gradient) InList(argument int) any {
	c := g.Concrete()
	if c == nil {
		return g.Arg(argument)
	}
	return value.OfList(value.OptionalTensors(c.List(argument)))
}

// GradList returns the gradients of the tensors of a result that is a list, zeros where none came.
func (g Gradient) GradList() any {
	c := g.Concrete()
	if c == nil {
		return g.Grad(0)
	}
	parts := make([]*tensor.Tensor, len(c.Grads()))
	for i := range parts {
		parts[i] = g.Grad(i).(*tensor.Tensor)
	}
	return parts
}

// GiveRows sets the gradients of the tensors of a list to what lies at their places along a dimension.
func (g Gradient) GiveRows(argument int, dy Ref, dim any) {
	c := g.Concrete()
	if c == nil {
		g.Give(argument, g.Do("unbind.int", dy, dim))
		return
	}
	for i, v := range DoAll(c, "unbind.int", dy, dim)[0].List().Items {
		c.GiveElement(argument, i, v.Tensor())
	}
}

// GiveParts sets the gradients of the tensors of a list to parts, which follow each other along a dimension.
func (g Gradient) GiveParts(argument int, dy Ref, dim any) {
	c := g.Concrete()
	if c == nil {
		g.Give(argument, g.Do("split_with_sizes", dy, g.Calculate("prim::sizes_along", g.Arg(argument), dim), dim))
		return
	}
	shapes := make([][]int, len(c.Arguments()[argument].List().Items))
	for i := range shapes {
		shapes[i], _ = c.Geometry(argument, i)
	}
	axis, _ := knownInts(dim)
	start := 0
	for i, size := range SizesAlong(shapes, axis[0]) {
		if shape, d := c.Geometry(argument, i); size == 0 {
			c.GiveElement(argument, i, c.Zeros(shape, d))
			continue
		}
		c.GiveElement(argument, i, Do(c, "slice.Tensor", dy, axis[0], start, start+size, 1))
		start += size
	}
}
