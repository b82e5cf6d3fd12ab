package autograd

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// composed is the decomposition of an operator into what run records.
func composed(results func() int, run Operation) ops.Decomposition {
	return func(e Emitter, args []value.Value) []value.Value {
		out := make([]value.Value, results())
		succeed(run(e.(*emitter).mode, args, out))
		return out
	}
}

// Decompose has an operator, named without its namespace, recorded as what run records, where it has neither a derivative nor a
// decomposition of its own. calls says whether the operator has no implementation but run, or run calls it: then it has no node of its
// own. It is asked when the operator is first recorded. Decompose is called before anything is.
func Decompose(name string, run Operation, calls func() bool) {
	results := sync.OnceValue(func() int { return len(ops.Find("aten::" + name).Schema().Returns) })
	decompositions[name] = definition{composed(results, run), calls}
}

// definition is a decomposition that another package gives.
type definition struct {
	as    ops.Decomposition
	calls func() bool
}

// runsWhole reports whether an operator with a decomposition runs itself where it is recorded, as one node, and the decomposition is gone through by
// the derivative alone: where it has a node of its own in PyTorch, draws no random numbers, and gives no views.
func runsWhole(o *ops.Operator) bool {
	if o == nil || o.Run == nil || o.Has(ops.Composite) || o.Has(ops.Random) || o.Has(ops.WritesStatistics) {
		return false
	}
	return !slices.ContainsFunc(o.Schema().Returns, func(r schema.Argument) bool { return r.Alias != nil })
}

// decompositions are those that other packages give, by names without the namespace.
var decompositions = map[string]definition{}

// through is the derivative of an operator, which gave out, by what it is made of: that runs on the saved arguments, recorded, and the gradients of
// the results go back through it.
func through(decompose ops.Decomposition, out []value.Value) derivative {
	given := make([]bool, len(out)) // a result may be None, of a gradient that was not asked for
	for i, v := range out {
		given[i] = !v.IsNone()
	}
	return func(c *gradient) {
		outer := c.Emitter.(*emitter).mode
		recording := *outer
		recording.off = false
		recording.within++
		source.Check(recording.within <= deepest, "the gradient of %s is made of gradients that are made of it", c.node.op)
		e := &emitter{mode: &recording}

		// Each argument is another tensor here, though the same was given for several: their gradients are apart.
		var places []slot
		var leaves []*tensor.Tensor
		leaf := func(at slot, t *tensor.Tensor) value.Value {
			t = c.saved(at, t)
			if in := c.find(at.argument, at.element); in == nil || in.edge.node == nil {
				return value.OfTensor(t)
			}
			if outer.off {
				if t.Dispatches() { // its class has what stands for its elements, which keeps a history of its own
					t = do(c.Emitter.(*emitter), "alias", t)
				} else {
					t = t.Detach()
				}
				succeed(t.SetRequiresGrad(true))
			} else {
				t = do(e, "alias", t)
			}
			places, leaves = append(places, at), append(leaves, t)
			return value.OfTensor(t)
		}
		c.Reading()
		args := slices.Clone(c.node.args)
		for i, v := range args {
			switch {
			case v.IsTensor():
				args[i] = leaf(slot{argument: i, element: -1}, v.Tensor())
			case v.Kind() == value.KindList:
				items := slices.Clone(v.List().Items)
				for j, x := range items {
					if x.IsTensor() {
						items[j] = leaf(slot{argument: i, element: j}, x.Tensor())
					}
				}
				args[i] = value.OfList(value.NewList(v.List().Elem, items...))
			}
		}

		var outputs, seeds []*tensor.Tensor
		at := 0
		for i, v := range decompose(e, args) {
			if !given[i] {
				continue
			}
			eachTensor([]value.Value{v}, func(t *tensor.Tensor) bool {
				if g := c.grads[at]; g != nil && t.RequiresGrad() {
					outputs, seeds = append(outputs, t), append(seeds, g)
				}
				at++
				return true
			})
		}
		if len(outputs) == 0 || len(leaves) == 0 {
			return
		}
		found := must(recording.Gradients(outputs, leaves, seeds, Options{CreateGraph: !outer.off, AllowUnused: true}))
		for i, g := range found {
			if g != nil {
				c.GiveElement(places[i].argument, places[i].element, g)
			}
		}
	}
}

// Composite has an operator that was defined at run time recorded as what run does.
func Composite(op *ops.Operator, run Operation) {
	p := *planOf(op)
	p.decompose = composed(func() int { return len(op.Schema().Returns) }, run)
	plans.Store(op, &p)
}
