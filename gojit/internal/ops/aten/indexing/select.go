package indexing

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// chosenPlace says which element of a row's order is wanted, given how many of the n are numbers and how many NaN.
type chosenPlace func(numbers, nans int) int

// picked gives the index of one element of each row: the one at a place of the order, which is the first NaN where the
// place is behind the numbers.
func (l *lines) picked(place chosenPlace) *tensor.Tensor {
	index := l.like(1, tensor.Int64)
	at := tensor.Data[int64](index)
	l.each(4*l.n, func(lo, hi int) {
		room, both := words(2 * l.n)
		defer room.Release()
		for i := lo; i < hi; i++ {
			at[i] = int64(pickedOf(l.row(i), l.t.DType(), both, place))
		}
	})
	return index
}

// pickedOf is picked for one row, with room for two keys of each element.
func pickedOf(row unsafe.Pointer, d tensor.DType, room []uint64, place chosenPlace) int {
	n := len(room) / 2
	keys, moved := room[:n], room[n:]
	keysOf(keys, row, d, false)
	nan, hasNaN := nanKey(d)
	nans := 0
	if hasNaN {
		nans = countOf(keys, nan)
	}
	wanted := place(n-nans, nans)
	if wanted >= n-nans {
		return slices.Index(keys, nan)
	}
	copy(moved, keys)
	key, before := selectKey(moved, wanted, keyWidth(d))
	return placeOf(keys, key, wanted-before)
}

func countOf(keys []uint64, key uint64) int {
	n := 0
	for _, k := range keys {
		if k == key {
			n++
		}
	}
	return n
}

// placeOf returns the index of a key that stands behind skip others like it.
func placeOf(keys []uint64, key uint64, skip int) int {
	for i, k := range keys {
		if k == key {
			if skip == 0 {
				return i
			}
			skip--
		}
	}
	return -1
}

// pick gives one element of each row and its index, with or without the dimension. The kernel's name is for errors.
func pick(name, kernel string, t *tensor.Tensor, dim int, keepdim bool, place chosenPlace) (values, indices *tensor.Tensor) {
	refuseTruths(kernel, t)
	l := linesOf(kernel, t, dim)
	defer l.forget()
	noEmptyLines(name, &l)
	return l.one(l.picked(place), keepdim)
}

func refuseTruths(kernel string, t *tensor.Tensor) {
	source.Check(!t.DType().IsComplex() && t.DType() != tensor.Bool, "\"%s\" not implemented for '%s'", kernel, t.DType().CppName())
}

func noEmptyLines(name string, l *lines) {
	if l.n == 0 {
		source.Raise(source.IndexError, "%s(): Expected reduction dim %d to have non-zero size.", name, l.dim)
	}
}

// one gives the elements at an index for each row.
func (l *lines) one(index *tensor.Tensor, keepdim bool) (values, indices *tensor.Tensor) {
	values, indices = l.back(l.values(index, 1)), l.back(index)
	if !keepdim && l.dims > 0 {
		shape := slices.Delete(slices.Clone(values.Shape()), l.dim, l.dim+1)
		values, indices = define.ShownAs(values, shape...), define.ShownAs(indices, shape...)
	}
	return values, indices
}

// medianPlace is the lower of the two in the middle, and a NaN where there is one.
func medianPlace(numbers, nans int) int {
	if nans > 0 {
		return numbers
	}
	return (numbers - 1) / 2
}

// numbersMedian is that of the elements that are numbers.
func numbersMedian(numbers, _ int) int { return max(numbers-1, 0) / 2 }

// wholeMedian is the median of all elements.
func wholeMedian(t *tensor.Tensor, place chosenPlace) *tensor.Tensor {
	if t.Numel() == 0 {
		if t.DType().IsFloating() {
			return source.Must(tensor.Full(nil, tensor.Float(math.NaN()), t.DType()))
		}
		if t.DType() == tensor.Int32 {
			return source.Must(tensor.Full(nil, tensor.Int(math.MinInt32), t.DType()))
		}
		return source.Must(tensor.Full(nil, tensor.Int(math.MinInt64), t.DType()))
	}
	refuseTruths("median_cpu", t)
	flat := elementwise.Contiguous(t)
	defer define.ForgetMade(t, flat)
	n, size := flat.Numel(), t.DType().Size()
	var near [2 * shortRow]uint64
	room := near[:]
	if n > shortRow {
		var far *tensor.Tensor
		far, room = words(2 * n)
		defer far.Release()
	}
	at := pickedOf(flat.DataPtr(), t.DType(), room[:2*n], place)
	out := define.Empty(nil, t.DType())
	copy(unsafe.Slice((*byte)(out.DataPtr()), size), unsafe.Slice((*byte)(unsafe.Add(flat.DataPtr(), at*size)), size))
	return out
}

// kthValue gives the k-th of each row in order, NaNs last. Of equal elements it gives the one that PyTorch's selection ends with, which takes longer.
func kthValue(t *tensor.Tensor, k, dim int, keepdim bool) (values, indices *tensor.Tensor) {
	refuseTruths("kthvalue_cpu", t)
	l := linesOf("kthvalue_cpu", t, dim)
	defer l.forget()
	noEmptyLines("kthvalue", &l)
	source.Check(k >= 1 && k <= l.n, "kthvalue(): selected number k out of range for dimension %d", define.WrapDim(dim, t))
	index := l.like(1, tensor.Int64)
	at := tensor.Data[int64](index)
	l.each(4*l.n, func(lo, hi int) {
		room, both := words(2 * l.n)
		defer room.Release()
		keys, places := both[:l.n], both[l.n:]
		for i := lo; i < hi; i++ {
			keysOf(keys, l.row(i), l.t.DType(), false)
			copy(places, keys)
			key, _ := selectKey(places, k-1, keyWidth(l.t.DType()))
			if first := slices.Index(keys, key); !slices.Contains(keys[first+1:], key) {
				at[i] = int64(first)
				continue
			}
			for j := range places {
				places[j] = uint64(j)
			}
			selectInPlace(keys, places, k-1)
			at[i] = int64(places[k-1])
		}
	})
	return l.one(index, keepdim)
}

// selectInPlace moves keys, and places with them, until that at k is the one that stands there in order: the selection by partitions around the median
// of three of Numerical Recipes.
func selectInPlace(keys, places []uint64, k int) {
	swap := func(i, j int) {
		keys[i], keys[j] = keys[j], keys[i]
		places[i], places[j] = places[j], places[i]
	}
	for lo, hi := 0, len(keys)-1; lo < hi; {
		if hi == lo+1 {
			if keys[lo] > keys[hi] {
				swap(lo, hi)
			}
			return
		}
		swap((lo+hi)>>1, lo+1)
		if keys[lo+1] > keys[hi] {
			swap(lo+1, hi)
		}
		if keys[lo] > keys[hi] {
			swap(lo, hi)
		}
		if keys[lo+1] > keys[lo] {
			swap(lo+1, lo)
		}
		i, j, pivot := lo+1, hi, keys[lo]
		for {
			for i++; keys[i] < pivot; i++ {
			}
			for j--; keys[j] > pivot; j-- {
			}
			if j < i {
				break
			}
			swap(i, j)
		}
		swap(lo, j)
		if j <= k {
			lo = i
		}
		if j >= k {
			hi = j - 1
		}
	}
}

// mode gives the commonest element of each row, the smallest of several, and its last index. NaNs are all different.
func mode(t *tensor.Tensor, dim int, keepdim bool) (values, indices *tensor.Tensor) {
	l := linesOf("mode_cpu", t, dim)
	defer l.forget()
	if l.count > 0 {
		noEmptyLines("mode", &l)
	}
	order := l.ordered(l.n, false)
	defer order.Release()
	index := l.like(1, tensor.Int64)
	at, best := tensor.Data[int64](order), tensor.Data[int64](index)
	nan, hasNaN := nanKey(l.t.DType())
	l.each(4*l.n, func(lo, hi int) {
		room, keys := words(l.n)
		defer room.Release()
		for i := lo; i < hi; i++ {
			keysOf(keys, l.row(i), l.t.DType(), false)
			most, run := 0, 0
			row := at[i*l.n : (i+1)*l.n]
			for j, place := range row {
				key := keys[place]
				if j > 0 && key == keys[row[j-1]] && !(hasNaN && key == nan) {
					run++
				} else {
					run = 1
				}
				if run > most {
					most, best[i] = run, place
				}
			}
		}
	})
	return l.one(index, keepdim)
}

// quantileInterpolations are the ways from two elements to a quantile. nearest takes the even place of two that are equally near.
var quantileInterpolations = []string{"linear", "lower", "higher", "midpoint", "nearest"}

// quantile interpolates between the sorted elements of each row.
func quantile(t, q *tensor.Tensor, dim []int, keepdim bool, interpolation string) *tensor.Tensor {
	at, shape := 0, slices.Repeat([]int{1}, t.Dim())
	if len(dim) == 0 {
		t = source.Must(t.Reshape(-1))
	} else {
		at = define.WrapDim(dim[0], t)
		if shape = slices.Clone(t.Shape()); len(shape) > 0 {
			shape[at] = 1
		}
	}
	l := linesOf("quantile", t, at)
	defer l.forget()
	out := define.Empty([]int{l.count, q.Numel()}, t.DType())
	if t.DType() == tensor.Float32 {
		quantilesOf[float32](&l, out, q, interpolation)
	} else {
		quantilesOf[float64](&l, out, q, interpolation)
	}
	if len(dim) > 0 && l.dims > 0 {
		moved := slices.Clone(l.t.Shape())
		moved[l.dims-1] = 1
		out = source.Must(source.Must(out.Reshape(append(moved, q.Numel())...)).Transpose(at, l.dims-1))
	} else {
		out = source.Must(out.Reshape(append(shape, q.Numel())...))
	}
	out = source.Must(out.MoveDims([]int{-1}, []int{0}))
	switch {
	case keepdim:
	case len(dim) == 0:
		out = source.Must(out.Reshape(q.Numel()))
	case l.dims > 0:
		out = source.Must(out.SqueezeDim(at + 1))
	}
	if q.Dim() == 0 {
		out = source.Must(out.Select(0, 0))
	}
	return out
}

// quantilesOf writes the quantiles of each row.
func quantilesOf[T float32 | float64](l *lines, out, q *tensor.Tensor, interpolation string) {
	qs, result := tensor.Data[T](elementwise.Contiguous(q)), tensor.Data[T](out)
	l.each(8*l.n, func(lo, hi int) {
		room, both := words(2 * l.n)
		defer room.Release()
		for r := lo; r < hi; r++ {
			order := newRowOrder(unsafe.Slice((*T)(l.row(r)), l.n), l.t.DType(), both, 2*len(qs))
			for k, p := range qs {
				result[r*len(qs)+k] = order.quantile(p, interpolation)
			}
		}
	})
}

// rowOrder finds elements of a row by their places in its order.
type rowOrder[T float32 | float64] struct {
	row      []T
	dtype    tensor.DType
	keys     []uint64 // of the elements; sorted where isSorted is set
	spare    []uint64
	isSorted bool
}

// fewPlaces is up to how many places are looked for one by one, rather than sorting the row.
const fewPlaces = 4

// newRowOrder takes room for two keys of each element, and how many places will be asked for.
func newRowOrder[T float32 | float64](row []T, d tensor.DType, room []uint64, places int) *rowOrder[T] {
	n := len(row)
	source.Check(n <= math.MaxUint32, "quantile(): a dimension of %d elements is too large", n)
	o := &rowOrder[T]{row: row, dtype: d, keys: room[:n], spare: room[n:]}
	keysOf(o.keys, unsafe.Pointer(unsafe.SliceData(row)), d, false)
	if places > fewPlaces {
		o.keys, o.isSorted = radixSort(o.keys, o.spare), true
	}
	return o
}

// quantile returns what is between the two elements next to a place, from 0 for the first to 1 for the last; a NaN where there is one.
func (o *rowOrder[T]) quantile(p T, interpolation string) T {
	if v, ok := o.nan(); ok {
		return v
	}
	place := p * T(len(o.row)-1)
	low, high := int(math.Floor(float64(place))), int(math.Ceil(float64(place)))
	switch interpolation {
	case "lower":
		high = low
	case "higher":
		low = high
	case "nearest":
		low = int(math.RoundToEven(float64(place)))
		high = low
	}
	a, b := o.neighbours(low, high)
	switch interpolation {
	case "linear":
		return between(a, b, place-T(low))
	case "midpoint":
		return between(a, b, 0.5)
	}
	return a
}

func (o *rowOrder[T]) nan() (v T, ok bool) {
	key, _ := nanKey(o.dtype)
	if o.isSorted && o.keys[len(o.keys)-1] != key || !o.isSorted && !slices.Contains(o.keys, key) {
		return 0, false
	}
	return o.row[slices.IndexFunc(o.row, func(v T) bool { return v != v })], true
}

// neighbours returns the elements at two places of the order, the second of which is the first or the next.
func (o *rowOrder[T]) neighbours(low, high int) (a, b T) {
	if o.isSorted {
		return o.element(o.keys[low], low), o.element(o.keys[high], high)
	}
	copy(o.spare, o.keys)
	key, before := selectKey(o.spare, high, keyWidth(o.dtype))
	b = o.element(key, high)
	if low >= before {
		return o.element(key, low), b
	}
	greatest := uint64(0)
	for _, k := range o.keys {
		if k < key {
			greatest = max(greatest, k)
		}
	}
	return o.element(greatest, low), b
}

// element returns the element with a key, at a place of the order: zeros of both signs have one key, and the place says which it is.
func (o *rowOrder[T]) element(key uint64, place int) T {
	v := floatOfKey[T](key)
	if v != 0 {
		return v
	}
	for _, w := range o.row {
		if w < 0 {
			place--
		}
	}
	zeros := 0
	for _, w := range o.row {
		if w == 0 {
			if zeros == place {
				return w
			}
			zeros++
		}
	}
	return v
}

// between is a at weight 0 and b at 1, both to the bit.
func between[T float32 | float64](a, b, weight T) T {
	if weight < 0.5 {
		return a + T(weight*(b-a))
	}
	return b - T((b-a)*(1-weight))
}

// checkQuantile fails for what has no quantiles.
func checkQuantile(c define.Call) {
	t, interpolation := c.Tensor(0), c.Str(4)
	source.Check(slices.Contains(quantileInterpolations, interpolation), "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s", interpolation)
	source.Check(t.Numel() > 0, "quantile() input tensor must be non-empty")
	if c.Args[1].IsTensor() {
		source.Check(c.Tensor(1).Dim() <= 1, "quantile() q must be a scalar or 1D tensor")
	} else {
		source.Check(c.Float(1) >= 0 && c.Float(1) <= 1, "quantile() q must be in the range [0, 1] but got %v", c.Float(1))
	}
	source.Check(t.DType() == tensor.Float32 || t.DType() == tensor.Float64, "quantile() input tensor must be either float or double dtype")
	if c.Args[1].IsTensor() {
		q := c.Tensor(1)
		source.Check(q.DType() == t.DType(), "quantile() q tensor must be same dtype as the input tensor")
		if !define.IsMeta(q) {
			for _, p := range tensor.Data[float64](elementwise.Contiguous(elementwise.To(q, tensor.Float64))) {
				source.Check(p >= 0 && p <= 1, "quantile() q values must be in the range [0, 1]")
			}
		}
	}
	if dim := c.OneDim(2); len(dim) > 0 {
		define.WrapDim(dim[0], t)
	}
}

// quantileScalar is quantile for one number.
func quantileScalar(c define.Call) *tensor.Tensor {
	return quantile(c.Tensor(0), tensor.FromScalar(tensor.Float(c.Float(1)), c.Tensor(0).DType()), c.OneDim(2), c.Bool(3), c.Str(4))
}

var SelectFamily = []define.Definition{
	define.Operator("kthvalue", func(c define.Call) { c.Give(define.Pair(kthValue(c.Tensor(0), c.Int(1), c.Int(2), c.Bool(3)))...) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { reduce.ChosenGrad(c, c.Int(2), c.Bool(3)) })}).OutApart(),
	define.Giving("median", func(c define.Call) *tensor.Tensor { return wholeMedian(c.Tensor(0), medianPlace) }).With(ops.Def{Grad: define.Concrete(reduce.EvenlyOfAll)}),
	define.Operator("median.dim", func(c define.Call) {
		c.Give(define.Pair(pick("median", "median_out", c.Tensor(0), c.Int(1), c.Bool(2), medianPlace))...)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { reduce.ChosenGrad(c, c.Int(1), c.Bool(2)) })}),
	define.Giving("nanmedian", func(c define.Call) *tensor.Tensor { return wholeMedian(c.Tensor(0), numbersMedian) }).With(ops.Def{Grad: define.Concrete(reduce.EvenlyOfAll)}),
	define.Operator("nanmedian.dim", func(c define.Call) {
		c.Give(define.Pair(pick("median", "median_out", c.Tensor(0), c.Int(1), c.Bool(2), numbersMedian))...)
	}),
	define.Operator("mode", func(c define.Call) { c.Give(define.Pair(mode(c.Tensor(0), c.Int(1), c.Bool(2)))...) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { reduce.ChosenGrad(c, c.Int(1), c.Bool(2)) })}),
	define.Giving("quantile", func(c define.Call) *tensor.Tensor {
		return quantile(c.Tensor(0), c.Tensor(1), c.OneDim(2), c.Bool(3), c.Str(4))
	}).Checked(checkQuantile),
	define.Giving("quantile.scalar", quantileScalar).Checked(checkQuantile),
}
