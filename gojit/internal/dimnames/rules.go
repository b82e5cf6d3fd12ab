package dimnames

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// call is a call of an operator whose results get names.
type call struct {
	op   *ops.Operator
	args []value.Value
}

// rules say by the fact "names" of an operator which names its results have.
var rules = map[string]func(c call) []string{
	"unify":         call.unified,
	"self":          func(c call) []string { return Of(c.self()) },
	"none":          func(c call) []string { return nil },
	"reduced":       call.reduced,
	"without":       call.withoutDim,
	"squeezed":      call.squeezed,
	"transposed":    func(c call) []string { return swapped(Of(c.self()), c.dim("dim0", c.self()), c.dim("dim1", c.self())) },
	"t":             call.turned,
	"diagonal":      call.diagonal,
	"expanded":      call.expanded,
	"resized":       call.resized,
	"joined":        call.joined,
	"product":       func(c call) []string { return c.product(c.args[0].Tensor(), c.args[1].Tensor()) },
	"added_product": call.addedProduct,
	"distances":     call.distances,
	"linear":        call.linear,
}

// Results returns the names of the results of an operator. known is false where PyTorch has the operator on no tensor with names.
func Results(op *ops.Operator, args []value.Value) (names []string, known bool) {
	fact, known := op.Fact("names")
	if !known {
		_, refused := op.Fact("refusal")
		return nil, !refused && !slices.ContainsFunc(op.Schema().Returns, func(r schema.Argument) bool { return holdsTensors(r.Type) })
	}
	names = rules[fact](call{op, args})
	return names, true
}

func holdsTensors(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), holdsTensors)
}

// Refuse fails for an operator that tensors with named dimensions do not have. The fact "refusal" is the part of it that does not.
func Refuse(op *ops.Operator) {
	name := op.Schema().QualifiedName()
	if part, ok := op.Fact("refusal"); ok {
		name = part
	}
	source.Raise(source.RuntimeError, "%s is not yet supported with named tensors. Please drop names via `tensor = tensor.rename(None)`, "+
		"call the op with an unnamed tensor, and set names on the result of the operation.", name)
}

// CheckOut fails where a tensor of out= has other names than the results.
func CheckOut(op *ops.Operator, args []value.Value, names []string) {
	for i := range op.Schema().Arguments {
		if !op.Schema().Arguments[i].IsOut() || i >= len(args) || !args[i].IsTensor() {
			continue
		}
		if given := args[i].Tensor().Names(); given != nil && !slices.Equal(given, names) {
			if names == nil {
				names = make([]string, len(given))
			}
			source.Raise(source.RuntimeError, "Name mismatch: specified out tensor with names %s are not the same as the computed output names %s. "+
				"Please rename the out tensor's dims with `Tensor.rename`.", text(given), text(names))
		}
	}
}

// Name gives results their names. Results with another number of dimensions, and those of no dimension, have none.
func Name(out []value.Value, names []string) {
	for _, v := range out {
		switch {
		case v.Kind() == value.KindList:
			Name(v.List().Items, names)
		case v.IsTensor() && (len(names) == v.Tensor().Dim() || v.Tensor().Names() != nil):
			if len(names) == v.Tensor().Dim() {
				checkDistinct(names)
			}
			v.Tensor().SetNames(names)
		}
	}
}

func (c call) self() *tensor.Tensor { return c.args[0].Tensor() }

// argument returns an argument by its name, None where there is none.
func (c call) argument(name string) value.Value {
	if i := c.op.Schema().ArgumentIndex(name); i >= 0 && i < len(c.args) {
		return c.args[i]
	}
	return value.None
}

// wrapped counts a dimension from the front; one that does not exist is left to the operator to refuse.
func wrapped(dim int64, t *tensor.Tensor) int {
	if dim < 0 {
		dim += int64(t.Dim())
	}
	if dim < 0 || dim >= int64(t.Dim()) {
		return -1
	}
	return int(dim)
}

func (c call) dim(name string, t *tensor.Tensor) int { return wrapped(c.argument(name).Int(), t) }

// unified broadcasts the names of all tensors but those of out=.
func (c call) unified() (names []string) {
	s := c.op.Schema()
	for i, v := range c.args {
		if v.IsTensor() && !(i < len(s.Arguments) && s.Arguments[i].IsOut()) {
			names = unify(names, Of(v.Tensor()), "broadcast")
		}
	}
	return names
}

// reduced leaves out the dimensions that are summed up.
func (c call) reduced() []string {
	names := Of(c.self())
	if c.argument("keepdim").Bool() {
		return names
	}
	over := make([]bool, len(names))
	all := true
	note := func(v value.Value) {
		all = false
		if at := wrapped(v.Int(), c.self()); at >= 0 {
			over[at] = true
		}
	}
	switch d := c.argument("dim"); d.Kind() {
	case value.KindInt:
		note(d)
	case value.KindList:
		for _, x := range d.List().Items {
			note(x)
		}
	}
	var left []string
	for i, n := range names {
		if !all && !over[i] {
			left = append(left, n)
		}
	}
	return left
}

func (c call) withoutDim() []string {
	if at := c.dim("dim", c.self()); at >= 0 {
		return slices.Delete(slices.Clone(Of(c.self())), at, at+1)
	}
	return nil
}

func (c call) squeezed() (left []string) {
	x, at := c.self(), c.argument("dim")
	for i, n := range Of(x) {
		if x.Shape()[i] != 1 || at.IsInt() && wrapped(at.Int(), x) != i {
			left = append(left, n)
		}
	}
	return left
}

func swapped(names []string, a, b int) []string {
	names = slices.Clone(names)
	if a >= 0 && b >= 0 {
		names[a], names[b] = names[b], names[a]
	}
	return names
}

func (c call) turned() []string {
	if c.self().Dim() < 2 {
		return Of(c.self())
	}
	return swapped(Of(c.self()), 0, 1)
}

func (c call) diagonal() (left []string) {
	a, b := c.dim("dim1", c.self()), c.dim("dim2", c.self())
	for i, n := range Of(c.self()) {
		if i != a && i != b {
			left = append(left, n)
		}
	}
	return append(left, "")
}

func (c call) expanded() []string {
	dims := len(c.argument("size").List().Items)
	names := Of(c.self())
	if dims < len(names) {
		return names
	}
	return append(make([]string, dims-len(names)), names...)
}

func (c call) resized() []string {
	x, size := c.self(), c.argument("size").List().AppendInts(nil)
	if x.Names() != nil && !slices.Equal(x.Shape(), size) {
		source.Raise(source.RuntimeError, "Cannot resize named tensor with resize_ or resize_as_ (tried to resize Tensor%s with size %s to %s). "+
			"This may be caused by passing a named tensor as an `out=` argument; please ensure that the sizes are the same.",
			text(Of(x)), tensor.FormatShape(x.Shape()), tensor.FormatShape(size))
	}
	return Of(x)
}

func (c call) joined() (names []string) {
	for _, v := range c.args[0].List().Items {
		if v.IsTensor() && !(v.Tensor().Dim() == 1 && v.Tensor().Numel() == 0) {
			names = unify(names, Of(v.Tensor()), "cat")
		}
	}
	return names
}

// product gives the names of a product of matrices, vectors or batches of them.
func (c call) product(a, b *tensor.Tensor) []string {
	x, y := Of(a), Of(b)
	if len(x) == 0 || len(y) == 0 {
		return nil
	}
	var names []string
	if len(x) > 2 || len(y) > 2 {
		names = batch(x[:max(0, len(x)-2)], y[:max(0, len(y)-2)], x, y)
	}
	if len(x) > 1 {
		names = append(names, x[len(x)-2])
	}
	if len(y) > 1 {
		names = append(names, y[len(y)-1])
	}
	for i, n := range names {
		if n != "" && slices.Contains(names[:i], n) {
			source.Raise(source.RuntimeError, "Matrix multiplying Tensor%s with Tensor%s would produce output tensor with duplicate names %s. "+
				"Please rename the input tensors with `Tensor.rename` to prevent this.", text(x), text(y), text(names))
		}
	}
	return names
}

// batch unifies the names of what products are computed for; all are those of the whole tensors.
func batch(a, b, allA, allB []string) []string {
	names := make([]string, max(len(a), len(b)))
	for i := 1; i <= len(names); i++ {
		x, y := fromRight(a, i), fromRight(b, i)
		if x != "" && y != "" && x != y {
			source.Raise(source.RuntimeError, "matmul: Expected %s (index %d of %s) to match %s (index %d of %s) but they do not match.",
				quoted(x), len(a)-i, text(allA), quoted(y), len(b)-i, text(allB))
		}
		if names[len(names)-i] = x; x == "" {
			names[len(names)-i] = y
		}
	}
	return names
}

func (c call) addedProduct() []string {
	return unify(c.product(c.args[1].Tensor(), c.args[2].Tensor()), Of(c.self()), "broadcast")
}

func (c call) distances() []string {
	x, y := Of(c.args[0].Tensor()), Of(c.args[1].Tensor())
	if len(x) < 2 || len(y) < 2 {
		return nil
	}
	a, b := x[len(x)-2], y[len(y)-2]
	if a == b && a != "" {
		source.Raise(source.RuntimeError, "cdist: Attempted to propagate dims %s (index -2 of %s) and %s (index -2 of %s) to the output, "+
			"but that would create a tensor with duplicate names [%s %s]. Please rename your inputs with Tensor.rename to prevent this.",
			quoted(a), text(x), quoted(b), text(y), quoted(a), quoted(b))
	}
	return append(batch(x[:len(x)-2], y[:len(y)-2], x, y), a, b)
}

func (c call) linear() []string {
	x, weight := Of(c.self()), Of(c.args[1].Tensor())
	if len(x) == 0 || len(weight) == 0 {
		return nil
	}
	names := append(slices.Clone(x[:len(x)-1]), weight[:len(weight)-1]...)
	if bias := c.args[2]; bias.IsTensor() {
		return unify(names, Of(bias.Tensor()), "broadcast")
	}
	return names
}
