package frontend

import (
	"maps"
	"slices"
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/frontend/ssa"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

func itoa(i int) string { return strconv.Itoa(i) }

// environment is the scope of one block: what names stand for in it. First-class values are
// stored and loaded by nodes, so that control flow can merge them; other sugared values are kept
// here and cannot be assigned anew.
type environment struct {
	e      *Emitter
	block  *ir.Block
	parent *environment

	// Maps are nil until they hold something.
	sugared map[string]SugaredValue
	stored  map[string]variable // those that have a prim::Store in the block
	errors  map[string]string   // why a name is not defined behind an if
	removed map[string]bool
}

func (e *Emitter) pushFrame(b *ir.Block) {
	e.env = &environment{e: e, block: b, parent: e.env}
}

// variable is one that is stored in a block.
type variable struct {
	typ  types.Type
	name any // the string that its loads and stores share
}

// store notes that the block has a prim::Store to a variable of type t, and returns the variable.
func (v *environment) store(name string, t types.Type) variable {
	known, ok := v.stored[name]
	if !ok {
		known.name = name
		if v.stored == nil {
			v.stored = map[string]variable{}
		}
	}
	known.typ = t
	v.stored[name] = known
	return known
}

func (e *Emitter) popFrame() *environment {
	old := e.env
	e.env = old.parent
	return old
}

func (v *environment) load(name string, from variable) SugaredValue {
	g := v.e.g
	n := g.InsertNode(g.CreateLoad(from.name, from.typ))
	if ssa.MeaningfulName(name) {
		n.Output().SetName(name)
	}
	return simple{n.Output()}
}

func (v *environment) findHere(name string) SugaredValue {
	if s, ok := v.sugared[name]; ok {
		return s
	}
	if from, ok := v.stored[name]; ok {
		return v.load(name, from)
	}
	return nil
}

func (v *environment) find(name string) SugaredValue {
	for at := v; at != nil; at = at.parent {
		if at.removed[name] {
			return nil
		}
		if s := at.findHere(name); s != nil {
			return s
		}
	}
	return nil
}

// knows reports whether a name is a variable, without loading it.
func (v *environment) knows(name string) bool {
	for at := v; at != nil; at = at.parent {
		if at.removed[name] {
			return false
		}
		if at.sugared[name] != nil || at.stored[name].typ != nil {
			return true
		}
	}
	return false
}

// remove ends a variable: del x.
func (v *environment) remove(name string) {
	delete(v.stored, name)
	delete(v.sugared, name)
	if v.removed == nil {
		v.removed = map[string]bool{}
	}
	v.removed[name] = true
}

// removeAll ends the variables that a block inside ended: behind it nothing says whether they are there.
func (v *environment) removeAll(names map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if v.knows(name) {
			v.remove(name)
		}
	}
}

func (v *environment) findInParent(name string) SugaredValue {
	if v.parent == nil {
		return nil
	}
	return v.parent.find(name)
}

// setError says why a name is not defined; the text begins a line.
func (v *environment) setError(name, text string) {
	if v.errors == nil {
		v.errors = map[string]string{}
	}
	v.errors[name] = text
}

func (v *environment) errorOf(name string) string {
	for at := v; at != nil; at = at.parent {
		if text := at.errors[name]; text != "" {
			return text
		}
	}
	return ""
}

func (v *environment) set(at source.Range, name string, x *ir.Value) {
	v.setSugared(at, name, simple{x}, nil)
}

// setSugared assigns to a variable. annotated, if not nil, is the declared type.
func (v *environment) setSugared(at source.Range, name string, s SugaredValue, annotated types.Type) {
	delete(v.removed, name)
	x := asSimple(s)
	if x != nil && !x.HasName() && ssa.MeaningfulName(name) && x.Node().Block() == v.block {
		x.SetName(name)
	}
	if parent := v.findInParent(name); parent != nil {
		if annotated != nil {
			fail(at, "Attempting to declare and annotate the type of variable '%s' but it is already defined in an outer block", name)
		}
		if x == nil {
			fail(at, "Cannot re-assign '%s' to a value of type %s because %s is not a first-class value.  Only reassignments to first-class values are allowed", name, s.Kind(), name)
		}
		outer := asSimple(parent)
		if outer == nil {
			fail(at, "Cannot re-assign '%s' because it has type %s and %s is not a first-class value.  Only reassignments to first-class values are allowed", name, s.Kind(), name)
		}
		x = v.convertToOuter(at, name, x, outer)
	}
	if x == nil {
		if v.sugared == nil {
			v.sugared = map[string]SugaredValue{}
		}
		v.sugared[name] = s
		delete(v.stored, name)
		return
	}
	delete(v.sugared, name)
	if annotated != nil && !types.IsSubtype(x.Type(), annotated) {
		fail(at, "Variable '%s' is annotated with type %s but is being assigned to a value of type %s", name, annotated.Annotation(nil), types.Repr(x.Type()))
	}
	t := x.Type()
	if annotated != nil {
		t = annotated
	}
	store := v.e.g.InsertNode(v.e.g.CreateStore(v.store(name, t).name, x)).SetRange(at)
	if annotated != nil {
		store.SetAttr("types", []types.Type{annotated})
	}
}

func (v *environment) convertToOuter(at source.Range, name string, x, outer *ir.Value) *ir.Value {
	t := types.Unshaped(outer.Type())
	x = ir.ConvertTo(v.e.g, at, t, x, true)
	ok, why := types.IsSubtypeWhy(x.Type(), t)
	if !ok {
		text := "Variable '" + name + "' previously had type " + types.Repr(outer.Type()) + " but is now being assigned to a value of type " + types.Repr(x.Type())
		if outer.Type().Kind() == types.KindList && x.Type().Kind() == types.KindList {
			text += "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)"
		}
		fail(at, "%s\n%s", text, why)
	}
	return x
}

// compileResolved compiles a function that was named, before its arguments are emitted. It fails for one of
// Python that programs cannot use.
func (e *Emitter) compileResolved(at source.Range, s SugaredValue) {
	if o, ok := s.(*hostObject); ok && o.typeName == "builtin_function_or_method" {
		fail(at, "Python builtin %s is currently not supported in Torchscript", o.text)
	}
	if f, ok := s.(*FunctionValue); ok {
		for _, o := range f.Overloads {
			e.compileNow(o)
		}
	}
}

func (e *Emitter) compileNow(f *ir.Function) {
	_, err := f.EnsureDefinedWithin()
	e.checkCallee(err, source.Frame{Function: calleeName(f), Caller: calleeName(e.f), Range: e.pending})
}

const noRecursion = "a function cannot call itself: its name is set when it has been compiled; a method of a module can, where its result is annotated"

// lookUp returns what a name stands for: a variable, a builtin, a type or what the resolver says.
func (e *Emitter) lookUp(name string, at source.Range, required bool) SugaredValue {
	if s := e.env.find(name); s != nil {
		return s
	}
	if s := builtinNamed(name); s != nil {
		return s
	}
	t, err := e.resolver.ResolveType(name, at)
	e.checkDefinition(err)
	if tuple, ok := t.(*types.Tuple); ok {
		return NewNamedTuple(tuple)
	}
	e.ensureClassCompiled(at, t)
	s, err := e.resolver.ResolveValue(name, at)
	check(err)
	if s != nil {
		e.compileResolved(at, s)
		return s
	}
	switch t := t.(type) {
	case *types.Class:
		return NewClassValue(t)
	case *types.Enum:
		return NewEnumClass(t)
	}
	if !required {
		return nil
	}
	if text := e.env.errorOf(name); text != "" {
		fail(at, "\n%sand was used here", text)
	}
	if name == e.f.ShortName() && !e.f.IsMethod {
		failNoted([]string{noRecursion}, at, " function '%s' is called recursively. Recursive calls are not supported", name)
	}
	failNoted([]string{didYouMean(name, e.names())}, at, "undefined value %s", name)
	return nil
}
