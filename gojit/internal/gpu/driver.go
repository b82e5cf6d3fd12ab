package gpu

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pointer is an address in the memory of a device.
type pointer uint64

// driver has the functions of libcuda and libnvrtc that are used here.
type driver struct {
	blas                      func() (*blas, error) // cuBLAS and cuDNN, opened the first time
	dnn                       func() (*dnn, error)
	cuDriverGetVersion        func(version *int32) int32
	cuInit                    func(flags uint32) int32
	cuDeviceGetCount          func(count *int32) int32
	cuDeviceGet               func(device *int32, ordinal int32) int32
	cuDeviceGetName           func(name *byte, length int32, device int32) int32
	cuDeviceGetAttribute      func(value *int32, attribute int32, device int32) int32
	cuDevicePrimaryCtxRetain  func(context *uintptr, device int32) int32
	cuCtxSetCurrent           func(context uintptr) int32
	cuCtxSynchronize          func() int32
	cuGetErrorString          func(code int32, text **byte) int32
	cuMemAlloc_v2             func(at *pointer, bytes uint64) int32
	cuMemFree_v2              func(at pointer) int32
	cuMemGetInfo_v2           func(free, total *uint64) int32
	cuMemcpyHtoD_v2           func(to pointer, from unsafe.Pointer, bytes uint64) int32
	cuMemcpyDtoH_v2           func(to unsafe.Pointer, from pointer, bytes uint64) int32
	cuMemcpyDtoD_v2           func(to, from pointer, bytes uint64) int32
	cuMemsetD8_v2             func(at pointer, value uint8, bytes uint64) int32
	cuModuleLoadData          func(module *uintptr, image unsafe.Pointer) int32
	cuModuleGetFunction       func(function *uintptr, module uintptr, name string) int32
	cuModuleUnload            func(module uintptr) int32
	cuEventCreate             func(event *uintptr, flags uint32) int32
	cuEventRecord             func(event, stream uintptr) int32
	cuEventQuery              func(event uintptr) int32
	cuEventSynchronize        func(event uintptr) int32
	cuEventElapsedTime        func(milliseconds *float32, from, to uintptr) int32
	cuEventDestroy_v2         func(event uintptr) int32
	cuLaunchKernel            func(function uintptr, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, stream uintptr, arguments, extra unsafe.Pointer) int32
	nvrtcVersion              func(major, minor *int32) int32
	nvrtcCreateProgram        func(program *uintptr, text, name string, headers int32, contents, names unsafe.Pointer) int32
	nvrtcCompileProgram       func(program uintptr, count int32, options unsafe.Pointer) int32
	nvrtcGetNumSupportedArchs func(count *int32) int32
	nvrtcGetSupportedArchs    func(architectures unsafe.Pointer) int32
	nvrtcGetPTXSize           func(program uintptr, size *uint64) int32
	nvrtcGetPTX               func(program uintptr, text unsafe.Pointer) int32
	nvrtcGetCUBINSize         func(program uintptr, size *uint64) int32
	nvrtcGetCUBIN             func(program uintptr, image unsafe.Pointer) int32
	nvrtcGetProgramLogSize    func(program uintptr, size *uint64) int32
	nvrtcGetProgramLog        func(program uintptr, text unsafe.Pointer) int32
	nvrtcDestroyProgram       func(program *uintptr) int32
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
	return d, d.bindCompiler(nvrtc)
}

func (d *driver) bindDriver(l *library) error {
	return bind(l, map[string]any{
		"cuInit": &d.cuInit, "cuDriverGetVersion": &d.cuDriverGetVersion, "cuDeviceGetCount": &d.cuDeviceGetCount, "cuDeviceGet": &d.cuDeviceGet, "cuDeviceGetName": &d.cuDeviceGetName,
		"cuDeviceGetAttribute": &d.cuDeviceGetAttribute, "cuDevicePrimaryCtxRetain": &d.cuDevicePrimaryCtxRetain, "cuCtxSetCurrent": &d.cuCtxSetCurrent,
		"cuCtxSynchronize": &d.cuCtxSynchronize, "cuGetErrorString": &d.cuGetErrorString, "cuMemAlloc_v2": &d.cuMemAlloc_v2, "cuMemFree_v2": &d.cuMemFree_v2,
		"cuMemGetInfo_v2": &d.cuMemGetInfo_v2, "cuMemcpyHtoD_v2": &d.cuMemcpyHtoD_v2, "cuMemcpyDtoH_v2": &d.cuMemcpyDtoH_v2, "cuMemcpyDtoD_v2": &d.cuMemcpyDtoD_v2,
		"cuMemsetD8_v2": &d.cuMemsetD8_v2, "cuModuleLoadData": &d.cuModuleLoadData, "cuModuleGetFunction": &d.cuModuleGetFunction,
		"cuEventCreate": &d.cuEventCreate, "cuEventRecord": &d.cuEventRecord, "cuEventQuery": &d.cuEventQuery, "cuEventSynchronize": &d.cuEventSynchronize,
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
	return source.Errorf(source.RuntimeError, source.Range{}, "CUDA error: %s (%s)", text, name)
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
	random  stream
	memory  allocator
	counts  counters

	product     productLibrary
	convolution convolutionLibrary

	kernels     programs[uint64, *Program] // by the kernel's hash
	conversions programs[[2]tensor.DType, *Program]
	fills       programs[tensor.DType, *Program]
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
	return d.check("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain(&v.context, v.handle))
}

// Name returns what NVIDIA calls the device.
func (v *Device) Name() string { return v.name }

// Capability returns the compute capability, 9 and 0 for example.
func (v *Device) Capability() (major, minor int) { return int(v.major), int(v.minor) }

// do calls functions of the driver with the device's context on one thread of the system.
func (v *Device) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := v.driver.check("cuCtxSetCurrent", v.driver.cuCtxSetCurrent(v.context)); err != nil {
		return err
	}
	return f()
}

// Synchronize waits until the device has done what it was given.
func (v *Device) Synchronize() error {
	return v.do(func() error { return v.driver.check("cuCtxSynchronize", v.driver.cuCtxSynchronize()) })
}

// Units returns the number of multiprocessors.
func (v *Device) Units() int { return int(v.units) }

// stream returns the stream that the device is given work on: all of it is done in order.
func (v *Device) stream() uintptr { return 0 }
