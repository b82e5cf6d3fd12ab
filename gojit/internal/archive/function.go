package archive

import (
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// ModuleOfFunction returns a module whose method forward is the function.
func ModuleOfFunction(f *ir.Function) (*value.Object, error) {
	if err := f.EnsureDefined(); err != nil {
		return nil, err
	}
	c := types.NewClass("__torch__.PlaceholderModule", true)
	c.AddAttribute(types.Attribute{Name: "training", Type: types.Bool})
	g := f.Graph().Copy()
	g.Block().InsertInput(0).SetType(c).SetName("self")
	s := *f.Schema
	s.Name = "forward"
	s.Arguments = append([]schema.Argument{{Name: "self", Type: c, RealType: c, ListSize: -1}}, s.Arguments...)
	method := ir.NewFunction(c.Name+".forward", &s, g)
	method.IsMethod = true
	c.AddMethod("forward", method)
	o := value.NewObject(c)
	o.SetAttr("training", value.Bool(true))
	return o, nil
}

// FunctionOfModule returns the function whose module ModuleOfFunction made, under a name. It fails where forward
// does not compile or is no function: where it uses its module.
func FunctionOfModule(m *value.Object, name string) (*ir.Function, error) {
	method, ok := m.Class.FindMethod("forward").(*ir.Function)
	if !ok {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "The module %s has no method forward", m.Class.Name)
	}
	if err := method.EnsureDefined(); err != nil {
		return nil, err
	}
	g := method.Graph().Copy()
	if len(g.Inputs()) == 0 || g.Inputs()[0].HasUses() {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "forward of %s uses its module, so it is no function", m.Class.Name)
	}
	g.Block().EraseInput(0)
	s := *method.Schema
	s.Name = code.LastAtom(name)
	s.Arguments = s.Arguments[1:]
	return ir.NewFunction(name, &s, g), nil
}
