package random

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// drawOnDevice fills a tensor of a device with random numbers of a distribution, whose parameters are numbers, from the device's stream. Numbers of
// a generator that a program has made are the processor's: drawn there, by draw, and copied.
func drawOnDevice(gen *rng.Generator, t *tensor.Tensor, draw func(here *tensor.Tensor), distribution string, parameters ...float64) {
	bits := make([]int64, len(parameters))
	for i, p := range parameters {
		bits[i] = int64(math.Float64bits(p))
	}
	turn, doubles := wordsOfTurn, 0
	if t.DType() == tensor.Float64 {
		turn, doubles = wordsOfTurn/2, 1
	}
	drawThere(gen, t, draw, turn, doubles, distribution, bits...)
}

// drawIntegersOnDevice is drawOnDevice for as many integers from a first one on.
func drawIntegersOnDevice(gen *rng.Generator, t *tensor.Tensor, draw func(here *tensor.Tensor), count uint64, from int64) {
	if count < 1<<32 {
		drawThere(gen, t, draw, wordsOfTurn, 0, "integers", int64(count), from)
	} else {
		drawThere(gen, t, draw, wordsOfTurn/2, 0, "integers_wide", int64(count), from)
	}
}

// wordsOfTurn is how many words a thread draws at once.
const wordsOfTurn = 4

// drawThere runs the routine that draws: turn numbers of each thread at once.
func drawThere(gen *rng.Generator, t *tensor.Tensor, draw func(here *tensor.Tensor), turn, doubles int, distribution string, parameters ...int64) {
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
	draws, err := runner.Draw(t.Device(), t.Numel(), turn, 1)
	source.Throw(err)
	numbers, tensors := []int64{int64(draws.Threads), int64(draws.Seed), int64(draws.Offset)}, []*tensor.Tensor{out}
	if draws.State != nil {
		tensors = append(tensors, draws.State)
	}
	numbers = append(numbers, parameters...)
	r := kernel.Routine{Text: "random", Entry: distribution, Types: []tensor.DType{t.DType()}, Sizes: []int{doubles}, Threads: t.Numel()}
	source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
	if out != t {
		source.Throw(tensor.Copy(t, out))
	}
}

// turnsOfNumber are more turns than a number takes whose distribution has parameters, but in one case of very many: the stream moves on by them.
const turnsOfNumber = 64

// drawWithParametersOnDevice draws a number for each element of parameters, of which some are on a device, where they are broadcast.
func drawWithParametersOnDevice(result tensor.DType, distribution string, parameters ...*tensor.Tensor) *tensor.Tensor {
	both := elementwise.BroadcastTensors(parameters)
	for _, p := range parameters {
		if p.Device() != parameters[0].Device() {
			elementwise.RefuseMixed(parameters[0].Device(), p.Device())
		}
	}
	out := define.EmptyBeside(parameters[0], both[0].Shape(), result)
	if out.Numel() == 0 {
		return out
	}
	runner := source.Must(elementwise.RunnerOf(out.Device()))
	draws, err := runner.Draw(out.Device(), out.Numel(), 1, turnsOfNumber)
	source.Throw(err)
	r := kernel.Routine{Text: "random_parameters", Entry: distribution, Types: []tensor.DType{result}, Sizes: []int{1, len(parameters)}, Threads: out.Numel()}
	tensors, numbers := []*tensor.Tensor{out}, []int64{int64(draws.Threads), int64(draws.Seed), int64(draws.Offset), turnsOfNumber}
	for i, p := range parameters {
		step := int64(0)
		if p.Numel() > 1 {
			p, step = elementwise.Contiguous(both[i]), 1
		}
		r.Types, tensors, numbers = append(r.Types, p.DType()), append(tensors, p), append(numbers, step)
	}
	if draws.State != nil {
		tensors = append(tensors, draws.State)
	}
	source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
	return out
}

// permutationOnDevice fills a vector of a device with the integers from 0 in random order: that of as many random keys of 63 bits.
func permutationOnDevice(t *tensor.Tensor) *tensor.Tensor {
	if t.Numel() == 0 {
		return t
	}
	keys := define.EmptyBeside(t, t.Shape(), tensor.Int64)
	DrawBits(rng.Default(), keys)
	values, places := indexing.SortAlong(keys, 0, false)
	keys.Release()
	values.Release()
	return elementwise.To(places, t.DType())
}

// drawHere fills a tensor of a device with numbers that the processor draws.
func drawHere(t *tensor.Tensor, draw func(here *tensor.Tensor)) {
	here := define.Empty(t.Shape(), t.DType())
	draw(here)
	source.Throw(tensor.Copy(t, here))
}
