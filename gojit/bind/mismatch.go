package bind

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// numberBeside is the tensor that stands for a number, argument i. Beside a tensor it has that one's type, to which a number adds nothing of
// its own kind; quotients of integers are floats, so that theirs keep their values.
func (v *overload) numberBeside(c *call, args []value.Value, i int) *tensor.Tensor {
	s := wordScalar(c.bound[i])
	own := s.ResultDType()
	for j := range v.firstOut {
		if j == i || c.unread>>j&1 != 0 || !args[j].IsTensor() {
			continue
		}
		d := args[j].Tensor().DType()
		isQuotient := v.schema.Overload == "Tensor" && strings.Contains(v.schema.Name, "div") && !strings.Contains(v.schema.Name, "floor")
		if own != tensor.Bool && tensor.CanCast(own, d) && !(isQuotient && own == tensor.Int64) {
			return tensor.FromScalar(s, d)
		}
	}
	return tensor.FromScalar(s, own)
}

// signature returns the one overload that as many arguments may be meant for, nil where there are several: then the message
// lists them all. Overloads with out= are forms of the others, and those for a number of an operator that takes numbers for
// tensors too.
func (f *operatorFunction) signature(arguments int) *overload {
	var only, last *overload
	forms, fit := 0, 0
	for _, v := range f.all() {
		scalar := strings.HasSuffix(v.schema.Overload, "Scalar") && v.op.Has(ops.WrapsNumbers)
		if v.firstOut < len(v.parameters) || v.op.Run == nil && !v.namesDimensions() || scalar {
			continue
		}
		least, most := 0, len(v.parameters)
		if f.hasOut(len(v.parameters)) || v.makes { // out, or requires_grad
			most++
		}
		for i := range v.parameters {
			if !v.parameters[i].HasDefault {
				least++
			}
		}
		forms, last = forms+1, v
		if least <= arguments && arguments <= most {
			fit, only = fit+1, v
		}
	}
	switch {
	case fit == 1:
		return only
	case forms == 1:
		return last
	}
	return nil
}

// hasOut reports whether there is a form with out= of so many other arguments.
func (f *operatorFunction) hasOut(others int) bool {
	for _, v := range f.all() {
		if v.firstOut < len(v.parameters) && v.firstOut == others {
			return true
		}
	}
	return false
}

// namesDimensions reports whether the overload takes names of dimensions.
func (v *overload) namesDimensions() bool {
	return strings.Contains(v.schema.Overload, "imname") || strings.Contains(v.schema.Overload, "names")
}

// refusal says why the overload, the only one, does not take the arguments; nil where it cannot tell.
func (v *overload) refusal(f *operatorFunction, c *call) error {
	name, own := f.callableName(), f.ownArguments()
	if f.method && len(v.parameters) == 1 { // a method of C's that takes nothing
		switch {
		case c.keywords > 0:
			return typeErrorf("_TensorBase.%s() takes no keyword arguments", name)
		case c.positional > 1:
			return typeErrorf("_TensorBase.%s() takes no arguments (%d given)", name, c.positional-1)
		}
	}
	if c.positional > v.maxPlain {
		plural, were := "s", "were"
		if v.maxPlain-own == 1 {
			plural = ""
		}
		if c.positional-own == 1 {
			were = "was"
		}
		return typeErrorf("%s() takes %d positional argument%s but %d %s given", name, v.maxPlain-own, plural, c.positional-own, were)
	}
	given, byName := make([]*Word, len(v.parameters)), 0
	x := c.args
	for i := range c.positional {
		given[i] = x
		x = x.next()
	}
	for key, w := range c.keywordPairs {
		if i := v.parameterNamed(key.text()); i >= c.positional {
			given[i] = w
			byName++
		}
	}
	var missing []string
	for i, w := range given {
		p := &v.parameters[i]
		if w == nil && !p.HasDefault {
			missing = append(missing, `"`+argumentName(p.Name)+`"`)
		}
	}
	for i, w := range given {
		if w == nil && !v.parameters[i].HasDefault {
			plural := ""
			if len(missing) == 1 { // PyTorch's grammar
				plural = "s"
			}
			return typeErrorf("%s() missing %d required positional argument%s: %s", name, len(missing), plural, strings.Join(missing, ", "))
		}
		if w != nil && !v.accepts(i, w) {
			return v.wrongType(f, i, w, i < c.positional)
		}
	}
	for key, w := range c.keywordPairs {
		switch i := v.parameterNamed(key.text()); {
		case i < 0 && key.text() == "out":
			if w.tensor() == nil && !w.isSequence() && w.kind() != kindNone {
				return typeErrorf("%s(): argument 'out' must be Tensor, not %s", name, describe(w).typeName)
			}
		case i < 0:
			return typeErrorf("%s() got an unexpected keyword argument '%s'", name, key.text())
		case i >= 0 && i < c.positional:
			return typeErrorf("%s() got multiple values for argument '%s'", name, key.text())
		}
	}
	return nil
}

// accepts reports whether parameter i takes an argument.
func (v *overload) accepts(i int, w *Word) bool {
	p := &v.parameters[i]
	return w.kind() == kindNone && p.plain>>kindNone&1 != 0 || i == v.varargs && isIndex(w) || accepts(w, p.written, p.ListSize, true, v.strict)
}

func (v *overload) parameterNamed(name string) int {
	if i := v.schema.ArgumentIndex(name); i >= 0 {
		return i
	}
	if alias, ok := keywordAliases[name]; ok {
		return v.schema.ArgumentIndex(alias)
	}
	return -1
}

// ownArguments is how many arguments are not counted: self of a method.
func (f *operatorFunction) ownArguments() int {
	if f.method {
		return 1
	}
	return 0
}

// isIntegers reports whether an argument is a list of integers.
func isIntegers(a *schema.Argument) bool {
	t := a.Type
	if optional, ok := t.(*types.Optional); ok {
		t = optional.Elem
	}
	l, ok := t.(*types.List)
	return ok && l.Elem.Kind() == types.KindInt
}

// wrongElement says which of the integers of parameter i, of a sequence or of all arguments from there on, is none: the first one is.
func (v *overload) wrongElement(name string, i int, c *call) error {
	if i < 0 || i >= c.positional {
		return nil
	}
	var elements []*Word
	if first := c.args.skip(i); first.isSequence() {
		for x := range first.items {
			elements = append(elements, x)
		}
	} else {
		for x := first; len(elements) < c.positional-i; x = x.next() {
			elements = append(elements, x)
		}
	}
	if len(elements) == 0 || !isIndex(elements[0]) {
		return nil
	}
	for at, x := range elements {
		if !isIndex(x) {
			p := &v.parameters[i]
			return typeErrorf("%s(): argument '%s' must be %s, but found element of type %s at pos %d",
				name, argumentName(p.Name), argumentType(p.Argument), describe(x).typeName, at+1)
		}
	}
	return nil
}

// elementRefusal names an element that is no integer, where all else may be meant for one overload.
func (f *operatorFunction) elementRefusal(c *call) error {
	for _, v := range f.all() {
		if v.op.Run == nil || v.firstOut < len(v.parameters) {
			continue
		}
		x := c.args
		for i := range min(c.positional, len(v.parameters)) {
			if v.accepts(i, x) && i != v.varargs {
				x = x.next()
				continue
			}
			if isIntegers(v.parameters[i].Argument) && (x.isSequence() || i == v.varargs) {
				if err := v.wrongElement(f.callableName(), i, c); err != nil {
					return err
				}
			}
			break
		}
	}
	return nil
}

// unnamed says why no dimension has a name.
func (f *operatorFunction) unnamed(v *overload, c *call) error {
	if _, refuses := v.op.Fact("nameless"); refuses {
		return runtimeErrorf("%s: You passed a dimname (string) to this op in place of a dimension index but it does not yet support this behavior. "+
			"Please pass a dimension index to work around this.", f.callableName())
	}
	var t *tensor.Tensor
	var given string
	look := func(w *Word) {
		switch {
		case w.tensor() != nil && t == nil:
			t = w.tensor()
		case w.kind() == kindString && given == "":
			given = w.text()
		case w.isSequence():
			for x := range w.items {
				if x.kind() == kindString && given == "" {
					given = x.text()
				} else if x.tensor() != nil && t == nil {
					t = x.tensor()
				}
			}
		}
	}
	x := c.args
	for range c.positional {
		look(x)
		x = x.next()
	}
	for _, w := range c.keywordPairs {
		look(w)
	}
	if t == nil || given == "" {
		return notImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", v.schema.QualifiedName())
	}
	names := strings.TrimSuffix(strings.Repeat("None, ", t.Dim()), ", ")
	return runtimeErrorf("Name '%s' not found in Tensor[%s].", given, names)
}

func (v *overload) wrongType(f *operatorFunction, i int, w *Word, positional bool) error {
	p, name := &v.parameters[i], f.callableName()
	if l, ok := p.written.(*types.List); ok && l.Elem.Kind() == types.KindTensor && w.isSequence() {
		at := 0
		for x := range w.items {
			if x.tensor() == nil {
				return typeErrorf("expected Tensor as element %d in argument %d, but got %s", at, i, describe(x).typeName)
			}
			at++
		}
	}
	place := ""
	if positional {
		place = fmt.Sprintf(" (position %d)", i+1-f.ownArguments())
	}
	return typeErrorf("%s(): argument '%s'%s must be %s, not %s", name, argumentName(p.Name), place, argumentType(p.Argument), describe(w).typeName)
}

// argumentName is the name of an argument in Python's functions.
func argumentName(name string) string {
	if name == "self" {
		return "input"
	}
	return name
}

// argumentType is the type of an argument in the messages of Python's functions.
func argumentType(a *schema.Argument) string {
	t := realType(a)
	if optional, ok := t.(*types.Optional); ok {
		t = optional.Elem
	}
	switch t.Kind() {
	case types.KindNumber:
		return "Number"
	case types.KindScalarType:
		return "torch.dtype"
	case types.KindLayout:
		return "torch.layout"
	case types.KindMemoryFormat:
		return "torch.memory_format"
	case types.KindDevice:
		return "torch.device"
	case types.KindGenerator:
		return "torch.Generator"
	}
	if l, ok := t.(*types.List); ok {
		return "tuple of " + l.Elem.Annotation(nil) + "s"
	}
	return t.Annotation(nil)
}
