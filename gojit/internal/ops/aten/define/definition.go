package define

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// DirectOut writes the result of a functional overload straight into a tensor of out=. It does nothing and gives false where that has another
// shape, type or layout than the result, or shares memory with the inputs.
type DirectOut func(c Call, out *tensor.Tensor) bool

// Operators that take quantized tensors besides others: they run on the numbers that these stand for. What chooses or moves elements
// gives the same integers so, because quantizing a number that is a multiple of the scale gives back its integer.

// QuantizedForm gives how results are quantized for the first quantized argument; nil leaves them as they are.
type QuantizedForm func(x *tensor.Tensor) *tensor.Quantizer

// SameScale keeps scale and zero point.
func SameScale(x *tensor.Tensor) *tensor.Quantizer { return x.Quantizer() }

// Unquantized leaves results as they are.
func Unquantized(*tensor.Tensor) *tensor.Quantizer { return nil }

// UnitScale is for results from 0 to 1, SignedUnitScale for those from -1 to 1.
func UnitScale(x *tensor.Tensor) *tensor.Quantizer {
	switch x.DType() {
	case tensor.QInt32:
		return &tensor.Quantizer{Scale: 1.0 / (1 << 31) / 2}
	case tensor.QInt8:
		return &tensor.Quantizer{Scale: 1.0 / 256, ZeroPoint: -128}
	}
	return &tensor.Quantizer{Scale: 1.0 / 256}
}

// SignedUnitScale returns the scale of results from -1 to 1.
func SignedUnitScale(x *tensor.Tensor) *tensor.Quantizer {
	q := &tensor.Quantizer{Scale: 2.0 / 256}
	switch x.DType() {
	case tensor.QInt32:
		q.Scale = 2.0 / (1 << 31) / 2
	case tensor.QUInt8:
		q.ZeroPoint = 128
	}
	return q
}

// FirstQuantized returns the first quantized tensor among arguments, nil where there is none.
func FirstQuantized(args []value.Value) *tensor.Tensor {
	if !tensor.QuantizedInUse() {
		return nil
	}
	return firstQuantized(args)
}

func firstQuantized(args []value.Value) *tensor.Tensor {
	for _, a := range args {
		switch {
		case a.IsTensor() && a.Tensor().Quantizer() != nil:
			return a.Tensor()
		case a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindTensor:
			if x := firstQuantized(a.List().Items); x != nil {
				return x
			}
		}
	}
	return nil
}

// CutOverload splits "name.overload" before the dot.
func CutOverload(name string) (base, overload string, ok bool) {
	for i := range name {
		if name[i] == '.' {
			return name[:i], name[i:], true
		}
	}
	return name, "", false
}

// Definition is one functional overload, or one that has no functional form.
type Definition struct {
	Name string // without the namespace
	// Schema is there for an operator that is not in the table of schemas.
	Schema string
	// Body runs the overload.
	Body func(c Call)
	// Into is there instead of Body for elementwise operators: it writes into dst where that is not
	// nil, so that the in-place overload needs no copy.
	Into func(c Call, dst *tensor.Tensor) *tensor.Tensor
	// Change is there besides Body where that is Change of a copy of the first argument: the in-place overload needs no copy.
	// It fails before it changes anything.
	Change func(c Call, self *tensor.Tensor)
	// Record has the facts of the operator, nil where there are none.
	Record *ops.Def
	// Check fails where the body would refuse the arguments, without running.
	Check func(c Call)
	// Form is how results are quantized where arguments are; nil: it takes no quantized ones.
	Form QuantizedForm
	// InParts says that it takes quantized tensors as far as the operators do that it is made of.
	InParts bool
	// Columns are the results, by their numbers, whose matrices lie column by column.
	Columns   []int
	DirectOut DirectOut
	Outs      outRule
	Meta      metaRule
	// TakesMeta says that Body knows tensors without elements.
	TakesMeta bool
}

// Operator defines an overload by a function that reads the arguments and stores the results.
func Operator(name string, body func(c Call)) Definition { return Definition{Name: name, Body: body} }

// Into defines an elementwise overload by a function that writes its result into dst, where that is not nil.
func Into(name string, into func(c Call, dst *tensor.Tensor) *tensor.Tensor) Definition {
	return Definition{Name: name, Into: into}
}

// Of gives a definition its record.
func (d Definition) Of(record *ops.Def) Definition {
	d.Record = record
	return d
}

// With gives a definition facts of its operator.
func (d Definition) With(facts ops.Def) Definition {
	facts.Name = d.Name
	d.Record = &facts
	return d
}

// outRule says in which memory a tensor of out= may lie.
type outRule uint8

const (
	OutApart       outRule = 1 << iota // inputs are read while it is written: no elements may lie in memory of its own others, nor of an input
	OutIterated                        // an element is written where that of the input has been read: it may be the input, but not lie shifted
	OutOverlapping                     // its elements may lie in the same memory: the last one is written last
)

// metaRule says what an operator does with tensors without elements that its family does not.
type metaRule uint8

const (
	asFamily   metaRule = iota
	RunsOnZero          // it reads or writes elements: zeros stand for them
	KnowsMeta           // it knows them
)

// OfSchema gives the schema of an operator that is not in the table of schemas.
func (d Definition) OfSchema(text string) Definition { d.Schema = text; return d }

// Checked gives a definition what fails for arguments that the body would refuse; the methods behind it set what their fields tell.
func (d Definition) Checked(f func(c Call)) Definition       { d.Check = f; return d }
func (d Definition) Quantized(form QuantizedForm) Definition { d.Form = form; return d }
func (d Definition) QuantizedInParts() Definition            { d.InParts = true; return d }
func (d Definition) ByColumns(results ...int) Definition     { d.Columns = results; return d }
func (d Definition) OutApart() Definition                    { d.Outs |= OutApart; return d }
func (d Definition) OutIterated() Definition                 { d.Outs |= OutIterated; return d }
func (d Definition) OutOverlapping() Definition              { d.Outs |= OutOverlapping; return d }
func (d Definition) OnZeros() Definition                     { d.Meta = RunsOnZero; return d }
func (d Definition) OnMeta() Definition                      { d.Meta = KnowsMeta; return d }
func (d Definition) Direct(f DirectOut) Definition           { d.DirectOut = f; return d }

// Giving defines an overload by a function of its arguments that gives one tensor.
func Giving(name string, f func(c Call) *tensor.Tensor) Definition {
	return Operator(name, func(c Call) { c.Out[0] = value.OfTensor(f(c)) })
}

// Changing defines an overload by what it changes in a contiguous copy of its first argument.
func Changing(name string, change func(c Call, self *tensor.Tensor)) Definition {
	return changing(name, tensor.ContiguousFormat, change)
}

// ChangingAsItLies is Changing for operators whose result lies as their first argument does.
func ChangingAsItLies(name string, change func(c Call, self *tensor.Tensor)) Definition {
	return changing(name, tensor.PreserveFormat, change)
}

func changing(name string, format tensor.MemoryFormat, change func(c Call, self *tensor.Tensor)) Definition {
	d := Giving(name, func(c Call) *tensor.Tensor {
		t := source.Must(c.Tensor(0).Clone(format))
		change(c, t)
		return t
	})
	d.Change = change
	return d
}

// Family is a group of operators that are documented together.
type Family struct {
	Title       string
	Definitions []Definition
	KnowsMeta   bool // the operators know tensors without elements
}

// Names returns the operators with their namespaces, without those derived from them.
func (f Family) Names() []string {
	var names []string
	for i := range f.Definitions {
		names = append(names, Key(f.Definitions[i].Name))
	}
	return names
}

// Key returns the operator's name with its namespace.
func Key(name string) string {
	if strings.Contains(name, "::") {
		return name
	}
	return "aten::" + name
}

// GiveOut returns the i-th of the last arguments, which was written, as the i-th result.
func (c Call) GiveOut(i int) {
	a := c.Args[len(c.Args)-len(c.Out)+i]
	a.Tensor().Bump()
	c.Out[i] = a
}

// Release gives up a result that has been copied, unless its memory is an argument's.
func Release(result *tensor.Tensor, args []value.Value) {
	if IsFresh(result, args) {
		result.Release()
	}
}
