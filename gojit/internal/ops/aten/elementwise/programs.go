package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TypePrograms keeps a kernel for each type of elements.
type TypePrograms struct{ cache launch.Cache }

// Of returns the kernel for a type, which build makes the first time.
func (p *TypePrograms) Of(d tensor.DType, build func(b *kernel.Builder)) *launch.Program {
	key := launch.Key(0).With(d)
	if made := p.cache.Get(key); made != nil {
		return made
	}
	return source.Must(p.cache.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		build(b)
		return launch.ProgramOf(b.Kernel())
	}))
}
