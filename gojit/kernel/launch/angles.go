package launch

import (
	"unsafe"

	"torchjit/gojit/kernel"
	"torchjit/gojit/kernel/amd64"
)

// compileFewTurns makes the function for small angles, which finds the largest one as well.
func (p *Program) compileFewTurns(made *function, uniform uint32) {
	if p.fewTurns == nil {
		return
	}
	few, err := amd64.Compile(p.fewTurns, uniform, amd64.Target())
	if err != nil {
		return // the other one serves all angles
	}
	made.few = few
	made.Scratch = max(made.Scratch, few.Scratch)
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

// callFewTurns runs the function for small angles and reports whether they were.
func (p *Program) callFewTurns(f *function, args *amd64.Args) bool {
	var largest [16]float32
	few := *args
	at := 0
	for i := range f.few.Pointers {
		if i == p.outputs {
			few.Ptr[i] = unsafe.Pointer(&largest)
			continue
		}
		few.Ptr[i] = args.Ptr[at]
		at++
	}
	f.few.Code.Call(unsafe.Pointer(&few))
	for _, v := range largest[:f.few.Lanes[p.outputs]] {
		if !(v < kernel.FewTurns) {
			return false
		}
	}
	return true
}
