package gpu

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Program is a kernel compiled for a device. It may run in many goroutines at once.
type Program struct {
	made   *kernel.Kernel // what it was made of
	source *cuda.Source
	device *Device
	module uintptr
	entry  []uintptr // in the order in which they run
	params []tensor.DType
}

// NewProgram compiles a kernel for a device. The error of a kernel that has no CUDA form wraps cuda.ErrUnsupported.
func NewProgram(v *Device, k *kernel.Kernel) (*Program, error) {
	s, err := cuda.Print(k)
	if err != nil {
		return nil, err
	}
	image, err := v.driver.compile(s.Text, v.options())
	if err != nil {
		return nil, err
	}
	p := &Program{made: k, source: s, device: v, params: make([]tensor.DType, s.Kernel.Params)}
	for i := range s.Kernel.Instrs {
		if in := &s.Kernel.Instrs[i]; in.Op == kernel.Param {
			p.params[in.Imm] = in.Type
		}
	}
	err = v.do(func() error { return p.load(image) })
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(p, func(module uintptr) {
		_ = v.Synchronize() // the device may still run it
		_ = v.do(func() error { return v.driver.check("cuModuleUnload", v.driver.cuModuleUnload(module)) })
	}, p.module)
	return p, nil
}

// load gives the image to the driver and looks up the entry points.
func (p *Program) load(image []byte) error {
	d := p.device.driver
	if err := d.check("cuModuleLoadData", d.cuModuleLoadData(&p.module, unsafe.Pointer(&image[0]))); err != nil {
		return err
	}
	names := []string{"elements"}
	if p.source.IsReduction() {
		names = []string{"lanes", "fold", "join"}
	}
	p.entry = make([]uintptr, len(names))
	for i, name := range names {
		if err := d.check("cuModuleGetFunction", d.cuModuleGetFunction(&p.entry[i], p.module, name)); err != nil {
			return err
		}
	}
	return nil
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
	if err != nil || w.n == 0 && len(p.entry) == 1 || w.rows == 0 {
		return err
	}
	w.setNumbers(p, params)
	if p.source.Divides {
		flag, err := p.device.Allocate(4)
		if err != nil {
			return err
		}
		defer func() { _ = flag.Free() }()
		w.failed = flag.at
	}
	err = p.device.do(func() error { return p.launch(w) })
	runtime.KeepAlive(tensors)
	runtime.KeepAlive(p) // its module is unloaded once nobody holds it
	return err
}

// launch gives the device what is to be done; its context is current.
func (p *Program) launch(w *walk) error {
	d := p.device.driver
	if w.failed != 0 {
		if err := d.check("cuMemsetD8", d.cuMemsetD8_v2(w.failed, 0, 4)); err != nil {
			return err
		}
	}
	if len(p.entry) == 1 {
		if err := p.start(p.entry[0], w, w.n); err != nil {
			return err
		}
	} else if err := p.launchReduction(w); err != nil {
		return err
	}
	if w.failed == 0 {
		return nil
	}
	var failed int32
	if err := d.check("cuMemcpyDtoH", d.cuMemcpyDtoH_v2(unsafe.Pointer(&failed), w.failed, 4)); err != nil {
		return err
	}
	if failed != 0 {
		return kernel.DivisionByZero
	}
	return nil
}

// partialBytes bounds the memory of the partial results of a reduction.
const partialBytes = 1 << 28

// launchReduction runs over as many rows at once as have room for their partial results.
func (p *Program) launchReduction(w *walk) error {
	lanes := int64(p.source.Lanes)
	row := w.blocks * lanes * 8
	most := max(1, min(w.rows, partialBytes/row))
	for range p.source.Reduces {
		m, err := p.device.Allocate(int(most * row))
		if err != nil {
			return err
		}
		defer func() { _ = m.Free() }()
		w.partial = append(w.partial, m.at)
	}
	for rows := w.rows; w.first < rows; w.first += most {
		w.rows = min(most, rows-w.first)
		for i, threads := range []int64{w.rows * w.blocks * lanes, w.rows * w.blocks, w.rows} {
			if err := p.start(p.entry[i], w, threads); err != nil {
				return err
			}
		}
	}
	return nil
}

// Threads in a block, and blocks for each multiprocessor: more threads than these take several elements each.
const (
	blockThreads  = 256
	blocksPerUnit = 32
)

// start launches an entry point for a number of threads.
func (p *Program) start(entry uintptr, w *walk, threads int64) error {
	d := p.device.driver
	words := w.words(p.source)
	arguments := []unsafe.Pointer{unsafe.Pointer(&words[0])}
	blocks := min((threads+blockThreads-1)/blockThreads, int64(p.device.units)*blocksPerUnit)
	err := d.check("cuLaunchKernel", d.cuLaunchKernel(entry, uint32(blocks), 1, 1, blockThreads, 1, 1, 0, 0, unsafe.Pointer(&arguments[0]), nil))
	runtime.KeepAlive(words)
	return err
}
