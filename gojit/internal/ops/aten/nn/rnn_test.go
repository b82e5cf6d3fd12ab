package nn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// randomLayer makes one layer with its states. A projection narrows the state.
func randomLayer(r *rand.Rand, kind *cell, d tensor.DType, in, size, batch int, biases, projected, bidirectional bool) (l *recurrent, states []*tensor.Tensor) {
	l = &recurrent{cell: kind, biases: biases, projected: projected, bidirectional: bidirectional, layers: 1}
	directions, width, rows := 1, size, kind.gates*size
	if bidirectional {
		directions = 2
	}
	if projected {
		width = size - 2
	}
	for range directions {
		l.params = append(l.params, opstest.RandomTensor(r, d, rows, in), opstest.RandomTensor(r, d, rows, width))
		if biases {
			l.params = append(l.params, opstest.RandomTensor(r, d, rows), opstest.RandomTensor(r, d, rows))
		}
		if projected {
			l.params = append(l.params, opstest.RandomTensor(r, d, width, size))
		}
	}
	states = []*tensor.Tensor{opstest.RandomTensor(r, d, directions, batch, width)}
	if kind.memory {
		states = append(states, opstest.RandomTensor(r, d, directions, batch, size))
	}
	return l, states
}

// singleSteps runs one direction for one element of the batch with elementary operators.
func singleSteps(l *recurrent, direction int, rows []*tensor.Tensor, state []*tensor.Tensor) (outs, last []*tensor.Tensor) {
	wi, wh, bi, bh, wr := l.weights(direction)
	for t := range rows {
		if direction == 1 {
			t = len(rows) - 1 - t
		}
		x, h := linalg.Linear(rows[t], wi, bi), linalg.Linear(state[0], wh, bh)
		xs, hs := source.Must(x.Chunk(l.cell.gates, 1)), source.Must(h.Chunk(l.cell.gates, 1))
		gate := func(i int) *tensor.Tensor { return elementwise.Sigmoid.On(elementwise.Add.On(xs[i], hs[i])) }
		var next []*tensor.Tensor
		switch l.cell {
		case &plainTanh:
			next = []*tensor.Tensor{elementwise.Tanh.On(elementwise.Add.On(x, h))}
		case &plainRelu:
			next = []*tensor.Tensor{elementwise.Relu.On(elementwise.Add.On(x, h))}
		case &lstmCell:
			memory := elementwise.Add.On(elementwise.Mul.On(gate(1), state[1]), elementwise.Mul.On(gate(0), elementwise.Tanh.On(elementwise.Add.On(xs[2], hs[2]))))
			next = []*tensor.Tensor{elementwise.Mul.On(gate(3), elementwise.Tanh.On(memory)), memory}
		case &gruCell:
			fresh := elementwise.Tanh.On(elementwise.Add.On(xs[2], elementwise.Mul.On(gate(0), hs[2])))
			next = []*tensor.Tensor{elementwise.Add.On(fresh, elementwise.Mul.On(gate(1), elementwise.Sub.On(state[0], fresh)))}
		}
		if wr != nil {
			next[0] = linalg.Linear(next[0], wr, nil)
		}
		state = next
		outs = append(outs, state[0])
	}
	if direction == 1 {
		slices.Reverse(outs)
	}
	return outs, state
}

// TestRecurrentLayers compares layers over packed sequences to their single steps for each element of
// the batch, with few and with so many steps that the weights are packed.
func TestRecurrentLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, kind := range []*cell{&plainTanh, &plainRelu, &lstmCell, &gruCell} {
		for trial := range 8 {
			d, tolerance := tensor.Float64, 1e-13
			if trial%2 == 0 {
				d, tolerance = tensor.Float32, 1e-5
			}
			const in, size = 3, 19
			steps, batch := []int{2, 11}[trial/4], 1+r.IntN(4)
			l, states := randomLayer(r, kind, d, in, size, batch, trial%3 != 0, kind.memory && trial%3 == 1, trial%4 > 1)
			lengths, sizes := make([]int, batch), make([]int, steps)
			for b := range lengths {
				lengths[b] = steps - b*(steps-1)/batch
				for s := range lengths[b] {
					sizes[s]++
				}
			}
			var rows []*tensor.Tensor
			for _, n := range sizes {
				rows = append(rows, opstest.RandomTensor(r, d, n, in))
			}
			out, last := l.run(elementwise.Concat(rows, 0), sizes, states)
			for b, n := range lengths {
				var own []*tensor.Tensor
				for s := range n {
					own = append(own, source.Must(rows[s].Slice(0, b, b+1, 1)))
				}
				for direction := range states[0].Size(0) {
					var state []*tensor.Tensor
					for _, s := range states {
						state = append(state, source.Must(source.Must(s.Select(0, direction)).Slice(0, b, b+1, 1)))
					}
					outs, final := singleSteps(l, direction, own, state)
					for k := range final {
						if e := opstest.LargestDifference(source.Must(source.Must(last[k].Select(0, direction)).Slice(0, b, b+1, 1)), final[k]); e > tolerance {
							t.Errorf("cell %d, trial %d, element %d: final state %d differs by %g", i, trial, b, k, e)
						}
					}
					width, first := states[0].Size(2), 0
					for s := range n {
						got := source.Must(source.Must(out.Slice(0, first+b, first+b+1, 1)).Slice(1, direction*width, (direction+1)*width, 1))
						if e := opstest.LargestDifference(got, outs[s]); e > tolerance {
							t.Errorf("cell %d, trial %d, element %d: the result of step %d differs by %g", i, trial, b, s, e)
						}
						first += sizes[s]
					}
				}
			}
		}
	}
}

// TestRecurrentLayersOfHalves checks that they are computed with float32 and rounded once.
func TestRecurrentLayersOfHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		narrow, states := randomLayer(r, &lstmCell, d, 4, 6, 2, true, false, false)
		wide, x := *narrow, opstest.RandomTensor(r, d, 5*2, 4)
		wide.params = slices.Clone(narrow.params)
		for i, p := range wide.params {
			wide.params[i] = elementwise.To(p, tensor.Float32)
		}
		sizes := []int{2, 2, 2, 2, 2}
		got, _ := narrow.run(x, sizes, states)
		want, _ := wide.run(elementwise.To(x, tensor.Float32), sizes, []*tensor.Tensor{elementwise.To(states[0], tensor.Float32), elementwise.To(states[1], tensor.Float32)})
		if got.DType() != d || opstest.LargestDifference(got, elementwise.To(want, d)) != 0 {
			t.Errorf("%s: results differ from those of float32", d)
		}
	}
}

// TestRecurrentLayersDoNotDependOnThreads compares bits.
func TestRecurrentLayersDoNotDependOnThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(5, 6))
	l, states := randomLayer(r, &gruCell, tensor.Float32, 64, 256, 48, true, false, true)
	x, sizes := opstest.RandomTensor(r, tensor.Float32, 9*48, 64), slices.Repeat([]int{48}, 9)
	var first *tensor.Tensor
	for threads := 1; threads <= 4; threads++ {
		parallel.SetNumThreads(threads)
		out, _ := l.run(x, sizes, states)
		if first == nil {
			first = out
		}
		if !slices.Equal(tensor.Data[float32](out), tensor.Data[float32](first)) {
			t.Errorf("%d threads give other bits than one", threads)
		}
	}
}

// TestRecurrentStepsAllocateNothing compares a long sequence with a short one: with the race detector, pools
// forget some of what they hold.
func TestRecurrentStepsAllocateNothing(t *testing.T) {
	if asm.Target() == asm.None {
		t.Skip("without machine code the evaluator of kernels allocates")
	}
	parallel.SetNumThreads(1)
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(7, 8))
	for i, kind := range []*cell{&plainTanh, &lstmCell, &gruCell} {
		l, states := randomLayer(r, kind, tensor.Float32, 8, 16, 3, true, false, false)
		allocations := func(steps int) float64 {
			x, sizes := opstest.RandomTensor(r, tensor.Float32, steps*3, 8), slices.Repeat([]int{3}, steps)
			return testing.AllocsPerRun(20, func() { l.run(x, sizes, states) })
		}
		if short, long := allocations(10), allocations(100); long >= short+90 {
			t.Errorf("cell %d: 10 steps allocate %v times, 100 steps %v times", i, short, long)
		}
	}
}
