package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// String returns the kernel as text, one instruction to a line.
func (k *Kernel) String() string {
	var b strings.Builder
	for i, table := range k.Tables {
		fmt.Fprintf(&b, "table%d =", i)
		for _, v := range table {
			fmt.Fprintf(&b, " %v", v)
		}
		b.WriteByte('\n')
	}
	for i := range k.Instrs {
		in := &k.Instrs[i]
		fmt.Fprintf(&b, "%%%d : %s = %s", i, in.Type, in.Op)
		switch in.Op {
		case Load:
			fmt.Fprintf(&b, " in%d : %s", in.Imm, k.Inputs[in.Imm])
		case Param:
			fmt.Fprintf(&b, " p%d", in.Imm)
		case Const:
			b.WriteString(" " + in.ConstText())
		case Lookup:
			fmt.Fprintf(&b, " table%d", in.Imm)
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
		if o.Mean {
			b.WriteString(" mean")
		}
		fmt.Fprintf(&b, " %%%d\n", o.Value)
	}
	return b.String()
}

// ConstText is a number that Parse reads back as the same bits.
func (in *Instr) ConstText() string {
	text := in.numberText()
	if re, im, ok := parseNumber(in.Type, text); ok && re == in.Imm && im == in.Imm2 {
		return text
	}
	if in.Imm2 != 0 {
		return fmt.Sprintf("bits %#x %#x", in.Imm, in.Imm2)
	}
	return fmt.Sprintf("bits %#x", in.Imm)
}

func (in *Instr) numberText() string {
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
