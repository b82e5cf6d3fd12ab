package tensors

import (
	"math"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// indexFunctions are x[index] and x[index] = y.
var indexFunctions = []abi.Function{
	{Schema: "tensor_getitem(Tensor self, any index) -> Tensor", Run: getItem},
	{Schema: "tensor_setitem(Tensor self, any index, any item) -> None", Run: setItem},
}

func getItem(c *abi.Call) error {
	x, indices, err := applyIndex(c.Thread, c.ArgTensor(0), c.Arg(1))
	if err != nil {
		return err
	}
	result := value.OfTensor(x)
	switch {
	case indices != nil:
		result, err = c.Thread.Run(abi.OpIndexTensor, result, value.OfList(indices))
	case x == c.ArgTensor(0):
		result, err = c.Thread.Run(abi.OpAlias, result)
	}
	if err != nil {
		return err
	}
	return c.Value(result)
}

func setItem(c *abi.Call) error {
	x, indices, err := applyIndex(c.Thread, c.ArgTensor(0), c.Arg(1))
	if err != nil {
		return err
	}
	item, err := itemTensor(c.Arg(2), x.DType())
	if err != nil {
		return err
	}
	c.None()
	if indices == nil {
		return assign(c.Thread, x, item)
	}
	given := value.OfTensor(item)
	if leadingOnes(item) > 0 {
		if given, err = withoutLeadingOnes(c.Thread, item); err != nil {
			return err
		}
	}
	_, err = c.Thread.Run(abi.OpIndexPutInPlace, value.OfTensor(x), value.OfList(indices), given, value.Bool(false))
	return err
}

// assign copies item into x, which may have fewer dimensions where the first ones of item have length one; a trace records a number as one that fills x.
func assign(h *abi.Thread, x, item *tensor.Tensor) error {
	target, given := value.OfTensor(x), value.OfTensor(item)
	var err error
	switch {
	case tensor.SameShape(x.Shape(), item.Shape()):
	case item.Dim() == 0:
		if h.Recorder != nil {
			_, err = h.Run(abi.OpFillTensor, target, given)
			return err
		}
	default:
		if given, err = withoutLeadingOnes(h, item); err != nil {
			return err
		}
		if !tensor.SameShape(x.Shape(), given.Tensor().Shape()) {
			if given, err = h.Run(abi.OpExpand, given, ints(x.Shape()), value.Bool(false)); err != nil {
				return err
			}
		}
	}
	_, err = h.Run(abi.OpCopyInPlace, target, given, value.Bool(false))
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

func withoutLeadingOnes(h *abi.Thread, t *tensor.Tensor) (value.Value, error) {
	return h.Run(abi.OpView, value.OfTensor(t), ints(t.Shape()[leadingOnes(t):]))
}

func ints(ns []int) value.Value {
	v, _ := value.From(ns)
	return v
}

// itemTensor is what is assigned: a tensor, or a number as a tensor of the target's type.
func itemTensor(w *abi.Word, dtype tensor.DType) (*tensor.Tensor, error) {
	if t := w.Tensor(); t != nil {
		return t, nil
	}
	if dtype.IsQuantized() {
		dtype = tensor.Float32 // what the integers stand for
	}
	if abi.IsNumber(w) {
		return tensor.FromScalar(abi.ScalarOf(w), dtype), nil
	}
	if w.IsSequence() {
		return nestedTensor(w, dtype)
	}
	return nil, abi.TypeErrorf("can't assign a %s to a torch.%s", w.KindName(), dtype.TensorClass())
}

// indexer applies the parts of an index from left to right: views at once, tensors gathered.
type indexer struct {
	thread  *abi.Thread
	x       *tensor.Tensor
	dim     int // where the next part applies
	at      int // which part that is
	gather  bool
	indices []value.Value
	skipped int // dimensions behind those of the indices
}

// applyIndex returns the view that the ints, slices, None and ... of an index make, and the list of
// tensors that remain to be gathered with, nil where there are none.
func applyIndex(h *abi.Thread, x *tensor.Tensor, index *abi.Word) (*tensor.Tensor, *value.List, error) {
	in := indexer{thread: h, x: x}
	if index.Kind() != abi.KindTuple && !isIndices(index) {
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
func isIndices(w *abi.Word) bool {
	if w.Kind() == abi.KindSize {
		return true
	}
	if w.Kind() != abi.KindList || w.Count() >= 32 {
		return false
	}
	for part := range w.Items {
		if !abi.IsNumber(part) && part.Kind() != abi.KindString {
			return true
		}
	}
	return false
}

func (in *indexer) parts(index *abi.Word) error {
	used := 0
	for part := range index.Items {
		used += partDims(part)
	}
	if used > in.x.Dim() {
		return abi.IndexErrorf("too many indices for tensor of dimension %d", in.x.Dim())
	}
	rest := in.x.Dim() - used // counted before ints and None change the number of dimensions
	for part := range index.Items {
		if err := in.part(part, rest); err != nil {
			return err
		}
		in.at++
	}
	return nil
}

// partDims returns how many dimensions of the tensor a part of an index stands for.
func partDims(w *abi.Word) int {
	switch w.Kind() {
	case abi.KindNone, abi.KindEllipsis, abi.KindBool:
		return 0
	}
	if t := w.Tensor(); t != nil && (t.DType() == tensor.Bool || t.DType() == tensor.Uint8) {
		return t.Dim()
	}
	return 1
}

// part applies one part; rest is how many dimensions an ellipsis stands for.
func (in *indexer) part(w *abi.Word, rest int) error {
	if t := w.Tensor(); t != nil {
		return in.tensorPart(w, t)
	}
	switch w.Kind() {
	case abi.KindNone:
		return in.view(abi.OpUnsqueeze, 1, value.Int(int64(in.dim)))
	case abi.KindEllipsis:
		in.skipDims(rest)
		return nil
	case abi.KindInt:
		if in.x.Dim() == 0 {
			return abi.IndexErrorf("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
		}
		if err := in.checkBounds(w.Int()); err != nil {
			return err
		}
		return in.view(abi.OpSelectInt, 0, value.Int(int64(in.dim)), value.Int(w.Int()))
	case abi.KindSlice:
		return in.slicePart(w)
	case abi.KindBool:
		return in.tensorPart(w, tensor.FromScalar(tensor.Boolean(w.Bool()), tensor.Bool))
	case abi.KindList, abi.KindTuple, abi.KindSize:
		return in.sequencePart(w)
	case abi.KindObject:
		if t, err := borrowedTensor(w.Object()); err == nil {
			return in.tensorPart(w, t)
		}
		return abi.Host.Invoke("index_part", 1, func(out *abi.Writer) { out.Object(w.Object()) }, func(meant *abi.Word) error { return in.part(meant, rest) })
	case abi.KindString, abi.KindBytes:
		return abi.TypeErrorf("new(): invalid data type '%s'", w.KindName())
	}
	return abi.IndexErrorf("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)", w.KindName())
}

// sequencePart takes a sequence for a tensor of indices.
func (in *indexer) sequencePart(w *abi.Word) error {
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
	if t, err = in.thread.TracedData(t); err != nil {
		return err
	}
	return in.tensorPart(w, t)
}

// checkBounds refuses an index outside of its dimension. PyTorch calls that by the place of the index.
func (in *indexer) checkBounds(index int64) error {
	if n := int64(0); in.dim < in.x.Dim() {
		if n = int64(in.x.Size(in.dim)); index < -n || index >= n {
			return abi.IndexErrorf("index %d is out of bounds for dimension %d with size %d", index, in.at, n)
		}
	}
	return nil
}

func (in *indexer) skipDims(n int) {
	in.dim += n
	in.skipped += n
}

// view replaces the tensor by a view of it and steps over kept dimensions.
func (in *indexer) view(k *abi.NamedOperator, kept int, args ...value.Value) error {
	v, err := in.thread.Run(k, value.OfTensor(in.x), args...)
	if err != nil {
		return err
	}
	in.x = v.Tensor()
	in.skipDims(kept)
	return nil
}

func (in *indexer) tensorPart(w *abi.Word, t *tensor.Tensor) error {
	switch {
	case t.Dim() == 0 && t.DType().IsIntegral() && t.DType() != tensor.Uint8:
		s, err := abi.ItemOf(t)
		if err != nil {
			return err
		}
		if err := in.checkBounds(s.Int64()); err != nil {
			return err
		}
		given := abi.AppendGiven(nil, 2, -1, types.Int, w)
		return in.tracedView(abi.OpSelectInt, 0, given, value.Int(int64(in.dim)), value.Int(s.Int64()))
	case t.Dim() == 0 && (t.DType() == tensor.Bool || t.DType() == tensor.Uint8):
		// One truth is a mask of a dimension of size one.
		if err := in.view(abi.OpUnsqueeze, 0, value.Int(int64(in.dim))); err != nil {
			return err
		}
		mask, err := in.thread.Run(abi.OpUnsqueeze, value.OfTensor(t), value.Int(0))
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

func (in *indexer) slicePart(w *abi.Word) error {
	if in.x.Dim() == 0 {
		return abi.IndexErrorf("slice() cannot be applied to a 0-dim tensor.")
	}
	args := []value.Value{value.Int(int64(in.dim)), value.None, value.None, value.Int(1)}
	part := w.After(1)
	var given []trace.Given
	for i := 1; i <= 3; i++ {
		given = abi.AppendGiven(given, i+1, -1, types.Int, part)
		switch {
		case part.Kind() == abi.KindInt || abi.IsIntegralScalar(part.Tensor()):
			v, err := abi.ToNumber(part, types.KindInt)
			if err != nil {
				return err
			}
			args[i] = v
		case part.Kind() != abi.KindNone:
			return abi.TypeErrorf("slice indices must be integers or None or have an __index__ method")
		}
		part = part.Next()
	}
	switch step := args[3].Int(); {
	case step == 0:
		return abi.ValueErrorf("slice step cannot be zero")
	case step < 0:
		return abi.ValueErrorf("step must be greater than zero")
	}
	if in.thread.Recorder != nil {
		return in.tracedSlice(args, given)
	}
	if args[1].IsNone() && args[2].IsNone() && args[3].Int() == 1 {
		in.skipDims(1)
		return nil
	}
	return in.view(abi.OpSliceTensor, 1, args...)
}

// tracedSlice is a slice as traces record it: with both ends, even where it takes all.
func (in *indexer) tracedSlice(args []value.Value, given []trace.Given) error {
	if args[1].IsNone() {
		args[1] = value.Int(0)
	}
	if args[2].IsNone() {
		args[2] = value.Int(math.MaxInt64)
	}
	return in.tracedView(abi.OpSliceTensor, 1, given, args...)
}

// tracedView is view with numbers that tensors gave.
func (in *indexer) tracedView(k *abi.NamedOperator, kept int, given []trace.Given, args ...value.Value) error {
	v, err := in.thread.RunGiven(k, given, value.OfTensor(in.x), args...)
	if err != nil {
		return err
	}
	in.x = v.Tensor()
	in.skipDims(kept)
	return nil
}
