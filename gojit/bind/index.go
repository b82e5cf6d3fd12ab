package bind

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// indexFunctions are x[index] and x[index] = y.
var indexFunctions = []function{
	{schema: "tensor_getitem(Tensor self, any index) -> Tensor", run: getItem},
	{schema: "tensor_setitem(Tensor self, any index, any item) -> None", run: setItem},
}

func getItem(c *call) error {
	x, indices, err := c.thread.applyIndex(c.argTensor(0), c.arg(1))
	if err != nil {
		return err
	}
	result := value.OfTensor(x)
	switch {
	case indices != nil:
		result, err = c.thread.run(opIndexTensor, result, value.OfList(indices))
	case x == c.argTensor(0):
		result, err = c.thread.run(opAlias, result)
	}
	if err != nil {
		return err
	}
	return c.value(result)
}

func setItem(c *call) error {
	x, indices, err := c.thread.applyIndex(c.argTensor(0), c.arg(1))
	if err != nil {
		return err
	}
	item, err := itemTensor(c.arg(2), x.DType())
	if err != nil {
		return err
	}
	c.none()
	if indices == nil {
		return c.thread.assign(x, item)
	}
	given := value.OfTensor(item)
	if leadingOnes(item) > 0 {
		if given, err = c.thread.withoutLeadingOnes(item); err != nil {
			return err
		}
	}
	_, err = c.thread.run(opIndexPutInPlace, value.OfTensor(x), value.OfList(indices), given, value.Bool(false))
	return err
}

// assign copies item into x, which may have fewer dimensions where the first ones of item have length one; a trace records a number as one that fills x.
func (h *thread) assign(x, item *tensor.Tensor) error {
	target, given := value.OfTensor(x), value.OfTensor(item)
	var err error
	switch {
	case tensor.SameShape(x.Shape(), item.Shape()):
	case item.Dim() == 0:
		if h.recorder != nil {
			_, err = h.run(opFillTensor, target, given)
			return err
		}
	default:
		if given, err = h.withoutLeadingOnes(item); err != nil {
			return err
		}
		if !tensor.SameShape(x.Shape(), given.Tensor().Shape()) {
			if given, err = h.run(opExpand, given, ints(x.Shape()), value.Bool(false)); err != nil {
				return err
			}
		}
	}
	_, err = h.run(opCopyInPlace, target, given, value.Bool(false))
	return err
}

// leadingOnes returns how many dimensions of length one come first.
func leadingOnes(t *tensor.Tensor) int {
	n := 0
	for n < t.Dim() && t.Shape()[n] == 1 {
		n++
	}
	return n
}

func (h *thread) withoutLeadingOnes(t *tensor.Tensor) (value.Value, error) {
	return h.run(opView, value.OfTensor(t), ints(t.Shape()[leadingOnes(t):]))
}

func ints(ns []int) value.Value {
	v, _ := value.From(ns)
	return v
}

// itemTensor is what is assigned: a tensor, or a number as a tensor of the target's type.
func itemTensor(w *Word, dtype tensor.DType) (*tensor.Tensor, error) {
	if t := w.tensor(); t != nil {
		return t, nil
	}
	if isNumber(w) {
		return tensor.FromScalar(wordScalar(w), dtype), nil
	}
	if w.isSequence() {
		return nestedTensor(w, dtype)
	}
	return nil, typeErrorf("can't assign a %s to a torch.%s", w.kindName(), dtype.TensorClass())
}

// indexer applies the parts of an index from left to right: views at once, tensors gathered.
type indexer struct {
	thread  *thread
	x       *tensor.Tensor
	dim     int // where the next part applies
	at      int // which part that is
	gather  bool
	indices []value.Value
	skipped int // dimensions behind those of the indices
}

// applyIndex returns the view that the ints, slices, None and ... of an index make, and the list of
// tensors that remain to be gathered with, nil where there are none.
func (h *thread) applyIndex(x *tensor.Tensor, index *Word) (*tensor.Tensor, *value.List, error) {
	in := indexer{thread: h, x: x}
	if index.kind() != kindTuple && !isIndices(index) {
		if err := in.part(index, 0); err != nil {
			return nil, nil, err
		}
	} else if err := in.parts(index); err != nil {
		return nil, nil, err
	}
	if !in.gather {
		return in.x, nil, nil
	}
	return in.x, value.NewList(types.NewOptional(types.Tensor), in.indices...), nil
}

// isIndices reports whether a list stands for a tuple: a short one with something else in it than numbers.
func isIndices(w *Word) bool {
	if w.kind() == kindSize {
		return true
	}
	if w.kind() != kindList || w.count() >= 32 {
		return false
	}
	for part := range w.items {
		if !isNumber(part) && part.kind() != kindString {
			return true
		}
	}
	return false
}

func (in *indexer) parts(index *Word) error {
	used := 0
	for part := range index.items {
		used += partDims(part)
	}
	if used > in.x.Dim() {
		return indexErrorf("too many indices for tensor of dimension %d", in.x.Dim())
	}
	rest := in.x.Dim() - used // counted before ints and None change the number of dimensions
	for part := range index.items {
		if err := in.part(part, rest); err != nil {
			return err
		}
		in.at++
	}
	return nil
}

// partDims returns how many dimensions of the tensor a part of an index stands for.
func partDims(w *Word) int {
	switch w.kind() {
	case kindNone, kindEllipsis, kindBool:
		return 0
	}
	if t := w.tensor(); t != nil && (t.DType() == tensor.Bool || t.DType() == tensor.Uint8) {
		return t.Dim()
	}
	return 1
}

// part applies one part; rest is how many dimensions an ellipsis stands for.
func (in *indexer) part(w *Word, rest int) error {
	if t := w.tensor(); t != nil {
		return in.tensorPart(w, t)
	}
	switch w.kind() {
	case kindNone:
		return in.view(opUnsqueeze, 1, value.Int(int64(in.dim)))
	case kindEllipsis:
		in.skipDims(rest)
		return nil
	case kindInt:
		if in.x.Dim() == 0 {
			return indexErrorf("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
		}
		if err := in.checkBounds(w.int()); err != nil {
			return err
		}
		return in.view(opSelectInt, 0, value.Int(int64(in.dim)), value.Int(w.int()))
	case kindSlice:
		return in.slicePart(w)
	case kindBool:
		return in.tensorPart(w, tensor.FromScalar(tensor.Boolean(w.bool()), tensor.Bool))
	case kindList, kindTuple, kindSize:
		return in.sequencePart(w)
	case kindObject:
		if t, err := borrowedTensor(w.object()); err == nil {
			return in.tensorPart(w, t)
		}
		return host.invoke("index_sequence", 1, func(out *writer) { out.object(w.object()) }, in.sequencePart)
	case kindString, kindBytes:
		return typeErrorf("new(): invalid data type '%s'", w.kindName())
	}
	return indexErrorf("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)", w.kindName())
}

// sequencePart takes a sequence for a tensor of indices.
func (in *indexer) sequencePart(w *Word) error {
	dtype, err := typeOfNumbers(w)
	if err != nil {
		return err
	}
	if dtype != tensor.Bool && dtype != tensor.Uint8 {
		dtype = tensor.Int64
	}
	t, err := nestedTensor(w, dtype)
	if err != nil {
		return err
	}
	if t, err = in.thread.tracedData(t); err != nil {
		return err
	}
	return in.tensorPart(w, t)
}

// checkBounds refuses an index outside of its dimension. PyTorch calls that by the place of the index.
func (in *indexer) checkBounds(index int64) error {
	if n := int64(0); in.dim < in.x.Dim() {
		if n = int64(in.x.Size(in.dim)); index < -n || index >= n {
			return indexErrorf("index %d is out of bounds for dimension %d with size %d", index, in.at, n)
		}
	}
	return nil
}

func (in *indexer) skipDims(n int) {
	in.dim += n
	in.skipped += n
}

// view replaces the tensor by a view of it and steps over kept dimensions.
func (in *indexer) view(k *namedOperator, kept int, args ...value.Value) error {
	v, err := in.thread.run(k, value.OfTensor(in.x), args...)
	if err != nil {
		return err
	}
	in.x = v.Tensor()
	in.skipDims(kept)
	return nil
}

func (in *indexer) tensorPart(w *Word, t *tensor.Tensor) error {
	switch {
	case t.Dim() == 0 && t.DType().IsIntegral() && t.DType() != tensor.Uint8:
		s, err := itemOf(t)
		if err != nil {
			return err
		}
		if err := in.checkBounds(s.Int64()); err != nil {
			return err
		}
		given := appendGiven(nil, 2, -1, types.Int, w)
		return in.tracedView(opSelectInt, 0, given, value.Int(int64(in.dim)), value.Int(s.Int64()))
	case t.Dim() == 0 && (t.DType() == tensor.Bool || t.DType() == tensor.Uint8):
		// One truth is a mask of a dimension of size one.
		if err := in.view(opUnsqueeze, 0, value.Int(int64(in.dim))); err != nil {
			return err
		}
		mask, err := in.thread.run(opUnsqueeze, value.OfTensor(t), value.Int(0))
		if err != nil {
			return err
		}
		t = mask.Tensor()
	}
	in.gather = true
	for ; in.skipped > 0; in.skipped-- {
		in.indices = append(in.indices, value.None)
	}
	in.indices = append(in.indices, value.OfTensor(t))
	if t.DType() == tensor.Bool || t.DType() == tensor.Uint8 {
		in.dim += max(t.Dim(), 1)
		return nil
	}
	in.dim++
	return nil
}

func (in *indexer) slicePart(w *Word) error {
	if in.x.Dim() == 0 {
		return indexErrorf("slice() cannot be applied to a 0-dim tensor.")
	}
	args := []value.Value{value.Int(int64(in.dim)), value.None, value.None, value.Int(1)}
	part := w.after(1)
	var given []trace.Given
	for i := 1; i <= 3; i++ {
		given = appendGiven(given, i+1, -1, types.Int, part)
		switch {
		case part.kind() == kindInt || isIntegralScalar(part.tensor()):
			v, err := toNumber(part, types.KindInt)
			if err != nil {
				return err
			}
			args[i] = v
		case part.kind() != kindNone:
			return typeErrorf("slice indices must be integers or None or have an __index__ method")
		}
		part = part.next()
	}
	switch step := args[3].Int(); {
	case step == 0:
		return valueErrorf("slice step cannot be zero")
	case step < 0:
		return valueErrorf("step must be greater than zero")
	}
	if in.thread.recorder != nil {
		return in.tracedSlice(args, given)
	}
	if args[1].IsNone() && args[2].IsNone() && args[3].Int() == 1 {
		in.skipDims(1)
		return nil
	}
	return in.view(opSliceTensor, 1, args...)
}

// tracedSlice is a slice as traces record it: with both ends, even where it takes all.
func (in *indexer) tracedSlice(args []value.Value, given []trace.Given) error {
	if args[1].IsNone() {
		args[1] = value.Int(0)
	}
	if args[2].IsNone() {
		args[2] = value.Int(math.MaxInt64)
	}
	return in.tracedView(opSliceTensor, 1, given, args...)
}

// tracedView is view with numbers that tensors gave.
func (in *indexer) tracedView(k *namedOperator, kept int, given []trace.Given, args ...value.Value) error {
	v, err := in.thread.runGiven(k, given, value.OfTensor(in.x), args...)
	if err != nil {
		return err
	}
	in.x = v.Tensor()
	in.skipDims(kept)
	return nil
}

// tracedData records, where a trace is being recorded, that a tensor was made of numbers.
func (h *thread) tracedData(t *tensor.Tensor) (*tensor.Tensor, error) {
	if h.recorder == nil || h.recorder.Exact {
		return t, nil
	}
	no := value.Bool(false)
	v, err := h.run(opToDevice, value.OfTensor(t), value.OfDevice(t.Device()), value.Int(int64(t.DType())), no, no)
	if err != nil {
		return nil, err
	}
	return v.Tensor(), nil
}
