package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// options keep products and sums apart (each is rounded, as on the processor) and functions exact. A device that the compiler knows gets its own
// instructions, a newer one PTX of the newest architecture that the compiler knows, which the driver translates when the module is loaded.
func (v *Device) options() (options []string, binary bool) {
	newest := v.architecture()
	kind := "compute"
	if binary = newest == v.major*10+v.minor; binary {
		kind = "sm"
	}
	return []string{fmt.Sprintf("--gpu-architecture=%s_%d", kind, newest), "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17"}, binary
}

// architecture is the one that texts are compiled for: the newest that the compiler and the device know, 90 for a compute capability of 9.0.
func (v *Device) architecture() int32 {
	own, newest := v.major*10+v.minor, int32(0)
	for _, architecture := range v.driver.architectures() {
		if architecture <= own {
			newest = max(newest, architecture)
		}
	}
	if newest == 0 {
		return own // the compiler says what it does not know
	}
	return newest
}

// TensorCores implements kernel.Runner. Of float32 products are rounded to TF32, where that is allowed; for float64 only those of 8.0, 9.0 and 10.0 are faster than
// other arithmetic.
func (b *Backend) TensorCores(d tensor.Device, of tensor.DType, convolution bool) (bool, error) {
	v, err := b.Device(d)
	if err != nil {
		return false, err
	}
	from := cuda.TensorCoresFrom(of)
	switch {
	case from == 0 || v.architecture() < from:
		return false, nil
	case of == tensor.Float32 && convolution:
		return TF32Convolutions.IsSet(), nil
	case of == tensor.Float32:
		return TF32Products.IsSet(), nil
	}
	return of != tensor.Float64 || v.minor == 0 && v.major <= 10, nil
}

// architectures are those that the compiler knows, 90 for a compute capability of 9.0.
func (d *driver) architectures() []int32 {
	var count int32
	if d.nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0 {
		return nil
	}
	known := make([]int32, count)
	if d.nvrtcGetSupportedArchs(unsafe.Pointer(&known[0])) != 0 {
		return nil
	}
	return known
}

// cacheVariable names the folder that keeps compiled texts, "off" for none.
const cacheVariable = "GOJIT_CUDA_CACHE"

// CacheFolder returns the folder that keeps compiled texts: the user's cache where nothing is said, "" where there is none.
func CacheFolder() string {
	switch folder := os.Getenv(cacheVariable); folder {
	case "off":
		return ""
	case "":
		if os.Getenv(driverVariable) != "" {
			return "" // another compiler each time, perhaps
		}
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(user, "torchjit", "cuda")
	default:
		return folder
	}
}

// image returns a text compiled for the device: what a folder keeps for the text, the options and the compiler's version, where it does.
func (v *Device) image(text string) ([]byte, error) {
	options, binary := v.options()
	folder := CacheFolder()
	var major, minor int32
	if folder == "" || v.driver.nvrtcVersion(&major, &minor) != 0 {
		return v.driver.compile(text, options, binary)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d\n%s\n%s", major, minor, strings.Join(options, "\n"), text))
	path := filepath.Join(folder, hex.EncodeToString(sum[:])+".image")
	if image, err := os.ReadFile(path); err == nil && len(image) > 0 {
		return image, nil
	}
	image, err := v.driver.compile(text, options, binary)
	if err == nil {
		keepFile(path, image)
	}
	return image, err
}

// keepFile writes a file. That it cannot is no failure: the text is compiled again next time.
func keepFile(path string, data []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = safefile.ReplaceFile(path, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
}

// compile turns CUDA C into a device's instructions, or into PTX, the driver's text of instructions. The error of a text that is not valid has the
// compiler's messages.
func (d *driver) compile(text string, options []string, binary bool) ([]byte, error) {
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
	sizeOf, read, what := d.nvrtcGetPTXSize, d.nvrtcGetPTX, "nvrtcGetPTX"
	if binary {
		sizeOf, read, what = d.nvrtcGetCUBINSize, d.nvrtcGetCUBIN, "nvrtcGetCUBIN"
	}
	var size uint64
	if code := sizeOf(program, &size); code != 0 || size == 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d (%sSize)", code, what)
	}
	image := make([]byte, size)
	if code := read(program, unsafe.Pointer(&image[0])); code != 0 {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "NVRTC error %d (%s)", code, what)
	}
	return image, nil
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
