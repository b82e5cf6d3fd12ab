package bind

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// attributeMembers are the methods of nodes for their attributes. A getter's name says the kind of
// the attribute, a setter's is that with "_" behind it.
var attributeMembers = []function{
	{schema: "Node.hasAttributes(Node self) -> bool", doc: "Whether there are any attributes.", run: bind(func(n *ir.Node) bool { return len(n.Attributes()) > 0 })},
	{schema: "Node.hasAttribute(Node self, str name) -> bool", doc: "Whether there is an attribute of that name.", run: bind(func(n *ir.Node, name string) bool { _, ok := n.Attr(attributeName(name)); return ok })},
	{schema: "Node.attributeNames(Node self) -> list", doc: "The names in the order in which the attributes were set.", run: bind(attributeNames)},
	{schema: "Node.kindOf(Node self, str name) -> str", doc: "The kind of an attribute: the name of its getter.", run: bind(kindOfAttribute)},
	{schema: "Node.copyAttributes(Node self, Node other) -> Node", doc: "Replaces the attributes by those of another node.", run: bindAcross(copyAttributes)},
	{schema: "Node.removeAttribute(Node self, str name) -> Node", doc: "Removes an attribute.", run: bind(removeAttribute)},

	{schema: "Node.i(Node self, str name) -> int", doc: "An attribute that is an int.", run: bind(attributeInt)},
	{schema: "Node.i_(Node self, str name, int value) -> Node", doc: "Sets an attribute that is an int.", run: setter[int64]()},
	{schema: "Node.f(Node self, str name) -> float", doc: "An attribute that is a float.", run: getter(func(v value.Value) (float64, bool) { return v.Float(), v.Kind() == value.KindFloat })},
	{schema: "Node.f_(Node self, str name, float value) -> Node", doc: "Sets an attribute that is a float.", run: setter[float64]()},
	{schema: "Node.c(Node self, str name) -> complex", doc: "An attribute that is a complex number.", run: getter(func(v value.Value) (complex128, bool) {
		if v.Kind() != value.KindComplex {
			return 0, false
		}
		return v.Complex(), true
	})},
	{schema: "Node.c_(Node self, str name, complex value) -> Node", doc: "Sets an attribute that is a complex number.", run: setter[complex128]()},
	{schema: "Node.s(Node self, str name) -> str", doc: "An attribute that is a str.", run: bind(attributeString)},
	{schema: "Node.s_(Node self, str name, str value) -> Node", doc: "Sets an attribute that is a str.", run: setter[string]()},
	{schema: "Node.t(Node self, str name) -> Tensor", doc: "An attribute that is a Tensor.", run: bind(attributeTensor)},
	{schema: "Node.t_(Node self, str name, Tensor value) -> Node", doc: "Sets an attribute that is a Tensor.", run: bind(setTensor)},
	{schema: "Node.z(Node self, str name) -> Tensor", doc: "An attribute that is a Tensor.", run: bind(attributeTensor)},
	{schema: "Node.z_(Node self, str name, Tensor value) -> Node", doc: "Sets an attribute that is a Tensor, without its history.", run: bind(setTensor)},
	{schema: "Node.is(Node self, str name) -> list", doc: "An attribute that is a list of ints.", run: listGetter[int64](types.KindInt, value.Value.Int)},
	{schema: "Node.is_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of ints.", run: setter[[]int64]()},
	{schema: "Node.fs(Node self, str name) -> list", doc: "An attribute that is a list of floats.", run: listGetter[float64](types.KindFloat, value.Value.Float)},
	{schema: "Node.fs_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of floats.", run: setter[[]float64]()},
	{schema: "Node.ss(Node self, str name) -> list", doc: "An attribute that is a list of strs.", run: listGetter[string](types.KindString, value.Value.Str)},
	{schema: "Node.ss_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of strs.", run: setter[[]string]()},
	{schema: "Node.ts(Node self, str name) -> list", doc: "An attribute that is a list of Tensors.", run: listGetter[*tensor.Tensor](types.KindTensor, value.Value.Tensor)},
	{schema: "Node.ts_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of Tensors.", run: bind(setTensors)},
	{schema: "Node.zs(Node self, str name) -> list", doc: "An attribute that is a list of Tensors.", run: listGetter[*tensor.Tensor](types.KindTensor, value.Value.Tensor)},
	{schema: "Node.zs_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of Tensors.", run: bind(setTensors)},
	{schema: "Node.g(Node self, str name) -> Graph", doc: "An attribute that is a Graph.", run: bind(attributeOf[*ir.Graph])},
	{schema: "Node.g_(Node self, str name, Graph value) -> Node", doc: "Sets an attribute that is a Graph.", run: setter[*ir.Graph]()},
	{schema: "Node.gs(Node self, str name) -> list", doc: "An attribute that is a list of Graphs.", run: bind(attributeOf[[]*ir.Graph])},
	{schema: "Node.gs_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of Graphs.", run: setter[[]*ir.Graph]()},
	{schema: "Node.ty(Node self, str name) -> Type", doc: "An attribute that is a Type.", run: bind(attributeOf[types.Type])},
	{schema: "Node.ty_(Node self, str name, Type value) -> Node", doc: "Sets an attribute that is a Type.", run: setter[types.Type]()},
	{schema: "Node.tys(Node self, str name) -> list", doc: "An attribute that is a list of Types.", run: bind(attributeOf[[]types.Type])},
	{schema: "Node.tys_(Node self, str name, list value) -> Node", doc: "Sets an attribute that is a list of Types.", run: setter[[]types.Type]()},
	{schema: "Node.ival(Node self, str name) -> any", doc: "An attribute that is any value of a program.", run: bind(attributeOf[value.Value])},
	{schema: "Node.ival_(Node self, str name, any value) -> Node", doc: "Sets an attribute that is any value of a program.", run: setter[value.Value]()},
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
		return nil, runtimeErrorf("required keyword attribute '%s' is undefined", name)
	}
	return a, nil
}

func wrongKind(name string) error {
	return runtimeErrorf("required keyword attribute '%s' has the wrong type", name)
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
func getter[T any](convert func(value.Value) (T, bool)) func(*call) error {
	return bind(func(n *ir.Node, name string) (T, error) {
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
func listGetter[T any](elem types.Kind, convert func(value.Value) T) func(*call) error {
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
func setter[T any]() func(*call) error {
	return bindAcross(func(n *ir.Node, name string, x T) *ir.Node { return n.SetAttr(attributeName(name), x) })
}

func setTensor(n *ir.Node, name string, t *tensor.Tensor) *ir.Node {
	return n.SetAttr(attributeName(name), value.OfTensor(t))
}

func setTensors(n *ir.Node, name string, ts []*tensor.Tensor) *ir.Node {
	return n.SetAttr(attributeName(name), value.OfList(value.Tensors(ts)))
}
