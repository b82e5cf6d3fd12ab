package kernel

import (
	"fmt"
	"math"
	"strings"

	"torchjit/gojit/tensor"
)

// String returns the kernel as text, one instruction to a line.
func (k *Kernel) String() string {
	var b strings.Builder
	for i := range k.Instrs {
		in := &k.Instrs[i]
		fmt.Fprintf(&b, "%%%d : %s = %s", i, in.Type, in.Op)
		switch in.Op {
		case Load:
			fmt.Fprintf(&b, " in%d : %s", in.Imm, k.Inputs[in.Imm])
		case Param:
			fmt.Fprintf(&b, " p%d", in.Imm)
		case Const:
			b.WriteString(" " + in.constText())
		}
		for j := range in.Op.Operands() {
			fmt.Fprintf(&b, " %%%d", in.Args[j])
		}
		b.WriteByte('\n')
	}
	for i, o := range k.Outputs {
		fmt.Fprintf(&b, "out%d : %s =", i, o.DType)
		if o.Reduce != NoReduce {
			b.WriteString(" " + o.Reduce.String())
		}
		fmt.Fprintf(&b, " %%%d\n", o.Value)
	}
	return b.String()
}

func (in *Instr) constText() string {
	switch in.Type {
	case tensor.Bool:
		return fmt.Sprint(in.Imm != 0)
	case tensor.Float32:
		return fmt.Sprint(math.Float32frombits(uint32(in.Imm)))
	case tensor.Float64:
		return fmt.Sprint(math.Float64frombits(in.Imm))
	case tensor.Complex64:
		return fmt.Sprint(complex(math.Float32frombits(uint32(in.Imm)), math.Float32frombits(uint32(in.Imm2))))
	case tensor.Complex128:
		return fmt.Sprint(complex(math.Float64frombits(in.Imm), math.Float64frombits(in.Imm2)))
	}
	return fmt.Sprint(int64(in.Imm))
}

// Verify checks the invariant of kernels: operands come before their use and have the types the
// operation needs, inputs and parameters exist, and every instruction can be evaluated.
func (k *Kernel) Verify() error {
	for i := range k.Instrs {
		in := &k.Instrs[i]
		for j := range in.Op.Operands() {
			if a := in.Args[j]; a < 0 || int(a) >= i {
				return fmt.Errorf("kernel: %%%d uses %%%d, which is not made before it", i, a)
			}
		}
		if err := k.verifyTypes(i, in); err != nil {
			return err
		}
	}
	for i, o := range k.Outputs {
		if o.Value < 0 || int(o.Value) >= len(k.Instrs) {
			return fmt.Errorf("kernel: out%d stores %%%d, which does not exist", i, o.Value)
		}
		if t := k.TypeOf(o.Value); int(o.Reduce) >= len(reduceNames) || o.Reduce != NoReduce && loops[o.Reduce.Op()][t] == nil {
			return fmt.Errorf("kernel: out%d reduces values of type %s in a way that is not defined", i, t)
		}
	}
	return nil
}

func (k *Kernel) verifyTypes(i int, in *Instr) error {
	switch op := in.Op; {
	case op == Load && int(in.Imm) >= len(k.Inputs), op == Param && int(in.Imm) >= k.Params:
		return fmt.Errorf("kernel: %%%d reads %s %d, which does not exist", i, op, in.Imm)
	case op == Select && (k.TypeOf(in.Args[0]) != tensor.Bool || k.TypeOf(in.Args[1]) != in.Type || k.TypeOf(in.Args[2]) != in.Type):
		return fmt.Errorf("kernel: %%%d selects with the wrong types", i)
	case op == Iota && in.Type != tensor.Int32 && in.Type != tensor.Int64:
		return fmt.Errorf("kernel: %%%d counts as %s", i, in.Type)
	case op == Bits && in.Type != bitsType(k.TypeOf(in.Args[0])):
		return fmt.Errorf("kernel: %%%d makes %s of the bits of %s", i, in.Type, k.TypeOf(in.Args[0]))
	case op == Fma && (k.TypeOf(in.Args[1]) != in.Type || k.TypeOf(in.Args[2]) != in.Type || k.TypeOf(in.Args[0]) != in.Type):
		return fmt.Errorf("kernel: %%%d multiplies and adds with the wrong types", i)
	case op.Operands() == 2 && k.TypeOf(in.Args[0]) != k.TypeOf(in.Args[1]):
		return fmt.Errorf("kernel: %%%d has operands of types %s and %s", i, k.TypeOf(in.Args[0]), k.TypeOf(in.Args[1]))
	case op > Iota && op != Convert && op != Select && loops[op][k.TypeOf(in.Args[0])] == nil:
		return fmt.Errorf("\"%s\" is not implemented for '%s'", op, k.TypeOf(in.Args[0]).CppName())
	}
	return nil
}
