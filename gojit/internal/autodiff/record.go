package autodiff

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// isSymbolic reports whether the derivative in an operator's record is one for graphs too.
func isSymbolic(o *ops.Operator) bool {
	return o != nil && o.Def().Grad != nil && o.Def().Has(ops.Grouped|ops.Symbolic) && o.IsFunctional()
}

// applyRecord adds the node that computes the gradients of a node's inputs, by the derivative in the operator's record. The gradients of its
// first results, as many as the node of that kind had that was in the program, are known.
func (d *differentiation) applyRecord(n *ir.Node, kind string, results int) (err error) {
	defer source.Catch(&err)
	e := &engine{differentiation: d, n: n, record: n.Operator().Def(), given: make([]*ir.Value, len(n.Inputs())), asked: make([]bool, len(n.Inputs()))}
	for _, v := range n.Outputs()[:results] {
		if d.grads[v] == nil {
			d.grads[v] = d.df.InsertNode(d.df.Create(zeroKind, nil, 1)).Output()
		}
		e.of = append(e.of, d.grads[v])
	}
	grad := d.df.InsertNode(d.df.Create(gradOfKind, e.of, 0).SetAttr("name", kind))
	body := grad.AddBlock()
	d.df.SetInsertEnd(body)
	e.record.Grad(ops.Gradient{Engine: e})
	refineNumbers(body)
	d.df.SetInsertEnd(d.df.Block())
	for i, g := range e.given {
		if g == nil {
			continue
		}
		body.AddOutput(g)
		out := grad.AddOutput()
		if g.Type().Kind() == types.KindList {
			out.SetType(g.Type())
			if d.grads[n.Input(i)] != nil {
				return source.Errorf(source.RuntimeError, n.Range, "differentiation of %s is not supported for a list that is used twice", n.Kind())
			}
		}
		d.accumulate(n.Input(i), out)
	}
	return nil
}

// engine uses a derivative for a node of a graph: it adds nodes where the tape runs operators.
type engine struct {
	*differentiation
	n      *ir.Node
	record *ops.Def
	of     []*ir.Value // the gradients of the outputs
	given  []*ir.Value // by input
	asked  []bool      // by input: the derivative chooses by whether it is None
}

// Concrete implements ops.Engine: a graph knows no sizes.
func (e *engine) Concrete() ops.Concrete { return nil }

// In implements ops.Engine.
func (e *engine) In(argument int) ops.Ref {
	if e.n.Input(argument).MustBeNone() {
		return nil
	}
	return e.some(argument)
}

// some returns what stands for an argument, which is not None where that was asked.
func (e *engine) some(argument int) *ir.Value {
	v := e.lookup(e.n.Input(argument))
	if optional, ok := v.Type().(*types.Optional); ok && e.asked[argument] {
		return e.df.InsertNode(e.df.Create(prim.UncheckedUnwrapOptional, []*ir.Value{v}, 1)).Output().SetType(optional.Elem)
	}
	return v
}

// Out implements ops.Engine.
func (e *engine) Out(i int) ops.Ref { return e.lookup(e.n.Outputs()[i]) }

// Grad implements ops.Engine.
func (e *engine) Grad(i int) ops.Ref { return e.of[i] }

// Needs implements ops.Engine.
func (e *engine) Needs(argument int) bool { return e.active[e.n.Input(argument)] }

// Arg implements ops.Engine.
func (e *engine) Arg(i int) any {
	v := e.n.Input(i)
	if c, ok := v.Constant(); ok && !c.IsTensor() {
		return c
	}
	if v.MustBeNone() {
		return value.None
	}
	return e.some(i)
}

// Number implements ops.Engine.
func (e *engine) Number(i int) any {
	a := e.Arg(i)
	if c, ok := a.(value.Value); ok && (c.IsInt() || c.Kind() == value.KindBool) {
		return value.Float(float64(c.Int()))
	}
	return a
}

// IsNone implements ops.Engine.
func (e *engine) IsNone(i int) any {
	v := e.n.Input(i)
	switch {
	case v.MustBeNone():
		return true
	case v.Type().Kind() != types.KindOptional:
		return false
	}
	e.asked[i] = true
	return e.insertOperator(aten.Is, e.lookup(v), value.None)
}

// Sizes implements ops.Engine. The graph of the operator gives them out; those of what may be None are known here.
func (e *engine) Sizes(argument int) any {
	if e.n.Input(argument).Type().Kind() == types.KindOptional {
		return e.Calculate("size", e.In(argument))
	}
	return e.lookup(source.Must(e.size(e.n.Input(argument))))
}

// IsComplex implements ops.Engine.
func (e *engine) IsComplex(t ops.Ref) bool {
	info, ok := t.(*ir.Value).Type().(*types.TensorInfo)
	return ok && strings.HasPrefix(info.DType, "Complex")
}

// Dim implements ops.Engine.
func (e *engine) Dim(t ops.Ref) (int, bool) {
	info, ok := t.(*ir.Value).Type().(*types.TensorInfo)
	if !ok || info.Sizes == nil {
		return 0, false
	}
	return len(info.Sizes), true
}

// Give implements ops.Engine. A broadcast is undone by a sum to the size, which the graph of the operator gives out, a conversion by another one.
func (e *engine) Give(argument int, g ops.Ref) {
	v, _ := g.(*ir.Value)
	if v == nil || !e.Needs(argument) {
		return
	}
	if i := e.n.Operator().Schema().ArgumentIndex("dtype"); i >= 0 && !e.n.Input(i).MustBeNone() {
		v = e.insertOperator(aten.TypeAs, v, e.lookup(e.n.Input(argument)))
	}
	if e.broadcasts() {
		size := source.Must(e.change(e.n.Input(argument), e.n))
		size.SetName(e.n.Operator().Schema().Arguments[argument].Name + "_size")
		v = e.insertOperator(aten.GradSumToSize, v, e.lookup(size))
	}
	e.given[argument] = v
}

// broadcasts reports whether the tensors of the node are broadcast against each other.
func (e *engine) broadcasts() bool {
	tensors := 0
	for _, v := range e.n.Inputs() {
		if v.Type().Kind() == types.KindTensor {
			tensors++
		}
	}
	return tensors > 1 && (e.record.Has(ops.Broadcasts) || e.record.Operands > 1)
}

// Calculate implements ops.Engine.
func (e *engine) Calculate(operator string, args ...any) any {
	if !strings.Contains(operator, "::") {
		operator = "aten::" + operator
	}
	return e.insertOperator(operator, args...)
}

// MakeList implements ops.Engine.
func (e *engine) MakeList(items ...any) any {
	values := make([]*ir.Value, len(items))
	for i, a := range argumentsOf(items) {
		values[i] = a.Value(e.df)
	}
	return e.df.InsertNode(e.df.CreateList(values[0].Type(), values)).Output()
}

// Add implements ops.Engine.
func (e *engine) Add(operator string, args []any) []ops.Ref {
	arguments := argumentsOf(args)
	var named []ir.Argument
	o := ops.Find("aten::" + operator)
	for i, formal := range o.Schema().Arguments {
		if formal.KwargOnly && i < len(args) {
			named = append(named, arguments[i].Named(formal.Name))
		}
	}
	made := source.Must(e.df.InsertAt(source.Range{}, o.BaseName(), arguments[:len(args)-len(named)], named))
	if len(o.Schema().Returns) == 1 {
		return []ops.Ref{made}
	}
	packing := made.Node()
	results := make([]ops.Ref, len(packing.Inputs()))
	for i, v := range packing.Inputs() {
		results[i] = v
	}
	packing.Destroy()
	return results
}

// insertOperator adds an operator to the gradient; the overload is found by the arguments.
func (e *engine) insertOperator(kind string, args ...any) *ir.Value {
	return source.Must(e.df.Insert(kind, argumentsOf(args)...))
}

func argumentsOf(args []any) []ir.Argument {
	arguments := make([]ir.Argument, len(args))
	for i, a := range args {
		if v, ok := a.(*ir.Value); ok {
			arguments[i] = ir.Arg(v)
			continue
		}
		c, ok := value.From(a)
		if !ok {
			panic("autodiff: a derivative gives an argument that no operator takes")
		}
		arguments[i] = ir.ConstArg(c)
	}
	return arguments
}

// If implements ops.Engine. A branch without a tensor gives an undefined one.
func (e *engine) If(condition any, then, otherwise func() any) any {
	choice := e.df.InsertNode(e.df.Create(prim.If, []*ir.Value{condition.(*ir.Value)}, 1))
	for _, branch := range []func() any{then, otherwise} {
		old := e.df.SetInsertEnd(choice.AddBlock())
		var given *ir.Value
		if result := branch(); result != nil {
			given = argumentsOf([]any{result})[0].Value(e.df)
		} else {
			given = e.df.InsertNode(e.df.Create(zeroKind, nil, 1)).Output()
		}
		choice.Blocks()[len(choice.Blocks())-1].AddOutput(given)
		choice.Output().SetType(given.Type())
		e.df.SetInsertPoint(old)
	}
	if choice.Output().Type().Kind() == types.KindTensor {
		choice.Output().SetType(types.Tensor)
	}
	return choice.Output()
}
