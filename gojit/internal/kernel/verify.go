package kernel

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// TypeError says that a kernel computes with a type that no kernel, or one of its operations, is defined for.
type TypeError struct {
	DType tensor.DType
	text  string
}

func (e *TypeError) Error() string { return e.text }

func typeError(d tensor.DType, format string, args ...any) error {
	return &TypeError{d, fmt.Sprintf(format, args...)}
}

// Verify checks the invariant of kernels: operands come before their use and have the types the
// operation needs, the result has the type that follows, every input is loaded and every parameter
// read by just one instruction, and every instruction can be evaluated.
func (k *Kernel) Verify() error {
	for i := range k.Instrs {
		if err := k.verifyInstr(i); err != nil {
			return err
		}
	}
	for i := range k.Outputs {
		if err := k.verifyOutput(i); err != nil {
			return err
		}
	}
	return k.verifyOperands()
}

// verifyOperands checks that each input and parameter has its instruction.
func (k *Kernel) verifyOperands() error {
	loads, params := make([]int, len(k.Inputs)), make([]int, k.Params)
	for i := range k.Instrs {
		switch in := &k.Instrs[i]; in.Op {
		case Load:
			loads[in.Imm]++
		case Param:
			params[in.Imm]++
		}
	}
	for i, n := range loads {
		if n != 1 {
			return fmt.Errorf("kernel: %d instructions load in%d", n, i)
		}
		if !k.Inputs[i].Valid() {
			return fmt.Errorf("kernel: in%d has no type", i)
		}
	}
	for i, n := range params {
		if n != 1 {
			return fmt.Errorf("kernel: %d instructions read p%d", n, i)
		}
	}
	if len(k.Outputs) == 0 {
		return fmt.Errorf("kernel: there is no output")
	}
	return nil
}

func (k *Kernel) verifyOutput(i int) error {
	o := k.Outputs[i]
	if o.Value < 0 || int(o.Value) >= len(k.Instrs) {
		return fmt.Errorf("kernel: out%d stores %%%d, which does not exist", i, o.Value)
	}
	if !o.DType.Valid() {
		return fmt.Errorf("kernel: out%d has no type", i)
	}
	if t := k.TypeOf(o.Value); int(o.Reduce) >= len(reduceNames) || o.Reduce != NoReduce && Loops[o.Reduce.Op()][t] == nil {
		return typeError(t, "kernel: out%d reduces values of type %s in a way that is not defined", i, t)
	}
	if o.Mean && (o.Reduce != ReduceSum || !k.TypeOf(o.Value).IsFloating()) {
		return fmt.Errorf("kernel: out%d is the mean of what is no sum of floats", i)
	}
	return nil
}

// verifyInstr checks instruction i; those before it are as they should be.
func (k *Kernel) verifyInstr(i int) error {
	in := &k.Instrs[i]
	if in.Op >= NumOps {
		return fmt.Errorf("kernel: %%%d has no operation", i)
	}
	if !computable(in.Type) {
		return typeError(in.Type, "kernel: %%%d computes with %s", i, in.Type)
	}
	for j := range in.Op.Operands() {
		if a := in.Args[j]; a < 0 || int(a) >= i {
			return fmt.Errorf("kernel: %%%d uses %%%d, which is not made before it", i, a)
		}
	}
	if in.Op.Operands() == 0 {
		return k.verifyLeaf(i, in)
	}
	return VerifyTypes(Value(i), in, k.TypeOf, len(k.Tables))
}

// computable reports whether values may have a type; the others exist in memory only.
func computable(t tensor.DType) bool {
	return t.Valid() && !t.IsQuantized() && ComputeType(t) == t
}

func (k *Kernel) verifyLeaf(i int, in *Instr) error {
	switch {
	case in.Op == Load && in.Imm >= uint64(len(k.Inputs)), in.Op == Param && in.Imm >= uint64(k.Params):
		return fmt.Errorf("kernel: %%%d reads %s %d, which does not exist", i, in.Op, in.Imm)
	case in.Op == Iota && in.Type != tensor.Int32 && in.Type != tensor.Int64:
		return fmt.Errorf("kernel: %%%d counts as %s", i, in.Type)
	case in.Op == Const && !ConstFits(in.Type, in.Imm, in.Imm2):
		return fmt.Errorf("kernel: %%%d has bits that a %s does not have", i, in.Type)
	}
	return nil
}

// ConstFits reports whether the bits of a constant are as NumberBits makes them.
func ConstFits(t tensor.DType, re, im uint64) bool {
	switch t {
	case tensor.Bool:
		return re <= 1 && im == 0
	case tensor.Float32:
		return re>>32 == 0 && im == 0
	case tensor.Float64:
		return im == 0
	case tensor.Complex64:
		return re>>32 == 0 && im>>32 == 0
	case tensor.Complex128:
		return true
	}
	return wrapInteger(t, int64(re)) == re && im == 0
}

// VerifyTypes checks what an instruction that makes value v does with the types of its operands.
func VerifyTypes(v Value, in *Instr, typeOf func(Value) tensor.DType, tables int) error {
	first, op := typeOf(in.Args[0]), in.Op
	odd := in.Type // the complex one where types are mixed
	for j := range op.Operands() {
		if t := typeOf(in.Args[j]); t.IsComplex() {
			odd = t
		}
	}
	same := func(from int) bool {
		for j := from; j < op.Operands(); j++ {
			if typeOf(in.Args[j]) != in.Type {
				return false
			}
		}
		return true
	}
	switch {
	case op == Lookup && (first != tensor.Int32 || in.Type != tensor.Float32 || in.Imm >= uint64(tables)):
		return fmt.Errorf("kernel: %%%d looks up in a table that does not exist, or with the wrong types", v)
	case op == Lookup:
		return nil
	case op == Select && (first != tensor.Bool || !same(1)):
		return typeError(odd, "kernel: %%%d selects with the wrong types", v)
	case op == Fma && !same(0):
		return typeError(odd, "kernel: %%%d multiplies and adds with the wrong types", v)
	case op.Operands() == 2 && first != typeOf(in.Args[1]):
		return typeError(odd, "kernel: %%%d has operands of types %s and %s", v, first, typeOf(in.Args[1]))
	case op == Select || op == Convert:
		return nil
	case Loops[op][first] == nil:
		return fmt.Errorf("\"%s\" is not implemented for '%s'", op, first.CppName())
	case ResultType(op, first) != in.Type:
		return typeError(odd, "kernel: %%%d makes %s of %s", v, in.Type, first)
	}
	return nil
}
