// Package sparse has what operators do with sparse tensors.
package sparse

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Sparse tensors (tensor.Sparse) meet operators in one place: entry asks whether there is a tensor without elements among the arguments, as it
// does for those on meta, and RunSparse runs the operator's sparse form, or refuses. The bodies of other operators never see a sparse
// tensor. A form is written in operators on indices and values, which are tensors with elements. The in-place overload of a form, and that
// with out=, follow from it.

// sparseForm runs an operator with a sparse tensor among its arguments.
type sparseForm func(args, out []value.Value)

func sparseRunning(f func(c define.Call)) sparseForm {
	return func(args, out []value.Value) { f(define.Call{Args: args, Out: out}) }
}

// sparseGiving makes a form of a function that gives a tensor.
func sparseGiving(f func(c define.Call) *tensor.Tensor) sparseForm {
	return sparseRunning(func(c define.Call) { c.Give(f(c)) })
}

var sparseRecords = [][]ops.Def{sparseParts, sparseArithmetic, sparseProducts, sparseReductions, sparseMoves, sparseConversions, sparseCreation}

// sparseForms are the operators that know sparse tensors, by their names with namespaces: those of records, with their other names and variants.
var sparseForms = sync.OnceValue(func() map[string]sparseForm {
	all := map[string]sparseForm{}
	for name, form := range sparsePointwise() {
		all[define.Key(name)] = form
	}
	for _, records := range sparseRecords {
		for i := range records {
			all[define.Key(records[i].Name)] = records[i].Sparse
		}
	}
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if form := all[define.Key(o.Def().Name)]; form != nil && all[o.Name] == nil && !o.Schema().IsMutable() {
				all[o.Name] = form // of another name of the operator
			}
		}
	}
	for name, form := range all {
		self, out := ops.Forms(name)
		if key := define.Key(self); self != "" && all[key] == nil {
			all[key] = form.inPlace(self)
		}
		if key := define.Key(out); out != "" && all[key] == nil {
			all[key] = form.outForm(name)
		}
	}
	return all
})

// HasSparse reports whether a sparse tensor is among the arguments.
func HasSparse(args []value.Value) bool { return firstSparse(args) != nil }

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

// RunSparse runs an operator with a sparse tensor among its arguments. body is what it does with others.
func RunSparse(name string, body func(c define.Call), c define.Call) {
	if opaque := opaqueAmong(c.Args); opaque && !ops.Find(name).Has(ops.AnyLayout) {
		runOpaque(name, body, c)
	} else if form := sparseForms()[name]; form != nil {
		if slices.ContainsFunc(c.Args, func(v value.Value) bool { return v.IsTensor() && define.IsMeta(v.Tensor()) && !v.Tensor().IsSparse() }) {
			define.RefuseBackend(name, "SparseMeta")
		}
		form(c.Args, c.Out)
	} else if o := ops.Find(name); o.Has(ops.AnyLayout) {
		body(c)
	} else if !define.RunParts(o, c) { // what it is made of may know the layout
		refuseSparse(name, firstSparse(c.Args))
	}
}

// refuseSparse fails as an operator does that does not know the layout of t, sparse_coo where t is nil.
func refuseSparse(name string, t *tensor.Tensor) {
	backend := "SparseCPU"
	if t != nil && t.Layout().Compressed() {
		backend = "SparseCsrCPU"
	}
	define.RefuseBackend(name, backend)
}

// inPlace writes what a form gives into the first argument.
func (f sparseForm) inPlace(name string) sparseForm {
	return sparseRunning(func(c define.Call) {
		var out [1]value.Value
		f(c.Args, out[:])
		self, result := c.Tensor(0), out[0].Tensor()
		elementwise.CheckCast(result.DType(), self.DType())
		switch {
		case self == result:
		case !self.IsSparse() && !result.IsSparse():
			elementwise.Store(self, result)
		case !self.IsSparse():
			elementwise.Store(self, toDense(result))
		case !result.IsSparse():
			refuseSparse(define.Key(name), self)
		default:
			if result.DType() != self.DType() {
				result = source.Must(result.To(self.DType()))
			}
			self.Become(result)
		}
		c.GiveSelf()
	})
}

// outForm writes what a form gives into the last argument.
func (f sparseForm) outForm(name string) sparseForm {
	return sparseRunning(func(c define.Call) {
		var out [1]value.Value
		if inputs := c.Args[:len(c.Args)-1]; HasSparse(inputs) {
			f(inputs, out[:])
		} else {
			source.Throw(ops.Find(name).Run(inputs, out[:]))
		}
		storeLayout(c, out[0].Tensor())
	})
}

// storeLayout writes a result into the last argument, which must have its layout.
func storeLayout(c define.Call, result *tensor.Tensor) {
	dst := c.Tensor(len(c.Args) - 1)
	switch {
	case dst.IsSparse() && result.IsSparse():
		elementwise.CheckCast(result.DType(), dst.DType())
		if result.DType() != dst.DType() {
			result = source.Must(result.To(dst.DType()))
		}
		dst.Become(result)
	case !dst.IsSparse() && !result.IsSparse():
		elementwise.StoreOut(dst, result)
	default:
		source.Check(false, "Expected out tensor to have layout %s, but got %s", views.LayoutName(result.Layout()), views.LayoutName(dst.Layout()))
	}
	c.GiveOut(0)
}

// onValues returns a tensor like t with other values at the same places. They are no view of conjugates: nothing else of a sparse tensor knows such.
func onValues(t, values *tensor.Tensor) *tensor.Tensor {
	s := *t.Sparse()
	s.Values = source.Must(values.Resolved())
	return source.Must(tensor.NewSparse(t.Shape(), s))
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
			refuseSparse(define.Key(name), t)
		}
		define.RefuseBackend(define.Key(name), "CPU")
	}
	return t.Sparse()
}
