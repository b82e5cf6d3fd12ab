package operators

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// numberBeside is the tensor that stands for a number, argument i. Beside a tensor it has that one's type, to which a number adds nothing of
// its own kind; quotients of integers are floats, so that theirs keep their values.
func (v *overload) numberBeside(c *abi.Call, args []value.Value, i int) *tensor.Tensor {
	s := abi.ScalarOf(c.Bound[i])
	own := s.ResultDType()
	for j := range v.firstOut {
		if j == i || c.Unread>>j&1 != 0 || !args[j].IsTensor() {
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
func (f *Function) signature(arguments int) *overload {
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
func (f *Function) hasOut(others int) bool {
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
func (v *overload) refusal(f *Function, c *abi.Call) error {
	name, own := f.CallableName(), f.ownArguments()
	if f.method && len(v.parameters) == 1 { // a method of C's that takes nothing
		switch {
		case c.Keywords > 0:
			return abi.TypeErrorf("_TensorBase.%s() takes no keyword arguments", name)
		case c.Positional > 1:
			return abi.TypeErrorf("_TensorBase.%s() takes no arguments (%d given)", name, c.Positional-1)
		}
	}
	if c.Positional > v.maxPlain {
		plural, were := "s", "were"
		if v.maxPlain-own == 1 {
			plural = ""
		}
		if c.Positional-own == 1 {
			were = "was"
		}
		return abi.TypeErrorf("%s() takes %d positional argument%s but %d %s given", name, v.maxPlain-own, plural, c.Positional-own, were)
	}
	given, byName := make([]*abi.Word, len(v.parameters)), 0
	x := c.Args
	for i := range c.Positional {
		given[i] = x
		x = x.Next()
	}
	for key, w := range c.KeywordPairs {
		if i := v.parameterNamed(key.Text()); i >= c.Positional {
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
			return abi.TypeErrorf("%s() missing %d required positional argument%s: %s", name, len(missing), plural, strings.Join(missing, ", "))
		}
		if w != nil && !v.accepts(i, w) {
			return v.wrongType(f, i, w, i < c.Positional)
		}
	}
	for key, w := range c.KeywordPairs {
		switch i := v.parameterNamed(key.Text()); {
		case i < 0 && key.Text() == "out":
			if w.Tensor() == nil && !w.IsSequence() && w.Kind() != abi.KindNone {
				return abi.TypeErrorf("%s(): argument 'out' must be Tensor, not %s", name, abi.Describe(w).ArgumentName)
			}
		case i < 0:
			return abi.TypeErrorf("%s() got an unexpected keyword argument '%s'", name, key.Text())
		case i >= 0 && i < c.Positional:
			return abi.TypeErrorf("%s() got multiple values for argument '%s'", name, key.Text())
		}
	}
	return nil
}

// accepts reports whether parameter i takes an argument.
func (v *overload) accepts(i int, w *abi.Word) bool {
	p := &v.parameters[i]
	return w.Kind() == abi.KindNone && p.plain>>abi.KindNone&1 != 0 || i == v.varargs && isIndex(w) || abi.Accepts(w, p.written, p.ListSize, true, v.strict)
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
func (f *Function) ownArguments() int {
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
func (v *overload) wrongElement(name string, i int, c *abi.Call) error {
	if i < 0 || i >= c.Positional {
		return nil
	}
	var elements []*abi.Word
	if first := c.Args.Skip(i); first.IsSequence() {
		for x := range first.Items {
			elements = append(elements, x)
		}
	} else {
		for x := first; len(elements) < c.Positional-i; x = x.Next() {
			elements = append(elements, x)
		}
	}
	if len(elements) == 0 || !isIndex(elements[0]) {
		return nil
	}
	for at, x := range elements {
		if !isIndex(x) {
			p := &v.parameters[i]
			return abi.TypeErrorf("%s(): argument '%s' must be %s, but found element of type %s at pos %d",
				name, argumentName(p.Name), argumentType(p.Argument), abi.Describe(x).ArgumentName, at+1)
		}
	}
	return nil
}

// elementRefusal names an element that is no integer, where all else may be meant for one overload.
func (f *Function) elementRefusal(c *abi.Call) error {
	for _, v := range f.all() {
		if v.namesDimensions() {
			continue
		}
		if v.op.Run == nil || v.firstOut < len(v.parameters) {
			continue
		}
		x := c.Args
		for i := range min(c.Positional, len(v.parameters)) {
			if v.accepts(i, x) && i != v.varargs {
				x = x.Next()
				continue
			}
			if isIntegers(v.parameters[i].Argument) && (x.IsSequence() || i == v.varargs) {
				if err := v.wrongElement(f.CallableName(), i, c); err != nil {
					return err
				}
			}
			break
		}
	}
	return nil
}

// unnamed says why no dimension has a name.
func (f *Function) unnamed(v *overload, c *abi.Call) error {
	if _, refuses := v.op.Fact("nameless"); refuses {
		return abi.RuntimeErrorf("%s: You passed a dimname (string) to this op in place of a dimension index but it does not yet support this behavior. "+
			"Please pass a dimension index to work around this.", f.CallableName())
	}
	var t *tensor.Tensor
	var given string
	look := func(w *abi.Word) {
		switch {
		case w.Tensor() != nil && t == nil:
			t = w.Tensor()
		case w.Kind() == abi.KindString && given == "":
			given = w.Text()
		case w.IsSequence():
			for x := range w.Items {
				if x.Kind() == abi.KindString && given == "" {
					given = x.Text()
				} else if x.Tensor() != nil && t == nil {
					t = x.Tensor()
				}
			}
		}
	}
	x := c.Args
	for range c.Positional {
		look(x)
		x = x.Next()
	}
	for _, w := range c.KeywordPairs {
		look(w)
	}
	if t == nil || given == "" {
		return abi.NotImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", v.schema.QualifiedName())
	}
	names := strings.TrimSuffix(strings.Repeat("None, ", t.Dim()), ", ")
	return abi.RuntimeErrorf("Name '%s' not found in Tensor[%s].", given, names)
}

func (v *overload) wrongType(f *Function, i int, w *abi.Word, positional bool) error {
	p, name := &v.parameters[i], f.CallableName()
	if l, ok := p.written.(*types.List); ok && l.Elem.Kind() == types.KindTensor && w.IsSequence() {
		at := 0
		for x := range w.Items {
			if x.Tensor() == nil {
				return abi.TypeErrorf("expected Tensor as element %d in argument %d, but got %s", at, i, abi.Describe(x).ArgumentName)
			}
			at++
		}
	}
	place := ""
	if positional {
		place = fmt.Sprintf(" (position %d)", i+1-f.ownArguments())
	}
	return abi.TypeErrorf("%s(): argument '%s'%s must be %s, not %s", name, argumentName(p.Name), place, argumentType(p.Argument), abi.Describe(w).ArgumentName)
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
	t := abi.RealType(a)
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
