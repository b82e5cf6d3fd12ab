package graphs

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// attributeMembers are the methods of nodes for their attributes. A getter's name says the kind of
// the attribute, a setter's is that with "_" behind it.
var attributeMembers = []abi.Function{
	{Schema: "Node.hasAttributes(Node self) -> bool", Doc: "Whether there are any attributes.", Run: abi.Bind(func(n *ir.Node) bool { return len(n.Attributes()) > 0 })},
	{Schema: "Node.hasAttribute(Node self, str name) -> bool", Doc: "Whether there is an attribute of that name.", Run: abi.Bind(func(n *ir.Node, name string) bool { _, ok := n.Attr(attributeName(name)); return ok })},
	{Schema: "Node.attributeNames(Node self) -> list", Doc: "The names in the order in which the attributes were set.", Run: abi.Bind(attributeNames)},
	{Schema: "Node.kindOf(Node self, str name) -> str", Doc: "The kind of an attribute: the name of its getter.", Run: abi.Bind(kindOfAttribute)},
	{Schema: "Node.copyAttributes(Node self, Node other) -> Node", Doc: "Replaces the attributes by those of another node.", Run: abi.BindAcross(copyAttributes)},
	{Schema: "Node.removeAttribute(Node self, str name) -> Node", Doc: "Removes an attribute.", Run: abi.Bind(removeAttribute)},

	{Schema: "Node.i(Node self, str name) -> int", Doc: "An attribute that is an int.", Run: abi.Bind(attributeInt)},
	{Schema: "Node.i_(Node self, str name, int value) -> Node", Doc: "Sets an attribute that is an int.", Run: setter[int64]()},
	{Schema: "Node.f(Node self, str name) -> float", Doc: "An attribute that is a float.", Run: getter(func(v value.Value) (float64, bool) { return v.Float(), v.Kind() == value.KindFloat })},
	{Schema: "Node.f_(Node self, str name, float value) -> Node", Doc: "Sets an attribute that is a float.", Run: setter[float64]()},
	{Schema: "Node.c(Node self, str name) -> complex", Doc: "An attribute that is a complex number.", Run: getter(func(v value.Value) (complex128, bool) {
		if v.Kind() != value.KindComplex {
			return 0, false
		}
		return v.Complex(), true
	})},
	{Schema: "Node.c_(Node self, str name, complex value) -> Node", Doc: "Sets an attribute that is a complex number.", Run: setter[complex128]()},
	{Schema: "Node.s(Node self, str name) -> str", Doc: "An attribute that is a str.", Run: abi.Bind(attributeString)},
	{Schema: "Node.s_(Node self, str name, str value) -> Node", Doc: "Sets an attribute that is a str.", Run: setter[string]()},
	{Schema: "Node.t(Node self, str name) -> Tensor", Doc: "An attribute that is a Tensor.", Run: abi.Bind(attributeTensor)},
	{Schema: "Node.t_(Node self, str name, Tensor value) -> Node", Doc: "Sets an attribute that is a Tensor.", Run: abi.Bind(setTensor)},
	{Schema: "Node.z(Node self, str name) -> Tensor", Doc: "An attribute that is a Tensor.", Run: abi.Bind(attributeTensor)},
	{Schema: "Node.z_(Node self, str name, Tensor value) -> Node", Doc: "Sets an attribute that is a Tensor, without its history.", Run: abi.Bind(setTensor)},
	{Schema: "Node.is(Node self, str name) -> list", Doc: "An attribute that is a list of ints.", Run: listGetter[int64](types.KindInt, value.Value.Int)},
	{Schema: "Node.is_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of ints.", Run: setter[[]int64]()},
	{Schema: "Node.fs(Node self, str name) -> list", Doc: "An attribute that is a list of floats.", Run: listGetter[float64](types.KindFloat, value.Value.Float)},
	{Schema: "Node.fs_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of floats.", Run: setter[[]float64]()},
	{Schema: "Node.ss(Node self, str name) -> list", Doc: "An attribute that is a list of strs.", Run: listGetter[string](types.KindString, value.Value.Str)},
	{Schema: "Node.ss_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of strs.", Run: setter[[]string]()},
	{Schema: "Node.ts(Node self, str name) -> list", Doc: "An attribute that is a list of Tensors.", Run: listGetter[*tensor.Tensor](types.KindTensor, value.Value.Tensor)},
	{Schema: "Node.ts_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of Tensors.", Run: abi.Bind(setTensors)},
	{Schema: "Node.zs(Node self, str name) -> list", Doc: "An attribute that is a list of Tensors.", Run: listGetter[*tensor.Tensor](types.KindTensor, value.Value.Tensor)},
	{Schema: "Node.zs_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of Tensors.", Run: abi.Bind(setTensors)},
	{Schema: "Node.g(Node self, str name) -> Graph", Doc: "An attribute that is a Graph.", Run: abi.Bind(attributeOf[*ir.Graph])},
	{Schema: "Node.g_(Node self, str name, Graph value) -> Node", Doc: "Sets an attribute that is a Graph.", Run: setter[*ir.Graph]()},
	{Schema: "Node.gs(Node self, str name) -> list", Doc: "An attribute that is a list of Graphs.", Run: abi.Bind(attributeOf[[]*ir.Graph])},
	{Schema: "Node.gs_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of Graphs.", Run: setter[[]*ir.Graph]()},
	{Schema: "Node.ty(Node self, str name) -> Type", Doc: "An attribute that is a Type.", Run: abi.Bind(attributeOf[types.Type])},
	{Schema: "Node.ty_(Node self, str name, Type value) -> Node", Doc: "Sets an attribute that is a Type.", Run: setter[types.Type]()},
	{Schema: "Node.tys(Node self, str name) -> list", Doc: "An attribute that is a list of Types.", Run: abi.Bind(attributeOf[[]types.Type])},
	{Schema: "Node.tys_(Node self, str name, list value) -> Node", Doc: "Sets an attribute that is a list of Types.", Run: setter[[]types.Type]()},
	{Schema: "Node.ival(Node self, str name) -> any", Doc: "An attribute that is any value of a program.", Run: abi.Bind(attributeOf[value.Value])},
	{Schema: "Node.ival_(Node self, str name, any value) -> Node", Doc: "Sets an attribute that is any value of a program.", Run: setter[value.Value]()},
}

// attributeName drops the namespace that a name may have.
func attributeName(name string) string { return strings.TrimPrefix(name, "attr::") }

func attributeNames(n *ir.Node) []string {
	var names []string
	for _, a := range n.Attributes() {
		names = append(names, a.Name)
	}
	return names
}

func attribute(n *ir.Node, name string) (any, error) {
	a, ok := n.Attr(attributeName(name))
	if !ok {
		return nil, abi.RuntimeErrorf("required keyword attribute '%s' is undefined", name)
	}
	return a, nil
}

func wrongKind(name string) error {
	return abi.RuntimeErrorf("required keyword attribute '%s' has the wrong type", name)
}

func kindOfAttribute(n *ir.Node, name string) (string, error) {
	a, err := attribute(n, name)
	if err != nil {
		return "", err
	}
	switch a := a.(type) {
	case int64:
		return "i", nil
	case float64:
		return "f", nil
	case complex128:
		return "c", nil
	case string:
		return "s", nil
	case []int64:
		return "is", nil
	case []float64:
		return "fs", nil
	case []string:
		return "ss", nil
	case *ir.Graph:
		return "g", nil
	case []*ir.Graph:
		return "gs", nil
	case types.Type:
		return "ty", nil
	case []types.Type:
		return "tys", nil
	case value.Value:
		return kindOfValue(a), nil
	}
	return "", wrongKind(name)
}

func kindOfValue(v value.Value) string {
	switch v.Kind() {
	case value.KindBool, value.KindInt:
		return "i"
	case value.KindFloat:
		return "f"
	case value.KindComplex:
		return "c"
	case value.KindString, value.KindDevice:
		return "s"
	case value.KindTensor:
		return "t"
	case value.KindList:
		if v.List().Elem.Kind() == types.KindTensor {
			return "ts"
		}
	}
	return "ival"
}

func copyAttributes(n, other *ir.Node) *ir.Node {
	for _, name := range attributeNames(n) {
		n.RemoveAttr(name)
	}
	for _, a := range other.Attributes() {
		n.SetAttr(a.Name, a.Value)
	}
	return n
}

func removeAttribute(n *ir.Node, name string) (*ir.Node, error) {
	_, err := attribute(n, name)
	n.RemoveAttr(attributeName(name))
	return n, err
}

// attributeOf returns an attribute that is kept as a T.
func attributeOf[T any](n *ir.Node, name string) (T, error) {
	var none T
	a, err := attribute(n, name)
	if err != nil {
		return none, err
	}
	x, ok := a.(T)
	if !ok {
		return none, wrongKind(name)
	}
	return x, nil
}

// getter makes the run of a getter for attributes that are a T or a value that convert takes.
func getter[T any](convert func(value.Value) (T, bool)) func(*abi.Call) error {
	return abi.Bind(func(n *ir.Node, name string) (T, error) {
		a, err := attribute(n, name)
		if err != nil {
			var none T
			return none, err
		}
		if x, ok := a.(T); ok {
			return x, nil
		}
		if v, ok := a.(value.Value); ok {
			if x, ok := convert(v); ok {
				return x, nil
			}
		}
		var none T
		return none, wrongKind(name)
	})
}

func attributeInt(n *ir.Node, name string) (int64, error) {
	a, err := attribute(n, name)
	if err != nil {
		return 0, err
	}
	switch a := a.(type) {
	case int64:
		return a, nil
	case value.Value:
		if k := a.Kind(); k == value.KindInt || k == value.KindBool {
			return a.Int(), nil
		}
	}
	return 0, wrongKind(name)
}

func attributeString(n *ir.Node, name string) (string, error) {
	a, err := attribute(n, name)
	if err != nil {
		return "", err
	}
	switch a := a.(type) {
	case string:
		return a, nil
	case value.Value:
		switch a.Kind() {
		case value.KindString:
			return a.Str(), nil
		case value.KindDevice:
			return a.Device().String(), nil
		}
	}
	return "", wrongKind(name)
}

func attributeTensor(n *ir.Node, name string) (*tensor.Tensor, error) {
	v, err := attributeOf[value.Value](n, name)
	if err != nil {
		return nil, err
	}
	if !v.IsTensor() {
		return nil, wrongKind(name)
	}
	return v.Tensor(), nil
}

// listGetter makes the run of a getter for attributes that are a []T or a list of elements of a kind.
func listGetter[T any](elem types.Kind, convert func(value.Value) T) func(*abi.Call) error {
	return getter(func(v value.Value) ([]T, bool) {
		if v.Kind() != value.KindList || v.List().Elem.Kind() != elem {
			return nil, false
		}
		out := make([]T, 0, len(v.List().Items))
		for _, item := range v.List().Items {
			out = append(out, convert(item))
		}
		return out, true
	})
}

// setter makes the run of a setter for attributes that are kept as a T.
func setter[T any]() func(*abi.Call) error {
	return abi.BindAcross(func(n *ir.Node, name string, x T) *ir.Node { return n.SetAttr(attributeName(name), x) })
}

func setTensor(n *ir.Node, name string, t *tensor.Tensor) *ir.Node {
	return n.SetAttr(attributeName(name), value.OfTensor(t))
}

func setTensors(n *ir.Node, name string, ts []*tensor.Tensor) *ir.Node {
	return n.SetAttr(attributeName(name), value.OfList(value.Tensors(ts)))
}
