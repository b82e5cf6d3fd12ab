package operators

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// decomposeFunctions tell Python what operators are made of by their records.
var decomposeFunctions = []abi.Function{
	{Schema: "decomposed_operators(bool any_sizes) -> list", Run: decomposedOperators},
	{Schema: "decompose(str operator, list args) -> any", Run: decompose},
}

// decomposedOperators replies the names of the operators that records or package composite say to be made of others, or of those whose records
// say it for programs of any sizes.
func decomposedOperators(c *abi.Call) error {
	anySizes := c.ArgBool(0)
	var names []string
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if anySizes && (o.IsFunctional() && o.Has(ops.AnySizes) || o.Def().Parts != nil && !o.Schema().IsMutable()) || !anySizes && autograd.Kind(o) == "c" {
				names = append(names, o.Name)
			}
		}
	}
	c.Strings(names)
	return nil
}

// decompose runs what an operator is made of, each part as Python has it, and replies the results.
func decompose(c *abi.Call) (err error) {
	args, err := c.ArgValues(1)
	if err != nil {
		return err
	}
	defer source.Catch(&err)
	d := ops.Find(c.ArgString(0)).Def()
	parts := d.Parts
	if parts == nil {
		parts = d.Decomp
	}
	results := parts(pythonParts{}, args)
	if len(results) == 1 {
		return c.Writer.Value(results[0])
	}
	return c.Writer.Value(value.OfTuple(value.NewTuple(results...)))
}

// pythonParts has Python run the operators that others are made of.
type pythonParts struct{}

// Emit implements ops.Emitter.
func (pythonParts) Emit(name string, args ...value.Value) []value.Value {
	o := ops.Find("aten::" + name)
	s := o.Schema()
	for i := len(args); i < len(s.Arguments); i++ {
		args = append(args, s.Arguments[i].NewDefault())
	}
	out := make([]value.Value, len(s.Returns))
	source.Throw(callOperator("part", o, args, func(w *abi.Word) error { return readResults(s, w, out) }))
	return out
}

// Size implements ops.Sizer.
func (pythonParts) Size(t *tensor.Tensor, dim int) value.Value { return sizeInPython(t, dim, false) }

// FixedSize implements ops.Sizer.
func (pythonParts) FixedSize(t *tensor.Tensor, dim int) int {
	return int(sizeInPython(t, dim, true).Int())
}

func sizeInPython(t *tensor.Tensor, dim int, fixed bool) (size value.Value) {
	source.Throw(abi.Host.Invoke("size", 3, func(w *abi.Writer) {
		source.Throw(w.KeptValue(value.OfTensor(t)))
		w.Int(dim)
		w.Bool(fixed)
	}, func(w *abi.Word) (err error) {
		size, err = abi.PlainValue(w)
		return err
	}))
	return size
}
