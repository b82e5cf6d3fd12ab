package exportir

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ArgumentKind tells arguments apart. Its text is the key of the argument in JSON.
type ArgumentKind string

// The kinds of arguments.
const (
	NodeArgument    ArgumentKind = "node"
	NoneArgument    ArgumentKind = "none"
	BoolArgument    ArgumentKind = "bool"
	IntArgument     ArgumentKind = "int"
	FloatArgument   ArgumentKind = "float"
	ComplexArgument ArgumentKind = "complex"
	StringArgument  ArgumentKind = "str"
	DTypeArgument   ArgumentKind = "dtype"
	LayoutArgument  ArgumentKind = "layout"
	FormatArgument  ArgumentKind = "memory_format"
	DeviceArgument  ArgumentKind = "device"
	ListArgument    ArgumentKind = "list"
	TupleArgument   ArgumentKind = "tuple"
)

// Argument is an argument of a call: a node, a constant, or a list of arguments.
type Argument struct {
	Kind    ArgumentKind
	Text    string // the name of a node, a string, a dtype, a layout, a memory format, a device
	Int     int64  // also a bool
	Float   float64
	Complex complex128
	Items   []Argument
}

// Ref returns the argument that is a node.
func Ref(name string) Argument { return Argument{Kind: NodeArgument, Text: name} }

// OfInt returns the argument that is an integer, OfBool that of a truth value; OfList and OfTuple those that hold others.
func OfInt(i int64) Argument { return Argument{Kind: IntArgument, Int: i} }

func OfBool(b bool) Argument {
	if b {
		return Argument{Kind: BoolArgument, Int: 1}
	}
	return Argument{Kind: BoolArgument}
}

func OfList(items []Argument) Argument { return Argument{Kind: ListArgument, Items: items} }

func OfTuple(items []Argument) Argument { return Argument{Kind: TupleArgument, Items: items} }

// None is the argument None.
var None = Argument{Kind: NoneArgument}

// walk calls visit for the argument and those in it.
func (a Argument) walk(visit func(Argument)) {
	visit(a)
	for _, item := range a.Items {
		item.walk(visit)
	}
}

// MarshalJSON writes an object with one member, whose name is the kind.
func (a Argument) MarshalJSON() ([]byte, error) {
	var content any
	switch a.Kind {
	case NoneArgument:
		content = true
	case BoolArgument:
		content = a.Int != 0
	case IntArgument:
		content = a.Int
	case FloatArgument:
		content = strconv.FormatFloat(a.Float, 'g', -1, 64)
	case ComplexArgument:
		content = []string{strconv.FormatFloat(real(a.Complex), 'g', -1, 64), strconv.FormatFloat(imag(a.Complex), 'g', -1, 64)}
	case ListArgument, TupleArgument:
		if content = a.Items; a.Items == nil {
			content = []Argument{}
		}
	default:
		content = a.Text
	}
	return json.Marshal(map[string]any{string(a.Kind): content})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Argument) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if len(members) != 1 {
		return fmt.Errorf("an argument is an object with one member, not %d", len(members))
	}
	for key, content := range members {
		return a.read(ArgumentKind(key), content)
	}
	return nil
}

func (a *Argument) read(kind ArgumentKind, content json.RawMessage) error {
	*a = Argument{Kind: kind}
	switch kind {
	case NoneArgument:
		return nil
	case BoolArgument:
		var b bool
		err := json.Unmarshal(content, &b)
		*a = OfBool(b)
		return err
	case IntArgument:
		return json.Unmarshal(content, &a.Int)
	case FloatArgument:
		var text string
		err := json.Unmarshal(content, &text)
		if err == nil {
			a.Float, err = strconv.ParseFloat(text, 64)
		}
		return err
	case ComplexArgument:
		var parts [2]string
		if err := json.Unmarshal(content, &parts); err != nil {
			return err
		}
		re, err := strconv.ParseFloat(parts[0], 64)
		if err != nil {
			return err
		}
		im, err := strconv.ParseFloat(parts[1], 64)
		a.Complex = complex(re, im)
		return err
	case ListArgument, TupleArgument:
		return json.Unmarshal(content, &a.Items)
	case NodeArgument, StringArgument, DTypeArgument, LayoutArgument, FormatArgument, DeviceArgument:
		return json.Unmarshal(content, &a.Text)
	}
	return fmt.Errorf("there are no arguments of kind %q", kind)
}

// write prints the argument as Python does.
func (a Argument) write(b *strings.Builder) {
	switch a.Kind {
	case NodeArgument:
		b.WriteString("%" + a.Text)
	case NoneArgument:
		b.WriteString("None")
	case BoolArgument:
		b.WriteString(value.Repr(value.Bool(a.Int != 0), nil))
	case IntArgument:
		b.WriteString(strconv.FormatInt(a.Int, 10))
	case FloatArgument:
		b.WriteString(value.FloatRepr(a.Float))
	case ComplexArgument:
		b.WriteString(value.Repr(value.Complex(a.Complex), nil))
	case StringArgument:
		b.WriteString(a.Text)
	case DeviceArgument:
		b.WriteString(a.Text)
	case ListArgument, TupleArgument:
		open, end := "[", "]"
		if a.Kind == TupleArgument {
			open, end = "(", ")"
			if len(a.Items) == 1 {
				end = ",)"
			}
		}
		b.WriteString(open)
		for i, item := range a.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.write(b)
		}
		b.WriteString(end)
	default:
		b.WriteString("torch." + a.Text)
	}
}

// write prints the line of a node.
func (n *Node) write(b *strings.Builder, users int) {
	if n.Op == Output {
		b.WriteString("return ")
		var text strings.Builder
		n.Args[0].write(&text)
		b.WriteString(strings.ReplaceAll(text.String(), "%", ""))
		return
	}
	fmt.Fprintf(b, "%%%s : [num_users=%d] = %s[target=%s]", n.Name, users, n.Op, TargetText(n))
	if n.Op != CallFunction {
		return
	}
	b.WriteString("(args = ")
	Argument{Kind: TupleArgument, Items: n.Args}.write(b)
	b.WriteString(", kwargs = {")
	for i, k := range n.Kwargs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.Name + ": ")
		k.Value.write(b)
	}
	b.WriteString("})")
}

// TargetText is the target of a node as texts show it: "torch.ops.aten.add.Tensor".
func TargetText(n *Node) string {
	namespace, name, ok := strings.Cut(n.Target, "::")
	switch {
	case n.Op != CallFunction || !ok:
		return n.Target
	case namespace == "operator":
		return "operator." + name
	case namespace == "higher_order":
		return "torch.ops.higher_order." + name
	case !strings.Contains(name, "."):
		name += ".default"
	}
	return "torch.ops." + namespace + "." + name
}

// Value returns the constant that the argument is. It fails on a node, and on texts that name nothing.
func (a Argument) Value() (value.Value, error) {
	switch a.Kind {
	case NoneArgument:
		return value.None, nil
	case BoolArgument:
		return value.Bool(a.Int != 0), nil
	case IntArgument:
		return value.Int(a.Int), nil
	case FloatArgument:
		return value.Float(a.Float), nil
	case ComplexArgument:
		return value.Complex(a.Complex), nil
	case StringArgument:
		return value.Str(a.Text), nil
	case DeviceArgument:
		d, err := tensor.ParseDevice(a.Text)
		return value.OfDevice(d), err
	case LayoutArgument:
		return value.Int(int64(tensor.Strided)), nil
	case DTypeArgument:
		if d, ok := tensor.ParseDType(a.Text); ok {
			return value.Int(int64(d)), nil
		}
	case FormatArgument:
		for m := tensor.ContiguousFormat; m <= tensor.ChannelsLast3D; m++ {
			if m.String() == a.Text {
				return value.Int(int64(m)), nil
			}
		}
	case ListArgument, TupleArgument:
		return a.container()
	}
	return value.None, fmt.Errorf("%s %q is no constant", a.Kind, a.Text)
}

func (a Argument) container() (value.Value, error) {
	items := make([]value.Value, len(a.Items))
	for i, item := range a.Items {
		var err error
		if items[i], err = item.Value(); err != nil {
			return value.None, err
		}
	}
	if a.Kind == TupleArgument {
		return value.OfTuple(value.NewTuple(items...)), nil
	}
	elem := types.Any
	if len(items) > 0 {
		elem = value.TypeOf(items[0])
	}
	return value.OfList(value.NewList(elem, items...)), nil
}
