package launch

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// compileSmall makes the function for small numbers, which finds the largest one as well.
func (p *Program) compileSmall(made *function, uniform uint32) {
	if p.small == nil {
		return
	}
	small, err := amd64.Compile(p.small, uniform, asm.Target())
	if err != nil { // the other one serves all numbers
		logCompiled(p.small, nil, err)
		return
	}
	made.small = small
	made.Scratch = max(made.Scratch, small.Scratch)
}

// inPlace reports whether an output is also an input: then a chunk cannot be run twice.
func (p *Program) inPlace(f *function, args *amd64.Args) bool {
	for i := range p.outputs {
		for j := p.outputs; j < len(f.Pointers); j++ {
			if args.Ptr[i] == args.Ptr[j] {
				return true
			}
		}
	}
	return false
}

// callSmall runs the function for small numbers and reports whether they were.
func (p *Program) callSmall(f *function, args *amd64.Args) bool {
	var largest float32
	small := *args
	at := 0
	for i := range f.small.Pointers {
		if i == p.outputs {
			small.Ptr[i] = unsafe.Pointer(&largest)
			continue
		}
		small.Ptr[i] = args.Ptr[at]
		at++
	}
	run(f.small, &small)
	return largest < kernel.SmallLimit
}
