package freeze

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// FoldConvBatchNorm returns a copy of a module in which normalizations by running statistics that follow convolutions over two or three
// dimensions are part of these: their weights and biases are other ones, and the normalizations stay as attributes that nobody calls.
//
//	%y = prim::CallMethod[name="forward"](%conv, %x)
//	%z = prim::CallMethod[name="forward"](%bn, %y)    -- removed, where nothing else uses %y
//
// A convolution that is called in several places is folded where the same normalization follows each of them. It fails where a method
// cannot be compiled.
func FoldConvBatchNorm(module *value.Object, mangle func(name string) string) (*value.Object, error) {
	c, err := CloneModule(module, mangle)
	if err != nil {
		return nil, err
	}
	f := &convFolder{calls: map[*value.Object]int{}, pairs: map[*value.Object][]convPair{}}
	for _, o := range c.Modules {
		for _, name := range o.Class.MethodNames() {
			if m, ok := o.Class.FindMethod(name).(*ir.Function); ok {
				f.collect(o, m.Graph())
			}
		}
	}
	f.fold(c.Modules)
	return c.Root, nil
}

// convPair is a call of a normalization with the result of a convolution, in a graph of the class of an object.
type convPair struct {
	conv, norm     *value.Object
	call, normCall *ir.Node
}

type convFolder struct {
	calls map[*value.Object]int // of each module
	pairs map[*value.Object][]convPair
}

// collect notes the calls of modules in a method of an object.
func (f *convFolder) collect(self *value.Object, g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != prim.CallMethod || n.StringAttr("name") != "forward" {
			return
		}
		norm := ModuleAt(g, self, n.Input(0))
		if norm == nil {
			return
		}
		f.calls[norm]++
		call := n.Input(1).Node()
		if call.Kind() != prim.CallMethod || call.StringAttr("name") != "forward" || len(call.Output().Uses()) != 1 || call.Block() != n.Block() {
			return
		}
		conv := ModuleAt(g, self, call.Input(0))
		for _, d := range [...]string{"2d", "3d"} {
			if conv != nil && IsLibraryClass(conv.Class, "conv", "Conv"+d) && IsLibraryClass(norm.Class, "batchnorm", "BatchNorm"+d) {
				f.pairs[conv] = append(f.pairs[conv], convPair{conv, norm, call, n})
			}
		}
	})
}

// IsLibraryClass reports whether a class of modules is one of torch.nn, with whatever mangles its name.
func IsLibraryClass(c *types.Class, file, name string) bool {
	return IsClassNamed(c, name) && strings.HasPrefix(c.Name, "__torch__.torch.nn.modules."+file+".")
}

// IsClassNamed reports whether a class has a name in whatever module, with whatever mangles it.
func IsClassNamed(c *types.Class, name string) bool {
	return c.Name[strings.LastIndexByte(c.Name, '.')+1:] == name
}

// ModuleAt returns the module that a value is in a method of an object, nil where that is not known.
func ModuleAt(g *ir.Graph, self *value.Object, v *ir.Value) *value.Object {
	if v == g.Inputs()[0] {
		return self
	}
	if n := v.Node(); n.Kind() == prim.GetAttr {
		if o := ModuleAt(g, self, n.Input(0)); o != nil {
			if a, ok := o.Attr(n.StringAttr("name")); ok && a.Kind() == value.KindObject && a.Object().Class.IsModule {
				return a.Object()
			}
		}
	}
	return nil
}

// fold folds what can be folded. Graphs belong to classes: a call goes where it can go for all objects of the class.
func (f *convFolder) fold(modules []*value.Object) {
	made := map[*value.Object][2]*tensor.Tensor{}
	refused := map[*ir.Node]bool{}
	for again := true; again; {
		again = false
		for _, conv := range modules {
			pairs := f.pairs[conv]
			if len(pairs) == 0 {
				continue
			}
			weight, bias, ok := foldedWeights(conv, pairs[0].norm)
			ok = ok && f.calls[conv] == len(pairs)
			for _, p := range pairs {
				ok = ok && p.norm == pairs[0].norm && !refused[p.normCall]
			}
			if ok {
				made[conv] = [2]*tensor.Tensor{weight, bias}
				continue
			}
			for _, p := range pairs {
				again = again || !refused[p.normCall]
				refused[p.normCall] = true
			}
			delete(made, conv)
		}
	}
	for _, conv := range modules {
		if parts, ok := made[conv]; ok {
			setFolded(conv, parts[0], parts[1])
			for _, p := range f.pairs[conv] {
				removeCall(p)
			}
		}
	}
	for _, m := range modules {
		for len(m.Slots) < len(m.Class.Attributes) { // its class has got a bias because of another module
			m.Slots = append(m.Slots, value.None)
		}
	}
}

// foldedWeights returns weight and bias of a convolution with a normalization; ok is false where that has no statistics.
func foldedWeights(conv, norm *value.Object) (weight, bias *tensor.Tensor, ok bool) {
	read := func(o *value.Object, name string) *tensor.Tensor {
		if v, ok := o.Attr(name); ok && v.IsTensor() {
			return v.Tensor().Detach()
		}
		return nil
	}
	weight, mean, variance := read(conv, "weight"), read(norm, "running_mean"), read(norm, "running_var")
	epsilon, known := norm.Attr("eps")
	if !known {
		for _, c := range norm.Class.Constants {
			if c.Name == "eps" {
				epsilon, known = c.Value.(value.Value)
			}
		}
	}
	if !known {
		epsilon, known = tracedEpsilon(norm)
	}
	if weight == nil || mean == nil || variance == nil || !known {
		return nil, nil, false
	}
	k, channels := calculator{}, weight.Shape()[0]
	scale := k.run(aten.Rsqrt, value.OfTensor(k.sum(variance, epsilon)))
	if factor := read(norm, "weight"); factor != nil {
		scale = k.binary("aten::mul.Tensor", scale, factor)
	}
	if bias = read(conv, "bias"); bias == nil {
		bias = k.zeros(weight)
	}
	bias = k.binary("aten::mul.Tensor", k.binary("aten::sub.Tensor", bias, mean), scale)
	if shift := read(norm, "bias"); shift != nil {
		bias = k.binary("aten::add.Tensor", bias, shift)
	}
	weight = k.binary("aten::mul.Tensor", weight, k.perChannel(scale, channels, weight.Dim()))
	return weight, bias, !k.failed
}

// tracedEpsilon returns what the forward of a traced normalization adds to the variance.
func tracedEpsilon(norm *value.Object) (epsilon value.Value, known bool) {
	m, ok := norm.Class.FindMethod("forward").(*ir.Function)
	if !ok || m.Graph() == nil {
		return epsilon, false
	}
	m.Graph().Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.BatchNorm && !known {
			epsilon, known = n.Input(7).Constant()
		}
	})
	return epsilon, known
}

// readBias has the convolutions of a module whose forward takes no bias read it from an attribute.
func readBias(conv *value.Object) {
	conv.Class.AddAttribute(types.Attribute{Name: "bias", Type: types.NewOptional(types.Tensor), IsParameter: true})
	for _, name := range conv.Class.MethodNames() {
		m, ok := conv.Class.FindMethod(name).(*ir.Function)
		if !ok {
			continue
		}
		g := m.Graph()
		g.Block().Walk(func(n *ir.Node) {
			if dims, _ := passes.ConvolutionDims(n); (dims > 3 || n.Is(aten.Convolution)) && n.Input(2).MustBeNone() {
				get := g.CreateGetAttr(g.Inputs()[0], "bias").InsertBefore(n)
				n.ReplaceInput(2, get.Output().SetType(types.Tensor).SetName("bias"))
			}
		})
	}
}

// setFolded gives a convolution other parameters. A bias that there was not makes the attribute optional for all of the class.
func setFolded(conv *value.Object, weight, bias *tensor.Tensor) {
	conv.SetAttr("weight", value.OfTensor(weight))
	if i := conv.Class.AttributeIndex("bias"); i < 0 {
		readBias(conv)
	} else if conv.Class.Attributes[i].Type.Kind() != types.KindTensor {
		optional := types.NewOptional(types.Tensor)
		conv.Class.Attributes[i].Type, conv.Class.Attributes[i].IsParameter = optional, true
		for _, name := range conv.Class.MethodNames() {
			m := conv.Class.FindMethod(name).(*ir.Function)
			m.Graph().Block().Walk(func(n *ir.Node) {
				if n.Kind() == prim.GetAttr && n.Input(0) == m.Graph().Inputs()[0] && n.StringAttr("name") == "bias" {
					n.Output().SetType(optional)
				}
			})
		}
	}
	conv.SetAttr("bias", value.OfTensor(bias))
}

// removeCall gives the users of a normalization what it is given.
func removeCall(p convPair) {
	if p.normCall.IsDestroyed() {
		return // by another object of the class
	}
	self := p.normCall.Input(0).Node()
	p.normCall.Output().ReplaceAllUsesWith(p.call.Output())
	p.normCall.Destroy()
	for self.Kind() == prim.GetAttr && len(self.Output().Uses()) == 0 {
		holder := self.Input(0).Node()
		self.Destroy()
		self = holder
	}
}
