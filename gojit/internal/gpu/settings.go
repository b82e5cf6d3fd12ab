package gpu

import (
	"slices"
	"sync/atomic"
)

// Setting is something that programs choose for the libraries of all devices.
type Setting uint8

// What there is to choose.
const (
	TF32Products            Setting = iota // factors of float32 products may be rounded to TF32, 10 bits behind the point
	TF32Convolutions                       // the same for convolutions
	ReducedHalfSums                        // parts of sums of float16 products may be rounded to float16 before they are added
	ReducedBFloat16Sums                    // the same for bfloat16
	Deterministic                          // convolutions give the same bits each time
	DeterministicAlgorithms                // so does everything
	Benchmark                              // convolutions are tried in several ways, and the fastest is kept
	UseDNN                                 // convolutions are cuDNN's
	settingCount
)

// settingNames are what Python calls them.
var settingNames = [settingCount]string{"tf32_products", "tf32_convolutions", "reduced_half_sums", "reduced_bfloat16_sums", "deterministic", "deterministic_algorithms", "benchmark", "cudnn"}

var settings [settingCount]atomic.Bool

// SettingOf returns the setting of a name.
func SettingOf(name string) (s Setting, ok bool) {
	i := slices.Index(settingNames[:], name)
	return Setting(max(i, 0)), i >= 0
}

func init() {
	for _, s := range []Setting{TF32Convolutions, ReducedHalfSums, ReducedBFloat16Sums, UseDNN} { // as in PyTorch
		s.Set(true)
	}
}

// Set changes a setting.
func (s Setting) Set(on bool) { settings[s].Store(on) }

// IsSet returns a setting.
func (s Setting) IsSet() bool { return settings[s].Load() }

// Settings implements kernel.Capturer: a bit for each setting.
func (b *Backend) Settings() (bits uint64) {
	for s := range settingCount {
		if s.IsSet() {
			bits |= 1 << s
		}
	}
	return bits
}
