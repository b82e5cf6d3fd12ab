package tensor

import (
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// DeviceType is a kind of device, numbered as PyTorch numbers them.
type DeviceType uint8

// The kinds of device that can be named. Tensors can be made on CPU and Meta.
const (
	CPU  DeviceType = 0
	CUDA DeviceType = 1
	Meta DeviceType = 14
)

var deviceNames = map[DeviceType]string{
	CPU: "cpu", CUDA: "cuda", 2: "mkldnn", 3: "opengl", 4: "opencl", 5: "ideep", 6: "hip", 7: "fpga",
	8: "ort", 9: "xla", 10: "vulkan", 11: "metal", 12: "xpu", 13: "mps", Meta: "meta", 15: "hpu", 16: "ve",
	17: "lazy", 18: "ipu", 19: "mtia", 20: "privateuseone",
}

// Device names where a tensor lives. The zero Device is the CPU.
type Device struct {
	Type  DeviceType
	index int8 // the index plus one; 0 where none is given
}

// NewDevice returns a device; index -1 means none.
func NewDevice(t DeviceType, index int) Device { return Device{t, int8(index + 1)} }

// Index returns the number after the colon, -1 where there is none.
func (d Device) Index() int { return int(d.index) - 1 }

// String returns "cpu", "cuda:0".
func (d Device) String() string {
	name := deviceNames[d.Type]
	if d.index > 0 {
		return name + ":" + strconv.Itoa(d.Index())
	}
	return name
}

// ParseDevice reads "cpu", "cuda:1", "meta". It fails on an unknown kind and on a bad index.
func ParseDevice(text string) (Device, error) {
	if text == "" {
		return Device{}, source.Errorf(source.RuntimeError, source.Range{}, "Device string must not be empty")
	}
	name, number, hasIndex := strings.Cut(text, ":")
	index := -1
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') }) {
		return Device{}, source.Errorf(source.RuntimeError, source.Range{}, "Invalid device string: '%s'", text)
	}
	if hasIndex {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 126 || number != strconv.Itoa(n) {
			return Device{}, source.Errorf(source.RuntimeError, source.Range{}, "Invalid device string: '%s'", text)
		}
		index = n
	}
	for t, known := range deviceNames {
		if known == name {
			return NewDevice(t, index), nil
		}
	}
	return Device{}, source.Errorf(source.RuntimeError, source.Range{},
		"Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, ort, xla, lazy, vulkan, mps, meta, hpu, privateuseone device type at start of device string: %s", name)
}

// MemoryFormat says in which order a result's elements lie in memory.
type MemoryFormat uint8

// The memory formats, numbered as PyTorch numbers them.
const (
	ContiguousFormat MemoryFormat = 0
	PreserveFormat   MemoryFormat = 1
	ChannelsLast     MemoryFormat = 2
	ChannelsLast3D   MemoryFormat = 3
)

var memoryFormatNames = [...]string{"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}

// String returns the name without the module.
func (m MemoryFormat) String() string { return memoryFormatNames[m] }
