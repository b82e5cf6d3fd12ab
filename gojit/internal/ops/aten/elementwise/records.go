package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sharedPointwise has the elementwise operators of records that others use too, by their names.
var sharedPointwise = map[string]*pointwise{}

// shared returns the elementwise operator of the record of a name.
func shared(records []ops.Def, name string) *pointwise {
	for i := range records {
		if d := &records[i]; d.Name == name && d.Scalar != nil {
			sharedPointwise[name] = pointwiseOf(d)
			return sharedPointwise[name]
		}
	}
	panic("aten: there is no record of " + name)
}

func pointwiseOf(d *ops.Def) *pointwise {
	if p := sharedPointwise[d.Name]; p != nil {
		return p
	}
	return elementwise(d.Name, d.Promote, d.Scalar).refusing(d.Refuses)
}

// operatorOf returns what runs the overloads of a record: it writes into dst where that is not nil.
func operatorOf(d *ops.Def) func(c call, dst *tensor.Tensor) *tensor.Tensor {
	if d.Into != nil {
		return func(c call, dst *tensor.Tensor) *tensor.Tensor { return d.Into(c.args, dst) }
	}
	p := pointwiseOf(d)
	switch {
	case d.Operands == 2 && d.Numbers == 0:
		return twoOperands(p)
	case d.Operands <= 1 && d.Numbers == 0:
		return func(c call, dst *tensor.Tensor) *tensor.Tensor {
			operands := [1]operand{{tensor: c.tensor(0)}}
			return p.run(dst, operands[:])
		}
	}
	return func(c call, dst *tensor.Tensor) *tensor.Tensor {
		var operands [2]operand
		var numbers [4]tensor.Scalar
		n := max(d.Operands, 1)
		for i := range n {
			operands[i] = operand{tensor: c.tensor(i)}
		}
		for i := range d.Numbers {
			numbers[i] = c.scalar(n + i)
		}
		return p.run(dst, operands[:n], numbers[:d.Numbers]...)
	}
}

// into makes what a record's Into is of a function of a call.
func into(f func(c call, dst *tensor.Tensor) *tensor.Tensor) func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor {
	return func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor { return f(call{args: args}, dst) }
}

// checking makes what a record's checks are of a function of a call.
func checking(f func(c call)) func(args []value.Value) error {
	return func(args []value.Value) (err error) {
		defer source.Catch(&err)
		f(call{args: args})
		return nil
	}
}

// fromRecords defines the overloads of records with Scalar or Into.
func fromRecords(records []ops.Def) []definition {
	var defs []definition
	for i := range records {
		var run func(c call, dst *tensor.Tensor) *tensor.Tensor
		if records[i].Scalar != nil {
			run = operatorOf(&records[i])
		}
		for _, record := range records[i].Flat() {
			by := run
			if by == nil {
				by = operatorOf(record.Def)
			}
			defs = append(defs, defineInto(record.Name, by).of(record.Def))
		}
	}
	return defs
}
