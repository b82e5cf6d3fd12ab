package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// FuseAddmm puts an operator that does both beside the sum of a product and a matrix of known sizes. The nodes that it
// replaces stay for DCE.
//
//	%p = aten::mm(%x, %y)
//	%s = aten::add(%p, %b, %one)   ->   %s = aten::addmm(%b, %x, %y, %one, %one)
func FuseAddmm(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != "aten::add" || len(n.Inputs()) != 3 || !n.Output().HasUses() {
			return
		}
		if alpha, ok := constantInt(n.Input(2)); !ok || alpha != 1 {
			return
		}
		for i := range 2 {
			product, matrix := n.Input(i).Node(), n.Input(1-i)
			if product.Kind() == "aten::mm" && addsToProduct(n.Input(i), matrix) {
				replaceByAddmm(g, n, product, matrix)
				changed = true
				return
			}
		}
	})
	return changed
}

// addsToProduct reports whether a matrix is known to be one that broadcasts to the product.
func addsToProduct(product, matrix *ir.Value) bool {
	p, ok := product.Type().(*types.TensorInfo)
	m, isTensor := matrix.Type().(*types.TensorInfo)
	if !ok || !isTensor || len(p.Sizes) != 2 || m.Sizes == nil || len(m.Sizes) > 2 || m.DType != p.DType {
		return false
	}
	for i, size := range m.Sizes {
		if size < 0 || size != 1 && size != p.Sizes[2-len(m.Sizes)+i] {
			return false
		}
	}
	return true
}

func replaceByAddmm(g *ir.Graph, sum, product *ir.Node, matrix *ir.Value) {
	old := g.SetInsertPoint(sum)
	defer g.SetInsertPoint(old)
	one := g.Constant(value.Int(1), source.Range{})
	n := g.InsertNode(g.Create("aten::addmm", []*ir.Value{matrix, product.Input(0), product.Input(1), one, one}, 1))
	n.Output().CopyMetadata(sum.Output())
	n.Output().SetName("")
	sum.Output().ReplaceAllUsesWith(n.Output())
}

// leastProducts is how many products a sum has that is worth one operator.
const leastProducts = 4

// BatchMM makes one operator of a sum of four and more matrix products that nothing else reads.
//
//	%p = aten::mm(%a, %b) ...
//	%s = aten::add(%p, %q, %one) ...   ->   %s = prim::MMTreeReduce(%a, %c, ..., %b, %d, ...)
func BatchMM(g *ir.Graph) bool {
	changed := batchProducts(g, g.Block())
	if changed {
		DCE(g)
	}
	return changed
}

func batchProducts(g *ir.Graph, b *ir.Block) bool {
	changed := false
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			changed = batchProducts(g, inner) || changed
		}
		products := sumOfProducts(n)
		if len(products) < leastProducts || isPartOfSum(n) {
			continue
		}
		slices.Reverse(products)
		var inputs []*ir.Value
		for side := range 2 {
			for _, p := range products {
				inputs = append(inputs, p.Input(side))
			}
		}
		reduce := g.Create("prim::MMTreeReduce", inputs, 1).InsertBefore(n)
		reduce.Output().SetType(n.Output().Type())
		n.Output().ReplaceAllUsesWith(reduce.Output())
		changed = true
	}
	return changed
}

// sumOfProducts returns the products that n adds up, nil where it adds anything else or another node sees a part.
func sumOfProducts(n *ir.Node) []*ir.Node {
	switch {
	case n.Kind() == "aten::mm" && len(n.Inputs()) == 2:
		return []*ir.Node{n}
	case n.Kind() != "aten::add" || len(n.Inputs()) != 3:
		return nil
	}
	if alpha, ok := constantInt(n.Input(2)); !ok || alpha != 1 {
		return nil
	}
	var products []*ir.Node
	for _, v := range n.Inputs()[:2] {
		if v.Node().Block() != n.Block() || len(v.Uses()) != 1 {
			return nil
		}
		part := sumOfProducts(v.Node())
		if part == nil {
			return nil
		}
		products = append(products, part...)
	}
	return products
}

// isPartOfSum reports whether a sum of products is one summand of a larger one.
func isPartOfSum(n *ir.Node) bool {
	uses := n.Output().Uses()
	return len(uses) == 1 && sumOfProducts(uses[0].User) != nil
}
