package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// expression states what an operator computes from one element of each operand.
type expression = ops.Expression

// pointwise is an elementwise operator. Its programs are kept by the types they are for.
type pointwise struct {
	name  string
	rule  ops.Promotion
	expr  expression
	fails func(common tensor.DType) // refuses types that the operator is not defined for
	cache launch.Cache
	sums  launch.Cache // programs that add the results up
}

// operand is a tensor or a number.
type operand struct {
	tensor *tensor.Tensor
	number tensor.Scalar
}

const paramCode = 31 // stands for a number in a launch.Key

func ofTensor(t *tensor.Tensor) operand { return operand{tensor: t} }
func ofScalar(s tensor.Scalar) operand  { return operand{number: s} }

func (o operand) isBool() bool {
	if o.tensor != nil {
		return o.tensor.DType() == tensor.Bool
	}
	return o.number.Kind == tensor.BoolScalar
}

// elementwise makes an operator from its expression.
func elementwise(name string, rule ops.Promotion, expr expression) *pointwise {
	return &pointwise{name: name, rule: rule, expr: expr}
}

// refusing adds a check of the type computed with.
func (p *pointwise) refusing(fails func(tensor.DType)) *pointwise {
	p.fails = fails
	return p
}

// on applies the operator to tensors.
func (p *pointwise) on(ts ...*tensor.Tensor) *tensor.Tensor {
	var operands [4]operand
	for i, t := range ts {
		operands[i].tensor = t
	}
	return p.run(nil, operands[:len(ts)])
}

// with applies the operator to a tensor and numbers that take no part in promotion.
func (p *pointwise) with(t *tensor.Tensor, extras ...tensor.Scalar) *tensor.Tensor {
	operands := [1]operand{{tensor: t}}
	return p.run(nil, operands[:], extras...)
}

// run applies the operator to operands, then numbers that take no part in promotion. The result is
// written into dst where that is not nil.
func (p *pointwise) run(dst *tensor.Tensor, operands []operand, extras ...tensor.Scalar) *tensor.Tensor {
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
	if isMeta(out) {
		p.note(out, operands, extras, common)
		return out
	}
	if out.IsHollow() && haveHollow(operands) {
		return out
	}
	key := launch.Key(len(extras)).With(out.DType()).With(common)
	for i := range operands {
		if t := operands[i].tensor; t != nil {
			key = key.With(t.DType())
		} else {
			key = key.With(paramCode)
		}
	}
	program := p.cache.Get(key)
	if program == nil {
		program = must(p.cache.Make(key, func() (*launch.Program, error) {
			return launch.ProgramOf(p.build(operands, len(extras), common, out.DType()))
		}))
	}
	var tensors [tensor.MaxOperands]*tensor.Tensor
	var numbers [8]tensor.Scalar
	tensors[0] = out
	n, params := 1, numbers[:0]
	for i := range operands {
		if t := operands[i].tensor; t != nil {
			tensors[n] = t
			n++
		} else {
			params = append(params, operands[i].number)
		}
	}
	params = append(params, extras...)
	if out.OnDevice() {
		runKernel(program, slices.Clone(tensors[:n]), slices.Clone(params)) // copies, so that those of the processor's calls stay on the stack
	} else {
		program.Run(tensors[:n], params)
	}
	return out
}

func (p *pointwise) commonType(operands []operand) tensor.DType {
	if p.rule == ops.OwnTypes {
		return operands[0].tensor.DType()
	}
	r := tensor.NewResultType()
	for i := range operands {
		if t := operands[i].tensor; t != nil {
			r.Tensor(t)
		} else {
			r.Scalar(operands[i].number)
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

func (p *pointwise) resultType(common tensor.DType) tensor.DType {
	switch p.rule {
	case ops.BoolResult, ops.LogicType:
		return tensor.Bool
	}
	if p.givesReal() {
		return common.ToReal()
	}
	return common
}

func (p *pointwise) givesReal() bool { return p.rule == ops.RealResult || p.rule == ops.RealOfFloat }

// build makes the kernel of the expression for given types.
func (p *pointwise) build(operands []operand, extras int, common, out tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	b.Output(p.result(b, operands, extras, common), out)
	return b.Kernel()
}

// total adds up, in one pass, what the operator gives for float32 or float64 tensors of one type. ok is
// false where they do not lie alike.
func (p *pointwise) total(ts []*tensor.Tensor, extras ...tensor.Scalar) (sum *tensor.Tensor, ok bool) {
	d, n := ts[0].DType(), ts[0].Numel()
	if p.rule != ops.SameType || d != tensor.Float32 && d != tensor.Float64 || n == 0 {
		return nil, false
	}
	for _, t := range ts {
		if isAway(t) || t.DType() != d || !t.IsContiguous() || !tensor.SameShape(t.Shape(), ts[0].Shape()) {
			return nil, false
		}
	}
	key := launch.Key(len(ts)<<2 | len(extras)).With(d)
	program := p.sums.Get(key)
	if program == nil {
		program = must(p.sums.Make(key, func() (*launch.Program, error) {
			b, operands := kernel.NewBuilder(), make([]operand, len(ts))
			for i, t := range ts {
				operands[i] = ofTensor(t)
			}
			b.Reduce(kernel.ReduceSum, p.result(b, operands, len(extras), d), d)
			return launch.ProgramOf(b.Kernel())
		}))
	}
	sum = empty(nil, d)
	var rows [tensor.MaxOperands]launch.Row
	rows[0] = launch.SingleOf(sum)
	for i, t := range ts {
		rows[1+i] = launch.RowOf(t, n)
	}
	program.ParallelRows(1, n, rows[:1+len(ts)], extras)
	return sum, true
}

// result makes the expression for given types.
func (p *pointwise) result(b *kernel.Builder, operands []operand, extras int, common tensor.DType) kernel.Value {
	computed := kernel.ComputeType(common)
	if p.rule == ops.LogicType {
		computed = tensor.Bool
	}
	x := make([]kernel.Value, 0, len(operands)+extras)
	for i := range operands {
		t := operands[i].tensor
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
func elementwiseResult(operands []operand, d tensor.DType) *tensor.Tensor {
	var room [8]int
	shape := room[:0]
	for i := range operands {
		t := operands[i].tensor
		if t == nil {
			continue
		}
		if isAway(t) {
			return awayResult(operands, t.Device(), d)
		}
		if i == 0 {
			shape = append(shape, t.Shape()...)
		} else if !tensor.SameShape(shape, t.Shape()) {
			shape = must(tensor.Broadcast(shape, t.Shape()))
		}
	}
	for i := range operands {
		if t := operands[i].tensor; t != nil && tensor.SameShape(t.Shape(), shape) {
			if t.IsContiguous() {
				break
			}
			return must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
		}
	}
	for i := range operands {
		if t := operands[i].tensor; t != nil && t.IsHollow() {
			return emptyBeside(t, shape, d)
		}
	}
	return empty(shape, d)
}

func haveHollow(operands []operand) bool {
	return slices.ContainsFunc(operands, func(o operand) bool { return o.tensor != nil && o.tensor.IsHollow() })
}

// awayResult is elementwiseResult on a device.
func awayResult(operands []operand, device tensor.Device, d tensor.DType) *tensor.Tensor {
	var shapes [][]int
	for _, o := range operands {
		if t := o.tensor; t != nil {
			checkBeside(t, device)
			shapes = append(shapes, t.Shape())
		}
	}
	shape := must(tensor.BroadcastAll(shapes...))
	for _, o := range operands {
		if t := o.tensor; t != nil && isAway(t) && tensor.SameShape(t.Shape(), shape) {
			if t.OnDevice() {
				return must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
			}
			return must(tensor.EmptyMetaFormat(t, d, tensor.PreserveFormat))
		}
	}
	return must(tensor.EmptyOn(device, shape, d))
}

// mixedError says that tensors are not on one device.
type mixedError struct{ err *source.Error }

func (e mixedError) Error() string { return e.err.Error() }
func (e mixedError) Unwrap() error { return e.err }

// checkBeside fails where t is on another device, unless it stands for a number: one of the processor without dimensions.
func checkBeside(t *tensor.Tensor, device tensor.Device) {
	if t.Device() == device || !isAway(t) && t.Dim() == 0 {
		return
	}
	refuseMixed(device, t.Device())
}

// refuseMixed fails for tensors of two devices.
func refuseMixed(a, b tensor.Device) {
	source.Throw(mixedError{source.Errorf(source.RuntimeError, source.Range{},
		"Expected all tensors to be on the same device, but found at least two devices, %s and %s!", a, b)})
}

// checkWritable fails unless a result of type d over the operands fits into dst.
func checkWritable(dst *tensor.Tensor, operands []operand, d tensor.DType) {
	checkCast(d, dst.DType())
	for i := range operands {
		t := operands[i].tensor
		if t == nil || t == dst {
			continue
		}
		if isAway(t) && t.Device() != dst.Device() {
			refuseMixed(t.Device(), dst.Device())
		}
		if tensor.SameShape(t.Shape(), dst.Shape()) {
			continue
		}
		shape := must(tensor.Broadcast(dst.Shape(), t.Shape()))
		check(tensor.SameShape(shape, dst.Shape()), "output with shape %s doesn't match the broadcast shape %s",
			shapeText(dst.Shape()), shapeText(shape))
	}
	checkOverlap(dst, operands)
}

// checkOverlap fails where dst shares memory with itself or, shifted, with an operand.
func checkOverlap(dst *tensor.Tensor, operands []operand) {
	checkInside(dst)
	for i := range operands {
		t := operands[i].tensor
		if t == nil || t == dst || !t.SharesStorage(dst) || t.Numel() == 0 {
			continue
		}
		if t.Offset() == dst.Offset() && tensor.SameShape(t.Strides(), dst.Strides()) {
			continue
		}
		checkOverlaps(dst, t)
	}
}

// checkShifted is checkOverlap for the tensors among arguments.
func checkShifted(dst *tensor.Tensor, args []value.Value) {
	var room [8]operand
	operands := room[:0]
	for _, v := range args {
		if v.IsTensor() {
			operands = append(operands, ofTensor(v.Tensor()))
		}
	}
	checkOverlap(dst, operands)
}

// checkInside fails where elements of dst share memory.
func checkInside(dst *tensor.Tensor) {
	if hasInternalOverlap(dst) {
		raise(source.RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
	}
}

// checkApart fails where dst shares elements with a tensor among the arguments.
func checkApart(dst *tensor.Tensor, args []value.Value) {
	for _, v := range args {
		switch {
		case v.IsTensor():
			if t := v.Tensor(); t.SharesStorage(dst) && t.Numel() > 0 {
				checkOverlaps(dst, t)
			}
		case v.Kind() == value.KindList:
			checkApart(dst, v.List().Items)
		}
	}
}

// checkOverlaps fails where dense tensors over one storage share an element.
func checkOverlaps(dst, t *tensor.Tensor) {
	if overlaps(t, dst) {
		raise(source.RuntimeError, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
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
			return true
		}
	}
	return false
}

// checkCast fails where a result may not be stored as another type.
func checkCast(from, to tensor.DType) {
	if !tensor.CanCast(from, to) {
		raise(source.RuntimeError, "result type %s can't be cast to the desired output type %s", from.CppName(), to.CppName())
	}
}
