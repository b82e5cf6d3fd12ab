package indexing

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// searchSorted gives for each value the place in the sorted last dimension where it belongs.
func searchSorted(sorted, values *tensor.Tensor, right bool, side string, int32s bool) *tensor.Tensor {
	source.Check(sorted.Dim() > 0, "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
	source.Check(side == "" || side == "left" || side == "right", "torch.searchsorted(): side can only be 'left' or 'right' but got %s", side)
	source.Check(!(right && side == "left"), "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
	source.Check(values.Dim() > 0 || sorted.Dim() == 1, "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor dim(%d) and input value's dim(%d) numel(%d)",
		sorted.Dim(), values.Dim(), values.Numel())
	source.Check(sorted.Dim() == 1 || sorted.Dim() == values.Dim() && tensor.SameShape(sorted.Shape()[:sorted.Dim()-1], values.Shape()[:values.Dim()-1]),
		"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor %s and input value tensor %s",
		define.ShapeText(sorted.Shape()), define.ShapeText(values.Shape()))
	r := tensor.NewResultType()
	r.Tensor(sorted)
	r.Tensor(values)
	d := r.DType()
	source.Check(d != tensor.Bool && !d.IsComplex(), "\"searchsorted_out_cpu\" not implemented for '%s'", d.CppName())
	places := tensor.Int64
	if int32s {
		places = tensor.Int32
	}
	if sorted.OnDevice() {
		return elementwise.To(searchOnDevice(elementwise.Contiguous(elementwise.To(sorted, d)), elementwise.Contiguous(elementwise.To(values, d)), right || side == "right"), places)
	}
	out := define.Empty(values.Shape(), places)
	if out.Numel() > 0 {
		s := search{out: out, sorted: elementwise.Contiguous(elementwise.To(sorted, d)), values: elementwise.Contiguous(elementwise.To(values, d)), right: right || side == "right"}
		s.run()
	}
	return out
}

// search looks values up in rows, one for all or one for each row of the values. All are of one type.
type search struct {
	out, sorted, values *tensor.Tensor
	right               bool
}

func (s *search) run() {
	if s.out.DType() == tensor.Int32 {
		searchInto(s, tensor.Data[int32](s.out))
	} else {
		searchInto(s, tensor.Data[int64](s.out))
	}
}

// searchInto compares keys.
func searchInto[P int32 | int64](s *search, out []P) {
	n, perRow := s.sorted.Size(s.sorted.Dim()-1), len(out)
	if s.sorted.Dim() > 1 {
		perRow = s.values.Size(s.values.Dim() - 1)
	}
	if s.sorted.Dim() == 1 {
		room, keys := words(n)
		defer room.Release()
		row := s.row(0, n, len(out), keys)
		parallel.For(len(out), define.RowGrain/16, func(lo, hi int) { placesIn(s, row, out[lo:hi], lo) })
		return
	}
	parallel.For(len(out)/perRow, define.RowGrain/(16*perRow)+1, func(lo, hi int) {
		room, keys := words(n)
		defer room.Release()
		for r := lo; r < hi; r++ {
			placesIn(s, s.row(r, n, perRow, keys), out[r*perRow:(r+1)*perRow], r*perRow)
		}
	})
}

// searchedRow is a row of keys or, where few values are looked up, of elements whose keys are made on the way.
type searchedRow struct {
	n        int
	keys     []uint64
	elements unsafe.Pointer
}

// manySearches is the share of a row's length from which on values are worth the keys of the whole row.
const manySearches = 16

func (s *search) row(r, n, values int, keys []uint64) searchedRow {
	row := searchedRow{n: n, elements: unsafe.Add(s.sorted.DataPtr(), r*n*s.sorted.DType().Size())}
	if values*manySearches >= n {
		row.keys = keys
		s.keys(keys, row.elements)
	}
	return row
}

// keys writes the keys of elements of a row. PyTorch finds a NaN in a row neither equal to nor greater than anything.
func (s *search) keys(keys []uint64, elements unsafe.Pointer) {
	keysOf(keys, elements, s.sorted.DType(), false)
	if nan, ok := nanKey(s.sorted.DType()); ok {
		for i, key := range keys {
			if key == nan {
				keys[i] = 0
			}
		}
	}
}

// placesIn writes the places of values from one on.
func placesIn[P int32 | int64](s *search, row searchedRow, out []P, from int) {
	size := s.values.DType().Size()
	var block [128]uint64
	for at := 0; at < len(out); at += len(block) {
		part := out[at:min(at+len(block), len(out))]
		keys := block[:len(part)]
		keysOf(keys, unsafe.Add(s.values.DataPtr(), (from+at)*size), s.values.DType(), false)
		switch {
		case row.keys == nil:
			for i, key := range keys {
				part[i] = P(s.probe(row, key))
			}
		case s.right:
			for i, key := range keys {
				part[i] = P(firstAbove(row.keys, key))
			}
		default:
			for i, key := range keys {
				part[i] = P(firstNotBelow(row.keys, key))
			}
		}
	}
}

// firstNotBelow halves a row without jumps. What it finds in rows that are not in order follows from the halves, which are PyTorch's.
func firstNotBelow(row []uint64, key uint64) int {
	start, end := 0, len(row)
	for start < end {
		mid := start + (end-start)>>1
		start, end = halve(row[mid] >= key, start, mid, end)
	}
	return start
}

// firstAbove looks for the first greater key.
func firstAbove(row []uint64, key uint64) int {
	start, end := 0, len(row)
	for start < end {
		mid := start + (end-start)>>1
		start, end = halve(row[mid] > key, start, mid, end)
	}
	return start
}

// halve keeps the lower or the upper half of a range.
func halve(lower bool, start, mid, end int) (int, int) {
	bit := 0
	if lower {
		bit = 1
	}
	return start + (mid+1-start)&(bit-1), end + (mid-end)&-bit
}

// probe makes the keys of the elements that it meets.
func (s *search) probe(row searchedRow, key uint64) int {
	start, end := 0, row.n
	var met [1]uint64
	for start < end {
		mid := start + (end-start)>>1
		s.keys(met[:], unsafe.Add(row.elements, mid*s.sorted.DType().Size()))
		start, end = halve(met[0] > key || met[0] == key && !s.right, start, mid, end)
	}
	return start
}

// bincount counts how often each integer occurs, or adds the weights of its places up.
func bincount(t, weights *tensor.Tensor, least int) *tensor.Tensor {
	source.Check(least >= 0, "minlength should be >= 0")
	if t.Dim() == 1 && t.Numel() == 0 {
		return define.Zeros([]int{least}, tensor.Int64)
	}
	source.Check(t.DType() != tensor.Bool && t.DType().IsIntegral(), "\"bincount_cpu\" not implemented for '%s'", t.DType().CppName())
	source.Check(t.Dim() == 1, "bincount only supports 1-d non-negative integral inputs.")
	if weights == nil {
		return countsOf(elementwise.Contiguous(t), least)
	}
	list := tensor.Data[int64](elementwise.Contiguous(elementwise.To(t, tensor.Int64)))
	source.Check(weights.Dim() == 1 && weights.Numel() == len(list), "weights should be 1-d and have the same length as input")
	n := int64(least)
	if len(list) > 0 {
		largest := slices.Max(list)
		source.Check(slices.Min(list) >= 0, "bincount only supports 1-d non-negative integral inputs.")
		source.Check(largest < math.MaxInt64, "maximum value of input overflowed, it should be < %d but got %d", int64(math.MaxInt64), largest)
		n = max(n, largest+1)
	}
	if weights.DType() == tensor.Float32 {
		return sumsOfWeights[float32](list, elementwise.Contiguous(weights), int(n))
	}
	return sumsOfWeights[float64](list, elementwise.Contiguous(elementwise.To(weights, tensor.Float64)), int(n))
}

// countsOf counts each number of a list, in pieces that stay in the cache while their largest is found.
func countsOf(t *tensor.Tensor, least int) *tensor.Tensor {
	counts := define.Zeros([]int{least}, tensor.Int64)
	for lo := 0; lo < t.Numel(); lo += countedAtOnce {
		piece := source.Must(t.Narrow(0, lo, min(countedAtOnce, t.Numel()-lo)))
		numbers := elementwise.To(piece, tensor.Int64)
		list := tensor.Data[int64](numbers)
		if all := union(list); all >= uint64(counts.Numel()) {
			source.Check(all <= math.MaxInt64, "bincount only supports 1-d non-negative integral inputs.")
			largest := slices.Max(list)
			source.Check(largest < math.MaxInt64, "maximum value of input overflowed, it should be < %d but got %d", int64(math.MaxInt64), largest)
			define.Room(8, int(largest)+1)
			if int(largest) >= counts.Numel() {
				n := int(largest) + 1
				if lo+len(list) < t.Numel() {
					n = 1 << bits.Len64(uint64(largest)) // the union of numbers that are not longer is below that too
				}
				counts = resized(counts, n)
			}
		}
		addOnes(tensor.Data[int64](counts), list)
		if numbers != piece {
			numbers.Release()
		}
	}
	n, found := counts.Numel(), tensor.Data[int64](counts)
	for n > least && found[n-1] == 0 {
		n--
	}
	if n < counts.Numel() {
		return resized(counts, n)
	}
	return counts
}

const countedAtOnce = 1 << 14

// union has each bit that one of the numbers has, so that none is larger.
func union(list []int64) uint64 {
	var a, b, c, d int64
	for ; len(list) >= 4; list = list[4:] {
		four := (*[4]int64)(list)
		a, b, c, d = a|four[0], b|four[1], c|four[2], d|four[3]
	}
	for _, v := range list {
		a |= v
	}
	return uint64(a | b | c | d)
}

//go:noinline
func addOnes(counts, list []int64) {
	for _, v := range list {
		counts[v]++
	}
}

// resized returns the first n counts, and zeros where there are fewer.
func resized(t *tensor.Tensor, n int) *tensor.Tensor {
	out := define.Zeros([]int{n}, t.DType())
	copy(tensor.Data[int64](out), tensor.Data[int64](t))
	t.Release()
	return out
}

func sumsOfWeights[T float32 | float64](list []int64, weights *tensor.Tensor, n int) *tensor.Tensor {
	out := define.Zeros([]int{n}, weights.DType())
	sums, w := tensor.Data[T](out), tensor.Data[T](weights)
	for i, v := range list {
		sums[v] += w[i]
	}
	return out
}

// histogram counts elements in bins of equal width; equal bounds mean those of the elements.
func histogram(t *tensor.Tensor, bins int, low, high float64) *tensor.Tensor {
	elementwise.NoIntegers("histogram")(t.DType())
	source.Check(bins > 0, "torch.histogram(): bins must be > 0, but got %d for dimension 0", bins)
	work := tensor.Float64
	if t.DType() != tensor.Float64 {
		work = tensor.Float32
	}
	data := elementwise.Contiguous(elementwise.To(t, work))
	if work == tensor.Float32 {
		return elementwise.To(countBins[float32](data, bins, float32(low), float32(high)), t.DType())
	}
	return countBins(data, bins, low, high)
}

func countBins[T float32 | float64](t *tensor.Tensor, bins int, low, high T) *tensor.Tensor {
	data := tensor.Data[T](t)
	if low == high && len(data) > 0 {
		low, high = data[0], data[0]
		for _, v := range data {
			low, high = min(low, v), max(high, v)
		}
	}
	if low == high {
		low, high = low-1, high+1
	}
	source.Check(!isWild(low) && !isWild(high), "torch.histc: range of [%s, %s] is not finite", shortNumber(low), shortNumber(high))
	source.Check(low < high, "torch.histc: max must be larger than min")
	define.Room(t.DType().Size(), bins)
	counts := define.Table[int64](bins)
	width, number := high-low, T(bins)
	for lo := 0; lo < len(data); lo += define.LookEvery {
		for _, v := range data[lo:define.BlockEnd(lo, len(data))] {
			if v < low || v > high {
				continue
			}
			// A NaN counts as the lowest.
			counts[max(min(int((v-low)/width*number), bins-1), 0)]++
		}
	}
	out := define.Empty([]int{bins}, t.DType())
	for i, n := range counts {
		tensor.Data[T](out)[i] = T(n)
	}
	return out
}

// numberFor gives a number as a tensor of the type in which it is compared with those of another.
func numberFor(t *tensor.Tensor, s tensor.Scalar) *tensor.Tensor {
	r := tensor.NewResultType()
	r.Tensor(t)
	r.Scalar(s)
	return tensor.FromScalar(s, r.DType())
}

// shortNumber prints a number for a message: six digits.
type shortNumber float64

func (f shortNumber) String() string {
	switch {
	case f != f:
		return "nan"
	case f-f != 0:
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(float64(f), 'g', 6, 64), "+"))
	}
	return strconv.FormatFloat(float64(f), 'g', 6, 64)
}

func isWild[T float32 | float64](f T) bool { return f-f != 0 }

// boundaries are those of buckets, one after the other.
func boundaries(c define.Call) *tensor.Tensor {
	t := c.Tensor(1)
	source.Check(t.Dim() == 1, "boundaries tensor must be 1 dimension, but got dim(%d)", t.Dim())
	return t
}

var SearchFamily = []define.Definition{
	define.Giving("searchsorted.Tensor", func(c define.Call) *tensor.Tensor {
		sorted := c.Tensor(0)
		if order := c.OptionalTensor(5); order != nil {
			sorted = Gather(sorted, -1, order)
		}
		return searchSorted(sorted, c.Tensor(1), c.Bool(3), c.StrOr(4, ""), c.Bool(2))
	}).OutOverlapping(),
	define.Giving("searchsorted.Scalar", func(c define.Call) *tensor.Tensor {
		sorted := c.Tensor(0)
		if order := c.OptionalTensor(5); order != nil {
			sorted = Gather(sorted, -1, order)
		}
		return searchSorted(sorted, numberFor(sorted, c.Scalar(1)), c.Bool(3), c.StrOr(4, ""), c.Bool(2))
	}).OutOverlapping(),
	define.Giving("bucketize.Tensor", func(c define.Call) *tensor.Tensor {
		return searchSorted(boundaries(c), c.Tensor(0), c.Bool(3), "", c.Bool(2))
	}).OutOverlapping(),
	define.Giving("bucketize.Scalar", func(c define.Call) *tensor.Tensor {
		return searchSorted(boundaries(c), numberFor(c.Tensor(1), c.Scalar(0)), c.Bool(3), "", c.Bool(2))
	}).OutOverlapping(),
	define.Giving("bincount", func(c define.Call) *tensor.Tensor { return bincount(c.Tensor(0), c.OptionalTensor(1), c.Int(2)) }),
	define.Giving("histc", func(c define.Call) *tensor.Tensor {
		return histogram(c.Tensor(0), c.Int(1), c.Scalar(2).Float64(), c.Scalar(3).Float64())
	}),
}
