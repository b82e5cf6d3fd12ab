package dense

// Transpose writes to in the transposed convolution of out, which is the derivative of Convolve by
// its input, plus one element of bias for each in channel where bias is not nil. g describes the
// convolution from in to out; weights are out channel, channel of the group, kernel.
//
// Inputs whose places leave the same rest after division by the steps are read through the same taps:
// they are a convolution of out with those taps, in reverse, by steps of one.
func Transpose[T Float](g Convolution, out, weight, bias, in []T) {
	if volume(g.In)*g.Batch*g.InChannels == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), 0, len(out), false)
	if bias != nil && len(bias) < g.InChannels {
		panic("dense: a bias is too short")
	}
	for z := range min(g.Stride[0], g.In[0]) {
		for y := range min(g.Stride[1], g.In[1]) {
			for x := range min(g.Stride[2], g.In[2]) {
				transposePhase(g, [3]int{z, y, x}, out, weight, bias, in)
			}
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

// transposePhase computes the inputs whose places leave a rest.
func transposePhase[T Float](g Convolution, rest [3]int, out, weight, bias, in []T) {
	sub := Convolution{Batch: g.Batch, Groups: g.Groups, InChannels: g.OutChannels, OutChannels: g.InChannels, In: g.Out, Stride: [3]int{1, 1, 1}}
	var phases [3]phase
	for d := range phases {
		phases[d] = g.phaseOf(d, rest[d])
		sub.Out[d], sub.Kernel[d], sub.Padding[d], sub.Dilation[d] = phases[d].size, phases[d].count, phases[d].padding, phases[d].dilation
	}
	whole := sub.Out == g.In
	result := in
	if !whole {
		result = make([]T, g.Batch*g.InChannels*volume(sub.Out))
	}
	if volume(sub.Kernel) == 0 || volume(g.Out) == 0 {
		fillBias(sub, bias, result)
	} else {
		Convolve(sub, out, reversed(g, phases, weight), bias, result)
	}
	if !whole {
		g.scatter(sub.Out, rest, func(from, to, n int) {
			for x := range n {
				in[to+x*g.Stride[2]] = result[from+x]
			}
		})
	}
}

// scatter calls f for every row of the inputs with a rest: where it begins among them and among all.
func (g *Convolution) scatter(size, rest [3]int, f func(from, to, n int)) {
	from := 0
	for plane := range g.Batch * g.InChannels {
		for z := range size[0] {
			for y := range size[1] {
				f(from, ((plane*g.In[0]+z*g.Stride[0]+rest[0])*g.In[1]+y*g.Stride[1]+rest[1])*g.In[2]+rest[2], size[2])
				from += size[2]
			}
		}
	}
}

// reversed returns the weights of the taps of some phases from their end: in channel, filter of the group, kernel.
func reversed[T Float](g Convolution, phases [3]phase, weight []T) []T {
	channels, filters, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, volume(g.Kernel)
	var order []int
	for z := phases[0].count - 1; z >= 0; z-- {
		for y := phases[1].count - 1; y >= 0; y-- {
			for x := phases[2].count - 1; x >= 0; x-- {
				order = append(order, (phases[0].at(z)*g.Kernel[1]+phases[1].at(y))*g.Kernel[2]+phases[2].at(x))
			}
		}
	}
	to := make([]T, 0, g.OutChannels*channels*len(order))
	for group := range g.Groups {
		for c := range channels {
			for f := range filters {
				from := weight[((group*filters+f)*channels+c)*taps:][:taps]
				for _, t := range order {
					to = append(to, from[t])
				}
			}
		}
	}
	return to
}

func (p *phase) at(i int) int { return p.first + i*p.step }
