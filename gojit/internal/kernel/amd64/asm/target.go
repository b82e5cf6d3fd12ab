package asm

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// Target returns the instruction set that code is made for: the largest that the machine has, or the
// smaller one that GOJIT_TARGET names. It is None where memory cannot be made executable.
var Target = sync.OnceValue(func() ISA {
	isa := host()
	if name := os.Getenv("GOJIT_TARGET"); name != "" {
		i := slices.Index(isaNames[:], name)
		if i < 0 {
			fmt.Fprintf(os.Stderr, "gojit: GOJIT_TARGET is %q, expected one of %v\n", name, isaNames)
			i = int(isa)
		}
		isa = min(isa, ISA(i))
	}
	if isa == None {
		return None
	}
	probe := Assembler{ISA: isa}
	probe.Ret()
	code, err := Place(probe.Code)
	if err != nil {
		return None
	}
	code.Free()
	return isa
})

// Host returns the largest instruction set that the machine has.
func Host() ISA { return host() }
