package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// NewInterface returns an interface without methods.
func NewInterface(name string, isModule bool) *types.Interface {
	t := &types.Interface{Name: name, IsModule: isModule}
	t.Satisfies = func(c *types.Class) (bool, string) { return satisfies(c, t) }
	return t
}

// AddInterfaceMethod adds a method to an interface. The schema is that of the declaration without
// its first parameter.
func AddInterfaceMethod(t *types.Interface, declared *schema.FunctionSchema) {
	s := *declared
	self := schema.Argument{Name: "self", Type: t, RealType: t, ListSize: -1}
	s.Arguments = append([]schema.Argument{self}, declared.Arguments...)
	if s.Returns[0].Type == nil {
		s.Returns = []schema.Argument{{Type: types.None, RealType: types.None, ListSize: -1}}
	}
	t.Methods = append(t.Methods, types.InterfaceMethod{Name: s.Name, Schema: &s})
}

// satisfies reports whether a class has the methods of an interface, and why it has not.
func satisfies(c *types.Class, t *types.Interface) (bool, string) {
	for _, m := range t.Methods {
		f, ok := c.FindMethod(m.Name).(*ir.Function)
		if !ok {
			return false, "Class '" + types.Repr(c) + "' does not have method '" + m.Name + "' but '" + t.Name + "' does.\n"
		}
		if recursive, err := f.EnsureDefinedWithin(); err != nil || recursive && f.Schema == nil {
			return false, "The method '" + m.Name + "' of class '" + c.Name + "' cannot be compiled"
		}
		if ok, why := f.Schema.IsSubtype(m.Schema.(*schema.FunctionSchema), true); !ok {
			return false, "Method on class '" + types.Repr(c) + "' (1) is not compatible with interface '" + t.Name + "' (2)\n  (1) " + f.Schema.String() + "\n  (2) " + m.Schema.(*schema.FunctionSchema).String() + "\n\n" + why + "\n"
		}
	}
	return true, ""
}
