package dimnames

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// renaming is a call of an operator that gives dimensions other names.
type renaming struct {
	call
	run Runner // of operators for which names do not count
}

// renamers run the operators by the fact "renames".
var renamers = map[string]func(r renaming) (*tensor.Tensor, []string){
	"whole":          renaming.all,
	"in_place":       renaming.inPlace,
	"refined":        renaming.refine,
	"aligned":        func(r renaming) (*tensor.Tensor, []string) { return r.align(Read(r.args[1])) },
	"aligned_like":   func(r renaming) (*tensor.Tensor, []string) { return r.align(Of(r.args[1].Tensor())) },
	"aligned_around": renaming.alignAround,
	"merged":         renaming.flatten,
	"parted":         renaming.unflatten,
	"outdim":         renaming.diagonal,
}

// Renamed runs an operator whose fact "renames" is given; unnamed runs operators for which names do not count.
func Renamed(fact string, op *ops.Operator, args, out []value.Value, unnamed Runner) (err error) {
	defer source.Catch(&err)
	run := renamers[fact]
	if run == nil {
		source.Raise(source.RuntimeError, "`%s` not yet implemented.", strings.TrimPrefix(op.Schema().Name, "aten::"))
	}
	t, names := run(renaming{call{op, args}, unnamed})
	Set(t, names)
	out[0] = value.OfTensor(t)
	return nil
}

// do runs an operator with one tensor as its result.
func (r renaming) do(name string, args ...value.Value) *tensor.Tensor {
	out := make([]value.Value, 1)
	source.Throw(r.run(ops.Find(name), args, out))
	return out[0].Tensor()
}

func (r renaming) alias() *tensor.Tensor { return r.do(aten.Alias, r.args[0]) }

// given returns the names of the second argument, None for no names.
func (r renaming) given() []string {
	if r.args[1].IsNone() {
		return make([]string, r.self().Dim())
	}
	return Read(r.args[1])
}

func (r renaming) all() (*tensor.Tensor, []string) {
	names := r.given()
	checkNumber(r.self(), names)
	return r.alias(), names
}

func (r renaming) inPlace() (*tensor.Tensor, []string) { return r.self(), r.given() }

func (r renaming) refine() (*tensor.Tensor, []string) {
	x, names := Of(r.self()), Read(r.args[1])
	if len(x) != len(names) {
		source.Raise(source.RuntimeError, "refine_names: cannot coerce Tensor%s to Tensor%s because they have a different number of dims (%d and %d respectively).",
			text(x), text(names), len(x), len(names))
	}
	checkDistinct(names)
	for i := range x {
		switch {
		case x[i] == names[i] || x[i] == "":
		case names[i] == "":
			source.Raise(source.RuntimeError, "refine_names: cannot coerce Tensor%s to Tensor%s because %s is more specific than %s at index %d",
				text(x), text(names), quoted(x[i]), quoted(names[i]), i)
		default:
			source.Raise(source.RuntimeError, "refine_names: cannot coerce Tensor%s to Tensor%s because %s is different from %s at index %d",
				text(x), text(names), quoted(x[i]), quoted(names[i]), i)
		}
	}
	return r.alias(), names
}

// align brings the dimensions into an order; those that the tensor does not have are of length 1.
func (r renaming) align(order []string) (*tensor.Tensor, []string) {
	x := r.self()
	for i, n := range Of(x) {
		if n == "" {
			source.Raise(source.RuntimeError, "align_to: All input dims must be named. Found unnamed dim at index %d of Tensor%s", i, text(Of(x)))
		}
	}
	for _, n := range Of(x) {
		if !slices.Contains(order, n) {
			source.Raise(source.RuntimeError, "align_to: Cannot find dim %s from Tensor%s in desired alignment %s.", quoted(n), text(order), text(order))
		}
	}
	shape, strides := make([]int, len(order)), make([]int, len(order))
	for i, n := range order {
		if shape[i] = 1; n == "" {
			continue
		}
		if at := slices.Index(Of(x), n); at >= 0 {
			shape[i], strides[i] = x.Shape()[at], x.Strides()[at]
		}
	}
	checkDistinct(order)
	return r.do(aten.AsStrided, r.args[0], value.OfList(value.Ints(shape)), value.OfList(value.Ints(strides)), value.None), order
}

// alignAround is align to an order that has the dimensions that it does not name at one place.
func (r renaming) alignAround() (*tensor.Tensor, []string) {
	order, at := Read(r.args[1]), int(r.args[2].Int())
	if at < 0 || at > len(order) {
		source.Raise(source.RuntimeError, "align_to: the place of the other dimensions is 0 to %d, but got %d", len(order), at)
	}
	var rest []string
	for i, n := range Of(r.self()) {
		if n == "" {
			source.Raise(source.RuntimeError, "align_to: All input dims must be named. Found unnamed dim at index %d of Tensor%s", i, text(Of(r.self())))
		}
		if !slices.Contains(order, n) {
			rest = append(rest, n)
		}
	}
	return r.align(slices.Insert(slices.Clone(order), at, rest...))
}

func (r renaming) flatten() (*tensor.Tensor, []string) {
	x, s := r.self(), r.op.Schema()
	var first, last int
	if list := r.args[1]; list.Kind() == value.KindList {
		dims := Read(list)
		if len(dims) == 0 {
			source.Raise(source.RuntimeError, "flatten(tensor, dims, out_dim): dims cannot be empty")
		}
		for i, n := range dims {
			at := Position(x, n)
			if i == 0 {
				first = at
			} else if at != last+1 {
				source.Raise(source.RuntimeError, "flatten(tensor, dims, out_dim): dims %s must be consecutive in Tensor%s", text(dims), text(Of(x)))
			}
			last = at
		}
	} else {
		first, last = r.place(list), r.place(r.args[2])
	}
	into := Read(r.args[len(s.Arguments)-1])[0]
	t := r.do(aten.Flatten+".using_ints", r.args[0], value.Int(int64(first)), value.Int(int64(last)))
	if x.Dim() == 0 {
		return t, []string{into}
	}
	return t, slices.Concat(Of(x)[:first], []string{into}, Of(x)[last+1:])
}

// place returns the position that a name or a number means.
func (r renaming) place(v value.Value) int {
	if v.Kind() == value.KindString {
		return Position(r.self(), v.Str())
	}
	return source.Must(tensor.WrapDim(int(v.Int()), r.self().Dim()))
}

func (r renaming) unflatten() (*tensor.Tensor, []string) {
	x, names := r.self(), Read(r.args[3])
	at, sizes := Position(x, r.args[1].Str()), r.args[2].List().AppendInts(nil)
	if len(names) != len(sizes) {
		source.Raise(source.RuntimeError, "unflatten: Provided names %s and sizes %s but they have different lengths", text(names), tensor.FormatShape(sizes))
	}
	product := 1
	for _, n := range sizes {
		product *= n
	}
	if product != x.Shape()[at] {
		source.Raise(source.RuntimeError, "unflatten: Provided sizes %s don't multiply up to the size of dim %d (%s: %d) in Tensor%s",
			tensor.FormatShape(sizes), at, quoted(Of(x)[at]), x.Shape()[at], text(Of(x)))
	}
	shape := slices.Concat(x.Shape()[:at], sizes, x.Shape()[at+1:])
	return r.do(aten.View, r.args[0], value.OfList(value.Ints(shape))), slices.Concat(Of(x)[:at], names, Of(x)[at+1:])
}

func (r renaming) diagonal() (*tensor.Tensor, []string) {
	x := r.self()
	a, b := Position(x, r.args[2].Str()), Position(x, r.args[3].Str())
	t := r.do(aten.Diagonal, r.args[0], r.args[4], value.Int(int64(a)), value.Int(int64(b)))
	var names []string
	for i, n := range Of(x) {
		if i != a && i != b {
			names = append(names, n)
		}
	}
	return t, append(names, Read(r.args[1])...)
}
