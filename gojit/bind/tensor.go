package bind

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tensorFunctions are what the class Tensor has besides operators.
var tensorFunctions = []function{
	{schema: "tensor_shape(Tensor self) -> Size", run: tensorShape},
	{schema: "tensor_dtype(Tensor self) -> dtype", run: tensorDType},
	{schema: "tensor_layout(Tensor self) -> int", run: tensorLayout},
	{schema: "tensor_device(Tensor self) -> device", run: tensorDevice},
	{schema: "tensor_stride(Tensor self, int? dim=None) -> any", run: tensorStride},
	{schema: "tensor_dim(Tensor self) -> int", run: tensorDim},
	{schema: "tensor_numel(Tensor self) -> any", run: tensorNumel},
	{schema: "tensor_length(Tensor self) -> int", run: tensorLength},
	{schema: "tensor_offset(Tensor self) -> int", run: tensorOffset},
	{schema: "tensor_data_ptr(Tensor self) -> int", run: tensorDataPtr},
	{schema: "tensor_version(Tensor self) -> int", run: tensorVersion},
	{schema: "tensor_size(Tensor self, int dim) -> any", run: tensorSize},
	{schema: "tensor_item(Tensor self) -> any", run: tensorItem},
	{schema: "tensor_number(Tensor self, str kind) -> any", run: tensorNumber},
	{schema: "tensor_truth(Tensor self) -> bool", run: tensorTruth},
	{schema: "tensor_tolist(Tensor self) -> any", run: tensorToList},
	{schema: "tensor_text(Tensor self) -> str", run: tensorText},
	{schema: "tensor_qscheme(Tensor self) -> int", run: tensorQScheme},
	{schema: "set_print_options(int precision, int threshold, int edgeitems, int linewidth, bool? sci_mode) -> None", run: setPrintOptions},
	{schema: "tensor_requires_grad(Tensor self) -> bool", run: tensorRequiresGrad},
	{schema: "tensor_set_requires_grad(Tensor self, bool on) -> None", run: tensorSetRequiresGrad},
	{schema: "tensor_set_data(Tensor self, Tensor data) -> None", run: tensorSetData},
	{schema: "tensor_count_apart(Tensor self) -> None", run: tensorCountApart},
	{schema: "tensor_is_contiguous(Tensor self, int format=0) -> bool", run: tensorIsContiguous},
	{schema: "tensor_storage(Tensor self) -> Tensor", run: tensorStorage},
	{schema: "tensor_shares_storage(Tensor self, Tensor other) -> bool", run: tensorSharesStorage},
}

func tensorShape(c *call) error {
	t := c.argTensor(0)
	r := c.thread.recorder
	if r == nil || r.FixedSizes {
		c.ints(kindSize, t.Shape())
		return nil
	}
	c.open(kindSize, t.Dim())
	for d := range t.Dim() {
		size, err := r.Size(t, d)
		if err != nil {
			return err
		}
		if err := c.value(value.OfTensor(size)); err != nil {
			return err
		}
	}
	return nil
}

// tensorSize replies the size of one dimension.
func tensorSize(c *call) error {
	t := c.argTensor(0)
	d, err := tensor.WrapDim(c.argInt(1), t.Dim())
	if err != nil {
		return err
	}
	if r := c.thread.recorder; r != nil && !r.FixedSizes {
		size, err := r.Size(t, c.argInt(1))
		if err != nil {
			return err
		}
		return c.value(value.OfTensor(size))
	}
	c.int(t.Size(d))
	return nil
}

func tensorDType(c *call) error {
	c.token(tokenDType, int64(c.argTensor(0).DType()))
	return nil
}

func tensorDevice(c *call) error {
	c.token(tokenDevice, deviceCode(c.argTensor(0).ShownDevice()))
	return nil
}

// tensorLayout replies the number of the layout, 0 where the elements are strided.
func tensorLayout(c *call) error {
	c.int(int(c.argTensor(0).Layout()))
	return nil
}

// refuseCompressed fails for what tensors in a compressed layout do not have.
func refuseCompressed(t *tensor.Tensor, what string) error {
	if t.Layout().Compressed() {
		return runtimeErrorf("Sparse CSR tensors do not have %s", what)
	}
	return nil
}

// refuseSparse fails for tensors without elements in memory.
func refuseSparse(t *tensor.Tensor) error {
	if t.IsSparse() {
		return runtimeErrorf("Cannot access data pointer of Tensor that doesn't have storage")
	}
	return nil
}

// tensorStride replies all strides, or that of one dimension.
func tensorStride(c *call) error {
	t := c.argTensor(0)
	if err := refuseCompressed(t, "strides"); err != nil {
		return err
	}
	if c.isNone(1) {
		c.ints(kindTuple, t.Strides())
		return nil
	}
	d, err := tensor.WrapDim(c.argInt(1), t.Dim())
	if err != nil {
		return err
	}
	c.int(t.Strides()[d])
	return nil
}

func tensorDim(c *call) error {
	c.int(c.argTensor(0).Dim())
	return nil
}

func tensorNumel(c *call) error {
	if r := c.thread.recorder; r != nil && !r.FixedSizes {
		n, err := r.Numel(c.argTensor(0))
		if err != nil {
			return err
		}
		return c.value(value.OfTensor(n))
	}
	c.int(c.argTensor(0).Numel())
	return nil
}

func tensorLength(c *call) error {
	t := c.argTensor(0)
	if t.Dim() == 0 {
		return typeErrorf("len() of a 0-d tensor")
	}
	if r := c.thread.recorder; r != nil && r.Exact && !r.FixedSizes {
		size, err := r.Size(t, 0)
		if err != nil {
			return err
		}
		r.Observe(size, "the length of a tensor")
	}
	c.int(t.Size(0))
	return nil
}

func tensorOffset(c *call) error {
	c.int(c.argTensor(0).Offset())
	return nil
}

func tensorDataPtr(c *call) error {
	if err := refuseSparse(c.argTensor(0)); err != nil {
		return err
	}
	var at uintptr // a tensor on the device meta is at 0
	switch t := c.argTensor(0); {
	case t.OnDevice():
		at = uintptr(t.Address())
	case t.Device().Type != tensor.Meta:
		at = uintptr(t.DataPtr())
	}
	c.int64(int64(at))
	return nil
}

func tensorVersion(c *call) error {
	t := c.argTensor(0)
	if t.IsInference() {
		return runtimeErrorf("Inference tensors do not track version counter.")
	}
	c.int(t.Version())
	return nil
}

func tensorItem(c *call) error {
	element, err := c.thread.elementTraced(c.argTensor(0))
	switch {
	case err != nil:
		return err
	case element != nil:
		return c.keptValue(value.OfTensor(element))
	}
	return writeItem(c)
}

// tensorNumber is tensorItem for a conversion that warnings call by its own name.
func tensorNumber(c *call) error {
	if kind := c.argString(1); kind != "index" || c.thread.recorder != nil && c.thread.recorder.Exact { // PyTorch does not warn of indices
		if err := c.thread.warnTraced(c.argTensor(0), "Converting a tensor to a Python "+kind); err != nil {
			return err
		}
	}
	return writeItem(c)
}

func writeItem(c *call) error {
	v, err := c.element(c.argTensor(0))
	if err != nil {
		return err
	}
	return c.value(v)
}

func tensorTruth(c *call) error {
	if err := c.thread.warnTraced(c.argTensor(0), "Converting a tensor to a Python boolean"); err != nil {
		return err
	}
	t := c.argTensor(0)
	switch {
	case t.Numel() == 0:
		c.bool(false)
		return nil
	case t.Numel() > 1:
		return runtimeErrorf("Boolean value of Tensor with more than one value is ambiguous")
	}
	v, err := c.element(t)
	if err != nil {
		return err
	}
	c.bool(isNonzero(v))
	return nil
}

// tensorToList replies the elements as nested lists.
func tensorToList(c *call) error {
	if err := c.thread.warnTraced(c.argTensor(0), "Converting a tensor to a Python list"); err != nil {
		return err
	}
	t := c.argTensor(0)
	if t.Dispatches() {
		return runtimeErrorf(".tolist() is not supported for tensor subclasses.")
	}
	if err := refuseSparse(t); err != nil {
		return err
	}
	if t.Device().Type == tensor.Meta {
		return source.Errorf(source.NotImplementedError, source.Range{}, "Cannot copy out of meta tensor; no data!")
	}
	t, err := t.ToDevice(tensor.Device{})
	if err != nil {
		return err
	}
	var waiting signals
	return listElements(c, t, make([]int, t.Dim()), 0, &waiting)
}

// elementsBetweenSignals is how many elements of a list are converted between two looks at the signals.
const elementsBetweenSignals = 1 << 14

// listElements replies the elements at the indices before dim. It ends where a signal handler raises.
func listElements(c *call, t *tensor.Tensor, at []int, dim int, waiting *signals) error {
	if dim == t.Dim() {
		return c.value(value.OfScalar(t.At(at...)))
	}
	c.open(kindList, t.Size(dim))
	for i := range t.Size(dim) {
		if i%elementsBetweenSignals == elementsBetweenSignals-1 {
			if err := waiting.poll(); err != nil {
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

func tensorText(c *call) error {
	c.string(textOf(c.argTensor(0)))
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
func setPrintOptions(c *call) error {
	o := tensor.PrintOptions{Precision: int(c.argInt(0)), Threshold: int(c.argInt(1)), EdgeItems: int(c.argInt(2)), LineWidth: int(c.argInt(3))}
	if o.Threshold < 0 {
		o.Threshold = math.MaxInt
	}
	if c.arg(4).kind() != kindNone {
		sci := c.argBool(4)
		o.SciMode = &sci
	}
	tensor.SetPrintOptions(o)
	return nil
}

// tensorQScheme replies 0 for one scale, 1 for a scale for each index of a dimension, and 2 where zero points lie between integers.
func tensorQScheme(c *call) error {
	q := c.argTensor(0).Quantizer()
	switch {
	case q == nil:
		return source.Errorf(source.RuntimeError, source.Range{}, "Could not run 'aten::qscheme' with arguments from the 'CPU' backend: the tensor is not quantized")
	case q.FloatZeros != nil:
		c.int(2)
	case q.PerChannel():
		c.int(1)
	default:
		c.int(0)
	}
	return nil
}

func tensorRequiresGrad(c *call) error {
	c.bool(c.argTensor(0).RequiresGrad())
	return nil
}

func tensorSetRequiresGrad(c *call) error {
	c.none()
	if c.argBool(1) && c.argTensor(0).IsInference() && !c.thread.mode.Inference() {
		return runtimeErrorf("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
	}
	return c.argTensor(0).SetRequiresGrad(c.argBool(1))
}

// tensorSetData makes the tensor a view of what another tensor views.
func tensorSetData(c *call) error {
	c.argTensor(0).Set(c.argTensor(1))
	c.none()
	return nil
}

// tensorCountApart makes writes of the tensor count as those of no other tensor over its memory.
func tensorCountApart(c *call) error {
	c.argTensor(0).CountApart()
	c.none()
	return nil
}

func tensorIsContiguous(c *call) error {
	if err := refuseCompressed(c.argTensor(0), "is_contiguous"); err != nil {
		return err
	}
	c.bool(c.argTensor(0).IsContiguousFormat(tensor.MemoryFormat(c.argInt(1))))
	return nil
}

// tensorStorage replies all of the memory that a tensor shows, as bytes.
func tensorStorage(c *call) error {
	s := c.argTensor(0).Storage()
	t, err := tensor.FromStorage(s, 0, []int{s.NBytes()}, []int{1}, tensor.Uint8)
	if err == nil {
		c.tensor(t)
	}
	return err
}

func tensorSharesStorage(c *call) error {
	c.bool(c.argTensor(0).SharesStorage(c.argTensor(1)))
	return nil
}
