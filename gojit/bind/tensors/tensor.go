package tensors

import (
	"math"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tensorFunctions are what the class Tensor has besides operators.
var tensorFunctions = []abi.Function{
	{Schema: "tensor_shape(Tensor self) -> Size", Run: tensorShape},
	{Schema: "tensor_dtype(Tensor self) -> dtype", Run: tensorDType},
	{Schema: "tensor_layout(Tensor self) -> int", Run: tensorLayout},
	{Schema: "tensor_device(Tensor self) -> device", Run: tensorDevice},
	{Schema: "tensor_stride(Tensor self, any dim=None) -> any", Run: tensorStride},
	{Schema: "tensor_dim(Tensor self) -> int", Run: tensorDim},
	{Schema: "tensor_numel(Tensor self) -> any", Run: tensorNumel},
	{Schema: "tensor_length(Tensor self) -> int", Run: tensorLength},
	{Schema: "tensor_offset(Tensor self) -> int", Run: tensorOffset},
	{Schema: "tensor_data_ptr(Tensor self) -> int", Run: tensorDataPtr},
	{Schema: "tensor_version(Tensor self) -> int", Run: tensorVersion},
	{Schema: "tensor_size(Tensor self, int dim) -> any", Run: tensorSize},
	{Schema: "tensor_item(Tensor self) -> any", Run: tensorItem},
	{Schema: "tensor_number(Tensor self, str kind) -> any", Run: tensorNumber},
	{Schema: "tensor_truth(Tensor self) -> bool", Run: tensorTruth},
	{Schema: "tensor_tolist(Tensor self) -> any", Run: tensorToList},
	{Schema: "tensor_text(Tensor self) -> str", Run: tensorText},
	{Schema: "tensor_qscheme(Tensor self) -> int", Run: tensorQScheme},
	{Schema: "set_print_options(int precision, int threshold, int edgeitems, int linewidth, bool? sci_mode) -> None", Run: setPrintOptions},
	{Schema: "tensor_requires_grad(Tensor self) -> bool", Run: tensorRequiresGrad},
	{Schema: "tensor_set_requires_grad(Tensor self, bool on) -> None", Run: tensorSetRequiresGrad},
	{Schema: "tensor_set_data(Tensor self, Tensor data) -> None", Run: tensorSetData},
	{Schema: "tensor_count_apart(Tensor self) -> None", Run: tensorCountApart},
	{Schema: "tensor_is_contiguous(Tensor self, int format=0) -> bool", Run: tensorIsContiguous},
	{Schema: "tensor_storage(Tensor self) -> Tensor", Run: tensorStorage},
	{Schema: "tensor_shares_storage(Tensor self, Tensor other) -> bool", Run: tensorSharesStorage},
}

func tensorShape(c *abi.Call) error {
	t := c.ArgTensor(0)
	r := c.Thread.Recorder
	if r == nil || r.FixedSizes {
		c.Ints(abi.KindSize, t.Shape())
		return nil
	}
	c.Open(abi.KindSize, t.Dim())
	for d := range t.Dim() {
		size, err := r.Size(t, d)
		if err != nil {
			return err
		}
		if err := c.Value(value.OfTensor(size)); err != nil {
			return err
		}
	}
	return nil
}

// tensorSize replies the size of one dimension.
func tensorSize(c *abi.Call) error {
	t := c.ArgTensor(0)
	d, err := tensor.WrapDim(c.ArgInt(1), t.Dim())
	if err != nil {
		return err
	}
	if r := c.Thread.Recorder; r != nil && !r.FixedSizes {
		size, err := r.Size(t, c.ArgInt(1))
		if err != nil {
			return err
		}
		return c.Value(value.OfTensor(size))
	}
	c.Int(t.Size(d))
	return nil
}

func tensorDType(c *abi.Call) error {
	c.Token(abi.TokenDType, int64(c.ArgTensor(0).DType()))
	return nil
}

func tensorDevice(c *abi.Call) error {
	c.Token(abi.TokenDevice, abi.DeviceCode(c.ArgTensor(0).ShownDevice()))
	return nil
}

// tensorLayout replies the number of the layout, 0 where the elements are strided.
func tensorLayout(c *abi.Call) error {
	c.Int(int(c.ArgTensor(0).Layout()))
	return nil
}

// refuseCompressed fails for what tensors in a compressed layout do not have.
func refuseCompressed(t *tensor.Tensor, what string) error {
	if t.Layout().Compressed() {
		return abi.RuntimeErrorf("Sparse CSR tensors do not have %s", what)
	}
	return nil
}

// refuseSparse fails for tensors without elements in memory.
func refuseSparse(t *tensor.Tensor) error {
	if t.IsSparse() {
		return abi.RuntimeErrorf("Cannot access data pointer of Tensor that doesn't have storage")
	}
	return nil
}

// tensorStride replies all strides, or that of one dimension.
func tensorStride(c *abi.Call) error {
	t := c.ArgTensor(0)
	if err := refuseCompressed(t, "strides"); err != nil {
		return err
	}
	if c.IsNone(1) {
		c.Ints(abi.KindTuple, t.Strides())
		return nil
	}
	d, err := dimensionOf(t, c.Arg(1))
	if err != nil {
		return err
	}
	c.Int(t.Strides()[d])
	return nil
}

// dimensionOf returns the position of a dimension of t that is given by number or name.
func dimensionOf(t *tensor.Tensor, w *abi.Word) (at int, err error) {
	defer source.Catch(&err)
	switch w.Kind() {
	case abi.KindInt, abi.KindBool:
		return tensor.WrapDim(int(w.Int()), t.Dim())
	case abi.KindString:
		return dimnames.Position(t, w.Text()), nil
	}
	return 0, abi.TypeErrorf("stride(): argument 'dim' (position 1) must be int, not %s", abi.Describe(w).ArgumentName)
}

func tensorDim(c *abi.Call) error {
	c.Int(c.ArgTensor(0).Dim())
	return nil
}

func tensorNumel(c *abi.Call) error {
	if r := c.Thread.Recorder; r != nil && !r.FixedSizes {
		n, err := r.Numel(c.ArgTensor(0))
		if err != nil {
			return err
		}
		return c.Value(value.OfTensor(n))
	}
	c.Int(c.ArgTensor(0).Numel())
	return nil
}

func tensorLength(c *abi.Call) error {
	t := c.ArgTensor(0)
	if t.Dim() == 0 {
		return abi.TypeErrorf("len() of a 0-d tensor")
	}
	if r := c.Thread.Recorder; r != nil && r.Exact && !r.FixedSizes {
		size, err := r.Size(t, 0)
		if err != nil {
			return err
		}
		r.Observe(size, "the length of a tensor")
	}
	c.Int(t.Size(0))
	return nil
}

func tensorOffset(c *abi.Call) error {
	c.Int(c.ArgTensor(0).Offset())
	return nil
}

func tensorDataPtr(c *abi.Call) error {
	if err := refuseSparse(c.ArgTensor(0)); err != nil {
		return err
	}
	var at uintptr // a tensor on the device meta is at 0
	switch t := c.ArgTensor(0); {
	case t.OnDevice():
		at = uintptr(t.Address())
	case t.ShownDevice().Type != tensor.Meta:
		at = uintptr(t.DataPtr())
	}
	c.Int64(int64(at))
	return nil
}

func tensorVersion(c *abi.Call) error {
	t := c.ArgTensor(0)
	if t.IsInference() {
		return abi.RuntimeErrorf("Inference tensors do not track version counter.")
	}
	c.Int(t.Version())
	return nil
}

func tensorItem(c *abi.Call) error {
	element, err := c.Thread.ElementTraced(c.ArgTensor(0))
	switch {
	case err != nil:
		return err
	case element != nil:
		return c.KeptValue(value.OfTensor(element))
	}
	return writeItem(c)
}

// tensorNumber is tensorItem for a conversion that warnings call by its own name.
func tensorNumber(c *abi.Call) error {
	if kind := c.ArgString(1); kind != "index" || c.Thread.Recorder != nil && c.Thread.Recorder.Exact { // PyTorch does not warn of indices
		if err := c.Thread.WarnTraced(c.ArgTensor(0), "Converting a tensor to a Python "+kind); err != nil {
			return err
		}
	}
	return writeItem(c)
}

func writeItem(c *abi.Call) error {
	v, err := c.Element(c.ArgTensor(0))
	if err != nil {
		return err
	}
	return c.Value(v)
}

func tensorTruth(c *abi.Call) error {
	if err := c.Thread.WarnTraced(c.ArgTensor(0), "Converting a tensor to a Python boolean"); err != nil {
		return err
	}
	t := c.ArgTensor(0)
	switch {
	case t.Numel() == 0:
		return abi.RuntimeErrorf("Boolean value of Tensor with no values is ambiguous")
	case t.Numel() > 1:
		return abi.RuntimeErrorf("Boolean value of Tensor with more than one value is ambiguous")
	}
	v, err := c.Element(t)
	if err != nil {
		return err
	}
	c.Bool(abi.IsNonzero(v))
	return nil
}

// tensorToList replies the elements as nested lists.
func tensorToList(c *abi.Call) error {
	if err := c.Thread.WarnTraced(c.ArgTensor(0), "Converting a tensor to a Python list"); err != nil {
		return err
	}
	t, err := c.ArgTensor(0).Resolved()
	if err != nil {
		return err
	}
	if t.Dispatches() {
		return abi.RuntimeErrorf(".tolist() is not supported for tensor subclasses.")
	}
	if err := refuseSparse(t); err != nil {
		return err
	}
	if t.Device().Type == tensor.Meta {
		return source.Errorf(source.NotImplementedError, source.Range{}, "Cannot copy out of meta tensor; no data!")
	}
	if t, err = t.ToDevice(tensor.Device{}); err != nil {
		return err
	}
	var waiting abi.Signals
	return listElements(c, t, make([]int, t.Dim()), 0, &waiting)
}

// elementsBetweenSignals is how many elements of a list are converted between two looks at the signals.
const elementsBetweenSignals = 1 << 14

// listElements replies the elements at the indices before dim. It ends where a signal handler raises.
func listElements(c *abi.Call, t *tensor.Tensor, at []int, dim int, waiting *abi.Signals) error {
	if dim == t.Dim() {
		return c.Value(value.OfScalar(t.At(at...)))
	}
	c.Open(abi.KindList, t.Size(dim))
	for i := range t.Size(dim) {
		if i%elementsBetweenSignals == elementsBetweenSignals-1 {
			if err := waiting.Poll(); err != nil {
				return err
			}
		}
		at[dim] = i
		if err := listElements(c, t, at, dim+1, waiting); err != nil {
			return err
		}
	}
	return nil
}

func tensorText(c *abi.Call) error {
	c.String(textOf(c.ArgTensor(0)))
	return nil
}

// textOf is the printed form with what the tape knows of a tensor.
func textOf(t *tensor.Tensor) string {
	made := ""
	if n := autograd.NodeOf(t); n != nil {
		made = n.Name()
	}
	var more []string
	if v := autograd.Tangent(t); v != nil {
		more = append(more, "tangent="+textOf(v))
	}
	return t.Repr(made, more...)
}

// setPrintOptions changes how tensors are shown. A negative threshold means that nothing is left out.
func setPrintOptions(c *abi.Call) error {
	o := tensor.PrintOptions{Precision: int(c.ArgInt(0)), Threshold: int(c.ArgInt(1)), EdgeItems: int(c.ArgInt(2)), LineWidth: int(c.ArgInt(3))}
	if o.Threshold < 0 {
		o.Threshold = math.MaxInt
	}
	if c.Arg(4).Kind() != abi.KindNone {
		sci := c.ArgBool(4)
		o.SciMode = &sci
	}
	tensor.SetPrintOptions(o)
	return nil
}

// tensorQScheme replies 0 for one scale, 1 for a scale for each index of a dimension, and 2 where zero points lie between integers.
func tensorQScheme(c *abi.Call) error {
	q := c.ArgTensor(0).Quantizer()
	switch {
	case q == nil:
		return source.Errorf(source.RuntimeError, source.Range{}, "Could not run 'aten::qscheme' with arguments from the 'CPU' backend: the tensor is not quantized")
	case q.FloatZeros != nil:
		c.Int(2)
	case q.PerChannel():
		c.Int(1)
	default:
		c.Int(0)
	}
	return nil
}

func tensorRequiresGrad(c *abi.Call) error {
	c.Bool(c.ArgTensor(0).RequiresGrad())
	return nil
}

func tensorSetRequiresGrad(c *abi.Call) error {
	c.None()
	if c.ArgBool(1) && c.ArgTensor(0).IsInference() && !c.Thread.Mode.Inference() {
		return abi.RuntimeErrorf("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
	}
	return c.ArgTensor(0).SetRequiresGrad(c.ArgBool(1))
}

// tensorSetData makes the tensor a view of what another tensor views.
func tensorSetData(c *abi.Call) error {
	c.ArgTensor(0).Set(c.ArgTensor(1))
	c.None()
	return nil
}

// tensorCountApart makes writes of the tensor count as those of no other tensor over its memory.
func tensorCountApart(c *abi.Call) error {
	c.ArgTensor(0).CountApart()
	c.None()
	return nil
}

func tensorIsContiguous(c *abi.Call) error {
	if err := refuseCompressed(c.ArgTensor(0), "is_contiguous"); err != nil {
		return err
	}
	c.Bool(c.ArgTensor(0).IsContiguousFormat(tensor.MemoryFormat(c.ArgInt(1))))
	return nil
}

// tensorStorage replies all of the memory that a tensor shows, as bytes.
func tensorStorage(c *abi.Call) error {
	s := c.ArgTensor(0).Storage()
	t, err := tensor.FromStorage(s, 0, []int{s.NBytes()}, []int{1}, tensor.Uint8)
	if err == nil {
		c.Tensor(t)
	}
	return err
}

func tensorSharesStorage(c *abi.Call) error {
	c.Bool(c.ArgTensor(0).SharesStorage(c.ArgTensor(1)))
	return nil
}
