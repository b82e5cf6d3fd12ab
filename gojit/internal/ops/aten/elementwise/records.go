package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sharedPointwise has the elementwise operators of records that others use too, by their names.
var sharedPointwise = map[string]*Operator{}

// Shared returns the elementwise operator of the record of a name.
func Shared(records []ops.Def, name string) *Operator {
	for i := range records {
		if d := &records[i]; d.Name == name && d.Scalar != nil {
			sharedPointwise[name] = pointwiseOf(d)
			return sharedPointwise[name]
		}
	}
	panic("aten: there is no record of " + name)
}

func pointwiseOf(d *ops.Def) *Operator {
	if p := sharedPointwise[d.Name]; p != nil {
		return p
	}
	return New(d.Name, d.Promote, d.Scalar).refusing(d.Refuses)
}

// operatorOf returns what runs the overloads of a record: it writes into dst where that is not nil.
func operatorOf(d *ops.Def) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	if d.Into != nil {
		return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor { return d.Into(c.Args, dst) }
	}
	p := pointwiseOf(d)
	switch {
	case d.Operands == 2 && d.Numbers == 0:
		return twoOperands(p)
	case d.Operands <= 1 && d.Numbers == 0:
		return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
			operands := [1]Operand{{Tensor: c.Tensor(0)}}
			return p.Run(dst, operands[:])
		}
	}
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		var operands [2]Operand
		var numbers [4]tensor.Scalar
		n := max(d.Operands, 1)
		for i := range n {
			operands[i] = Operand{Tensor: c.Tensor(i)}
		}
		for i := range d.Numbers {
			numbers[i] = c.Scalar(n + i)
		}
		return p.Run(dst, operands[:n], numbers[:d.Numbers]...)
	}
}

// Into makes what a record's Into is of a function of a call.
func Into(f func(c define.Call, dst *tensor.Tensor) *tensor.Tensor) func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor {
	return func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor { return f(define.Call{Args: args}, dst) }
}

// checking makes what a record's checks are of a function of a call.
func checking(f func(c define.Call)) func(args []value.Value) error {
	return func(args []value.Value) (err error) {
		defer source.Catch(&err)
		f(define.Call{Args: args})
		return nil
	}
}

// FromRecords defines the overloads of records with Scalar or Into.
func FromRecords(records []ops.Def) []define.Definition {
	var defs []define.Definition
	for i := range records {
		var run func(c define.Call, dst *tensor.Tensor) *tensor.Tensor
		if records[i].Scalar != nil {
			run = operatorOf(&records[i])
		}
		for _, record := range records[i].Flat() {
			by := run
			if by == nil {
				by = operatorOf(record.Def)
			}
			defs = append(defs, define.Into(record.Name, by).Of(record.Def))
		}
	}
	return defs
}
