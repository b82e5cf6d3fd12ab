package dimnames

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Runner runs an operator.
type Runner func(op *ops.Operator, args, out []value.Value) error

// Form is an overload that takes names of dimensions, and is run as the one that takes positions.
type Form struct {
	positions *ops.Operator
	named     []int // the arguments that are names, in both overloads
	renames   string
	op        *ops.Operator
	makes     int // index of the names of what is made, which the other overload does not have; -1 where there is none
}

// forms has the forms that were looked for, nil for an overload that is none.
var forms sync.Map

// FormOf returns the form that an overload is, nil where it takes no names or takes them for nothing.
func FormOf(op *ops.Operator) *Form {
	if f, ok := forms.Load(op.Name); ok {
		return f.(*Form)
	}
	f, _ := forms.LoadOrStore(op.Name, newForm(op))
	return f.(*Form)
}

func newForm(op *ops.Operator) *Form {
	if _, refuses := op.Fact("nameless"); refuses {
		return nil
	}
	if fact, renames := op.Fact("renames"); renames {
		return &Form{op: op, renames: fact}
	}
	s := op.Schema()
	var names []int
	for i := range s.Arguments {
		if isNames(s.Arguments[i].Type) {
			names = append(names, i)
		}
	}
	if len(names) == 0 || !strings.Contains(s.Overload, "imname") && !strings.Contains(s.Overload, "names") {
		return nil
	}
	for _, other := range ops.Overloads(s.Name) {
		if other.Run == nil {
			continue
		}
		if f := (&Form{positions: other, named: names, makes: -1}); matches(s.Arguments, other.Schema().Arguments, names) {
			return f
		}
		if len(names) == 1 && s.Arguments[names[0]].Name == "names" && s.Arguments[names[0]].KwargOnly &&
			matches(slices.Delete(slices.Clone(s.Arguments), names[0], names[0]+1), other.Schema().Arguments, nil) {
			return &Form{positions: other, makes: names[0]}
		}
	}
	return nil
}

// isNames reports whether a type is that of names.
func isNames(t types.Type) bool {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if l, ok := t.(*types.List); ok {
		t = l.Elem
	}
	return t.Kind() == types.KindString
}

// matches reports whether the arguments of an overload are those of another, but for names.
func matches(a, b []schema.Argument, names []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].IsOut() != b[i].IsOut() {
			return false
		}
		if slices.Contains(names, i) {
			if !takesPositions(b[i].Type) {
				return false
			}
		} else if a[i].Type.String() != b[i].Type.String() && !(takesPositions(a[i].Type) && takesPositions(b[i].Type)) {
			return false
		}
	}
	return true
}

func takesPositions(t types.Type) bool {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if l, ok := t.(*types.List); ok {
		t = l.Elem
	}
	return t.Kind() == types.KindInt || t.Kind() == types.KindSymInt
}

// Names reports whether an argument of the form is a list of all names of a tensor, None for dimensions without one.
func (f *Form) Names(argument string) bool {
	return argument == "names" && (f.makes >= 0 || f.op != nil)
}

// Run runs the form by positions. unnamed runs operators for which names do not count.
func (f *Form) Run(args, out []value.Value, run, unnamed Runner) (err error) {
	if f.op != nil {
		return Renamed(f.renames, f.op, args, out, unnamed)
	}
	defer source.Catch(&err)
	if f.makes >= 0 {
		var names []string
		if given := args[f.makes]; !given.IsNone() {
			names = Read(given)
		}
		if err = run(f.positions, slices.Delete(slices.Clone(args), f.makes, f.makes+1), out); err == nil && names != nil {
			Set(out[0].Tensor(), names)
		}
		return err
	}
	var t *tensor.Tensor
	for _, v := range args {
		if v.Kind() == value.KindList && len(v.List().Items) > 0 && v.List().Items[0].IsTensor() {
			v = v.List().Items[0]
		}
		if t == nil && v.IsTensor() {
			t = v.Tensor()
		}
	}
	if t == nil {
		source.Raise(source.RuntimeError, "expected a non-empty list of Tensors")
	}
	args = slices.Clone(args)
	for _, i := range f.named {
		args[i] = positions(args[i], t)
	}
	return run(f.positions, args, out)
}

// positions replaces names by positions.
func positions(v value.Value, t *tensor.Tensor) value.Value {
	switch v.Kind() {
	case value.KindString:
		return value.Int(int64(Position(t, v.Str())))
	case value.KindList:
		var found []int
		for _, x := range v.List().Items {
			found = append(found, Position(t, Read(x)[0]))
		}
		return value.OfList(value.Ints(found))
	}
	return v
}

// byPosition has operators of forms with a Run, by their names.
var byPosition sync.Map

func plain(op *ops.Operator, args, out []value.Value) error { return op.Run(args, out) }

// Runnable returns an operator that runs where op has no implementation but a form, else op.
func Runnable(op *ops.Operator) *ops.Operator {
	if op.Run != nil || op.Make != nil {
		return op
	}
	if known, ok := byPosition.Load(op.Name); ok {
		return known.(*ops.Operator)
	}
	f := FormOf(op)
	if f == nil {
		return op
	}
	known, _ := byPosition.LoadOrStore(op.Name, op.With(func(args, out []value.Value) error {
		return f.Run(args, out, plain, plain)
	}))
	return known.(*ops.Operator)
}
