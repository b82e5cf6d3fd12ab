package launch

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// streamFrom is a variable for tests.
var streamFrom = amd64.StreamFrom

// streaming returns the function that writes past the caches where n elements are worth it, else f. Outputs that are
// inputs too have been read into a cache.
func (p *Program) streaming(f *function, uniform uint32, args *amd64.Args, n int) *function {
	if n < streamFrom/maxElement {
		return f
	}
	bytes := 0
	for i := range p.outputs {
		if bytes += n * p.size[i]; uintptr(args.Ptr[i])%amd64.StreamAlignment != 0 {
			return f
		}
	}
	if bytes < streamFrom || f.small != nil || len(p.reduces) > 0 || p.inPlace(f, args) {
		return f
	}
	return p.variant(f, &f.streaming, func() (*amd64.Function, error) { return amd64.CompileStreaming(p.expanded, uniform, asm.Target()) })
}
