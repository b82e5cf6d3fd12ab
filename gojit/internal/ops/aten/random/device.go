package random

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// drawOnDevice fills a tensor of a device with random numbers of a distribution, whose parameters are numbers, from the device's stream. Numbers of
// a generator that a program has made are the processor's: drawn there, by draw, and copied.
func drawOnDevice(gen *rng.Generator, t *tensor.Tensor, draw func(here *tensor.Tensor), distribution string, parameters ...float64) {
	if gen != rng.Default() {
		drawHere(t, draw)
		return
	}
	if t.Numel() == 0 {
		return
	}
	out := t
	if !t.IsContiguous() {
		out = define.EmptyBeside(t, t.Shape(), t.DType())
	}
	runner := source.Must(elementwise.RunnerOf(t.Device()))
	draws, err := runner.Draw(t.Device(), t.Numel())
	source.Throw(err)
	numbers, tensors := []int64{int64(draws.Threads), int64(draws.Seed), int64(draws.Offset)}, []*tensor.Tensor{out}
	if draws.State != nil {
		tensors = append(tensors, draws.State)
	}
	for _, p := range parameters {
		numbers = append(numbers, int64(math.Float64bits(p)))
	}
	r := kernel.Routine{Text: "random", Entry: distribution, Types: []tensor.DType{t.DType()}, Threads: t.Numel()}
	source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
	if out != t {
		source.Throw(tensor.Copy(t, out))
	}
}

// drawHere fills a tensor of a device with numbers that the processor draws.
func drawHere(t *tensor.Tensor, draw func(here *tensor.Tensor)) {
	here := define.Empty(t.Shape(), t.DType())
	draw(here)
	source.Throw(tensor.Copy(t, here))
}
