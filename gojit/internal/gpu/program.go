package gpu

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// module is a text compiled for a device.
type module struct {
	device *Device
	handle uintptr
	entry  []uintptr
}

// compileModule compiles a text and looks up its entry points.
func (v *Device) compileModule(text string, entries ...string) (*module, error) {
	image, err := v.image(text)
	if err != nil {
		return nil, err
	}
	m, d := &module{device: v, entry: make([]uintptr, len(entries))}, v.driver
	err = v.do(func() error {
		if err := d.check("cuModuleLoadData", d.cuModuleLoadData(&m.handle, unsafe.Pointer(&image[0]))); err != nil {
			return err
		}
		for i, name := range entries {
			if err := d.check("cuModuleGetFunction", d.cuModuleGetFunction(&m.entry[i], m.handle, name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(m, func(handle uintptr) {
		v.captures.whenNoneIsOpen(func() {
			_ = v.do(func() error {
				_ = v.driver.cuCtxSynchronize() // the device may still run it
				return v.driver.check("cuModuleUnload", v.driver.cuModuleUnload(handle))
			})
		})
	}, m.handle)
	return m, nil
}

// Program is a kernel compiled for a device. It may run in many goroutines at once.
type Program struct {
	*module
	made   *kernel.Kernel // what it was made of
	source *cuda.Source
	params []tensor.DType
}

// NewProgram compiles a kernel for a device. The error of a kernel that has no CUDA form wraps cuda.ErrUnsupported.
func NewProgram(v *Device, k *kernel.Kernel) (*Program, error) {
	s, err := cuda.Print(k)
	if err != nil {
		return nil, err
	}
	entries := []string{"elements"}
	if s.IsReduction() {
		entries = []string{"reduce", "join"}
	}
	m, err := v.compileModule(s.Text, entries...)
	if err != nil {
		return nil, err
	}
	p := &Program{module: m, made: k, source: s, params: make([]tensor.DType, s.Kernel.Params)}
	for i := range s.Kernel.Instrs {
		if in := &s.Kernel.Instrs[i]; in.Op == kernel.Param {
			p.params[in.Imm] = in.Type
		}
	}
	return p, nil
}

// Source returns the text that was compiled.
func (p *Program) Source() *cuda.Source { return p.source }

// Run computes the outputs from the inputs, tensors of the device, as kernel.Program.Run does: tensors holds the outputs, then the
// inputs, params the kernel's numbers. It does not wait for the device, unless integers are divided: division by zero gives
// kernel.DivisionByZero.
func (p *Program) Run(tensors []*tensor.Tensor, params []tensor.Scalar) error {
	for _, t := range tensors {
		if t.Device() != p.device.Place() {
			return source.Errorf(source.RuntimeError, source.Range{}, "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
				p.device.Place(), t.Device())
		}
	}
	w, err := p.walk(tensors)
	if err != nil {
		return err
	}
	defer walks.Put(w)
	if w.n == 0 && len(p.entry) == 1 || w.rows == 0 {
		return nil
	}
	w.setNumbers(p, params)
	if p.source.Divides {
		if err := p.device.Stream().refuse("a division of integers looks for zeros"); err != nil {
			return err
		}
		flag, err := p.device.Allocate(4)
		if err != nil {
			return err
		}
		defer func() { _ = flag.Free() }()
		w.failed = flag.at
	}
	err = p.device.do(func() error { return p.launch(w) })
	runtime.KeepAlive(tensors)
	runtime.KeepAlive(p.module) // it is unloaded once nobody holds it
	return err
}

// launch gives the device what is to be done; its context is current.
func (p *Program) launch(w *walk) error {
	v := p.device
	if w.failed != 0 {
		if err := v.clear(v.Stream(), w.failed, 4); err != nil {
			return err
		}
	}
	if len(p.entry) == 1 {
		if err := v.launch(p.module, p.entry[0], v.blocksFor(w.threads()), w.argument(p.source)); err != nil {
			return err
		}
	} else if err := p.launchReduction(w); err != nil {
		return err
	}
	if w.failed == 0 {
		return nil
	}
	var failed int32
	if err := v.fetch(v.Stream(), unsafe.Pointer(&failed), w.failed, 4); err != nil {
		return err
	}
	if failed != 0 {
		return kernel.DivisionByZero
	}
	return nil
}

// launchReduction reduces rows, and joins the parts of rows that have several.
func (p *Program) launchReduction(w *walk) error {
	v := p.device
	if w.parts > 1 {
		for range p.source.Reduces {
			m, err := v.Allocate(int(w.rows*w.parts) * largestElement)
			if err != nil {
				return err
			}
			defer func() { _ = m.Free() }()
			w.partial = append(w.partial, m.at)
		}
	}
	if err := v.launch(p.module, p.entry[0], w.rowBlocks()*w.parts, w.argument(p.source)); err != nil || w.parts == 1 {
		return err
	}
	w.lanes, w.across = min(cuda.Width, powerFrom(w.parts)), false
	return v.launch(p.module, p.entry[1], w.rowBlocks(), w.argument(p.source))
}

// largestElement is the size in bytes of the largest result that a reduction has, a complex number.
const largestElement = 16

// Threads in a block, and blocks for each multiprocessor: more threads than these take several elements each.
const (
	blockThreads  = cuda.Width
	blocksPerUnit = 32
)

// blocksFor returns how many blocks a number of threads is run by.
func (v *Device) blocksFor(threads int64) int64 {
	return min((threads+blockThreads-1)/blockThreads, int64(v.units)*blocksPerUnit)
}

// launch gives the calling goroutine's stream blocks of threads of a module to run, whose argument is words; the device's context is current.
func (v *Device) launch(m *module, entry uintptr, blocks int64, words []uint64) error {
	s := v.noteLaunch(m)
	arguments := &[1]unsafe.Pointer{unsafe.Pointer(&words[0])}
	code := v.driver.cuLaunchKernel.call(entry, uintptr(blocks), 1, 1, blockThreads, 1, 1, 0, s.handle, uintptr(unsafe.Pointer(arguments)), 0)
	runtime.KeepAlive(arguments)
	runtime.KeepAlive(words)
	return v.driver.check("cuLaunchKernel", code)
}

// noteLaunch says that the calling goroutine's stream, which it returns, is given a kernel of a module, nil for one of a library.
func (v *Device) noteLaunch(m *module) *Stream {
	s := v.Stream()
	v.counts.launches.Add(1)
	if c := s.capture.Load(); c != nil {
		c.note(m)
	}
	return s
}
