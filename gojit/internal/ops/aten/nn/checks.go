package aten

import (
	"errors"
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// withCheck has an operator check its arguments before it runs, and says how for those who run it as others.
func withCheck(f func(c call), o *ops.Operator) {
	if f == nil {
		return
	}
	run, first := o.Run, o.Check
	o.Check = func(args []value.Value) (err error) {
		if first != nil {
			if err := first(args); err != nil {
				return err
			}
		}
		defer source.Catch(&err)
		defer leaveElements(args)
		f(call{args: args})
		return nil
	}
	o.Run = func(args, out []value.Value) error {
		if err := o.Check(args); err != nil {
			return err
		}
		return run(args, out)
	}
}

// checkRealAbs fails for complex numbers: their absolute values are real.
func checkRealAbs(c call) {
	check(!c.tensor(0).DType().IsComplex(), "In-place abs is not supported for complex tensors.")
}

// checkPowerBase fails where the base cannot hold the result of float_power.
func checkPowerBase(c call) {
	base, wide := c.tensor(0).DType(), powerType(c.operand(0), c.operand(1))
	check(base == wide, "the base given to float_power_ has dtype %s but the operation's result requires dtype %s", base.CppName(), wide.CppName())
}

func isIntegral(d tensor.DType) bool { return !d.IsFloating() && !d.IsComplex() }

// checkType fails where one of some tensors, or nil, has another type than x.
func checkType(x *tensor.Tensor, others ...*tensor.Tensor) {
	for _, t := range others {
		if t != nil {
			check(t.DType() == x.DType(), "expected scalar type %s but found %s", x.DType().CppName(), t.DType().CppName())
		}
	}
}

// checkParameterTypes allows parameters of Float32 with an input of BFloat16.
func checkParameterTypes(x *tensor.Tensor, parameters ...*tensor.Tensor) {
	for _, t := range parameters {
		switch {
		case t == nil || t.DType() == x.DType():
		case t.DType() != tensor.Float32:
			check(false, "mixed dtype (CPU): expect parameter to have scalar type of Float")
		default:
			check(x.DType() == tensor.BFloat16 || x.DType() == tensor.Float16, "mixed dtype (CPU): expect input to have scalar type of BFloat16")
		}
	}
}

// checkFloating asks for floating-point numbers, in the name of a kernel of PyTorch.
func checkFloating(kernel string, x *tensor.Tensor) {
	check(x.DType().IsFloating(), "\"%s\" not implemented for '%s'", kernel, x.DType().CppName())
}

func checkLayerNorm(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor) {
	check(len(shape) >= 1, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = %s", shapeText(shape))
	lead := x.Dim() - len(shape)
	check(weight == nil || tensor.SameShape(weight.Shape(), shape), "Expected weight to be of same shape as normalized_shape, but got weight of shape %s and normalized_shape = %s", optionalShape(weight), shapeText(shape))
	check(bias == nil || tensor.SameShape(bias.Shape(), shape), "Expected bias to be of same shape as normalized_shape, but got bias of shape %s and normalized_shape = %s", optionalShape(bias), shapeText(shape))
	if lead < 0 || !tensor.SameShape(x.Shape()[lead:], shape) {
		star := ""
		for _, n := range shape {
			star += ", " + strconv.Itoa(n)
		}
		raise(source.RuntimeError, "Given normalized_shape=%s, expected input with shape [*%s], but got input of size%s", shapeText(shape), star, shapeText(x.Shape()))
	}
	checkFloating("LayerNormKernelImpl", x)
	checkType(x, weight, bias)
}

func checkGroupNorm(c call) {
	x, groups, weight, bias := c.tensor(0), c.int(1), c.optionalTensor(2), c.optionalTensor(3)
	check(x.Dim() >= 2, "Expected at least 2 dimensions for input tensor but received %d", x.Dim())
	channels := x.Size(1)
	check(groups > 0, "Expected num groups to be greater than 0, got %d", groups)
	check(channels%groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", shapeText(x.Shape()), groups)
	check(weight == nil || weight.Dim() == 1 && weight.Numel() == channels, "Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape %s and input of shape %s", optionalShape(weight), shapeText(x.Shape()))
	check(bias == nil || bias.Dim() == 1 && bias.Numel() == channels, "Expected bias to be a vector of size equal to the number of channels in input, but got bias of shape %s and input of shape %s", optionalShape(bias), shapeText(x.Shape()))
	checkFloating("GroupNormKernelImpl", x)
	checkType(x, weight, bias)
}

// checkGroups asks for an input of samples of channels in groups, each channel of so many elements.
func checkGroups(x, weight, bias *tensor.Tensor, samples, channels, size, groups int) {
	check(samples >= 0 && channels >= 0 && size >= 0, "Expected X.numel() == N * C * HxW to be true, but got false.")
	n := room(1, samples, channels, size)
	check(x.Numel() == n, "Expected X.numel() == N * C * HxW to be true, but got false.")
	check(groups > 0, "Expected num groups to be greater than 0, got %d", groups)
	check(channels%groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", shapeText(x.Shape()), groups)
	check(weight == nil || weight.Numel() == channels, "Expected !gamma.defined() || gamma.numel() == C to be true, but got false.")
	check(bias == nil || bias.Numel() == channels, "Expected !beta.defined() || beta.numel() == C to be true, but got false.")
	checkFloating("GroupNormKernelImpl", x)
}

func checkBatchNorm(c call, hasChannels bool) {
	x, channels := c.tensor(0), 0
	if x.Numel() == 0 {
		return
	}
	if hasChannels {
		channels = x.Size(1)
	}
	parameters := []*tensor.Tensor{c.optionalTensor(3), c.optionalTensor(4), c.optionalTensor(1), c.optionalTensor(2)}
	for i, t := range parameters {
		check(t == nil || t.Numel() == channels, "%s should contain %d elements not %d", [...]string{"running_mean", "running_var", "weight", "bias"}[i], channels, numelOr(t))
	}
	wrapDim(1, x)
	check(c.bool(5) || parameters[0] != nil && parameters[1] != nil, "running_mean must be defined in evaluation mode")
	check(!isIntegral(x.DType()), "\"batch_norm\" not implemented for '%s'", x.DType().CppName())
	checkParameterTypes(x, parameters...)
}

func checkBilinear(c call) {
	a, b, weight, bias := c.tensor(0), c.tensor(1), c.tensor(2), c.optionalTensor(3)
	check(a.Dim() > 0 && weight.Dim() == 3, "bilinear(): expected inputs of at least one dimension and a weight of three, but got %s and %s", shapeText(a.Shape()), shapeText(weight.Shape()))
	check(a.Dim() == b.Dim(), "bilinear(): input dimensions do not match: got %d and %d", a.Dim(), b.Dim())
	for i := range a.Dim() - 1 {
		check(a.Size(i) == b.Size(i), "bilinear(): input batch dimensions do not match at dim %d: got %d and %d", i, a.Size(i), b.Size(i))
	}
	last := a.Dim() - 1
	check(a.Size(last) == weight.Size(1), "bilinear(): input1 size does not match weight size: got %d but expected %d", a.Size(last), weight.Size(1))
	check(b.Size(last) == weight.Size(2), "bilinear(): input2 size does not match weight size: got %d but expected %d", b.Size(last), weight.Size(2))
	if bias != nil {
		check(sizeAt(bias, 0) == weight.Size(0), "bilinear(): bias size does not match weight size: got %d but expected %d", bias.Size(0), weight.Size(0))
	}
}

// checkCell asks that the input, the state and the weights of a recurrent cell fit.
func checkCell(c call) {
	x, states := c.tensor(0), []*tensor.Tensor{}
	if c.args[1].IsTensor() {
		states = append(states, c.tensor(1))
	} else {
		states = c.tensors(1)
	}
	in, hidden := sizeAt(c.tensor(2), 1), sizeAt(c.tensor(3), 1)
	check(sizeAt(x, 1) == in, "input has inconsistent input_size: got %d expected %d", x.Size(1), in)
	for i, h := range states {
		check(x.Size(0) == sizeAt(h, 0), "Input batch size %d doesn't match hidden%d batch size %d", x.Size(0), i, h.Size(0))
		check(sizeAt(h, 1) == hidden, "hidden%d has inconsistent hidden_size: got %d, expected %d", i, h.Size(1), hidden)
	}
}

func checkClassWeights(c call) { checkType(c.tensor(0), c.optionalTensor(2)) }

// checkVectorOrMatrix asks for one input or a batch of them, which may be empty.
func checkVectorOrMatrix(x *tensor.Tensor) {
	ok := x.Dim() <= 1 && x.Numel() > 0 || x.Dim() == 2 && x.Size(1) > 0
	check(ok, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s", shapeText(x.Shape()))
}

// checkLabels fails where a label is below the least one or beyond the classes.
func checkLabels(target *tensor.Tensor, least, classes int, otherwise string) {
	if isMeta(target) {
		return
	}
	labels, forget := labelsOf(target)
	defer forget()
	for lo, hi := range tensor.Stretches(len(labels)) {
		for _, l := range labels[lo:hi] {
			if l < int64(least) || l >= int64(classes) {
				raise(source.RuntimeError, "%s", otherwise)
			}
		}
	}
}

// labelsOf returns the elements of a tensor of integers in order. forget gives back the memory of a copy.
func labelsOf(t *tensor.Tensor) (labels []int64, forget func()) {
	inOrder := asWork(t, tensor.Int64)
	return tensor.Data[int64](inOrder), func() { forgetMade(t, inOrder) }
}

func checkMultiMargin(c call) {
	x, target, weight := c.tensor(0), c.tensor(1), c.optionalTensor(4)
	checkVectorOrMatrix(x)
	p := c.scalar(2).Float64()
	check(p == 1 || p == 2, "only p == 1 and p == 2 supported")
	rows, classes := 1, max(x.Numel(), 1)
	if x.Dim() == 2 {
		rows, classes = x.Size(0), x.Size(1)
	}
	check(target.Dim() <= 1 && target.Numel() == rows, "inconsistent target size, got: %s", shapeText(target.Shape()))
	check(target.DType() == tensor.Int64, "expected scalar type Long but found %s", target.DType().CppName())
	checkType(x, weight)
	checkLabels(target, 0, classes, "target out of range")
}

func checkMultilabel(c call) {
	x, target := c.tensor(0), c.tensor(1)
	checkVectorOrMatrix(x)
	fits := tensor.SameShape(x.Shape(), target.Shape()) || x.Dim() <= 1 && target.Dim() <= 1 && x.Numel() == target.Numel()
	check(fits, "inconsistent size %s for argument #2 'target'", shapeText(target.Shape()))
	classes := max(x.Numel(), 1)
	if x.Dim() == 2 {
		classes = x.Size(1)
	}
	checkLabels(target, -1, classes, "argument #2 'target' is out of range")
}

func checkCosineEmbedding(c call) {
	a, b, target := c.tensor(0), c.tensor(1), c.tensor(2)
	check(target.Dim() <= 1, "0D or 1D target tensor expected, multi-target not supported")
	check(a.Dim() == target.Dim()+1 && b.Dim() == a.Dim(), "%dD target tensor expects %dD input tensors, but found inputs with sizes %s and %s.",
		target.Dim(), target.Dim()+1, shapeText(a.Shape()), shapeText(b.Shape()))
}

// leaveElements gives up a check that asks for elements which are on a device: what it would find is not known there before the operator runs.
func leaveElements(args []value.Value) {
	if !tensor.AwayInUse() {
		return
	}
	if _, ok := deviceAmong(args); !ok {
		return
	}
	if r := recover(); r != nil {
		var refused *tensor.HostAccessError
		if err := source.Thrown(r); !errors.As(err, &refused) {
			panic(r)
		}
	}
}
