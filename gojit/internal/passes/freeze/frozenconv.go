package freeze

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// FoldFrozenConvBatchNorm folds normalizations by running statistics into the weights of the
// convolutions before them, where weights and statistics are constants.
//
//	%c = aten::conv2d(%x, %w, %b, ...)
//	%y = aten::batch_norm(%c, ...)        -- removed; %w and %b become %w_fused_bn and %b_fused_bn
func FoldFrozenConvBatchNorm(g *ir.Graph) bool { return foldAfterConvolutions(g, foldBatchNorm) }

// FoldFrozenConvAddOrSub folds the addition or subtraction of a constant per channel into the
// biases of the convolutions before it.
func FoldFrozenConvAddOrSub(g *ir.Graph) bool { return foldAfterConvolutions(g, foldAddition) }

// FoldFrozenConvMulOrDiv folds the multiplication or division by a constant per channel into the
// weights and biases of the convolutions before it.
func FoldFrozenConvMulOrDiv(g *ir.Graph) bool { return foldAfterConvolutions(g, foldFactor) }

// OptimizeFrozenGraph removes dropouts from a frozen graph and, with numerics, folds what follows
// convolutions into their weights, so that results may differ in the last digits.
func OptimizeFrozenGraph(g *ir.Graph, numerics bool) bool {
	changed := RemoveDropout(g)
	for again := numerics; again; {
		again = FoldFrozenConvBatchNorm(g)
		again = FoldFrozenConvAddOrSub(g) || again
		again = FoldFrozenConvMulOrDiv(g) || again
		changed = changed || again
	}
	return changed
}

// convolution is a convolution with constant weights whose result has one use.
type convolution struct {
	node         *ir.Node
	weight, bias *tensor.Tensor // bias may be nil
}

func (c *convolution) channels() int { return c.weight.Shape()[0] }

// weightName and biasName are the names of the constants.
func (c *convolution) weightName() string { return c.node.Input(1).Name() }

func (c *convolution) biasName() string { return c.node.Input(2).Name() }

// foldAfterConvolutions folds nodes that use a convolution alone into it.
func foldAfterConvolutions(g *ir.Graph, fold func(*convolution, *ir.Node) bool) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		for {
			c := constantConvolution(n)
			if c == nil {
				return
			}
			user := n.Output().Uses()[0]
			if user.Index != 0 || user.User.Block() != n.Block() || !fold(c, user.User) {
				return
			}
			user.User.Output().ReplaceAllUsesWith(n.Output())
			user.User.Destroy()
			changed = true
		}
	})
	passes.DCE(g)
	return changed
}

func constantConvolution(n *ir.Node) *convolution {
	if _, plain := passes.ConvolutionDims(n); n.IsDestroyed() || !plain && !isPlainConvolution(n) || len(n.Output().Uses()) != 1 {
		return nil
	}
	weight := constantTensor(n.Input(1))
	if weight == nil {
		return nil
	}
	c := &convolution{node: n, weight: weight}
	if n.Input(2).MustBeNone() {
		return c
	}
	if c.bias = constantTensor(n.Input(2)); c.bias == nil {
		return nil
	}
	return c
}

// isPlainConvolution reports whether a node is a convolution as traces have it, and not a transposed one.
func isPlainConvolution(n *ir.Node) bool {
	if n.Kind() != aten.Convolution {
		return false
	}
	transposed, ok := n.Input(6).Constant()
	return ok && !transposed.Bool()
}

// constantTensor returns the tensor that a value always is, nil where it is none.
func constantTensor(v *ir.Value) *tensor.Tensor {
	c, ok := v.Constant()
	if !ok || !c.IsTensor() {
		return nil
	}
	return c.Tensor()
}

// calculator runs operators on constants; after a failure its results are nil.
type calculator struct{ failed bool }

func (c *calculator) run(operator string, args ...value.Value) *tensor.Tensor {
	o := ops.Find(operator)
	if c.failed || o == nil || o.Run == nil {
		c.failed = true
		return nil
	}
	out := make([]value.Value, 1)
	if err := o.Run(args, out); err != nil || !out[0].IsTensor() {
		c.failed = true
		return nil
	}
	return out[0].Tensor()
}

func (c *calculator) binary(operator string, a, b *tensor.Tensor) *tensor.Tensor {
	if a == nil || b == nil {
		c.failed = true
		return nil
	}
	args := []value.Value{value.OfTensor(a), value.OfTensor(b)}
	if strings.HasPrefix(operator, aten.Add) || strings.HasPrefix(operator, aten.Sub) {
		args = append(args, value.Int(1))
	}
	return c.run(operator, args...)
}

// perChannel views one number per channel so that it multiplies weights of a number of dimensions.
func (c *calculator) perChannel(t *tensor.Tensor, channels, dims int) *tensor.Tensor {
	if t == nil {
		c.failed = true
		return nil
	}
	shape := make([]int, dims)
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = channels
	return c.run(aten.Reshape, value.OfTensor(t), value.OfList(value.Ints(shape)))
}

// zeros returns a zero for each channel of the weights of a convolution, of the type and on the device of the weights.
func (c *calculator) zeros(weight *tensor.Tensor) *tensor.Tensor {
	shape := value.OfList(value.Ints([]int{weight.Size(0)}))
	return c.run(aten.NewZeros, value.OfTensor(weight), shape, value.None, value.None, value.None, value.None)
}

// replace gives the convolution other constants, called as before with a suffix.
func (c *convolution) replace(weight, bias *tensor.Tensor, weightName, biasName string) {
	g := c.node.Graph()
	old := g.SetInsertPoint(c.node)
	defer g.SetInsertPoint(old)
	if weight != nil {
		v := g.Constant(value.OfTensor(weight), source.Range{}).SetName(weightName)
		c.node.ReplaceInput(1, v)
	}
	if bias != nil {
		v := g.Constant(value.OfTensor(bias), source.Range{})
		if biasName != "" {
			v.SetName(biasName)
		}
		c.node.ReplaceInput(2, v)
	}
}

func foldBatchNorm(c *convolution, n *ir.Node) bool {
	if n.Kind() != aten.BatchNorm {
		return false
	}
	if training, ok := n.Input(5).Constant(); !ok || training.Bool() {
		return false
	}
	mean, variance := constantTensor(n.Input(3)), constantTensor(n.Input(4))
	epsilon, ok := n.Input(7).Constant()
	if mean == nil || variance == nil || !ok {
		return false
	}
	var k calculator
	scale := k.run(aten.Rsqrt, value.OfTensor(k.sum(variance, epsilon)))
	switch weight := constantTensor(n.Input(1)); {
	case weight != nil:
		scale = k.binary("aten::mul.Tensor", scale, weight)
	case !n.Input(1).MustBeNone():
		return false
	}
	bias := c.bias
	if bias == nil {
		bias = k.zeros(c.weight)
	}
	bias = k.binary("aten::mul.Tensor", k.binary("aten::sub.Tensor", bias, mean), scale)
	switch shift := constantTensor(n.Input(2)); {
	case shift != nil:
		bias = k.binary("aten::add.Tensor", bias, shift)
	case !n.Input(2).MustBeNone():
		return false
	}
	weight := k.binary("aten::mul.Tensor", c.weight, k.perChannel(scale, c.channels(), c.weight.Dim()))
	if k.failed || weight.DType() != c.weight.DType() || bias.DType() != c.weight.DType() {
		return false
	}
	biasName := strings.TrimSuffix(c.weightName(), "weight") + "bias"
	if c.bias != nil {
		biasName = c.biasName()
	}
	c.replace(weight, bias, c.weightName()+"_fused_bn", biasName+"_fused_bn")
	return true
}

func (c *calculator) sum(t *tensor.Tensor, number value.Value) *tensor.Tensor {
	made := c.run("aten::add.Scalar", value.OfTensor(t), number, value.Int(1))
	if made == nil {
		return t // the failure is noted
	}
	return made
}

// channelOperand returns the second operand of a node as one number per channel of a convolution,
// nil where it is none: a number, or a tensor with all dimensions of images whose sizes are 1 but for the channels, or of one element, that changes no
// element type.
func (c *convolution) channelOperand(k *calculator, n *ir.Node) *tensor.Tensor {
	v, ok := n.Input(1).Constant()
	if !ok {
		return nil
	}
	switch v.Kind() {
	case value.KindInt, value.KindFloat:
		full := k.run("aten::add.Scalar", value.OfTensor(k.zeros(c.weight)), v, value.Int(1))
		if full == nil || full.DType() != c.weight.DType() {
			return nil
		}
		return full
	case value.KindTensor:
		t := v.Tensor()
		if t.Dim() > c.weight.Dim() {
			return nil
		}
		for i, size := range t.Shape() {
			if isChannel := t.Dim() == c.weight.Dim() && i == 1; size != 1 && !(isChannel && size == c.channels()) {
				return nil
			}
		}
		channels := k.run(aten.Reshape, value.OfTensor(k.zeros(c.weight)), value.OfList(value.Ints(c.channelShape())))
		full := k.binary("aten::add.Tensor", channels, t)
		if full == nil || full.DType() != c.weight.DType() {
			return nil
		}
		return k.run(aten.Reshape, value.OfTensor(full), value.OfList(value.Ints([]int{c.channels()})))
	}
	return nil
}

// channelShape is the shape of what has a number for each channel of the images.
func (c *convolution) channelShape() []int {
	shape := make([]int, c.weight.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = c.channels()
	return shape
}

func foldAddition(c *convolution, n *ir.Node) bool {
	if !n.Is(aten.Add, aten.Sub) || len(n.Inputs()) != 3 {
		return false
	}
	alpha, ok := n.Input(2).Constant()
	var k calculator
	operand := c.channelOperand(&k, n)
	if operand == nil || !ok {
		return false
	}
	operand = k.run("aten::mul.Scalar", value.OfTensor(operand), alpha)
	bias := c.bias
	if bias == nil {
		bias = k.zeros(c.weight)
	}
	suffix := strings.TrimPrefix(n.Kind(), "aten::")
	if bias = k.binary("aten::"+suffix+".Tensor", bias, operand); k.failed || bias.DType() != c.weight.DType() {
		return false
	}
	name := strings.TrimSuffix(c.weightName(), "weight") + "bias"
	if c.bias != nil {
		name = c.biasName()
	}
	c.replace(nil, bias, "", name+"_fused_"+suffix)
	return true
}

func foldFactor(c *convolution, n *ir.Node) bool {
	if !n.Is(aten.Mul, aten.Div) || len(n.Inputs()) != 2 {
		return false
	}
	var k calculator
	operand := c.channelOperand(&k, n)
	if operand == nil {
		return false
	}
	suffix := strings.TrimPrefix(n.Kind(), "aten::")
	weight := k.binary("aten::"+suffix+".Tensor", c.weight, k.perChannel(operand, c.channels(), c.weight.Dim()))
	name, bias := c.weightName(), c.bias
	if bias != nil {
		name = c.biasName()
		bias = k.binary("aten::"+suffix+".Tensor", bias, operand)
	}
	if k.failed || weight.DType() != c.weight.DType() {
		return false
	}
	c.replace(weight, bias, name+"_fused_"+suffix, "")
	return true
}
