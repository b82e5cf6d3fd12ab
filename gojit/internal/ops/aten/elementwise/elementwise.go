// Package elementwise runs operators that are stated as expressions of one element (Operator), copies and converts elements, and finds out which
// expressions others are made of (Recorder), so that several become one kernel (Fused).
//
// Invariant: a result has the bits of the expression's kernel, whatever its operands' layouts are.
package elementwise

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Expression states what an operator computes from one element of each operand.
type Expression = ops.Expression

// Operator is an elementwise operator. Its programs are kept by the types they are for.
type Operator struct {
	Name  string
	rule  ops.Promotion
	expr  Expression
	fails func(common tensor.DType) // refuses types that the operator is not defined for
	cache launch.Cache
	sums  launch.Cache // programs that add the results up
}

// Operand is a tensor or a number.
type Operand struct {
	Tensor *tensor.Tensor
	Number tensor.Scalar
}

const paramCode = 31 // stands for a number in a launch.Key

// OfTensor and OfScalar return operands.
func OfTensor(t *tensor.Tensor) Operand { return Operand{Tensor: t} }
func OfScalar(s tensor.Scalar) Operand  { return Operand{Number: s} }

func (o Operand) isBool() bool {
	if o.Tensor != nil {
		return o.Tensor.DType() == tensor.Bool
	}
	return o.Number.Kind == tensor.BoolScalar
}

// New makes an operator from its expression.
func New(name string, rule ops.Promotion, expr Expression) *Operator {
	return &Operator{Name: name, rule: rule, expr: expr}
}

// refusing adds a check of the type computed with.
func (p *Operator) refusing(fails func(tensor.DType)) *Operator {
	p.fails = fails
	return p
}

// OfReals has the operator refuse complex numbers, in the name of a kernel of PyTorch.
func (p *Operator) OfReals(kernel string) *Operator {
	return p.refusing(func(d tensor.DType) {
		if d.IsComplex() {
			NotImplemented(kernel, d)
		}
	})
}

// On applies the operator to tensors.
func (p *Operator) On(ts ...*tensor.Tensor) *tensor.Tensor {
	var operands [4]Operand
	for i, t := range ts {
		operands[i].Tensor = t
	}
	return p.Run(nil, operands[:len(ts)])
}

// With applies the operator to a tensor and numbers that take no part in promotion.
func (p *Operator) With(t *tensor.Tensor, extras ...tensor.Scalar) *tensor.Tensor {
	operands := [1]Operand{{Tensor: t}}
	return p.Run(nil, operands[:], extras...)
}

// Run applies the operator to operands, then numbers that take no part in promotion. The result is
// written into dst where that is not nil.
func (p *Operator) Run(dst *tensor.Tensor, operands []Operand, extras ...tensor.Scalar) *tensor.Tensor {
	common := p.commonType(operands)
	if p.fails != nil {
		p.fails(common)
	}
	result := p.resultType(common)
	out := dst
	if dst == nil {
		out = elementwiseResult(operands, result)
	} else {
		checkWritable(dst, operands, result)
	}
	if define.IsMeta(out) {
		p.note(out, operands, extras, common)
		return out
	}
	if out.IsHollow() && haveHollow(operands) {
		return out
	}
	key := launch.Key(len(extras)).With(out.DType()).With(common)
	for i := range operands {
		if t := operands[i].Tensor; t != nil {
			key = key.With(t.DType())
		} else {
			key = key.With(paramCode)
		}
	}
	program := p.cache.Get(key)
	if program == nil {
		program = source.Must(p.cache.Make(key, func() (*launch.Program, error) {
			return launch.ProgramOf(p.build(operands, len(extras), common, out.DType()))
		}))
	}
	var tensors [tensor.MaxOperands]*tensor.Tensor
	var numbers [8]tensor.Scalar
	tensors[0] = out
	n, params := 1, numbers[:0]
	for i := range operands {
		if t := operands[i].Tensor; t != nil {
			tensors[n] = t
			n++
		} else {
			params = append(params, operands[i].Number)
		}
	}
	params = append(params, extras...)
	if out.OnDevice() {
		RunKernel(program, slices.Clone(tensors[:n]), slices.Clone(params)) // copies, so that those of the processor's calls stay on the stack
	} else {
		program.Run(tensors[:n], params)
	}
	return out
}

func (p *Operator) commonType(operands []Operand) tensor.DType {
	if p.rule == ops.OwnTypes {
		return operands[0].Tensor.DType()
	}
	r := tensor.NewResultType()
	for i := range operands {
		if t := operands[i].Tensor; t != nil {
			r.Tensor(t)
		} else {
			r.Scalar(operands[i].Number)
		}
	}
	common := r.DType()
	switch {
	case (p.rule == ops.FloatType || p.rule == ops.RealOfFloat) && (common.IsIntegral() || common == tensor.Bool):
		return tensor.DefaultDType()
	case p.rule == ops.NumberType && common == tensor.Bool:
		return tensor.Int64
	}
	return common
}

func (p *Operator) resultType(common tensor.DType) tensor.DType {
	switch p.rule {
	case ops.BoolResult, ops.LogicType:
		return tensor.Bool
	}
	if p.givesReal() {
		return common.ToReal()
	}
	return common
}

func (p *Operator) givesReal() bool { return p.rule == ops.RealResult || p.rule == ops.RealOfFloat }

// build makes the kernel of the expression for given types.
func (p *Operator) build(operands []Operand, extras int, common, out tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	b.Output(p.result(b, operands, extras, common), out)
	return b.Kernel()
}

// Total adds up, in one pass, what the operator gives for float32 or float64 tensors of one type. ok is
// false where they do not lie alike.
func (p *Operator) Total(ts []*tensor.Tensor, extras ...tensor.Scalar) (sum *tensor.Tensor, ok bool) {
	d, n := ts[0].DType(), ts[0].Numel()
	if p.rule != ops.SameType || d != tensor.Float32 && d != tensor.Float64 || n == 0 {
		return nil, false
	}
	for _, t := range ts {
		if define.IsAway(t) || t.DType() != d || !t.IsContiguous() || !tensor.SameShape(t.Shape(), ts[0].Shape()) {
			return nil, false
		}
	}
	key := launch.Key(len(ts)<<2 | len(extras)).With(d)
	program := p.sums.Get(key)
	if program == nil {
		program = source.Must(p.sums.Make(key, func() (*launch.Program, error) {
			b, operands := kernel.NewBuilder(), make([]Operand, len(ts))
			for i, t := range ts {
				operands[i] = OfTensor(t)
			}
			b.Reduce(kernel.ReduceSum, p.result(b, operands, len(extras), d), d)
			return launch.ProgramOf(b.Kernel())
		}))
	}
	sum = define.Empty(nil, d)
	var rows [tensor.MaxOperands]launch.Row
	rows[0] = launch.SingleOf(sum)
	for i, t := range ts {
		rows[1+i] = launch.RowOf(t, n)
	}
	program.ParallelRows(1, n, rows[:1+len(ts)], extras)
	return sum, true
}

// result makes the expression for given types.
func (p *Operator) result(b *kernel.Builder, operands []Operand, extras int, common tensor.DType) kernel.Value {
	computed := kernel.ComputeType(common)
	if p.rule == ops.LogicType {
		computed = tensor.Bool
	}
	x := make([]kernel.Value, 0, len(operands)+extras)
	for i := range operands {
		t := operands[i].Tensor
		switch {
		case t == nil:
			x = append(x, b.Param(computed))
		case p.rule == ops.OwnTypes:
			x = append(x, b.Input(t.DType(), kernel.ComputeType(t.DType())))
		default:
			x = append(x, b.Input(t.DType(), computed))
		}
	}
	extraType := computed
	if p.givesReal() {
		extraType = computed.ToReal()
	}
	for range extras {
		x = append(x, b.Param(extraType))
	}
	return p.expr(b, x...)
}

// elementwiseResult returns a tensor for the result of an elementwise operator, laid out as its first
// operand of full size.
func elementwiseResult(operands []Operand, d tensor.DType) *tensor.Tensor {
	var room [8]int
	shape := room[:0]
	for i := range operands {
		t := operands[i].Tensor
		if t == nil {
			continue
		}
		if define.IsAway(t) {
			return awayResult(operands, t.Device(), d)
		}
		if i == 0 {
			shape = append(shape, t.Shape()...)
		} else if !tensor.SameShape(shape, t.Shape()) {
			shape = source.Must(tensor.Broadcast(shape, t.Shape()))
		}
	}
	for i := range operands {
		if t := operands[i].Tensor; t != nil && tensor.SameShape(t.Shape(), shape) {
			if t.IsContiguous() {
				break
			}
			if t.IsHollow() || t.IsNonOverlappingAndDense() {
				return source.Must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
			}
			return source.Must(tensor.EmptyStrided(shape, tensor.DenseStrides(shape, tensorsOf(operands)...), d))
		}
	}
	for i := range operands {
		if t := operands[i].Tensor; t != nil && t.IsHollow() {
			return define.EmptyBeside(t, shape, d)
		}
	}
	return define.Empty(shape, d)
}

// tensorsOf returns the tensors among operands.
func tensorsOf(operands []Operand) (ts []*tensor.Tensor) {
	for i := range operands {
		if t := operands[i].Tensor; t != nil {
			ts = append(ts, t)
		}
	}
	return ts
}

func haveHollow(operands []Operand) bool {
	return slices.ContainsFunc(operands, func(o Operand) bool { return o.Tensor != nil && o.Tensor.IsHollow() })
}

// awayResult is elementwiseResult on a device.
func awayResult(operands []Operand, device tensor.Device, d tensor.DType) *tensor.Tensor {
	var shapes [][]int
	for _, o := range operands {
		if t := o.Tensor; t != nil {
			CheckBeside(t, device)
			shapes = append(shapes, t.Shape())
		}
	}
	shape := source.Must(tensor.BroadcastAll(shapes...))
	for _, o := range operands {
		if t := o.Tensor; t != nil && define.IsAway(t) && tensor.SameShape(t.Shape(), shape) {
			if t.OnDevice() {
				return source.Must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
			}
			return source.Must(tensor.EmptyMetaFormat(t, d, tensor.PreserveFormat))
		}
	}
	return source.Must(tensor.EmptyOn(device, shape, d))
}

// MixedError says that tensors are not on one device.
type MixedError struct{ err *source.Error }

func (e MixedError) Error() string { return e.err.Error() }
func (e MixedError) Unwrap() error { return e.err }

// CheckBeside fails where t is on another device, unless it stands for a number: one of the processor without dimensions.
func CheckBeside(t *tensor.Tensor, device tensor.Device) {
	if t.Device() == device || !define.IsAway(t) && t.Dim() == 0 {
		return
	}
	RefuseMixed(device, t.Device())
}

// RefuseMixed fails for tensors of two devices.
func RefuseMixed(a, b tensor.Device) {
	source.Throw(MixedError{source.Errorf(source.RuntimeError, source.Range{},
		"Expected all tensors to be on the same device, but found at least two devices, %s and %s!", a, b)})
}

// checkWritable fails unless a result of type d over the operands fits into dst.
func checkWritable(dst *tensor.Tensor, operands []Operand, d tensor.DType) {
	CheckCast(d, dst.DType())
	for i := range operands {
		t := operands[i].Tensor
		if t == nil || t == dst {
			continue
		}
		if define.IsAway(t) && t.Device() != dst.Device() {
			RefuseMixed(t.Device(), dst.Device())
		}
		CheckBroadcastsTo(dst, t)
	}
	checkOverlap(dst, operands)
}

// CheckBroadcastsTo fails where what dst and t broadcast to is larger than dst.
func CheckBroadcastsTo(dst, t *tensor.Tensor) {
	if tensor.SameShape(t.Shape(), dst.Shape()) {
		return
	}
	shape := source.Must(tensor.Broadcast(dst.Shape(), t.Shape()))
	source.Check(tensor.SameShape(shape, dst.Shape()), "output with shape %s doesn't match the broadcast shape %s",
		define.ShapeText(dst.Shape()), define.ShapeText(shape))
}

// checkOverlap fails where dst shares memory with itself or, shifted, with an operand.
func checkOverlap(dst *tensor.Tensor, operands []Operand) {
	CheckInside(dst)
	for i := range operands {
		t := operands[i].Tensor
		if t == nil || t == dst || !t.SharesStorage(dst) || t.Numel() == 0 {
			continue
		}
		if t.Offset() == dst.Offset() && tensor.SameShape(t.Strides(), dst.Strides()) {
			continue
		}
		checkOverlaps(dst, t)
	}
}

// CheckShifted is checkOverlap for the tensors among arguments.
func CheckShifted(dst *tensor.Tensor, args []value.Value) {
	var room [8]Operand
	operands := room[:0]
	for _, v := range args {
		if v.IsTensor() {
			operands = append(operands, OfTensor(v.Tensor()))
		}
	}
	checkOverlap(dst, operands)
}

// CheckInside fails where elements of dst share memory.
func CheckInside(dst *tensor.Tensor) {
	if hasInternalOverlap(dst) {
		source.Raise(source.RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
	}
}

// CheckApart fails where dst shares elements with a tensor among the arguments.
func CheckApart(dst *tensor.Tensor, args []value.Value) {
	for _, v := range args {
		switch {
		case v.IsTensor():
			if t := v.Tensor(); t.SharesStorage(dst) && t.Numel() > 0 {
				checkOverlaps(dst, t)
			}
		case v.Kind() == value.KindList:
			CheckApart(dst, v.List().Items)
		}
	}
}

// checkOverlaps fails where dense tensors over one storage share an element.
func checkOverlaps(dst, t *tensor.Tensor) {
	if overlaps(t, dst) {
		source.Raise(source.RuntimeError, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
	}
}

// overlaps reports whether dense tensors over one storage share an element; tensors with gaps are taken not to.
func overlaps(a, b *tensor.Tensor) bool {
	if !a.IsNonOverlappingAndDense() || !b.IsNonOverlappingAndDense() {
		return false
	}
	return a.Offset() < b.Offset()+b.Numel() && b.Offset() < a.Offset()+a.Numel()
}

func hasInternalOverlap(t *tensor.Tensor) bool {
	for i, n := range t.Shape() {
		if n > 1 && t.Strides()[i] == 0 {
			return t.Numel() > 0
		}
	}
	return false
}

// CheckCast fails where a result may not be stored as another type.
func CheckCast(from, to tensor.DType) {
	if !tensor.CanCast(from, to) {
		source.Raise(source.RuntimeError, "result type %s can't be cast to the desired output type %s", from.CppName(), to.CppName())
	}
}

// RunTo applies the operator to tensors of which the others are at most as wide as the first, and
// stores in the type of out.
func (p *Operator) RunTo(out *tensor.Tensor, ts ...*tensor.Tensor) {
	operands := make([]Operand, len(ts))
	for i, t := range ts {
		operands[i].Tensor = t
	}
	p.Run(out, operands)
}
