package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// fewestConvolutions is how many convolutions pay for the change of layouts at the rim.
const fewestConvolutions = 2

// IsRegion reports whether a node is a group of this package.
func IsRegion(n *ir.Node) bool {
	_, ok := n.Attr(interp.PlannedAttr)
	return ok && n.Kind() == interp.GroupKind
}

// Regions puts operators on images that follow each other into groups. The nodes of a group run where its last one stood; nothing between
// reads their results or could write what they read.
//
//	%y = aten::conv2d(%x, %w, %b, ...)      %p = prim::TensorExprGroup[region=1](%x, %w, %b, %v)
//	%z = aten::relu(%y)                ->     block0():
//	%p = aten::conv2d(%z, %v, ...)              %y = aten::conv2d(%x, %w, %b, ...)
//	                                            ...
//	                                            -> (%p)
func Regions(g *ir.Graph) bool {
	f := &finder{g: g}
	f.block(g.Block())
	return f.changed
}

// finder finds the regions of a graph.
type finder struct {
	g       *ir.Graph
	nodes   []*ir.Node // of the open region, in order
	made    map[*ir.Value]bool
	changed bool
}

func (f *finder) block(b *ir.Block) {
	f.nodes, f.made = nil, map[*ir.Value]bool{}
	for n := b.First(); n != nil; {
		next := n.Next()
		switch {
		case n.Kind() == "prim::Constant":
		case f.joins(n):
			f.nodes = append(f.nodes, n)
			for _, v := range n.Outputs() {
				f.made[v] = true
			}
		case n.Kind() == interp.GroupKind:
			f.close(n)
		case len(n.Blocks()) > 0:
			f.close(n)
			inner := &finder{g: f.g}
			for _, c := range n.Blocks() {
				inner.block(c)
			}
			f.changed = f.changed || inner.changed
		case fuse.IsBarrier(n) || slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return f.made[v] }):
			f.close(n)
		}
		n = next
	}
	f.close(b.ReturnNode())
}

// joins reports whether n belongs to the open region: it is a convolution, which may begin one, or computes images from those of the region.
func (f *finder) joins(n *ir.Node) bool {
	if n.Operator() == nil || n.Operator().Run == nil || len(n.Outputs()) != 1 || !hasKnownArguments(n) {
		return false
	}
	kind := kindOf(n)
	switch {
	case kind == notPlanned:
		return false
	case kind == convolution:
		return true
	}
	if writes(n) { // what the region was given stays as it is for others
		return f.made[n.Input(0)]
	}
	return slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return f.made[v] })
}

func isTensor(v *ir.Value) bool { return v.Type().Kind() == types.KindTensor }

// hasKnownArguments reports whether everything but tensors among the inputs of n is constant.
func hasKnownArguments(n *ir.Node) bool {
	for _, v := range n.Inputs() {
		if _, known := constant(v); !known && !isTensor(v) && !isOptionalTensor(v) {
			return false
		}
	}
	return true
}

func isOptionalTensor(v *ir.Value) bool {
	o, ok := v.Type().(*types.Optional)
	return ok && o.Elem.Kind() == types.KindTensor
}

// close ends the open region before at: where it has enough convolutions its nodes become one.
func (f *finder) close(at *ir.Node) {
	nodes := f.nodes
	f.nodes, f.made = nil, map[*ir.Value]bool{}
	convolutions := 0
	for _, n := range nodes {
		if kindOf(n) == convolution {
			convolutions++
		}
	}
	if convolutions < fewestConvolutions {
		return
	}
	inside := map[*ir.Node]bool{}
	for _, n := range nodes {
		inside[n] = true
	}
	var inputs, outputs []*ir.Value
	for _, n := range nodes {
		for _, v := range n.Inputs() {
			_, known := constant(v)
			if !known && !inside[v.Node()] && !slices.Contains(inputs, v) {
				inputs = append(inputs, v)
			}
		}
		if slices.ContainsFunc(n.Output().Uses(), func(u ir.Use) bool { return !inside[u.User] }) {
			outputs = append(outputs, n.Output())
		}
	}
	if len(outputs) == 0 {
		return
	}
	f.changed = true
	fuse.Join(f.g, nodes, inputs, outputs, at).SetAttr(interp.PlannedAttr, int64(1))
}
