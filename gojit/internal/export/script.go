package export

import (
	"encoding/json"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Script says what a compiled method is called with: its module, and its arguments, whose tensors are values of Options.Inputs.
type Script struct {
	Self      *value.Object // nil for a function
	Arguments []value.Value
}

// bindScript gives the parameters of a compiled method what it is called with.
func (c *capture) bindScript(g *ir.Graph) {
	s := c.options.Script
	if s == nil {
		return
	}
	parameters := g.Inputs()
	if s.Self != nil {
		c.env[parameters[0]] = c.all(value.OfObject(s.Self))
		parameters = parameters[1:]
	}
	for i, v := range parameters {
		c.env[v] = moved(c.all(s.Arguments[i]), c.given)
	}
}

// getAttr reads an attribute of a module: a tensor is an input of the program.
func (c *capture) getAttr(n *ir.Node) {
	is := c.attribute(n)
	if is.IsTensor() {
		placed, ok := c.given[is.Tensor()]
		if !ok {
			c.fail(source.RuntimeError, "the tensor %s of a module is no input of the program", n.StringAttr("name"))
		}
		c.env[n.Output()] = placed
		return
	}
	c.env[n.Output()] = moved(c.constant(is), c.given)
}

func (c *capture) attribute(n *ir.Node) value.Value {
	object := c.known(n.Input(0))[0]
	if object.Kind() != value.KindObject {
		c.fail(source.RuntimeError, "%s of a %s cannot be exported", n.Kind(), object.Kind())
	}
	is, ok := object.Object().Attr(n.StringAttr("name"))
	if !ok {
		c.fail(source.RuntimeError, "the module has no attribute %s", n.StringAttr("name"))
	}
	return is
}

// setAttr captures an assignment to a buffer as one that writes to it.
func (c *capture) setAttr(n *ir.Node) {
	former, to := c.attribute(n), c.known(n.Input(1))
	if !former.IsTensor() || !to[0].IsTensor() {
		c.fail(source.RuntimeError, "The program sets the attribute %s of a module: only buffers can be set by an exported program", n.StringAttr("name"))
	}
	target, from := c.handleOf(c.given[former.Tensor()]), c.handleOf(to)
	if target != from {
		c.read(from)
		c.write(target, from)
	}
}

// flatten lists the tensors and constants in a result, and describes the containers.
func (c *capture) flatten(is run) (items []run, form *exportir.Form) {
	switch is[0].Kind() {
	case value.KindTuple:
		return c.flattenItems("tuple", is, func(v value.Value) []value.Value { return v.Tuple().Items })
	case value.KindList:
		return c.flattenItems("list", is, func(v value.Value) []value.Value { return v.List().Items })
	case value.KindDict:
		items, form := c.flattenItems("dict", is, func(v value.Value) []value.Value {
			var found []value.Value
			for _, item := range v.Dict().All {
				found = append(found, item)
			}
			return found
		})
		keys := []any{}
		for key := range is[0].Dict().All {
			keys = append(keys, keyOf(key))
		}
		form.Context = keys
		return items, form
	}
	return []run{is}, nil
}

func (c *capture) flattenItems(kind string, is run, of func(value.Value) []value.Value) (items []run, form *exportir.Form) {
	form = &exportir.Form{Type: kind, Children: []*exportir.Form{}}
	for i := range of(is[0]) {
		item := make(run, c.runs)
		for r := range item {
			item[r] = of(is[r])[i]
		}
		inner, child := c.flatten(item)
		items, form.Children = append(items, inner...), append(form.Children, child)
	}
	return items, form
}

// scriptResults are the results of a compiled method one by one.
func (c *capture) scriptResults(g *ir.Graph, add func(exportir.OutputSpec, exportir.Argument)) {
	items, form := c.flatten(c.known(g.Outputs()[0]))
	text, err := json.Marshal(form)
	if err != nil {
		c.fail(source.RuntimeError, "%s", err)
	}
	c.program.OutSpec = string(text)
	var arguments []exportir.Argument
	for _, item := range items {
		arguments = append(arguments, c.argument(item, anyType, anyType))
	}
	c.mutations(add)
	for _, a := range arguments {
		add(exportir.OutputSpec{Kind: exportir.UserOutput}, a)
	}
}

// givenTensors are what the tensors of inputs are in the runs.
type givenTensors = map[*tensor.Tensor]run
