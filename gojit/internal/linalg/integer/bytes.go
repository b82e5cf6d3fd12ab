package integer

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// ByteWeights are the weights of a convolution of bytes, or of a matrix product with bytes, packed once: signed bytes less a zero
// point for each out channel. They never change.
type ByteWeights struct {
	groups, channels, filters int // channels and filters of a group
	kernel                    [3]int
	joined                    bool               // the channels of the taps of a row of the filter follow each other in the input
	values                    []int16            // less the zero points: out channel, tap, channel; where no code is generated
	taps                      []uint32           // tap by channel, completed to whole vectors: where each channel has one filter of its own
	sums                      []int32            // of each out channel
	pooled                    tile.DepthwiseKind // Largest or Averaged of the bytes: there are no weights; else Convolved
	parts                     int                // how many signed bytes a number is the sum of
	isa                       asm.ISA
	dot                       bool
	packed                    []byte // by group, panel, part, run and four channels
}

// PackBytes prepares weights that are laid out as Convolve takes those of floats; zeros has a zero point for each out channel, or one
// for all. The geometry says groups, channels, the kernel and dilation. It panics where weights or zeros are too few.
func PackBytes(g conv.Convolution, weight []int8, zeros []int) *ByteWeights {
	return packBytes(g, weight, zeros, asm.Target(), asm.HasByteDots(asm.Target()))
}

func packBytes(g conv.Convolution, weight []int8, zeros []int, isa asm.ISA, dot bool) *ByteWeights {
	w := &ByteWeights{groups: g.Groups, channels: g.InChannels / g.Groups, filters: g.OutChannels / g.Groups, kernel: g.Kernel,
		joined: g.Groups == 1 && g.Dilation[2] == 1 && !g.IsDepthwise(), sums: make([]int32, g.OutChannels), isa: isa, dot: dot}
	taps := conv.Volume(g.Kernel)
	if len(weight) < g.OutChannels*w.channels*taps || len(zeros) < 1 {
		panic("integer: too few weights")
	}
	w.values = make([]int16, g.OutChannels*taps*w.channels)
	w.parts = 1
	for o := range g.OutChannels {
		zero := zeros[o%len(zeros)]
		for c := range w.channels {
			for t := range taps {
				v := int(weight[(o*w.channels+c)*taps+t]) - zero
				w.values[(o*taps+t)*w.channels+c] = int16(v)
				w.sums[o] += int32(v)
				w.parts = max(w.parts, (v+126)/127, (127-v)/128)
			}
		}
	}
	switch {
	case isa < asm.AVX2 || len(w.values) == 0:
		w.isa = asm.None
	case g.IsDepthwise():
		w.parts = 1 // of 16 bits
		w.packTaps()
		w.values = nil
	default:
		w.pack()
		w.values = nil
	}
	return w
}

// lanes returns the 32-bit sums of a vector.
func (w *ByteWeights) lanes() int { return w.isa.Width().Bytes() / 4 }

// packTaps lays the weights of filters of one channel each out by tap, as the kernels read them: the number in the low part of 32 bits.
func (w *ByteWeights) packTaps() {
	taps, lanes := conv.Volume(w.kernel), w.lanes()
	row := (w.groups + lanes - 1) / lanes * lanes
	w.taps = make([]uint32, taps*row)
	for c := range w.groups {
		for t := range taps {
			w.taps[t*row+c] = uint32(uint16(w.values[c*taps+t]))
		}
	}
}

// runs returns how many stretches of the input a sum reads for a part, how long they are, and how many fours that is.
func (w *ByteWeights) runs() (n, length, fours int) {
	n, length = conv.Volume(w.kernel), w.channels
	if w.joined {
		n, length = n/w.kernel[2], length*w.kernel[2]
	}
	return n, length, (length + 3) / 4
}

// whole returns the filters of a group completed to whole vectors.
func (w *ByteWeights) whole() int {
	return (w.filters + w.lanes() - 1) / w.lanes() * w.lanes()
}

// panelAt returns where a panel of a group begins in the packed weights, in bytes.
func (w *ByteWeights) panelAt(group, panel int) int {
	return (group*w.whole() + panel*gemm.PanelVectors*w.lanes()) * w.columnBytes()
}

// columnBytes returns what an out channel takes of the packed weights.
func (w *ByteWeights) columnBytes() int {
	n, _, fours := w.runs()
	if w.dot {
		return w.parts * n * fours * 4
	}
	return w.parts * n * fours * 8
}

// pack lays the weights out as the tiles read them.
func (w *ByteWeights) pack() {
	w.packed = gemm.Aligned[byte](w.groups * w.whole() * w.columnBytes())
	lanes := w.lanes()
	for group := range w.groups {
		for panel := 0; panel*gemm.PanelVectors*lanes < w.filters; panel++ {
			first, width := panel*gemm.PanelVectors*lanes, conv.PanelWidth(w.filters, panel, lanes)
			for f := first; f < min(first+width, w.filters); f++ {
				w.packColumn(w.packed[w.panelAt(group, panel):], group*w.filters+f, f-first, width)
			}
		}
	}
}

// packColumn writes the weights of an out channel as one of the columns of a panel.
func (w *ByteWeights) packColumn(to []byte, channel, column, width int) {
	n, length, fours := w.runs()
	values := append([]int16(nil), w.values[channel*n*length:][:n*length]...)
	lanes := w.lanes()
	vector, lane := column/lanes, column%lanes
	for part := range w.parts {
		for i, v := range values {
			piece := min(max(v, -128), 127)
			values[i] -= piece
			k := i % length
			four := (part*n+i/length)*fours + k/4
			if w.dot {
				to[(four*width+column)*4+k%4] = byte(piece)
				continue
			}
			at := ((four*width+vector*lanes)*2+k%2*lanes+lane)*4 + k%4/2*2
			*(*int16)(unsafe.Pointer(&to[at])) = piece
		}
	}
}
