package gpu

import (
	"fmt"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// options keep products and sums apart (each is rounded, as on the processor) and functions exact.
func (v *Device) options() []string {
	return []string{fmt.Sprintf("--gpu-architecture=compute_%d%d", v.major, v.minor), "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17"}
}

// compile turns CUDA C into PTX, the driver's text of instructions. The error of a text that is not valid has the compiler's messages.
func (d *driver) compile(text string, options []string) ([]byte, error) {
	var program uintptr
	if code := d.nvrtcCreateProgram(&program, text, "kernel.cu", 0, nil, nil); code != 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d (nvrtcCreateProgram)", code)
	}
	defer d.nvrtcDestroyProgram(&program)
	texts, pointers := make([][]byte, len(options)), make([]*byte, len(options))
	for i, option := range options {
		texts[i] = append([]byte(option), 0)
		pointers[i] = &texts[i][0]
	}
	if code := d.nvrtcCompileProgram(program, int32(len(options)), unsafe.Pointer(unsafe.SliceData(pointers))); code != 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d: %s", code, d.log(program))
	}
	var size uint64
	if code := d.nvrtcGetPTXSize(program, &size); code != 0 || size == 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d (nvrtcGetPTXSize)", code)
	}
	ptx := make([]byte, size)
	if code := d.nvrtcGetPTX(program, unsafe.Pointer(&ptx[0])); code != 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d (nvrtcGetPTX)", code)
	}
	return ptx, nil
}

// log returns what the compiler said.
func (d *driver) log(program uintptr) string {
	var size uint64
	if d.nvrtcGetProgramLogSize(program, &size) != 0 || size < 2 {
		return "there is no message"
	}
	text := make([]byte, size)
	if d.nvrtcGetProgramLog(program, unsafe.Pointer(&text[0])) != 0 {
		return "the message cannot be read"
	}
	return string(text[:size-1])
}
