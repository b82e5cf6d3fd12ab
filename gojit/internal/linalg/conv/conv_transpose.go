package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// Transpose writes to in the transposed convolution of out, which is the derivative of Convolve by
// its input, plus one element of bias for each in channel where bias is not nil. g describes the
// convolution from in to out; weights are out channel, channel of the group, kernel.
//
// Inputs whose places leave the same rest after division by the steps are read through the same taps:
// they are a convolution of out with those taps, in reverse, by steps of one.
func Transpose[T gemm.Float](g Convolution, out, weight, bias, in []T) {
	if Volume(g.In)*g.Batch*g.InChannels == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), 0, len(out), false)
	if bias != nil && len(bias) < g.InChannels {
		panic("conv: a bias is too short")
	}
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	for z := range min(g.Stride[0], g.In[0]) {
		for y := range min(g.Stride[1], g.In[1]) {
			transposeRows(g, [3]int{z, y}, memory, out, weight, bias, in)
		}
	}
}

// phase is what the inputs with one rest read along a dimension: count taps from first on, by step.
type phase struct {
	first, step, count      int
	size, padding, dilation int // of their convolution
}

// phaseOf returns what the inputs with a rest read along dimension d.
func (g *Convolution) phaseOf(d, rest int) phase {
	stride, dilation := g.Stride[d], g.Dilation[d]
	common := gcd(stride, dilation)
	p := phase{step: stride / common, dilation: dilation / common, size: (g.In[d] - rest + stride - 1) / stride}
	for p.first < g.Kernel[d] && (rest+g.Padding[d]-p.first*dilation)%stride != 0 {
		p.first++
	}
	if p.first < g.Kernel[d] {
		p.count = (g.Kernel[d]-p.first-1)/p.step + 1
		p.padding = (p.count-1)*p.dilation - (rest+g.Padding[d]-p.first*dilation)/stride
	}
	return p
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// transposeRows computes the rows of inputs whose places leave a rest: the elements with each rest along the row one after the other, and then
// all in their order.
func transposeRows[T gemm.Float](g Convolution, rest [3]int, memory *gemm.Buffers, out, weight, bias, in []T) {
	if g.Stride == [3]int{1, 1, 1} {
		transposePhase(g, rest, memory, out, weight, bias, in)
		return
	}
	step, planes := min(g.Stride[2], g.In[2]), g.Batch*g.InChannels
	size := [3]int{g.phaseOf(0, rest[0]).size, g.phaseOf(1, rest[1]).size}
	room := planes * size[0] * size[1] * g.In[2]
	results := gemm.Elements[T](&memory.B, room)
	parts := make([][]T, step)
	for x := range step {
		rest[2] = x
		n := planes * size[0] * size[1] * g.phaseOf(2, x).size
		parts[x], results = results[:n:n], results[n:]
		transposePhase(g, rest, memory, out, weight, bias, parts[x])
	}
	for plane := range planes {
		for z := range size[0] {
			for y := range size[1] {
				to := in[((plane*g.In[0]+z*g.Stride[0]+rest[0])*g.In[1]+y*g.Stride[1]+rest[1])*g.In[2]:][:g.In[2]]
				interleave(to, parts, (plane*size[0]+z)*size[1]+y)
			}
		}
	}
}

// interleave fills a row with the elements of row number row of each part in turn.
func interleave[T gemm.Float](to []T, parts [][]T, row int) {
	step := len(parts)
	if step == 2 {
		n := len(to) / 2
		a, b := parts[0][row*(len(to)-n):][:len(to)-n], parts[1][row*n:][:n]
		pairs := to[:2*n]
		for i, v := range b {
			if len(pairs) < 2 || i >= len(a) {
				break
			}
			pairs[0], pairs[1] = a[i], v
			pairs = pairs[2:]
		}
		if len(a) > n {
			to[2*n] = a[n]
		}
		return
	}
	for x, part := range parts {
		n := (len(to) - x + step - 1) / step
		for i, v := range part[row*n:][:n] {
			to[i*step+x] = v
		}
	}
}

// transposePhase computes the inputs whose places leave a rest.
func transposePhase[T gemm.Float](g Convolution, rest [3]int, memory *gemm.Buffers, out, weight, bias, result []T) {
	sub := Convolution{Batch: g.Batch, Groups: g.Groups, InChannels: g.OutChannels, OutChannels: g.InChannels, In: g.Out, Stride: [3]int{1, 1, 1}}
	var phases [3]phase
	for d := range phases {
		phases[d] = g.phaseOf(d, rest[d])
		sub.Out[d], sub.Kernel[d], sub.Padding[d], sub.Dilation[d] = phases[d].size, phases[d].count, phases[d].padding, phases[d].dilation
	}
	if Volume(sub.Kernel) == 0 || Volume(g.Out) == 0 {
		fillBias(sub, bias, result)
		return
	}
	if sub.Kernel == g.Kernel && suitsPairs[T](&sub, fewestPatches) && convolvePairs(sub, out, weight, bias, result, false, turnedTaps) {
		return
	}
	room := g.OutChannels * (g.InChannels / g.Groups) * Volume(sub.Kernel)
	turned := gemm.Elements[T](&memory.A, room)
	reversed(g, phases, weight, turned)
	Convolve(sub, out, turned, bias, result)
}

// reversed writes the weights of the taps of some phases from their end: in channel, filter of the group, kernel.
func reversed[T gemm.Float](g Convolution, phases [3]phase, weight, to []T) {
	channels, filters, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, Volume(g.Kernel)
	var order []int
	for z := phases[0].count - 1; z >= 0; z-- {
		for y := phases[1].count - 1; y >= 0; y-- {
			for x := phases[2].count - 1; x >= 0; x-- {
				order = append(order, (phases[0].at(z)*g.Kernel[1]+phases[1].at(y))*g.Kernel[2]+phases[2].at(x))
			}
		}
	}
	n := len(order)
	for group := range g.Groups {
		turned := to[group*channels*filters*n:]
		for f := 0; f < filters; f += reversedAtOnce {
			for c := range channels {
				row := turned[(c*filters+f)*n:]
				for i := range min(reversedAtOnce, filters-f) {
					source := weight[((group*filters+f+i)*channels+c)*taps:][:taps]
					reorder(row[i*n:][:n], source, order)
				}
			}
		}
	}
}

// reversedAtOnce is how many filters are written beside each other, so that whole cache lines are.
const reversedAtOnce = 16

// reorder writes the elements of a filter in another order.
func reorder[T gemm.Float](to, from []T, order []int) {
	if len(order) == 9 && len(to) >= 9 && len(from) >= 9 { // of 3 by 3, from its end
		to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7], to[8] = from[8], from[7], from[6], from[5], from[4], from[3], from[2], from[1], from[0]
		return
	}
	for i, t := range order {
		to[i] = from[t]
	}
}

func (p *phase) at(i int) int { return p.first + i*p.step }
