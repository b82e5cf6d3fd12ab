package nn

import (
	"errors"
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// WithCheck has an operator check its arguments before it runs, and says how for those who run it as others.
func WithCheck(f func(c define.Call), o *ops.Operator) {
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
		f(define.Call{Args: args})
		return nil
	}
	o.Run = func(args, out []value.Value) error {
		if err := o.Check(args); err != nil {
			return err
		}
		return run(args, out)
	}
}

// checkParameterTypes allows parameters of Float32 with an input of BFloat16.
func checkParameterTypes(x *tensor.Tensor, parameters ...*tensor.Tensor) {
	for _, t := range parameters {
		switch {
		case t == nil || t.DType() == x.DType():
		case t.DType() != tensor.Float32:
			source.Check(false, "mixed dtype (CPU): expect parameter to have scalar type of Float")
		default:
			source.Check(x.DType() == tensor.BFloat16 || x.DType() == tensor.Float16, "mixed dtype (CPU): expect input to have scalar type of BFloat16")
		}
	}
}

func checkLayerNorm(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor) {
	source.Check(len(shape) >= 1, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = %s", define.ShapeText(shape))
	lead := x.Dim() - len(shape)
	source.Check(weight == nil || tensor.SameShape(weight.Shape(), shape), "Expected weight to be of same shape as normalized_shape, but got weight of shape %s and normalized_shape = %s", define.OptionalShape(weight), define.ShapeText(shape))
	source.Check(bias == nil || tensor.SameShape(bias.Shape(), shape), "Expected bias to be of same shape as normalized_shape, but got bias of shape %s and normalized_shape = %s", define.OptionalShape(bias), define.ShapeText(shape))
	if lead < 0 || !tensor.SameShape(x.Shape()[lead:], shape) {
		star := ""
		for _, n := range shape {
			star += ", " + strconv.Itoa(n)
		}
		source.Raise(source.RuntimeError, "Given normalized_shape=%s, expected input with shape [*%s], but got input of size%s", define.ShapeText(shape), star, define.ShapeText(x.Shape()))
	}
	define.CheckFloating("LayerNormKernelImpl", x)
	define.CheckType(x, weight, bias)
}

func checkGroupNorm(c define.Call) {
	x, groups, weight, bias := c.Tensor(0), c.Int(1), c.OptionalTensor(2), c.OptionalTensor(3)
	source.Check(x.Dim() >= 2, "Expected at least 2 dimensions for input tensor but received %d", x.Dim())
	channels := x.Size(1)
	source.Check(groups > 0, "Expected num groups to be greater than 0, got %d", groups)
	source.Check(channels%groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", define.ShapeText(x.Shape()), groups)
	source.Check(weight == nil || weight.Dim() == 1 && weight.Numel() == channels, "Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape %s and input of shape %s", define.OptionalShape(weight), define.ShapeText(x.Shape()))
	source.Check(bias == nil || bias.Dim() == 1 && bias.Numel() == channels, "Expected bias to be a vector of size equal to the number of channels in input, but got bias of shape %s and input of shape %s", define.OptionalShape(bias), define.ShapeText(x.Shape()))
	define.CheckFloating("GroupNormKernelImpl", x)
	define.CheckType(x, weight, bias)
}

// checkGroups asks for an input of samples of channels in groups, each channel of so many elements.
func checkGroups(x, weight, bias *tensor.Tensor, samples, channels, size, groups int) {
	source.Check(samples >= 0 && channels >= 0 && size >= 0, "Expected X.numel() == N * C * HxW to be true, but got false.")
	n := define.Room(1, samples, channels, size)
	source.Check(x.Numel() == n, "Expected X.numel() == N * C * HxW to be true, but got false.")
	source.Check(groups > 0, "Expected num groups to be greater than 0, got %d", groups)
	source.Check(channels%groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", define.ShapeText(x.Shape()), groups)
	source.Check(weight == nil || weight.Numel() == channels, "Expected !gamma.defined() || gamma.numel() == C to be true, but got false.")
	source.Check(bias == nil || bias.Numel() == channels, "Expected !beta.defined() || beta.numel() == C to be true, but got false.")
	define.CheckFloating("GroupNormKernelImpl", x)
}

func checkBatchNorm(c define.Call, hasChannels bool) {
	x, channels := c.Tensor(0), 0
	if x.Numel() == 0 {
		return
	}
	if hasChannels {
		channels = x.Size(1)
	}
	parameters := []*tensor.Tensor{c.OptionalTensor(3), c.OptionalTensor(4), c.OptionalTensor(1), c.OptionalTensor(2)}
	for i, t := range parameters {
		source.Check(t == nil || t.Numel() == channels, "%s should contain %d elements not %d", [...]string{"running_mean", "running_var", "weight", "bias"}[i], channels, numelOr(t))
	}
	define.WrapDim(1, x)
	source.Check(c.Bool(5) || parameters[0] != nil && parameters[1] != nil, "running_mean must be defined in evaluation mode")
	source.Check(!define.IsIntegral(x.DType()), "\"batch_norm\" not implemented for '%s'", x.DType().CppName())
	checkParameterTypes(x, parameters...)
}

// checkCell asks that the input, the state and the weights of a recurrent cell fit.
func checkCell(c define.Call) {
	x, states := c.Tensor(0), []*tensor.Tensor{}
	if c.Args[1].IsTensor() {
		states = append(states, c.Tensor(1))
	} else {
		states = c.Tensors(1)
	}
	in, hidden := views.SizeAt(c.Tensor(2), 1), views.SizeAt(c.Tensor(3), 1)
	source.Check(views.SizeAt(x, 1) == in, "input has inconsistent input_size: got %d expected %d", x.Size(1), in)
	for _, h := range states { // hidden0 stands for all of them
		source.Check(x.Size(0) == views.SizeAt(h, 0), "Input batch size %d doesn't match hidden0 batch size %d", x.Size(0), h.Size(0))
		source.Check(views.SizeAt(h, 1) == hidden, "hidden0 has inconsistent hidden_size: got %d, expected %d", h.Size(1), hidden)
	}
}

// checkPacked asks for packed rows whose batch sizes do not rise from that of the states on.
func checkPacked(c define.Call) {
	rows, sizes := c.Tensor(0), c.Tensor(1)
	source.Check(sizes.Dim() == 1, "batch_sizes tensor should be 1D, but got %dD", sizes.Dim())
	source.Check(sizes.Numel() > 0, "batch_sizes must not be empty")
	source.Check(rows.Dim() == 2, "input must have 2 dimensions, got %d", rows.Dim())
	if define.IsMeta(rows) || define.IsMeta(sizes) {
		return
	}
	states := []*tensor.Tensor{}
	if c.Args[2].IsTensor() {
		states = append(states, c.Tensor(2))
	} else {
		states = c.Tensors(2)
	}
	batch := elementwise.IntegersOf(sizes)
	for i, h := range states {
		source.Check(h.Dim() == 3 && h.Size(1) == batch[0], "Expected hidden%d of shape (num_layers, %d, ...), as batch_sizes begins, but got %s", i, batch[0], define.ShapeText(h.Shape()))
	}
	total, before := 0, batch[0]
	for _, n := range batch {
		source.Check(0 <= n && n <= before, "batch_sizes must be in descending order, but %d follows %d", n, before)
		total, before = total+n, n
	}
	source.Check(total == rows.Size(0), "Expected %d rows of input, as batch_sizes adds up to, but got %d", total, rows.Size(0))
}

func checkClassWeights(c define.Call) { define.CheckType(c.Tensor(0), c.OptionalTensor(2)) }

// checkVectorOrMatrix asks for one input or a batch of them, which may be empty.
func checkVectorOrMatrix(x *tensor.Tensor) {
	ok := x.Dim() <= 1 && x.Numel() > 0 || x.Dim() == 2 && x.Size(1) > 0
	source.Check(ok, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s", define.ShapeText(x.Shape()))
}

// checkLabels fails where a label is below the least one or beyond the classes.
func checkLabels(target *tensor.Tensor, least, classes int, otherwise string) {
	if define.IsMeta(target) {
		return
	}
	labels, forget := labelsOf(target)
	defer forget()
	for lo, hi := range parallel.Stretches(len(labels)) {
		for _, l := range labels[lo:hi] {
			if l < int64(least) || l >= int64(classes) {
				source.Raise(source.RuntimeError, "%s", otherwise)
			}
		}
	}
}

// labelsOf returns the elements of a tensor of integers in order. forget gives back the memory of a copy.
func labelsOf(t *tensor.Tensor) (labels []int64, forget func()) {
	inOrder := elementwise.AsWork(t, tensor.Int64)
	return tensor.Data[int64](inOrder), func() { define.ForgetMade(t, inOrder) }
}

func checkMultiMargin(c define.Call) {
	x, target, weight := c.Tensor(0), c.Tensor(1), c.OptionalTensor(4)
	checkVectorOrMatrix(x)
	p := c.Scalar(2).Float64()
	source.Check(p == 1 || p == 2, "only p == 1 and p == 2 supported")
	rows, classes := 1, max(x.Numel(), 1)
	if x.Dim() == 2 {
		rows, classes = x.Size(0), x.Size(1)
	}
	source.Check(target.Dim() <= 1 && target.Numel() == rows, "inconsistent target size, got: %s", define.ShapeText(target.Shape()))
	source.Check(target.DType() == tensor.Int64, "expected scalar type Long but found %s", target.DType().CppName())
	define.CheckType(x, weight)
	checkLabels(target, 0, classes, "target out of range")
}

func checkMultilabel(c define.Call) {
	x, target := c.Tensor(0), c.Tensor(1)
	checkVectorOrMatrix(x)
	fits := tensor.SameShape(x.Shape(), target.Shape()) || x.Dim() <= 1 && target.Dim() <= 1 && x.Numel() == target.Numel()
	source.Check(fits, "inconsistent size %s for argument #2 'target'", define.ShapeText(target.Shape()))
	classes := max(x.Numel(), 1)
	if x.Dim() == 2 {
		classes = x.Size(1)
	}
	checkLabels(target, -1, classes, "argument #2 'target' is out of range")
}

func checkCosineEmbedding(c define.Call) {
	a, b, target := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	source.Check(target.Dim() <= 1, "0D or 1D target tensor expected, multi-target not supported")
	source.Check(a.Dim() == target.Dim()+1 && b.Dim() == a.Dim(), "%dD target tensor expects %dD input tensors, but found inputs with sizes %s and %s.",
		target.Dim(), target.Dim()+1, define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
}

// leaveElements gives up a check that asks for elements which are on a device: what it would find is not known there before the operator runs.
func leaveElements(args []value.Value) {
	if !tensor.AwayInUse() {
		return
	}
	if _, ok := define.DeviceAmong(args); !ok {
		return
	}
	if r := recover(); r != nil {
		var refused *tensor.HostAccessError
		if err := source.Thrown(r); !errors.As(err, &refused) {
			panic(r)
		}
	}
}
