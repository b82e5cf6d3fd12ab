package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
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
		if n.Kind() != aten.Add || len(n.Inputs()) != 3 || !n.Output().HasUses() {
			return
		}
		if alpha, ok := passes.ConstantInt(n.Input(2)); !ok || alpha != 1 {
			return
		}
		for i := range 2 {
			product, matrix := n.Input(i).Node(), n.Input(1-i)
			if product.Kind() == aten.Mm && addsToProduct(n.Input(i), matrix) {
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
	n := g.InsertNode(g.Create(aten.Addmm, []*ir.Value{matrix, product.Input(0), product.Input(1), one, one}, 1))
	n.Output().CopyMetadata(sum.Output())
	n.Output().SetName("")
	sum.Output().ReplaceAllUsesWith(n.Output())
}

// leastProducts is how many products a sum has that is worth one operator.
const leastProducts = 4

// BatchMM makes one operator of a sum of four and more matrix products that nothing else reads, and of eight and more products with a common factor.
// A product stays where anything writes its factors or itself. Peephole cleans up a graph that has products.
//
//	%p = aten::mm(%a, %b) ...
//	%s = aten::add(%p, %q, %one) ...   ->   %s = prim::MMTreeReduce(%a, %c, ..., %b, %d, ...)
//
//	%p = aten::mm(%a, %b)
//	%q = aten::mm(%a, %c) ...          ->   %p, %q, ... = prim::MMBatchSide[side=0](%a, %b, %c, ...)
func BatchMM(g *ir.Graph) bool {
	products := false
	g.Block().Walk(func(n *ir.Node) { products = products || n.Kind() == aten.Mm })
	if !products {
		return false
	}
	changed := batchProducts(g, g.Block(), alias.Analyze(g, alias.Options{}))
	changed = batchSides(g, g.Block()) || changed
	changed = passes.DCE(g) || changed
	return passes.Peephole(g) || changed
}

// batchProducts makes one operator of each long sum of products of a block; memory says what is written in the graph.
func batchProducts(g *ir.Graph, b *ir.Block, memory *alias.Db) bool {
	changed := false
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			changed = batchProducts(g, inner, memory) || changed
		}
		products := sumOfProducts(n)
		if len(products) < leastProducts || isPartOfSum(n) || slices.ContainsFunc(products, memory.HasNodeWriters) {
			continue
		}
		slices.Reverse(products)
		var inputs []*ir.Value
		for side := range 2 {
			for _, p := range products {
				inputs = append(inputs, p.Input(side))
			}
		}
		reduce := g.Create(prim.MMTreeReduce, inputs, 1).InsertBefore(n)
		reduce.Output().SetType(n.Output().Type())
		n.Output().ReplaceAllUsesWith(reduce.Output())
		changed = true
	}
	return changed
}

// BatchSideKind is the kind of a node that gives the products of its first input with each of the others.
const BatchSideKind = prim.MMBatchSide

// leastOfSide is how many products with a common factor become one node.
const leastOfSide = 8

// batchSides makes one node of products of a block that have a factor in common.
func batchSides(g *ir.Graph, b *ir.Block) bool {
	changed := false
	seen := map[*ir.Value]bool{}
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			changed = batchSides(g, inner) || changed
		}
		if n.Kind() != aten.Mm || len(n.Inputs()) != 2 {
			continue
		}
		for side, v := range n.Inputs() {
			if seen[v] || len(productsOf(v, side, b)) < leastOfSide {
				continue
			}
			seen[v] = true
			if made := batchSide(g, v, side, b); made != nil {
				n, changed = made, true
				break
			}
		}
	}
	return changed
}

// productsOf returns the products of a block whose factor on a side is v and whose other one is not, in order.
func productsOf(v *ir.Value, side int, b *ir.Block) (products []*ir.Node) {
	for _, u := range v.Uses() {
		if n := u.User; n.Kind() == aten.Mm && n.Block() == b && u.Index == side && len(n.Inputs()) == 2 && n.Input(1-side) != v {
			products = append(products, n)
		}
	}
	slices.SortFunc(products, func(a, b *ir.Node) int {
		if a.IsBefore(b) {
			return -1
		}
		return 1
	})
	return products
}

// batchSide makes one node of the products of v that can stand where the last of them does: none reads another, and no factor is written. It returns
// nil where they are too few.
func batchSide(g *ir.Graph, v *ir.Value, side int, b *ir.Block) *ir.Node {
	memory := alias.Analyze(g, alias.Options{})
	isWritten := func(n *ir.Node) bool { return memory.HasNodeWriters(n) }
	products := slices.DeleteFunc(productsOf(v, side, b), isWritten)
	if len(products) < leastOfSide {
		return nil
	}
	joined := products[len(products)-1:]
	for _, n := range slices.Backward(products[:len(products)-1]) {
		if memory.MoveBefore(n, joined[0]) {
			joined = append([]*ir.Node{n}, joined...)
		}
	}
	if len(joined) < leastOfSide {
		return nil
	}
	inputs := []*ir.Value{v}
	for _, n := range joined {
		inputs = append(inputs, n.Input(1-side))
	}
	batch := g.Create(BatchSideKind, inputs, len(joined)).SetAttr("side", int64(side)).SetRange(joined[0].Range).InsertBefore(joined[0])
	for i, n := range joined {
		n.Output().ReplaceAllUsesWith(batch.Outputs()[i].SetType(n.Output().Type()))
		n.Destroy()
	}
	return batch
}

// sumOfProducts returns the products that n adds up, nil where it adds anything else or another node sees a part.
func sumOfProducts(n *ir.Node) []*ir.Node {
	switch {
	case n.Kind() == aten.Mm && len(n.Inputs()) == 2:
		return []*ir.Node{n}
	case n.Kind() != aten.Add || len(n.Inputs()) != 3:
		return nil
	}
	if alpha, ok := passes.ConstantInt(n.Input(2)); !ok || alpha != 1 {
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
