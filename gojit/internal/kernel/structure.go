package kernel

import (
	"math"
	"slices"
)

// Hash returns a number that equal kernels share.
func (k *Kernel) Hash() uint64 {
	h := hasher(len(k.Instrs))
	for _, d := range k.Inputs {
		h.add(uint64(d))
	}
	h.add(uint64(k.Params))
	for i := range k.Tables {
		for _, v := range k.Tables[i] {
			h.add(uint64(math.Float32bits(v)))
		}
	}
	for i := range k.Instrs {
		in := &k.Instrs[i]
		h.add(uint64(in.Op) | uint64(in.Type)<<8 | uint64(uint32(in.Args[0]))<<32)
		h.add(uint64(uint32(in.Args[1])) | uint64(uint32(in.Args[2]))<<32)
		h.add(in.Imm)
		h.add(in.Imm2)
	}
	for _, o := range k.Outputs {
		h.add(uint64(uint32(o.Value)) | uint64(o.DType)<<32 | uint64(o.Reduce)<<40)
		if o.Mean {
			h.add(1)
		}
	}
	return uint64(h)
}

// hasher mixes numbers in their order.
type hasher uint64

func (h *hasher) add(v uint64) {
	x := (uint64(*h) ^ v) * 0x9e3779b97f4a7c15
	*h = hasher(x ^ x>>29)
}

// Equal reports whether two kernels are the same instruction by instruction, constants to the bit.
func (k *Kernel) Equal(o *Kernel) bool {
	return k.Params == o.Params && slices.Equal(k.Inputs, o.Inputs) && slices.Equal(k.Outputs, o.Outputs) &&
		slices.Equal(k.Instrs, o.Instrs) && slices.EqualFunc(k.Tables, o.Tables, sameTable)
}

// sameTable compares bits, so that a table with NaN equals itself.
func sameTable(a, b Table) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// Used reports, for each instruction, whether an output depends on it.
func (k *Kernel) Used() []bool {
	used := make([]bool, len(k.Instrs))
	for _, o := range k.Outputs {
		used[o.Value] = true
	}
	for i := len(k.Instrs) - 1; i >= 0; i-- {
		if in := &k.Instrs[i]; used[i] {
			for j := range in.Op.Operands() {
				used[in.Args[j]] = true
			}
		}
	}
	return used
}
