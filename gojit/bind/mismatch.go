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
func (v *overload) refusal(name string, c *call) error {
	if c.positional > v.maxPlain {
		plural := "s"
		if v.maxPlain == 1 {
			plural = ""
		}
		return typeErrorf("%s() takes %d positional argument%s but %d were given", name, v.maxPlain, plural, c.positional)
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
			return v.wrongType(name, i, w, i < c.positional)
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

func (v *overload) wrongType(name string, i int, w *Word, positional bool) error {
	p := &v.parameters[i]
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
		place = fmt.Sprintf(" (position %d)", i+1)
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
