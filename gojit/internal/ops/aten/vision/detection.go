package vision

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The operators of torchvision that detectors are exported with.

// suppressed keeps the boxes (x1, y1, x2, y2) that no box with a higher score overlaps by more than a
// threshold: their numbers, by falling score.
func suppressed(boxes, scores *tensor.Tensor, threshold float64) *tensor.Tensor {
	source.Check(boxes.Dim() == 2, "boxes should be a 2d tensor, got %dD", boxes.Dim())
	source.Check(boxes.Size(1) == 4, "boxes should have 4 elements in dimension 1, got %d", boxes.Size(1))
	source.Check(scores.Dim() == 1, "scores should be a 1d tensor, got %dD", scores.Dim())
	source.Check(boxes.Size(0) == scores.Size(0), "boxes and scores should have same number of elements in dimension 0, got %d and %d", boxes.Size(0), scores.Size(0))
	n := boxes.Size(0)
	order := tensor.Data[int64](elementwise.Contiguous(indexing.Second(indexing.SortAlong(scores, 0, true))))
	b := tensor.Data[float32](elementwise.Contiguous(elementwise.To(boxes, tensor.Float32)))
	areas := make([]float32, n)
	for i := range n {
		areas[i] = (b[4*i+2] - b[4*i]) * (b[4*i+3] - b[4*i+1])
	}
	gone := make([]bool, n)
	var kept []int64
	for k, i := range order {
		if gone[i] {
			continue
		}
		kept = append(kept, i)
		indexing.LookBetween(64 * n)
		for _, j := range order[k+1:] {
			if gone[j] {
				continue
			}
			w := max(0, min(b[4*i+2], b[4*j+2])-max(b[4*i], b[4*j]))
			h := max(0, min(b[4*i+3], b[4*j+3])-max(b[4*i+1], b[4*j+1]))
			gone[j] = float64(w*h/(areas[i]+areas[j]-w*h)) > threshold
		}
	}
	out := define.Empty([]int{len(kept)}, tensor.Int64)
	copy(tensor.Data[int64](out), kept)
	return out
}

// regions are the arguments that the pooling of regions shares: rows of an image's number and a box.
type regions struct {
	in                *tensor.Tensor // contiguous, float64
	dtype             tensor.DType
	rois              []float64
	count             int
	channels          int
	height, width     int
	outHeight, outWid int
	scale             float64
}

func regionsOf(c define.Call) regions {
	x, rois := c.Tensor(0), c.Tensor(1)
	source.Check(x.Dim() == 4, "input should be a 4d tensor, got %dD", x.Dim())
	source.Check(rois.Dim() == 2 && rois.Size(1) == 5, "rois must have shape as Tensor[K, 5]")
	r := regions{in: elementwise.Contiguous(elementwise.To(x, tensor.Float64)), dtype: x.DType(), rois: tensor.Data[float64](elementwise.Contiguous(elementwise.To(rois, tensor.Float64))),
		count: rois.Size(0), channels: x.Size(1), height: x.Size(2), width: x.Size(3),
		scale: c.Float(2), outHeight: c.Int(3), outWid: c.Int(4)}
	source.Check(r.outHeight > 0 && r.outWid > 0, "the pooled sizes must be positive, got %d and %d", r.outHeight, r.outWid)
	for i := range r.count {
		source.Check(r.rois[5*i] >= 0 && r.rois[5*i] < float64(x.Size(0)), "a region is of image %v of %d", r.rois[5*i], x.Size(0))
	}
	return r
}

// plane returns a channel of an image.
func (r *regions) plane(image, channel int) []float64 {
	size := r.height * r.width
	at := (image*r.channels + channel) * size
	return tensor.Data[float64](r.in)[at : at+size]
}

// each calls compute for each region with its number, on several goroutines.
func (r *regions) each(compute func(i int)) {
	parallel.For(r.count, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			compute(i)
		}
	})
}

// sampleBetween reads a plane between its elements; outside it is 0.
func sampleBetween(plane []float64, height, width int, y, x float64) float64 {
	if width == 0 || height == 0 || !(y >= -1 && y <= float64(height) && x >= -1 && x <= float64(width)) { // nor is a place that is no number inside
		return 0
	}
	y, x = max(y, 0), max(x, 0)
	y0, x0 := int(y), int(x)
	y1, x1 := y0+1, x0+1
	if y0 >= height-1 {
		y0, y1, y = height-1, height-1, float64(height-1)
	}
	if x0 >= width-1 {
		x0, x1, x = width-1, width-1, float64(width-1)
	}
	ly, lx := y-float64(y0), x-float64(x0)
	return (1-ly)*((1-lx)*plane[y0*width+x0]+lx*plane[y0*width+x1]) + ly*((1-lx)*plane[y1*width+x0]+lx*plane[y1*width+x1])
}

// box is a region in the coordinates of the input, and its bins.
type box struct {
	image              int
	y, x               float64
	binH, binW         float64
	samplesH, samplesW int
}

// sampleBytes is what torchvision notes of each sample of a region: four places and four weights.
const sampleBytes = 48

func (r *regions) box(i int, offset float64, clamp bool, ratio int) box {
	row := r.rois[5*i : 5*i+5]
	b := box{image: int(row[0]), x: row[1]*r.scale - offset, y: row[2]*r.scale - offset}
	w, h := row[3]*r.scale-offset-b.x, row[4]*r.scale-offset-b.y
	if clamp {
		w, h = max(w, 1), max(h, 1)
	}
	b.binH, b.binW = h/float64(r.outHeight), w/float64(r.outWid)
	b.samplesH, b.samplesW = ratio, ratio
	if ratio <= 0 {
		b.samplesH, b.samplesW = int(math.Ceil(b.binH)), int(math.Ceil(b.binW))
	}
	define.Room(sampleBytes, r.outHeight, r.outWid, max(b.samplesH, 0), max(b.samplesW, 0))
	return b
}

// mean is that of the samples of a bin.
func (b *box) mean(plane []float64, height, width, ph, pw int) float64 {
	sum, count := 0.0, 0
	for iy := range b.samplesH {
		y := b.y + float64(ph)*b.binH + (float64(iy)+0.5)*b.binH/float64(b.samplesH)
		for ix := range b.samplesW {
			if count++; count%1024 == 0 {
				parallel.Look()
			}
			sum += sampleBetween(plane, height, width, y, b.x+float64(pw)*b.binW+(float64(ix)+0.5)*b.binW/float64(b.samplesW))
		}
	}
	return sum / max(float64(b.samplesH)*float64(b.samplesW), 1)
}

func regionAlign(c define.Call) *tensor.Tensor {
	r := regionsOf(c)
	offset := 0.0
	if c.Bool(6) {
		offset = 0.5
	}
	out := define.Empty([]int{r.count, r.channels, r.outHeight, r.outWid}, tensor.Float64)
	data := tensor.Data[float64](out)
	r.each(func(i int) {
		b := r.box(i, offset, !c.Bool(6), c.Int(5))
		at := i * r.channels * r.outHeight * r.outWid
		for ch := range r.channels {
			plane := r.plane(b.image, ch)
			for ph := range r.outHeight {
				for pw := range r.outWid {
					data[at] = b.mean(plane, r.height, r.width, ph, pw)
					at++
				}
			}
		}
	})
	return elementwise.To(out, r.dtype)
}

// perPosition computes a pooling in which each bin has channels of its own, and tells which.
func (r *regions) perPosition(c define.Call, compute func(i int, plane func(channel int) []float64, ph, pw, channel int) float64) {
	bins := define.Room(1, r.outHeight, r.outWid)
	source.Check(bins > 0 && r.channels%bins == 0, "input channels must be a multiple of pooling height * pooling width")
	channels := r.channels / bins
	out := define.Empty([]int{r.count, channels, r.outHeight, r.outWid}, tensor.Float64)
	mapping := define.Empty(out.Shape(), tensor.Int32)
	r.each(func(i int) {
		image := int(r.rois[5*i])
		at := i * channels * bins
		for ch := range channels {
			for ph := range r.outHeight {
				for pw := range r.outWid {
					from := (ch*r.outHeight+ph)*r.outWid + pw
					tensor.Data[float64](out)[at] = compute(i, func(k int) []float64 { return r.plane(image, k) }, ph, pw, from)
					tensor.Data[int32](mapping)[at] = int32(from)
					at++
				}
			}
		}
	})
	c.Give(elementwise.To(out, r.dtype), mapping)
}

func positionAlign(c define.Call) {
	r := regionsOf(c)
	r.perPosition(c, func(i int, plane func(int) []float64, ph, pw, channel int) float64 {
		b := r.box(i, 0.5, false, c.Int(5))
		return b.mean(plane(channel), r.height, r.width, ph, pw)
	})
}

// cell returns the whole elements that a bin covers.
func (r *regions) cell(start, size float64, bin, bins, limit int) (lo, hi int) {
	step := size / float64(bins)
	lo = int(math.Floor(float64(bin)*step + start))
	hi = int(math.Ceil(float64(bin+1)*step + start))
	return min(max(lo, 0), limit), min(max(hi, 0), limit)
}

func positionPool(c define.Call) {
	r := regionsOf(c)
	r.perPosition(c, func(i int, plane func(int) []float64, ph, pw, channel int) float64 {
		row := r.rois[5*i : 5*i+5]
		x, y := round(row[1]*r.scale), round(row[2]*r.scale)
		y0, y1 := r.cell(y, max(round(row[4]*r.scale)-y, 1), ph, r.outHeight, r.height-1) // torchvision leaves the last row out
		x0, x1 := r.cell(x, max(round(row[3]*r.scale)-x, 1), pw, r.outWid, r.width-1)
		if y1 <= y0 || x1 <= x0 {
			return 0
		}
		sum, p := 0.0, plane(channel)
		for h := y0; h < y1; h++ {
			for w := x0; w < x1; w++ {
				sum += p[h*r.width+w]
			}
		}
		return sum / float64((y1-y0)*(x1-x0))
	})
}

// round is C's: halves go away from zero.
func round(x float64) float64 { return math.Round(x) }

func regionPool(c define.Call) {
	r := regionsOf(c)
	out := define.Empty([]int{r.count, r.channels, r.outHeight, r.outWid}, tensor.Float64)
	where := define.Empty(out.Shape(), tensor.Int32)
	r.each(func(i int) {
		row := r.rois[5*i : 5*i+5]
		x, y := round(row[1]*r.scale), round(row[2]*r.scale)
		h, w := max(round(row[4]*r.scale)-y+1, 1), max(round(row[3]*r.scale)-x+1, 1)
		at := i * r.channels * r.outHeight * r.outWid
		for ch := range r.channels {
			plane := r.plane(int(row[0]), ch)
			for ph := range r.outHeight {
				y0, y1 := r.cell(y, h, ph, r.outHeight, r.height)
				for pw := range r.outWid {
					x0, x1 := r.cell(x, w, pw, r.outWid, r.width)
					best, index := 0.0, -1
					for k := y0; k < y1; k++ {
						for l := x0; l < x1; l++ {
							if v := plane[k*r.width+l]; index < 0 || v > best {
								best, index = v, k*r.width+l
							}
						}
					}
					tensor.Data[float64](out)[at], tensor.Data[int32](where)[at] = best, int32(index)
					at++
				}
			}
		}
	})
	c.Give(elementwise.To(out, r.dtype), where)
}

// deformable is a convolution that reads its input at places that offset moves, weighted by mask.
func deformable(c define.Call) *tensor.Tensor {
	x, weight := elementwise.Contiguous(elementwise.To(c.Tensor(0), tensor.Float64)), elementwise.Contiguous(elementwise.To(c.Tensor(1), tensor.Float64))
	offset, mask := tensor.Data[float64](elementwise.Contiguous(elementwise.To(c.Tensor(2), tensor.Float64))), elementwise.Contiguous(elementwise.To(c.Tensor(3), tensor.Float64))
	bias := tensor.Data[float64](elementwise.Contiguous(elementwise.To(c.Tensor(4), tensor.Float64)))
	stride, pad, dilation := [2]int{c.Int(5), c.Int(6)}, [2]int{c.Int(7), c.Int(8)}, [2]int{c.Int(9), c.Int(10)}
	groups, offsetGroups := c.Int(11), c.Int(12)
	source.Check(x.Dim() == 4 && weight.Dim() == 4 && c.Tensor(2).Dim() == 4, "deform_conv2d takes an input, a weight and an offset of 4 dimensions")
	n, channels, height, width := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
	outputs, kh, kw := weight.Size(0), weight.Size(2), weight.Size(3)
	define.SmallInts([]int{stride[0], stride[1], pad[0], pad[1], dilation[0], dilation[1], groups, offsetGroups})
	source.Check(stride[0] > 0 && stride[1] > 0 && pad[0] >= 0 && pad[1] >= 0 && dilation[0] > 0 && dilation[1] > 0, "strides and dilations must be positive, paddings not negative")
	source.Check(kh > 0 && kw > 0, "weight has no points: its shape is %v", weight.Shape())
	source.Check(len(bias) == outputs, "bias has %d elements, %d are expected", len(bias), outputs)
	source.Check(groups > 0 && offsetGroups > 0, "groups must be positive")
	outH := (height+2*pad[0]-dilation[0]*(kh-1)-1)/stride[0] + 1
	outW := (width+2*pad[1]-dilation[1]*(kw-1)-1)/stride[1] + 1
	source.Check(outH > 0 && outW > 0, "Calculated output size too small - out_h: %d out_w: %d", outH, outW)
	source.Check(channels == weight.Size(1)*groups && outputs%groups == 0 && channels%offsetGroups == 0, "the channels %d and %d do not fit %d groups", channels, outputs, groups)
	points := kh * kw
	source.Check(tensor.SameShape(c.Tensor(2).Shape(), []int{n, 2 * points * offsetGroups, outH, outW}), "offset has shape %v, %v is expected", c.Tensor(2).Shape(), []int{n, 2 * points * offsetGroups, outH, outW})
	useMask := c.Bool(13)
	source.Check(!useMask || tensor.SameShape(mask.Shape(), []int{n, points * offsetGroups, outH, outW}), "mask has shape %v, %v is expected", mask.Shape(), []int{n, points * offsetGroups, outH, outW})
	out := define.Empty([]int{n, outputs, outH, outW}, tensor.Float64)
	in, w, m := tensor.Data[float64](x), tensor.Data[float64](weight), tensor.Data[float64](mask)
	area, perGroup := outH*outW, channels/groups
	parallel.For(n*area, 1, func(lo, hi int) {
		column := make([]float64, channels*points)
		for position := lo; position < hi; position++ {
			image, at := position/area, position%area
			for ch := range channels {
				plane := in[(image*channels+ch)*height*width : (image*channels+ch+1)*height*width]
				group := ch / (channels / offsetGroups)
				for p := range points {
					o := ((image*offsetGroups+group)*2*points + 2*p) * area
					y := float64(at/outW*stride[0]-pad[0]+p/kw*dilation[0]) + offset[o+at]
					xx := float64(at%outW*stride[1]-pad[1]+p%kw*dilation[1]) + offset[o+area+at]
					v := deformedSample(plane, height, width, y, xx)
					if useMask {
						v *= m[((image*offsetGroups+group)*points+p)*area+at]
					}
					column[ch*points+p] = v
				}
			}
			for k := range outputs {
				sum := bias[k]
				first := k / (outputs / groups) * perGroup * points
				for q, v := range column[first : first+perGroup*points] {
					sum += w[k*perGroup*points+q] * v
				}
				tensor.Data[float64](out)[(image*outputs+k)*area+at] = sum
			}
		}
	})
	return elementwise.To(out, c.Tensor(0).DType())
}

// deformedSample reads between elements; what lies outside the plane counts as 0.
func deformedSample(plane []float64, height, width int, y, x float64) float64 {
	if y <= -1 || y >= float64(height) || x <= -1 || x >= float64(width) {
		return 0
	}
	y0, x0 := int(math.Floor(y)), int(math.Floor(x))
	ly, lx := y-float64(y0), x-float64(x0)
	at := func(y, x int) float64 {
		if y < 0 || y >= height || x < 0 || x >= width {
			return 0
		}
		return plane[y*width+x]
	}
	return (1-ly)*((1-lx)*at(y0, x0)+lx*at(y0, x0+1)) + ly*((1-lx)*at(y0+1, x0)+lx*at(y0+1, x0+1))
}

var DetectionFamily = []define.Definition{
	define.Giving("torchvision::nms", func(c define.Call) *tensor.Tensor { return suppressed(c.Tensor(0), c.Tensor(1), c.Float(2)) }),
	define.Giving("torchvision::roi_align", regionAlign),
	define.Operator("torchvision::roi_pool", regionPool),
	define.Operator("torchvision::ps_roi_align", positionAlign),
	define.Operator("torchvision::ps_roi_pool", positionPool),
	define.Giving("torchvision::deform_conv2d", deformable),
	views.Answering("torchvision::_cuda_version", func(define.Call) value.Value { return value.Int(-1) }),
}
