package export

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mapOver captures a call of map: the block is applied to the items of the first dimension of the inputs.
func (c *capture) mapOver(n *ir.Node) {
	b := n.Blocks()[0]
	used := c.operandsOf(n)
	mapped := c.handlesOf(n.Inputs())
	items := c.take(b.Inputs(), c.itemsOf(mapped))
	body, results := c.subgraph(b, append(items, used.handles...), "body_graph_"+itoa(c.countGraphs("body_graph_")))
	c.node = n
	call := c.higherOrder("map_impl", "map_impl", exportir.Ref(body.Name), exportir.OfList(c.refs(mapped)), exportir.OfList(c.refs(used.handles)))
	c.higherOrderResults(n, call, c.stacked(results, mapped[0]))
}

// stacked are handles of tensors with one more dimension before the others: the first of over.
func (c *capture) stacked(results []*handle, over *handle) []*handle {
	stacked := make([]*handle, len(results))
	for i, h := range results {
		stacked[i] = &handle{metas: make([]*tensor.Tensor, c.runs), device: h.device}
		for r, m := range h.metas {
			shape := append([]int{over.metas[r].Size(0)}, m.Shape()...)
			stacked[i].metas[r] = metaTensor(shape, stridesLike(shape, descending(len(shape))), m.DType())
		}
	}
	return stacked
}

// descending are strides that stand for the order of dimensions.
func descending(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = n - i
	}
	return out
}

// operandsOf are the tensors from outside that the blocks of a node use.
func (c *capture) operandsOf(n *ir.Node) *operands {
	used := &operands{seen: map[*handle]bool{}}
	for _, b := range n.Blocks() {
		c.collect(b, used)
	}
	return used
}

func (c *capture) handlesOf(values []*ir.Value) []*handle {
	var found []*handle
	for _, v := range values {
		found = append(found, c.handleOf(c.known(v)))
	}
	return found
}

// refs are the nodes of tensors as arguments.
func (c *capture) refs(handles []*handle) []exportir.Argument {
	args := []exportir.Argument{}
	for _, h := range handles {
		args = append(args, exportir.Ref(c.read(h).Name))
	}
	return args
}

// itemsOf are tensors like the items of the first dimension of others, in the runs.
func (c *capture) itemsOf(over []*handle) []*handle {
	items := make([]*handle, len(over))
	for i, h := range over {
		items[i] = &handle{node: &exportir.Node{Name: h.node.Name}, metas: make([]*tensor.Tensor, c.runs), device: h.device}
		for r, m := range h.metas {
			if m.Dim() == 0 {
				c.fail(source.RuntimeError, "map and scan go over the first dimension of their inputs, and input %d has none", i)
			}
			items[i].metas[r] = metaTensor(m.Shape()[1:], m.Strides()[1:], m.DType())
		}
	}
	return items
}

// take makes the parameters of a block tensors of their own that are like given ones.
func (c *capture) take(parameters []*ir.Value, like []*handle) []*handle {
	own := make([]*handle, len(like))
	for i, h := range like {
		own[i] = &handle{node: &exportir.Node{Name: h.node.Name}, metas: make([]*tensor.Tensor, c.runs), device: h.device}
		for r, m := range h.metas {
			own[i].metas[r] = metaTensor(m.Shape(), m.Strides(), m.DType())
		}
		v := c.describe(own[i])
		own[i].node.Meta.Val = &v
		c.scope.handles[own[i].metas[0]] = own[i]
		c.env[parameters[i]] = tensors(own[i].metas)
	}
	return own
}

// whileLoop captures a loop whose number of turns elements tell.
func (c *capture) whileLoop(n *ir.Node) {
	carried, used := c.handlesOf(n.Inputs()), c.operandsOf(n)
	index := itoa(c.countGraphs("while_loop_cond_graph_"))
	test, truth := c.subgraph(n.Blocks()[0], append(c.take(n.Blocks()[0].Inputs(), carried), used.handles...), "while_loop_cond_graph_"+index)
	given := append(c.take(n.Blocks()[1].Inputs(), carried), used.handles...)
	body, results := c.subgraph(n.Blocks()[1], given, "while_loop_body_graph_"+index)
	c.node = n
	if len(truth) != 1 || truth[0].metas[0].Numel() != 1 || truth[0].metas[0].DType() != tensor.Bool {
		c.fail(source.RuntimeError, "The condition of a while_loop gives one truth value, as a tensor of one element")
	}
	c.compareCarried("while_loop", carried, results)
	call := c.higherOrder("while_loop", "while_loop", exportir.Ref(test.Name), exportir.Ref(body.Name), exportir.OfTuple(c.refs(carried)),
		exportir.OfTuple(c.refs(used.handles)))
	c.higherOrderResults(n, call, carried)
}

// compareCarried fails where a turn gives other tensors than it takes.
func (c *capture) compareCarried(name string, carried, results []*handle) {
	if len(results) != len(carried) {
		c.fail(source.RuntimeError, "A turn of %s gives %d tensors, and takes %d", name, len(results), len(carried))
	}
	for i, h := range carried {
		for r, m := range h.metas {
			if to := results[i].metas[r]; m.DType() != to.DType() || !tensor.SameShape(m.Shape(), to.Shape()) {
				c.fail(source.RuntimeError, "A turn of %s takes a tensor of type %s and shape %v in place %d, and gives one of type %s and shape %v",
					name, m.DType(), m.Shape(), i, to.DType(), to.Shape())
			}
		}
	}
}

// scan captures a scan: a block that takes what it has given, and the next items.
func (c *capture) scan(n *ir.Node) {
	given, used := c.handlesOf(n.Inputs()), c.operandsOf(n)
	count := trace.Carried(n)
	carried, over := given[:count], given[count:]
	b := n.Blocks()[0]
	items := c.take(b.Inputs(), append(slices.Clone(carried), c.itemsOf(over)...))
	body, results := c.subgraph(b, append(items, used.handles...), "scan_combine_graph_"+itoa(c.countGraphs("scan_combine_graph_")))
	c.node = n
	if len(results) < count {
		c.fail(source.RuntimeError, "A turn of scan gives %d tensors, and takes %d from the one before", len(results), count)
	}
	c.compareCarried("scan", carried, results[:count])
	call := c.higherOrder("scan", "scan", exportir.Ref(body.Name), exportir.OfList(c.refs(carried)), exportir.OfList(c.refs(over)),
		exportir.OfList(c.refs(used.handles)))
	c.higherOrderResults(n, call, append(slices.Clone(carried), c.stacked(results[count:], over[0])...))
}
