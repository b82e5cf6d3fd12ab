package gpu

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pointer is an address in the memory of a device.
type pointer uint64

// driver has the functions of libcuda and libnvrtc that are used here. What is called for each kernel is a procedure, which costs less.
type driver struct {
	blas                        func() (*blas, error) // CUDA's libraries, opened the first time
	dnn                         func() (*dnn, error)
	fft                         func() (*fft, error)
	solver                      func() (*solver, error)
	cuDriverGetVersion          func(version *int32) int32
	nvrtcGetNumSupportedArchs   func(count *int32) int32
	nvrtcGetSupportedArchs      func(architectures unsafe.Pointer) int32
	nvrtcGetCUBINSize           func(program uintptr, size *uint64) int32
	nvrtcGetCUBIN               func(program uintptr, image unsafe.Pointer) int32
	cuInit                      func(flags uint32) int32
	cuDeviceGetCount            func(count *int32) int32
	cuDeviceGet                 func(device *int32, ordinal int32) int32
	cuDeviceGetName             func(name *byte, length int32, device int32) int32
	cuDeviceGetAttribute        func(value *int32, attribute int32, device int32) int32
	cuDevicePrimaryCtxRetain    func(context *uintptr, device int32) int32
	cuCtxSetCurrent             procedure // (context)
	cuCtxSynchronize            func() int32
	cuCtxGetStreamPriorityRange func(least, greatest *int32) int32
	cuGetErrorString            func(code int32, text **byte) int32
	cuMemAlloc_v2               func(at *pointer, bytes uint64) int32
	cuMemFree_v2                func(at pointer) int32
	cuMemGetInfo_v2             func(free, total *uint64) int32
	cuMemHostAlloc              func(at *uintptr, bytes uint64, flags uint32) int32
	cuMemFreeHost               func(at uintptr) int32
	cuMemcpyHtoDAsync_v2        procedure // (to, from, bytes, stream)
	cuMemcpyDtoHAsync_v2        procedure // (to, from, bytes, stream)
	cuMemcpyDtoDAsync_v2        procedure // (to, from, bytes, stream)
	cuMemsetD8Async             procedure // (at, value, bytes, stream)
	cuModuleLoadData            func(module *uintptr, image unsafe.Pointer) int32
	cuModuleGetFunction         func(function *uintptr, module uintptr, name string) int32
	cuModuleUnload              func(module uintptr) int32
	cuStreamCreateWithPriority  func(stream *uintptr, flags uint32, priority int32) int32
	cuStreamSynchronize         procedure // (stream)
	cuStreamQuery               procedure // (stream)
	cuStreamWaitEvent           procedure // (stream, event, flags)
	cuStreamBeginCapture_v2     func(stream uintptr, mode int32) int32
	cuStreamEndCapture          func(stream uintptr, graph *uintptr) int32
	cuGraphInstantiateWithFlags func(executable *uintptr, graph uintptr, flags uint64) int32
	cuGraphLaunch               procedure // (executable, stream)
	cuGraphExecDestroy          func(executable uintptr) int32
	cuGraphDestroy              func(graph uintptr) int32
	cuEventCreate               func(event *uintptr, flags uint32) int32
	cuEventRecord               procedure // (event, stream)
	cuEventQuery                procedure // (event)
	cuEventSynchronize          func(event uintptr) int32
	cuEventElapsedTime          func(milliseconds *float32, from, to uintptr) int32
	cuEventDestroy_v2           func(event uintptr) int32
	cuLaunchKernel              procedure // (function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, arguments, extra)
	nvrtcVersion                func(major, minor *int32) int32
	nvrtcCreateProgram          func(program *uintptr, text, name string, headers int32, contents, names unsafe.Pointer) int32
	nvrtcCompileProgram         func(program uintptr, count int32, options unsafe.Pointer) int32
	nvrtcGetPTXSize             func(program uintptr, size *uint64) int32
	nvrtcGetPTX                 func(program uintptr, text unsafe.Pointer) int32
	nvrtcGetProgramLogSize      func(program uintptr, size *uint64) int32
	nvrtcGetProgramLog          func(program uintptr, text unsafe.Pointer) int32
	nvrtcDestroyProgram         func(program *uintptr) int32
}

// openDriver opens the driver and the compiler.
func openDriver(f *finder) (*driver, error) {
	cuda, err := f.open(wantedDriver)
	if err != nil {
		return nil, err
	}
	d := &driver{}
	if err := d.bindDriver(cuda); err != nil {
		return nil, err
	}
	if err := d.check("cuInit", d.cuInit(0)); err != nil {
		return nil, err
	}
	if err := d.check("cuDriverGetVersion", d.cuDriverGetVersion(&f.version)); err != nil {
		return nil, err
	}
	nvrtc, err := f.open(wantedCompiler)
	if err != nil {
		return nil, err
	}
	d.blas = sync.OnceValues(func() (*blas, error) { return openBLAS(f) })
	d.dnn = sync.OnceValues(func() (*dnn, error) { return openDNN(f) })
	d.fft = sync.OnceValues(func() (*fft, error) { return openFFT(f) })
	d.solver = sync.OnceValues(func() (*solver, error) { return openSolver(f) })
	return d, d.bindCompiler(nvrtc)
}

func (d *driver) bindDriver(l *library) error {
	return bind(l, map[string]any{
		"cuInit": &d.cuInit, "cuDriverGetVersion": &d.cuDriverGetVersion, "cuDeviceGetCount": &d.cuDeviceGetCount, "cuDeviceGet": &d.cuDeviceGet, "cuDeviceGetName": &d.cuDeviceGetName,
		"cuDeviceGetAttribute": &d.cuDeviceGetAttribute, "cuDevicePrimaryCtxRetain": &d.cuDevicePrimaryCtxRetain, "cuCtxSetCurrent": &d.cuCtxSetCurrent,
		"cuCtxSynchronize": &d.cuCtxSynchronize, "cuCtxGetStreamPriorityRange": &d.cuCtxGetStreamPriorityRange, "cuGetErrorString": &d.cuGetErrorString,
		"cuMemAlloc_v2": &d.cuMemAlloc_v2, "cuMemFree_v2": &d.cuMemFree_v2, "cuMemGetInfo_v2": &d.cuMemGetInfo_v2,
		"cuMemHostAlloc": &d.cuMemHostAlloc, "cuMemFreeHost": &d.cuMemFreeHost,
		"cuMemcpyHtoDAsync_v2": &d.cuMemcpyHtoDAsync_v2, "cuMemcpyDtoHAsync_v2": &d.cuMemcpyDtoHAsync_v2, "cuMemcpyDtoDAsync_v2": &d.cuMemcpyDtoDAsync_v2,
		"cuMemsetD8Async": &d.cuMemsetD8Async, "cuModuleLoadData": &d.cuModuleLoadData, "cuModuleGetFunction": &d.cuModuleGetFunction,
		"cuStreamCreateWithPriority": &d.cuStreamCreateWithPriority, "cuStreamSynchronize": &d.cuStreamSynchronize, "cuStreamQuery": &d.cuStreamQuery,
		"cuStreamWaitEvent": &d.cuStreamWaitEvent, "cuStreamBeginCapture_v2": &d.cuStreamBeginCapture_v2, "cuStreamEndCapture": &d.cuStreamEndCapture,
		"cuGraphInstantiateWithFlags": &d.cuGraphInstantiateWithFlags, "cuGraphLaunch": &d.cuGraphLaunch, "cuGraphExecDestroy": &d.cuGraphExecDestroy,
		"cuGraphDestroy": &d.cuGraphDestroy,
		"cuEventCreate":  &d.cuEventCreate, "cuEventRecord": &d.cuEventRecord, "cuEventQuery": &d.cuEventQuery, "cuEventSynchronize": &d.cuEventSynchronize,
		"cuEventElapsedTime": &d.cuEventElapsedTime, "cuEventDestroy_v2": &d.cuEventDestroy_v2,
		"cuModuleUnload": &d.cuModuleUnload, "cuLaunchKernel": &d.cuLaunchKernel,
	})
}

func (d *driver) bindCompiler(l *library) error {
	return bind(l, map[string]any{
		"nvrtcVersion": &d.nvrtcVersion, "nvrtcCreateProgram": &d.nvrtcCreateProgram, "nvrtcCompileProgram": &d.nvrtcCompileProgram, "nvrtcGetPTXSize": &d.nvrtcGetPTXSize,
		"nvrtcGetPTX": &d.nvrtcGetPTX, "nvrtcGetProgramLogSize": &d.nvrtcGetProgramLogSize, "nvrtcGetProgramLog": &d.nvrtcGetProgramLog,
		"nvrtcDestroyProgram":       &d.nvrtcDestroyProgram,
		"nvrtcGetNumSupportedArchs": &d.nvrtcGetNumSupportedArchs, "nvrtcGetSupportedArchs": &d.nvrtcGetSupportedArchs,
		"nvrtcGetCUBINSize": &d.nvrtcGetCUBINSize, "nvrtcGetCUBIN": &d.nvrtcGetCUBIN,
	})
}

func bind(l *library, functions map[string]any) error {
	for name, f := range functions {
		if err := l.function(f, name); err != nil {
			return fmt.Errorf("%s lacks %s: %w", l.name, name, err)
		}
	}
	return nil
}

// check turns a code that a function of the driver returned into an error.
func (d *driver) check(name string, code int32) error {
	if code == 0 {
		return nil
	}
	text := fmt.Sprintf("error %d", code)
	var at *byte
	if d.cuGetErrorString(code, &at) == 0 && at != nil {
		text = unsafe.String(at, textLength(at))
	}
	lasting := ""
	if isLasting(code) {
		lasting = ". A kernel failed, perhaps an earlier one: a GPU does nothing more for the process after that, begin a new one"
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "CUDA error: %s (%s)%s", text, name, lasting)
}

// isLasting reports whether a code says that the device's context is lost: faults of kernels, and of the hardware.
func isLasting(code int32) bool {
	return code == 214 || code == 700 || code == 702 || code == 710 || 714 <= code && code <= 719
}

// textLength returns how many bytes there are before the zero that ends a text of C.
func textLength(at *byte) int {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(at), n)) != 0 {
		n++
	}
	return n
}

// Device is a GPU.
type Device struct {
	driver  *driver
	ordinal int
	handle  int32
	context uintptr
	name    string
	major   int32 // of the compute capability
	minor   int32
	units   int32 // multiprocessors
	threads int32 // that each of them runs at most
	random  generator
	memory  allocator
	counts  counters

	home        *Stream                  // that work is given on where nothing is said
	current     goroutine.Local[*Stream] // those that goroutines have said
	streams     streamTable
	captures    captures
	lanes       lanes
	product     productLibrary
	convolution convolutionLibrary
	transform   transformLibrary
	solving     solverLibrary

	kernels     programs[uint64, *Program] // by the kernel's hash
	conversions programs[[2]tensor.DType, *Program]
	fills       programs[tensor.DType, *Program]
	scales      programs[tensor.DType, *Program]
	routines    programs[string, *module] // by the routine's key
}

// Attributes of a device, as the driver numbers them.
const (
	attributeUnits   = 16
	attributeThreads = 39
	attributeMajor   = 75
	attributeMinor   = 76
)

// devices are those of the machine, opened the first time.
var devices = sync.OnceValues(func() ([]*Device, error) {
	d, err := openDriver(machineFinder())
	if err != nil {
		return nil, err
	}
	return d.devices()
})

// Devices returns the GPUs of the machine. The error says why there are none that can be used.
func Devices() ([]*Device, error) { return devices() }

func (d *driver) devices() ([]*Device, error) {
	var count int32
	if err := d.check("cuDeviceGetCount", d.cuDeviceGetCount(&count)); err != nil {
		return nil, err
	}
	all := make([]*Device, count)
	for i := range all {
		all[i] = &Device{driver: d, ordinal: i}
		if err := all[i].open(int32(i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// open looks at a device and makes its context.
func (v *Device) open(ordinal int32) error {
	d := v.driver
	if err := d.check("cuDeviceGet", d.cuDeviceGet(&v.handle, ordinal)); err != nil {
		return err
	}
	name := make([]byte, 256)
	if err := d.check("cuDeviceGetName", d.cuDeviceGetName(&name[0], int32(len(name)), v.handle)); err != nil {
		return err
	}
	v.name = strings.TrimRight(string(name), "\x00")
	for attribute, value := range map[int32]*int32{attributeUnits: &v.units, attributeThreads: &v.threads, attributeMajor: &v.major, attributeMinor: &v.minor} {
		if err := d.check("cuDeviceGetAttribute", d.cuDeviceGetAttribute(value, attribute, v.handle)); err != nil {
			return err
		}
	}
	if err := d.check("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain(&v.context, v.handle)); err != nil {
		return err
	}
	var err error
	v.home, err = v.newStream(0)
	return err
}

// Name returns what NVIDIA calls the device.
func (v *Device) Name() string { return v.name }

// Capability returns the compute capability, 9 and 0 for example.
func (v *Device) Capability() (major, minor int) { return int(v.major), int(v.minor) }

// do calls functions of the driver with the device's context on one thread of the system.
func (v *Device) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := v.driver.check("cuCtxSetCurrent", v.driver.cuCtxSetCurrent.call(v.context)); err != nil {
		return err
	}
	return f()
}

// Units returns the number of multiprocessors.
func (v *Device) Units() int { return int(v.units) }
