package bytecode

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// assembled emits the kinds of node that are no operators, once their inputs are on the stack. It is filled by init because its functions
// refer to it.
var assembled map[string]func(a *assembler, n *ir.Node) error

func init() {
	assembled = map[string]func(a *assembler, n *ir.Node) error{
		prim.GetAttr:        func(a *assembler, n *ir.Node) error { return a.attribute("GET_ATTR", n) },
		prim.SetAttr:        func(a *assembler, n *ir.Node) error { return a.attribute("SET_ATTR", n) },
		prim.ListUnpack:     func(a *assembler, n *ir.Node) error { return a.counted("LIST_UNPACK", len(n.Outputs())) },
		prim.ListConstruct:  func(a *assembler, n *ir.Node) error { return a.typed("LIST_CONSTRUCT", n, len(n.Inputs())) },
		prim.DictConstruct:  func(a *assembler, n *ir.Node) error { return a.typed("DICT_CONSTRUCT", n, len(n.Inputs())) },
		prim.CreateObject:   func(a *assembler, n *ir.Node) error { return a.typed("CREATE_OBJECT", n, 0) },
		prim.Fork:           func(a *assembler, _ *ir.Node) error { return a.counted("FORK", 0) },
		prim.Awaitable:      func(a *assembler, _ *ir.Node) error { return a.counted("AWAITABLE", 0) },
		aten.Wait:           func(a *assembler, _ *ir.Node) error { return a.counted("WAIT", 0) },
		prim.Enter:          func(a *assembler, _ *ir.Node) error { return a.counted("ENTER", 0) },
		prim.Exit:           func(a *assembler, _ *ir.Node) error { return a.counted("EXIT", 0) },
		prim.TupleConstruct: (*assembler).tuple,
		prim.TupleSlice:     (*assembler).tupleSlice,
		prim.Isinstance:     (*assembler).isInstance,
		prim.CallMethod:     (*assembler).interfaceMethod,
		aten.Warn:           (*assembler).warn,
	}
}

func (a *assembler) counted(name string, n int) error {
	a.emit(name, n, 0)
	return nil
}

// attribute emits an access to a slot of an object.
func (a *assembler) attribute(name string, n *ir.Node) error {
	c, ok := n.Input(0).Type().(*types.Class)
	if !ok {
		return source.Errorf(source.RuntimeError, n.Range, "%s of a value of type %s, which is no class", n.Kind(), n.Input(0).Type())
	}
	slot := c.AttributeIndex(n.StringAttr("name"))
	if slot < 0 {
		return source.Errorf(source.RuntimeError, n.Range, "%s has no attribute '%s'", c.Name, n.StringAttr("name"))
	}
	return a.counted(name, slot)
}

// typed emits what makes a value of the type of n's output.
func (a *assembler) typed(name string, n *ir.Node, count int) error {
	a.emit(name, a.addType(n.Output().Type()), count)
	return nil
}

func (a *assembler) tuple(n *ir.Node) error {
	if t, ok := n.Output().Type().(*types.Tuple); ok && t.Name != "" {
		return a.typed("NAMED_TUPLE_CONSTRUCT", n, len(n.Inputs()))
	}
	return a.counted("TUPLE_CONSTRUCT", len(n.Inputs()))
}

func (a *assembler) tupleSlice(n *ir.Node) error {
	begin, _ := n.Attr("beg")
	end, _ := n.Attr("end")
	from, _ := begin.(int64)
	to, _ := end.(int64)
	a.emit("TUPLE_SLICE", int(from), int(to))
	return nil
}

func (a *assembler) isInstance(n *ir.Node) error {
	ts := n.TypesAttr("types")
	a.emit("ISINSTANCE", len(a.Code.Types), len(ts))
	for _, t := range ts {
		a.addType(t)
	}
	return nil
}

// interfaceMethod emits a call of a method that the receiver has where it runs.
func (a *assembler) interfaceMethod(n *ir.Node) error {
	method := n.StringAttr("name")
	if n.Input(0).Type().Kind() != types.KindInterface {
		return a.counted("CALL", 0)
	}
	a.interfaceCall(method, n.Input(0).Type())
	a.emit("INTERFACE_CALL", a.addConstant(value.Str(method)), len(n.Inputs()))
	return nil
}

func (a *assembler) warn(n *ir.Node) error {
	id, ok := n.Attr("warn_id")
	number, _ := id.(int64)
	if !ok {
		number = -1
	}
	return a.counted("WARN", int(number))
}

// addType adds the name of a type.
func (a *assembler) addType(t types.Type) int {
	name := a.typeName(t)
	if _, isClass := t.(*types.Class); isClass && strings.HasPrefix(name, "__torch__") && !strings.HasPrefix(name, types.NativePrefix) {
		a.classes = append(a.classes, name)
	}
	a.Code.Types = append(a.Code.Types, name)
	return len(a.Code.Types) - 1
}

// typeName is how bytecode writes types: named tuples with their fields, and no space between the key and the value of a dictionary.
func (a *assembler) typeName(t types.Type) string {
	switch t := t.(type) {
	case *types.Tuple:
		if t.Name == "" {
			break
		}
		fields := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			text := e.Annotation(a.rename)
			if inner, ok := e.(*types.Tuple); ok {
				text = a.typeName(inner)
			}
			fields[i] = fmt.Sprintf("[%s, %s]", t.Fields[i], text)
		}
		return fmt.Sprintf("%s[NamedTuple, [%s]]", t.Annotation(a.rename), strings.Join(fields, ","))
	case *types.Dict:
		return fmt.Sprintf("Dict[%s,%s]", t.Key.Annotation(a.rename), t.Value.Annotation(a.rename))
	}
	return t.Annotation(a.rename)
}
