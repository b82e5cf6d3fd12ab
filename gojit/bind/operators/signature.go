package operators

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// A form is a way to call an operator from Python, written as the parameters and the result of a function: "(input: Tensor, dim: int) -> Tensor".
// Types have the names that torchjit gives them; Number is an int, a float, a bool or a complex, and a class of named results is return_types.NAME.

// operatorForms replies the forms of a function or method that calls an operator, none where there is no operator.
func operatorForms(c *abi.Call) error {
	var forms []string
	if f := operatorNamed(c.ArgString(0)); f != nil {
		forms = f.forms(c.ArgBool(1))
	}
	c.Strings(forms)
	return nil
}

// operatorDoc replies what an operator computes, what its record says of it (whether it is elementwise and has a gradient), the types that it takes, and an example.
func operatorDoc(c *abi.Call) error {
	f := operatorNamed(c.ArgString(0))
	if f == nil {
		c.String("")
		return nil
	}
	var lines []string
	if text := ops.Sentence(f.CallableName()); text != "" {
		lines = append(lines, text)
	}
	tensors, differs, composed, elementwise := false, false, false, false
	for _, v := range f.all() {
		if v.op.Run == nil || v.firstOut < len(v.parameters) || v.namesDimensions() {
			continue
		}
		kind := autograd.Kind(v.op)
		differs, composed, elementwise = differs || kind == "d", composed || kind == "c", elementwise || v.op.Def().IsElementwise()
		tensors = tensors || len(v.schema.Returns) > 0 && abi.MentionsTensor(v.schema.Returns[0].Type)
	}
	if elementwise {
		lines = append(lines, "Works on elements; several tensors are broadcast against each other.")
	}
	switch {
	case differs:
		lines = append(lines, "Gradients flow through it by a derivative of its own.")
	case composed:
		lines = append(lines, "Gradients flow through the operators that it is made of.")
	case tensors:
		lines = append(lines, "No gradients flow through it.")
	}
	if text := ops.Example(f.CallableName()); text != "" {
		lines = append(lines, strings.Replace(text, "\n>>>", "\n\n>>>", 1))
	}
	c.String(strings.Join(lines, "\n\n"))
	return nil
}

// forms lists the forms of a function, or of the method of the same name, in the order in which they are tried. An overload that writes its result
// into out= is no form of its own where another one takes the same arguments.
func (f *Function) forms(isMethod bool) []string {
	var forms []string
	seen := map[string]bool{}
	for _, v := range f.all() {
		if v.op.Run == nil || v.namesDimensions() || isMethod && (len(v.parameters) == 0 || v.parameters[0].Name != "self") {
			continue
		}
		writes := v.firstOut < len(v.parameters)
		if strings.HasSuffix(v.schema.Overload, "Scalar") && v.op.Has(ops.WrapsNumbers) && f.hasOverload("Tensor") {
			continue
		}
		if writes && (isMethod || f.hasFormOf(v)) {
			continue
		}
		for _, spread := range []bool{false, true} {
			if spread && v.varargs < 0 {
				continue
			}
			if form := f.form(v, isMethod, spread); !seen[form] {
				seen[form] = true
				forms = append(forms, form)
			}
		}
	}
	return forms
}

func (f *Function) hasOverload(name string) bool {
	for _, v := range f.all() {
		if v.schema.Overload == name && v.op.Run != nil {
			return true
		}
	}
	return false
}

// hasFormOf reports whether another overload takes what an overload with out= takes besides.
func (f *Function) hasFormOf(out *overload) bool {
	for _, v := range f.all() {
		if v.firstOut == len(v.parameters) && v.op.Run != nil && sameArguments(v, out) {
			return true
		}
	}
	return false
}

// sameArguments reports whether out, which writes its results into its last arguments, takes the tensors and numbers that v takes. What functions
// that make tensors take besides, dtype and its kin, is in fills.
func sameArguments(v, out *overload) bool {
	for i := range max(len(v.parameters), out.firstOut) {
		switch {
		case i >= len(v.parameters):
			return false
		case i >= out.firstOut:
			if _, ok := out.fills[v.parameters[i].Name]; !ok && v.parameters[i].Name != "memory_format" {
				return false
			}
		case v.parameters[i].Name != out.parameters[i].Name:
			return false
		case annotation(v.parameters[i].written, v.parameters[i].ListSize) != annotation(out.parameters[i].written, out.parameters[i].ListSize):
			return false
		}
	}
	return true
}

// outsOf returns how many tensors out= has beside the arguments of v, 0 where there is no such form.
func (f *Function) outsOf(v *overload) int {
	for _, out := range f.all() {
		if out.firstOut < len(out.parameters) && out.op.Run != nil && sameArguments(v, out) {
			return len(out.parameters) - out.firstOut
		}
	}
	return 0
}

// form writes a form of an overload; with spread its list of ints is given one by one.
func (f *Function) form(v *overload, isMethod, spread bool) string {
	var parts []string
	named := false
	byName := func() {
		if !named {
			named = true
			parts = append(parts, "*")
		}
	}
	for i := range v.firstOut {
		p := &v.parameters[i]
		name := p.Name
		switch {
		case i == 0 && isMethod:
			parts = append(parts, "self")
			continue
		case name == "self":
			name = "input"
		case spread && i == v.varargs:
			named = true
			parts = append(parts, "*"+name+": int")
			continue
		case p.KwargOnly:
			byName()
		}
		if name == "from" { // a word of Python's: it has no name in calls
			name = "from_"
		}
		text := name + ": " + f.parameterType(v, i)
		if p.HasDefault {
			text += " = " + p.defaultText()
		}
		parts = append(parts, text)
		if p.Name == "from" {
			parts = append(parts, "/")
		}
	}
	outs, mayBeNone := len(v.parameters)-v.firstOut, false
	if outs == 0 && !isMethod {
		outs, mayBeNone = f.outsOf(v), true
	}
	if outs > 0 {
		byName()
		parts = append(parts, outParameter(outs, mayBeNone))
	}
	if v.makes {
		byName()
		parts = append(parts, "requires_grad: bool = False")
	}
	return "(" + strings.Join(parts, ", ") + ") -> " + f.resultType(v)
}

func outParameter(outs int, mayBeNone bool) string {
	kind := "Tensor"
	if outs > 1 {
		kind = "tuple[" + strings.TrimSuffix(strings.Repeat("Tensor, ", outs), ", ") + "]"
	}
	if mayBeNone {
		return "out: " + kind + " | None = None"
	}
	return "out: " + kind
}

// parameterType is the type of parameter i. Numbers stand for tensors in arithmetic, but not for the first one.
func (f *Function) parameterType(v *overload, i int) string {
	p := &v.parameters[i]
	text := annotation(p.written, p.ListSize)
	if i > 0 && text == "Tensor" && !v.strict {
		text += " | Number"
	}
	if p.HasDefault && p.Default.IsNone() && !strings.HasSuffix(text, "None") {
		text += " | None"
	}
	return text
}

func (f *Function) resultType(v *overload) string {
	returns := v.schema.Returns
	switch {
	case len(returns) == 0:
		return "None"
	case len(returns) == 1:
		if l, ok := returns[0].Type.(*types.List); ok && l.Elem.Kind() == types.KindTensor {
			return "tuple[Tensor, ...]"
		}
		if f.Name == aten.ResultType || f.Name == aten.PromoteTypes {
			return "dtype"
		}
		return annotation(returns[0].Type, -1)
	case v.fields != nil:
		return "return_types." + f.CallableName()
	}
	parts := make([]string, len(returns))
	for i, r := range returns {
		parts[i] = annotation(r.Type, -1)
	}
	return "tuple[" + strings.Join(parts, ", ") + "]"
}

// annotation is a type in Python. A list of a known size may be given as one number.
func annotation(t types.Type, listSize int) string {
	switch t := t.(type) {
	case *types.Optional:
		return annotation(t.Elem, listSize) + " | None"
	case *types.List:
		elem := annotation(t.Elem, -1)
		if listSize > 0 {
			return elem + " | Sequence[" + elem + "]"
		}
		return "Sequence[" + elem + "]"
	case *types.Tuple:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = annotation(e, -1)
		}
		return "tuple[" + strings.Join(parts, ", ") + "]"
	case *types.Dict:
		return "dict[" + annotation(t.Key, -1) + ", " + annotation(t.Value, -1) + "]"
	}
	switch t.Kind() {
	case types.KindTensor:
		return "Tensor"
	case types.KindInt, types.KindSymInt:
		return "int"
	case types.KindFloat:
		return "float"
	case types.KindBool:
		return "bool"
	case types.KindComplex:
		return "complex"
	case types.KindString:
		return "str"
	case types.KindNumber:
		return "Number"
	case types.KindScalarType:
		return "dtype"
	case types.KindLayout:
		return "layout"
	case types.KindMemoryFormat:
		return "memory_format"
	case types.KindDevice:
		return "device | str | int"
	case types.KindGenerator:
		return "Generator"
	case types.KindNone:
		return "None"
	}
	return "object"
}

// defaultText is a default in Python, "..." where it is no number, text, list or None.
func (p *parameter) defaultText() string {
	switch p.Default.Kind() {
	case value.KindInt:
		if p.base == types.KindScalarType || p.base == types.KindLayout || p.base == types.KindMemoryFormat {
			return "..."
		}
		return value.Repr(p.Default, nil)
	case value.KindList:
		if len(p.Default.List().Items) == 0 {
			return "[]"
		}
		return value.Repr(p.Default, nil)
	case value.KindNone, value.KindBool, value.KindString:
		return value.Repr(p.Default, nil)
	case value.KindFloat:
		if text := value.Repr(p.Default, nil); !strings.ContainsAny(text, "nf") {
			return text
		}
	}
	return "..."
}
