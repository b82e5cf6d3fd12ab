package aten

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Sparse tensors (tensor.Sparse) meet operators in one place: entry asks whether there is a tensor without elements among the arguments, as it
// does for those on meta, and runSparse runs the operator's sparse form, or refuses. The bodies of other operators never see a sparse
// tensor. A form is written in operators on indices and values, which are tensors with elements. The in-place overload of a form, and that
// with out=, follow from it.

// sparseForm runs an operator with a sparse tensor among its arguments.
type sparseForm func(args, out []value.Value)

func sparseRunning(f func(c call)) sparseForm {
	return func(args, out []value.Value) { f(call{args, out}) }
}

// sparseGiving makes a form of a function that gives a tensor.
func sparseGiving(f func(c call) *tensor.Tensor) sparseForm {
	return sparseRunning(func(c call) { c.give(f(c)) })
}

var sparseRecords = [][]ops.Def{sparseParts, sparseArithmetic, sparseProducts, sparseReductions, sparseMoves, sparseConversions, sparseCreation}

// sparseForms are the operators that know sparse tensors, by their names with namespaces: those of records, with their other names and variants.
var sparseForms = sync.OnceValue(func() map[string]sparseForm {
	all := map[string]sparseForm{}
	for name, form := range sparsePointwise() {
		all[key(name)] = form
	}
	for _, records := range sparseRecords {
		for i := range records {
			all[key(records[i].Name)] = records[i].Sparse
		}
	}
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if form := all[key(o.Def().Name)]; form != nil && all[o.Name] == nil && !o.Schema().IsMutable() {
				all[o.Name] = form // of another name of the operator
			}
		}
	}
	variants := variantsOf()
	for name, form := range all {
		v := variants[unqualified(name)]
		if inPlace := key(v[0]); v[0] != "" && v[0] != "-" && all[inPlace] == nil {
			all[inPlace] = form.inPlace(v[0])
		}
		if out := key(v[1]); v[1] != "" && v[1] != "-" && all[out] == nil {
			all[out] = form.outForm(name)
		}
	}
	return all
})

func unqualified(name string) string {
	if len(name) > len("aten::") && name[:len("aten::")] == "aten::" {
		return name[len("aten::"):]
	}
	return name
}

// hasSparse reports whether a sparse tensor is among the arguments.
func hasSparse(args []value.Value) bool { return firstSparse(args) != nil }

// firstSparse returns a sparse argument, nil where there is none; one in a compressed layout where there are several.
func firstSparse(args []value.Value) (found *tensor.Tensor) {
	for i := range args {
		var t *tensor.Tensor
		switch args[i].Kind() {
		case value.KindTensor:
			t = args[i].Tensor()
		case value.KindList:
			if items := args[i].List().Items; len(items) > 0 && (items[0].IsTensor() || items[0].IsNone()) {
				t = firstSparse(items)
			}
		}
		if t != nil && t.IsSparse() && (found == nil || t.Layout().Compressed()) {
			found = t
		}
	}
	return found
}

// runSparse runs an operator with a sparse tensor among its arguments. body is what it does with others.
func runSparse(name string, body func(c call), c call) {
	if form := sparseForms()[name]; form != nil {
		if slices.ContainsFunc(c.args, func(v value.Value) bool { return v.IsTensor() && isMeta(v.Tensor()) && !v.Tensor().IsSparse() }) {
			refuseBackend(name, "SparseMeta")
		}
		form(c.args, c.out)
	} else if ops.Find(name).Has(ops.AnyLayout) {
		body(c)
	} else {
		refuseSparse(name, firstSparse(c.args))
	}
}

// refuseSparse fails as an operator does that does not know the layout of t, sparse_coo where t is nil.
func refuseSparse(name string, t *tensor.Tensor) {
	backend := "SparseCPU"
	if t != nil && t.Layout().Compressed() {
		backend = "SparseCsrCPU"
	}
	refuseBackend(name, backend)
}

func refuseBackend(name, backend string) {
	raise(source.NotImplementedError, "Could not run '%s' with arguments from the '%s' backend. This could be because the operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build).", name, backend)
}

// inPlace writes what a form gives into the first argument.
func (f sparseForm) inPlace(name string) sparseForm {
	return sparseRunning(func(c call) {
		var out [1]value.Value
		f(c.args, out[:])
		self, result := c.tensor(0), out[0].Tensor()
		check(tensor.CanCast(result.DType(), self.DType()), "result type %s can't be cast to the desired output type %s", result.DType().CppName(), self.DType().CppName())
		switch {
		case self == result:
		case !self.IsSparse() && !result.IsSparse():
			store(self, result)
		case !self.IsSparse():
			store(self, toDense(result))
		case !result.IsSparse():
			refuseSparse(key(name), self)
		default:
			if result.DType() != self.DType() {
				result = must(result.To(self.DType()))
			}
			self.Become(result)
		}
		c.giveSelf()
	})
}

// outForm writes what a form gives into the last argument.
func (f sparseForm) outForm(name string) sparseForm {
	return sparseRunning(func(c call) {
		var out [1]value.Value
		if inputs := c.args[:len(c.args)-1]; hasSparse(inputs) {
			f(inputs, out[:])
		} else {
			succeed(ops.Find(name).Run(inputs, out[:]))
		}
		c.storeLayout(out[0].Tensor())
	})
}

// storeLayout writes a result into the last argument, which must have its layout.
func (c call) storeLayout(result *tensor.Tensor) {
	dst := c.tensor(len(c.args) - 1)
	switch {
	case dst.IsSparse() && result.IsSparse():
		checkCast(result.DType(), dst.DType())
		if result.DType() != dst.DType() {
			result = must(result.To(dst.DType()))
		}
		dst.Become(result)
	case !dst.IsSparse() && !result.IsSparse():
		storeOut(dst, result)
	default:
		check(false, "Expected out tensor to have layout %s, but got %s", layoutName(result.Layout()), layoutName(dst.Layout()))
	}
	c.giveOut(0)
}

// layoutName is how messages name a layout.
func layoutName(l tensor.Layout) string {
	return map[tensor.Layout]string{tensor.Strided: "Strided", tensor.SparseCOO: "Sparse", tensor.SparseCSR: "SparseCsr",
		tensor.SparseCSC: "SparseCsc", tensor.SparseBSR: "SparseBsr", tensor.SparseBSC: "SparseBsc"}[l]
}

// apply runs an operator of a name without its namespace, with Go values for arguments, and returns its first result.
func apply(name string, args ...any) *tensor.Tensor {
	return applyAll(name, args...)[0].Tensor()
}

// applyAll is apply for all results. What is not given has its default.
func applyAll(name string, args ...any) []value.Value {
	op := ops.Find(key(name))
	if op == nil || op.Run == nil {
		raise(source.NotImplementedError, "a sparse operator needs %s, which is not implemented", key(name))
	}
	s := op.Schema()
	values := make([]value.Value, len(s.Arguments))
	for i := range values {
		if i >= len(args) {
			values[i] = s.Arguments[i].Default
			continue
		}
		v, ok := value.From(args[i])
		if !ok {
			panic("a sparse operator calls " + name + " with a value of another type")
		}
		values[i] = v
	}
	out := make([]value.Value, len(s.Returns))
	tensor.Look()
	succeed(op.Run(values, out))
	return out
}

// onValues returns a tensor like t with other values at the same places.
func onValues(t, values *tensor.Tensor) *tensor.Tensor {
	s := *t.Sparse()
	s.Values = values
	return must(tensor.NewSparse(t.Shape(), s))
}

// coo makes a tensor of parts that fit. One with a single value is coalesced anyway.
func coo(shape []int, indices, values *tensor.Tensor, coalesced bool) *tensor.Tensor {
	return must(tensor.NewSparse(shape, tensor.Sparse{Layout: tensor.SparseCOO, Indices: indices, Values: values, Coalesced: coalesced || indices.Size(1) < 2}))
}

// emptyCOO makes a tensor without values.
func emptyCOO(shape []int, sparseDim int, d tensor.DType) *tensor.Tensor {
	return coo(shape, empty([]int{sparseDim, 0}, tensor.Int64), empty(slices.Concat([]int{0}, shape[sparseDim:]), d), true)
}

// sparseDims returns how many dimensions of a tensor are sparse.
func sparseDims(t *tensor.Tensor) int {
	if s := t.Sparse(); s.Layout == tensor.SparseCOO {
		return s.Indices.Size(0)
	}
	return 2
}

// requireCOO fails unless t is a tensor in the layout sparse_coo.
func requireCOO(name string, t *tensor.Tensor) *tensor.Sparse {
	if t.Layout() != tensor.SparseCOO {
		if t.IsSparse() {
			refuseSparse(key(name), t)
		}
		refuseBackend(key(name), "CPU")
	}
	return t.Sparse()
}
