package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Convolution is the geometry of a convolution over up to three dimensions; lower ones have size 1 in front.
type Convolution kernel.ConvolutionShape

func Volume(s [3]int) int { return s[0] * s[1] * s[2] }

// convolve adds to out the correlation of in with the weights.
func convolve[T gemm.Float](g Convolution, in, weight, out []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	if channels == 1 && filters == 1 {
		convolveChannels(g, in, weight, out)
		return
	}
	direct := kernel == 1 && g.Stride == [3]int{1, 1, 1} && g.Padding == [3]int{} && g.In == g.Out
	parallel.For(g.Batch*g.Groups, 1, func(lo, hi int) {
		var columns []T
		if !direct {
			columns = make([]T, channels*kernel*outSize)
		}
		for i := lo; i < hi; i++ {
			b, group := i/g.Groups, i%g.Groups
			src := in[(b*g.InChannels+group*channels)*inSize:][:channels*inSize]
			if !direct {
				unfold(g, channels, src, columns)
				src = columns
			}
			gemm.Multiply(filters, outSize, channels*kernel,
				gemm.Matrix[T]{Data: weight[group*filters*channels*kernel:], Stride: channels * kernel},
				gemm.Matrix[T]{Data: src, Stride: outSize},
				gemm.Matrix[T]{Data: out[(b*g.OutChannels+group*filters)*outSize:], Stride: outSize})
		}
	})
}

// convolveChannels convolves each channel with its own filter.
func convolveChannels[T gemm.Float](g Convolution, in, weight, out []T) {
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	parallel.For(g.Batch*g.InChannels, 1+gemm.ParallelWork/max(outSize*kernel, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src, dst, w := in[i*inSize:][:inSize], out[i*outSize:][:outSize], weight[i%g.InChannels*kernel:][:kernel]
			g.Taps(func(tap int, at [3]int) {
				g.rows(at, func(from, to, n, step int) {
					if step == 1 {
						d, s := dst[to:to+n], src[from:from+n]
						for j := range d {
							d[j] += w[tap] * s[j]
						}
						return
					}
					for j := range n {
						dst[to+j] += w[tap] * src[from+j*step]
					}
				})
			})
		}
	})
}

// Taps calls f for every element of the kernel with its offset from the place where a window starts.
func (g *Convolution) Taps(f func(tap int, at [3]int)) {
	tap := 0
	for z := range g.Kernel[0] {
		for y := range g.Kernel[1] {
			for x := range g.Kernel[2] {
				f(tap, [3]int{z*g.Dilation[0] - g.Padding[0], y*g.Dilation[1] - g.Padding[1], x*g.Dilation[2] - g.Padding[2]})
				tap++
			}
		}
	}
}

// rows calls f for every row of the output that a tap at an offset reads inside the input: n
// elements from input index from, step apart, belong to output index to and its successors.
func (g *Convolution) rows(at [3]int, f func(from, to, n, step int)) {
	lo, hi := span(at[2], g.Stride[2], g.In[2], g.Out[2])
	if lo >= hi {
		return
	}
	for z := range g.Out[0] {
		iz := z*g.Stride[0] + at[0]
		if iz < 0 || iz >= g.In[0] {
			continue
		}
		for y := range g.Out[1] {
			iy := y*g.Stride[1] + at[1]
			if iy < 0 || iy >= g.In[1] {
				continue
			}
			f((iz*g.In[1]+iy)*g.In[2]+lo*g.Stride[2]+at[2], (z*g.Out[1]+y)*g.Out[2]+lo, hi-lo, g.Stride[2])
		}
	}
}

// span returns the outputs whose inputs i*stride+at lie in [0, in).
func span(at, stride, in, out int) (lo, hi int) {
	if at < 0 {
		lo = (-at + stride - 1) / stride
	}
	if in-at <= 0 {
		return 0, 0
	}
	return lo, min(out, (in-at+stride-1)/stride)
}

// unfold writes for each channel and tap the inputs that the outputs read there, and zeros where they read beside the input.
func unfold[T gemm.Float](g Convolution, channels int, in, columns []T) {
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	var watch parallel.Watch
	for c := range channels {
		src := in[c*inSize:][:inSize]
		g.Taps(func(tap int, at [3]int) {
			dst, done := columns[(c*kernel+tap)*outSize:][:outSize], 0
			g.rows(at, func(from, to, n, step int) {
				watch.Did(n + rowWork)
				clear(dst[done:to])
				done = to + n
				if step == 1 {
					copy(dst[to:done], src[from:from+n])
					return
				}
				for j := range n {
					dst[to+j] = src[from+j*step]
				}
			})
			clear(dst[done:])
		})
	}
}

// rowWork is what finding a row is as elements of a loop.
const rowWork = 32

// fold adds columns back to the inputs they would have been read from.
func fold[T gemm.Float](g Convolution, channels int, columns, in []T) {
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	var watch parallel.Watch
	for c := range channels {
		dst := in[c*inSize:][:inSize]
		g.Taps(func(tap int, at [3]int) {
			src := columns[(c*kernel+tap)*outSize:][:outSize]
			g.rows(at, func(from, to, n, step int) {
				watch.Did(n + rowWork)
				if step == 1 {
					d, s := dst[from:from+n], src[to:to+n]
					for j := range d {
						d[j] += s[j]
					}
					return
				}
				for j := range n {
					dst[from+j*step] += src[to+j]
				}
			})
		})
	}
}

// Unfold writes the columns of images of one channel, for im2col.
func Unfold[T gemm.Float](g Convolution, in, columns []T) {
	eachImage(g, func(image, columnsOf int) { unfold(g, 1, in[image:], columns[columnsOf:]) })
}

// Fold adds the columns of images of one channel to the images, for col2im.
func Fold[T gemm.Float](g Convolution, columns, in []T) {
	eachImage(g, func(image, columnsOf int) { fold(g, 1, columns[columnsOf:], in[image:]) })
}

// eachImage calls f with the places where each of a batch of images and its columns begin.
func eachImage(g Convolution, f func(image, columns int)) {
	columns := Volume(g.Kernel) * Volume(g.Out)
	parallel.For(g.Batch, 1+gemm.ParallelWork/max(columns, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i*Volume(g.In), i*columns)
		}
	})
}
