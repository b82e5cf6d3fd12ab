package parity

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// EraseNumberTypes makes numbers tensors without dimensions, for back ends that know tensors only:
// the types of values, and the constants.
func EraseNumberTypes(g *ir.Graph) {
	numbersToTensors(g.Inputs())
	g.Block().Walk(func(n *ir.Node) {
		switch {
		case n.Kind() == prim.Constant:
			constantToTensor(g, n)
			return
		case n.Kind() == prim.NumToTensor, n.Has(ops.ToNumber):
			n.Output().ReplaceAllUsesWith(n.Input(0))
			n.Destroy()
			return
		}
		numbersToTensors(n.Inputs()) // also parameters of blocks, unless nothing uses them
		numbersToTensors(n.Outputs())
	})
}

var numberDTypes = map[types.Kind]string{
	types.KindInt: "int64", types.KindFloat: "float64", types.KindBool: "bool", types.KindComplex: "complex128", types.KindNumber: "",
}

func numbersToTensors(vs []*ir.Value) {
	for _, v := range vs {
		if dtype, ok := numberDTypes[v.Type().Kind()]; ok {
			if dtype == "" {
				v.SetType(&types.TensorInfo{Device: "cpu"})
			} else {
				v.SetType(numberType(dtype))
			}
		}
	}
}

// numberType is the type of a tensor without dimensions.
func numberType(dtype string) types.Type {
	return &types.TensorInfo{DType: dtype, Device: "cpu", Dims: new(int), Sizes: []int{}}
}

func constantToTensor(g *ir.Graph, n *ir.Node) {
	c, ok := n.Output().Constant()
	if !ok {
		return
	}
	var s tensor.Scalar
	switch c.Kind() {
	case value.KindInt:
		s = tensor.Int(c.Int())
	case value.KindFloat:
		s = tensor.Float(c.Float())
	case value.KindBool:
		s = tensor.Boolean(c.Bool())
	default:
		return
	}
	dtype, _ := tensor.ParseDType(numberDTypes[n.Output().Type().Kind()])
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	made := g.Constant(value.OfTensor(tensor.FromScalar(s, dtype)), source.Range{})
	n.Output().ReplaceAllUsesWith(made.CopyMetadata(n.Output())) // as everywhere, its uses make its type that of a tensor
	n.Destroy()
}
