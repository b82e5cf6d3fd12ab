package export

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// specials capture the nodes that are no operators.
var specials map[string]func(*capture, *ir.Node)

func init() {
	specials = map[string]func(*capture, *ir.Node){
		prim.Constant: func(*capture, *ir.Node) {}, // known looks it up
		prim.ListConstruct: func(c *capture, n *ir.Node) {
			elem := n.Output().Type().(*types.List).Elem
			c.build(n, func(items []value.Value) value.Value { return value.OfList(value.NewList(elem, items...)) })
		},
		prim.TupleConstruct: func(c *capture, n *ir.Node) {
			t, _ := n.Output().Type().(*types.Tuple)
			c.build(n, func(items []value.Value) value.Value { return value.OfTuple(&value.Tuple{Type: t, Items: items}) })
		},
		prim.DictConstruct: func(c *capture, n *ir.Node) {
			t := n.Output().Type().(*types.Dict)
			c.build(n, func(items []value.Value) value.Value {
				d := value.NewDict(t.Key, t.Value)
				for i := 0; i < len(items); i += 2 {
					d.Set(items[i], items[i+1])
				}
				return value.OfDict(d)
			})
		},
		prim.TupleUnpack: func(c *capture, n *ir.Node) {
			c.unpack(n, func(v value.Value) []value.Value { return v.Tuple().Items })
		},
		prim.ListUnpack:              func(c *capture, n *ir.Node) { c.unpack(n, func(v value.Value) []value.Value { return v.List().Items }) },
		prim.TupleIndex:              (*capture).tupleIndex,
		prim.Uninitialized:           func(c *capture, n *ir.Node) { c.env[n.Output()] = c.all(value.Uninitialized) },
		prim.UncheckedCast:           (*capture).same,
		prim.UncheckedUnwrapOptional: (*capture).same,
		aten.UnwrapOptional:          (*capture).same,
		prim.NumToTensor:             (*capture).numberToTensor,
		prim.RaiseException:          (*capture).raise,
		prim.If:                      (*capture).branch,
		prim.Loop:                    (*capture).loop,
		trace.Map:                    (*capture).mapOver,
		trace.While:                  (*capture).whileLoop,
		trace.Scan:                   (*capture).scan,
		prim.GetAttr:                 (*capture).getAttr,
		prim.SetAttr:                 (*capture).setAttr,
		trace.Guard:                  (*capture).guard,
		trace.Check:                  (*capture).check,
		prim.Print:                   func(*capture, *ir.Node) {},
		aten.Warn:                    func(*capture, *ir.Node) {},
	}
}

// build makes a container of the inputs.
func (c *capture) build(n *ir.Node, make_ func([]value.Value) value.Value) {
	out := make(run, c.runs)
	for r := range out {
		items := make([]value.Value, len(n.Inputs()))
		for i, in := range n.Inputs() {
			items[i] = c.known(in)[r]
		}
		out[r] = make_(items)
	}
	c.env[n.Output()] = out
}

func (c *capture) unpack(n *ir.Node, items func(value.Value) []value.Value) {
	given := c.known(n.Input(0))
	for i, v := range n.Outputs() {
		out := make(run, c.runs)
		for r := range out {
			own := items(given[r])
			if len(own) != len(n.Outputs()) {
				c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "Expected %d elements in a list but found %d", len(n.Outputs()), len(own)), r)
			}
			out[r] = own[i]
		}
		c.env[v] = out
	}
}

func (c *capture) tupleIndex(n *ir.Node) {
	given, at := c.known(n.Input(0)), c.known(n.Input(1))
	out := make(run, c.runs)
	for r := range out {
		items, i := given[r].Tuple().Items, int(at[r].Int())
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			c.fail(source.IndexError, "tuple index out of range")
		}
		out[r] = items[i]
	}
	c.env[n.Output()] = out
}

func (c *capture) same(n *ir.Node) { c.env[n.Output()] = c.known(n.Input(0)) }

// numberToTensor makes tensors that hold sizes: real ones, which the program computes with.
func (c *capture) numberToTensor(n *ir.Node) {
	given := c.known(n.Input(0))
	out := make(run, c.runs)
	for r, v := range given {
		switch v.Kind() {
		case value.KindFloat:
			out[r] = value.OfTensor(tensor.FromScalar(tensor.Float(v.Float()), tensor.Float64))
		case value.KindBool:
			out[r] = value.OfTensor(tensor.FromScalar(tensor.Boolean(v.Bool()), tensor.Bool))
		default:
			out[r] = value.OfTensor(tensor.FromScalar(tensor.Int(v.Int()), tensor.Int64))
		}
	}
	c.env[n.Output()] = out
}

func (c *capture) raise(n *ir.Node) {
	message := c.known(n.Input(0))
	c.fail(source.RuntimeError, "The program raises an exception: %s", message[0].Str())
}

// constant is a constant in all runs. Containers are made anew for each; tensors become inputs of the program.
func (c *capture) constant(v value.Value) run {
	if v.IsTensor() {
		return c.constantTensor(v.Tensor())
	}
	if v.Kind() == value.KindList {
		out := make(run, c.runs)
		for r := range out {
			out[r] = value.OfList(value.NewList(v.List().Elem, append([]value.Value(nil), v.List().Items...)...))
		}
		return out
	}
	return c.all(v)
}

// constantTensor is a tensor that the captured graph has: a number where one tells it, else it must have been given as an input.
func (c *capture) constantTensor(t *tensor.Tensor) run {
	if t.Dim() == 0 && t.Device().Type == tensor.CPU {
		return c.all(value.OfTensor(t))
	}
	c.fail(source.RuntimeError, "the graph has a tensor of its own, which has not been made an input of the program")
	return nil
}

// guard is where the program has made a Python value of a tensor: it must be the same in all runs.
func (c *capture) guard(n *ir.Node) {
	is := c.known(n.Input(0))
	if c.scope.handles[is[0].Tensor()] != nil {
		c.fail(source.RuntimeError, dependsOnElements+" Use torch.cond or torch.where for a decision, and x.item() for a number")
	}
	if c.isUnbacked(n.Input(0), 0) {
		c.settled(n, is)
		return
	}
	c.decide(n, n.StringAttr("what"))
}

// dependsOnElements says why a decision cannot be exported.
const dependsOnElements = "The program makes a Python value of the elements of a tensor here, and may do something else with other elements: " +
	"that cannot be exported."

// settled fails unless a value that numbers from elements tell is the same for all numbers in their ranges.
func (c *capture) settled(n *ir.Node, is run) {
	first := number(is[0])
	points := c.extremes()
	if len(points) == 0 {
		points = []map[string]int{{}} // floats have no ranges: no value of them can be evaluated
	}
	for _, at := range points {
		if found, ok := c.evaluate(n.Input(0), at, 0); !ok || !value.EqualConstants(number(found), first) {
			what := ""
			if rel, ok := c.relationOf(n.Input(0)); ok {
				what = " It is " + rel.left.String() + " " + signs[rel.op] + " " + rel.right.String() + "."
			}
			c.fail(source.RuntimeError, "%s%s Use torch._check to say what holds for all elements, or torch.cond for a decision",
				dependsOnElements, what)
		}
	}
}

// decide fails with a conflict unless what sizes tell is the same for all of them.
func (c *capture) decide(n *ir.Node, what string) {
	is := c.known(n.Input(0))
	first := value.OfScalar(source.Must(is[0].Tensor().Item()))
	for r, v := range is {
		if other := value.OfScalar(source.Must(v.Tensor().Item())); !value.EqualConstants(first, other) {
			err := source.Errorf(source.RuntimeError, c.node.Range,
				"%s here depends on a size that is to be dynamic: it gives %s for the example, and %s for other sizes",
				what, value.Repr(first, nil), value.Repr(other, nil))
			source.Throw(&conflict{err: err, run: r, reached: c.reached, guard: c.guardOf(n.Input(0), first)})
		}
	}
	c.decided(n.Input(0), first)
}
