package frontend

import (
	"fmt"
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// refinement says that a variable has a narrower type where a condition holds.
type refinement struct {
	name string
	t    types.Type
}

// refinements are what a condition tells where it holds and where it does not.
type refinements struct{ yes, no []refinement }

func (r refinements) not() refinements { return refinements{r.no, r.yes} }

func (r refinements) and(s refinements) refinements {
	return refinements{unite(r.yes, s.yes), intersect(r.no, s.no)}
}

func (r refinements) or(s refinements) refinements {
	return refinements{intersect(r.yes, s.yes), unite(r.no, s.no)}
}

func unite(a, b []refinement) []refinement {
	return append(append([]refinement{}, a...), b...)
}

// intersect keeps the variables that both refine, with the type that covers both.
func intersect(a, b []refinement) []refinement {
	var out []refinement
	for _, x := range a {
		for _, y := range b {
			if x.name == y.name {
				if t := types.Unify(x.t, y.t, false, nil); t != nil {
					out = append(out, refinement{x.name, t})
				}
				break
			}
		}
	}
	return out
}

// condition is the value of a condition, what it refines, and its outcome where that is known.
type condition struct {
	value  *ir.Value
	refine refinements
	static *bool
}

func (e *Emitter) staticCondition(at source.Range, outcome bool, r refinements) condition {
	return condition{e.g.Constant(value.Bool(outcome), at), r, &outcome}
}

func (e *Emitter) emitCond(expr syntax.Expr) condition {
	parallel.Look() // programs may be long
	switch expr.Kind {
	case syntax.KindAnd, syntax.KindOr:
		b := syntax.AsBinOp(expr)
		return e.emitShortCircuit(b.Range, b.LHS(), b.RHS(), expr.Kind == syntax.KindOr)
	case syntax.KindNot:
		v := e.emitCond(syntax.AsUnaryOp(expr).Operand())
		result := e.Insert(expr.Range, aten.Not, v.value)
		c := condition{value: result, refine: v.refine.not()}
		if v.static != nil {
			outcome := !*v.static
			c.static = &outcome
		}
		return c
	case syntax.KindIs, syntax.KindIsNot:
		return e.emitIs(expr)
	}
	if expr.Kind == syntax.KindApply {
		if c, ok := e.emitConditionCall(syntax.AsApply(expr)); ok {
			return c
		}
	}
	out := e.emitToBool(expr.Range, e.emitExpr(expr, nil))
	c := condition{value: out}
	switch out.Node().Kind() {
	case aten.IsScripting:
		yes := true
		c.static = &yes
	case aten.HasTorchFunction:
		no := false
		c.static = &no
	case prim.Constant:
		if v, ok := out.Constant(); ok {
			outcome := v.Bool()
			c.static = &outcome
		}
	}
	return c
}

// emitConditionCall emits the calls that refine or may be decided now: isinstance and hasattr.
func (e *Emitter) emitConditionCall(call syntax.Apply) (condition, bool) {
	if call.Callee().Kind == syntax.KindVar {
		switch syntax.AsVar(call.Callee()).Name().Name() {
		case "isinstance":
			e.checkInputs(call, 2)
			return e.emitIsInstance(call.Inputs()[0], call.Inputs()[1]), true
		case "hasattr":
			e.checkInputs(call, 2)
			return e.emitHasAttr(call.Inputs()[0], call.Inputs()[1]), true
		}
	}
	if dottedName(call.Callee()) == "" && e.mustKeep() {
		return condition{}, false
	}
	callee, _ := e.probe(call.Callee(), nil)
	if form, ok := callee.(*SpecialForm); ok && form.Name == prim.Isinstance {
		e.checkInputs(call, 2)
		return e.emitIsInstance(call.Inputs()[0], call.Inputs()[1]), true
	}
	return condition{}, false
}

type noneness uint8

const (
	neverNone noneness = iota
	maybeNone
	alwaysNone
)

func nonenessOf(v *ir.Value) noneness {
	if v.MustBeNone() {
		return alwaysNone
	}
	switch t := v.Type().(type) {
	case *types.Optional:
		return maybeNone
	case *types.Union:
		if t.CanHold(types.None) {
			return maybeNone
		}
	}
	if v.Type().Kind() == types.KindAny {
		return maybeNone
	}
	return neverNone
}

func (e *Emitter) emitIs(expr syntax.Expr) condition {
	b := syntax.AsBinOp(expr)
	lhs := e.emitExpr(b.LHS(), nil)
	rhs := e.emitExpr(b.RHS(), nil)
	is := expr.Kind == syntax.KindIs
	l, r := nonenessOf(lhs), nonenessOf(rhs)
	if l == alwaysNone && r == alwaysNone {
		return e.staticCondition(expr.Range, is, refinements{})
	}
	if l == alwaysNone && r == neverNone || l == neverNone && r == alwaysNone {
		return e.staticCondition(expr.Range, !is, refinements{})
	}
	kind := aten.Is
	if !is {
		kind = aten.Isnot
	}
	return condition{value: e.Insert(expr.Range, kind, lhs, rhs), refine: noneRefinements(b, lhs, rhs, is)}
}

func noneRefinements(b syntax.BinOp, lhs, rhs *ir.Value, is bool) refinements {
	variable, v, other := b.LHS(), lhs, b.RHS()
	if other.Kind != syntax.KindNone && variable.Kind == syntax.KindNone {
		variable, v, other = b.RHS(), rhs, b.LHS()
	}
	if other.Kind != syntax.KindNone || variable.Kind != syntax.KindVar {
		return refinements{}
	}
	switch v.Type().(type) {
	case *types.Optional, *types.Union:
	default:
		return refinements{}
	}
	present := types.Without(v.Type(), types.None)
	if present == nil {
		return refinements{}
	}
	r := refinements{no: []refinement{{syntax.AsVar(variable).Name().Name(), present}}}
	if !is {
		r = r.not()
	}
	return r
}

func (e *Emitter) emitShortCircuit(at source.Range, first, second syntax.Expr, isOr bool) condition {
	lhs := e.emitCond(first)
	var rhs condition
	next := func() *ir.Value {
		rhs = e.emitCond(second)
		return rhs.value
	}
	known := func() *ir.Value { return e.g.Constant(value.Bool(isOr), at) }
	c := condition{}
	if isOr {
		c.value = e.emitIfExpr(at, lhs, known, next)
		c.refine = lhs.refine.or(rhs.refine)
	} else {
		c.value = e.emitIfExpr(at, lhs, next, known)
		c.refine = lhs.refine.and(rhs.refine)
	}
	switch {
	case lhs.static != nil && *lhs.static == isOr || rhs.static != nil && *rhs.static == isOr:
		c.static = &isOr
	case lhs.static != nil && rhs.static != nil:
		outcome := !isOr
		c.static = &outcome
	}
	return c
}

// emitIfExpr emits a prim::If with one result.
func (e *Emitter) emitIfExpr(at source.Range, c condition, yes, no func() *ir.Value) *ir.Value {
	n := e.g.InsertNode(e.g.Create(prim.If, []*ir.Value{c.value}, 0)).SetRange(at)
	branch := func(r []refinement, emit func() *ir.Value) *ir.Value {
		b := n.AddBlock()
		e.pushFrame(b)
		old := e.g.SetInsertEnd(b)
		e.insertRefinements(at, r)
		out := emit()
		b.AddOutput(out)
		e.g.SetInsertPoint(old)
		e.popFrame()
		return out
	}
	t := branch(c.refine.yes, yes).Type()
	f := branch(c.refine.no, no).Type()
	unified := types.Unify(t, f, false, nil)
	if unified == nil {
		fail(at, "if-expression's true branch has type %s but false branch has type %s", types.Repr(t), types.Repr(f))
	}
	return n.AddOutput().SetType(unified)
}

func (e *Emitter) emitTernary(t syntax.TernaryIf, hint types.Type) *ir.Value {
	c := e.emitCond(t.Cond())
	if c.static != nil {
		if *c.static {
			return e.emitExpr(t.True(), hint)
		}
		return e.emitExpr(t.False(), hint)
	}
	return e.emitIfExpr(t.Range, c,
		func() *ir.Value { return e.emitExpr(t.True(), hint) },
		func() *ir.Value { return e.emitExpr(t.False(), hint) })
}

func (e *Emitter) insertRefinements(at source.Range, rs []refinement) {
	for _, r := range rs {
		v := e.lookUp(r.name, at, true).AsValue(e, at)
		cast := e.g.InsertNode(e.g.CreateUncheckedCast(v, r.t)).Output()
		e.env.set(at, r.name, cast)
	}
}

func (e *Emitter) emitIf(s syntax.If) {
	e.emitIfElse(s.Range, e.emitCond(s.Cond()), s.Body(), s.Else())
}

func (e *Emitter) emitIfElse(at source.Range, c condition, yes, no []syntax.Stmt) {
	if c.static != nil {
		if *c.static {
			e.insertRefinements(at, c.refine.yes)
			e.emitStatements(yes)
		} else {
			e.insertRefinements(at, c.refine.no)
			e.emitStatements(no)
		}
		return
	}
	n := e.g.InsertNode(e.g.Create(prim.If, []*ir.Value{c.value}, 0)).SetRange(at)
	yesBlock, noBlock := n.AddBlock(), n.AddBlock()
	yesEnv := e.emitBranch(at, yesBlock, yes, c.refine.yes)
	noEnv := e.emitBranch(at, noBlock, no, c.refine.no)
	if e.exits[yesBlock] && e.exits[noBlock] {
		e.exits[n.Block()], e.jumps[n.Block()] = true, e.jumps[yesBlock] || e.jumps[noBlock]
	}
	assigned := e.assignedByIf(at, yesEnv, noEnv)
	for _, branch := range []*environment{yesEnv, noEnv} {
		if !e.exits[branch.block] {
			e.env.removeAll(branch.removed)
		}
	}
	for _, name := range assigned {
		e.mergeVariable(at, name, yesEnv, noEnv)
	}
}

func (e *Emitter) emitBranch(at source.Range, b *ir.Block, stmts []syntax.Stmt, r []refinement) *environment {
	e.pushFrame(b)
	old := e.g.SetInsertEnd(b)
	if len(stmts) > 0 {
		at = stmts[0].Range
	}
	e.insertRefinements(at, r)
	e.emitStatements(stmts)
	e.g.SetInsertPoint(old)
	return e.popFrame()
}

// assignedByIf returns the names that are defined behind an if whichever branch was taken, sorted,
// and notes for the others why they are not.
func (e *Emitter) assignedByIf(at source.Range, yes, no *environment) []string {
	found := map[string]bool{}
	collect := func(from, other *environment, branch string) {
		for _, name := range slices.Sorted(maps.Keys(from.stored)) {
			old := e.g.SetInsertEnd(other.block)
			if other.find(name) != nil || e.exits[other.block] {
				found[name] = true
			} else {
				text := source.Errorf(source.RuntimeError, at, "%s is not defined in the %s branch", name, branch).Error()
				e.env.setError(name, text)
			}
			e.g.SetInsertPoint(old)
		}
	}
	collect(yes, no, "false")
	collect(no, yes, "true")
	return slices.Sorted(maps.Keys(found))
}

// mergeVariable gives a variable that the branches of an if assign its type behind the if. What it is in a branch that leaves is read by nobody; where
// the branch ends by break or continue and the types have one in common it stands there all the same, as in PyTorch, whose numbers of names depend on it.
func (e *Emitter) mergeVariable(at source.Range, name string, yes, no *environment) {
	read := func(env *environment) *ir.Value {
		if e.exits[env.block] && !e.jumps[env.block] {
			return nil
		}
		old := e.g.SetInsertEnd(env.block)
		defer e.g.SetInsertPoint(old)
		s := env.find(name)
		switch {
		case s != nil:
			return s.AsValue(e, at)
		case e.exits[env.block]:
			return nil
		}
		fail(at, "undefined value %s", name)
		return nil
	}
	t, f := read(yes), read(no)
	var unified types.Type
	if t != nil && f != nil {
		if unified = e.unifyBranches(name, t, f); unified == nil && e.exits[yes.block] {
			t = nil
		}
		if unified == nil && e.exits[no.block] {
			f = nil
		}
	}
	switch {
	case t == nil && f == nil:
		return
	case t == nil:
		t = e.storeUninitialized(name, yes.block, f.Type())
		unified = e.unifyBranches(name, t, f)
	case f == nil:
		f = e.storeUninitialized(name, no.block, t.Type())
		unified = e.unifyBranches(name, t, f)
	}
	if unified == nil {
		text := fmt.Sprintf("Type mismatch: %s is set to type %s in the true branch and type %s in the false branch", name, types.Repr(t.Type()), types.Repr(f.Type()))
		if yes.findInParent(name) != nil || no.findInParent(name) != nil {
			fail(at, "%s", text)
		}
		e.env.setError(name, source.Errorf(source.RuntimeError, at, "%s", text).Error())
		return
	}
	e.env.store(name, unified)
	delete(e.env.removed, name)
}

// unifyBranches returns the type that a variable has behind an if whose branches leave t and f in it, nil where there is none.
func (e *Emitter) unifyBranches(name string, t, f *ir.Value) types.Type {
	toUnion := false
	if outer := e.env.find(name); outer != nil {
		if x := asSimple(outer); x != nil {
			switch x.Type().Kind() {
			case types.KindUnion, types.KindOptional, types.KindNumber:
				toUnion = true
			}
		}
	}
	return types.Unify(t.Type(), f.Type(), toUnion, nil)
}

func (e *Emitter) storeUninitialized(name string, b *ir.Block, t types.Type) *ir.Value {
	v := e.g.CreateUninitialized(t).InsertBefore(b.ReturnNode()).Output()
	e.g.CreateStore(name, v).InsertBefore(b.ReturnNode())
	return v
}

func (e *Emitter) emitToBool(at source.Range, v *ir.Value) (out *ir.Value) {
	defer func() {
		if r := recover(); r != nil {
			if _, isError := r.(*source.Error); !isError {
				panic(r)
			}
			fail(at, "Could not cast value of type %s to bool", types.Repr(v.Type()))
		}
	}()
	out = asSimple(e.lookUp("bool", at, true).Call(e, at, []ir.Argument{ir.Arg(v)}, nil, 0))
	if out == nil || out.Type().Kind() != types.KindBool {
		fail(at, "expected a bool expression for condition")
	}
	return out
}

// emitIsInstance decides what can be decided now and refines a variable in both branches.
func (e *Emitter) emitIsInstance(object, classes syntax.Expr) condition {
	v := e.emitExpr(object, nil)
	var want []types.Type
	var gather func(syntax.Expr)
	host, _ := hostOf(v)
	gather = func(c syntax.Expr) {
		if c.Kind == syntax.KindTupleLiteral {
			for _, item := range syntax.AsTupleLiteral(c).Inputs() {
				gather(item)
			}
			return
		}
		if class := e.moduleClass(c); class != nil {
			if host != nil && host.IsInstance(class) {
				want = append(want, v.Type())
			}
			return
		}
		want = append(want, types.Members(e.typeOf(c))...)
	}
	gather(classes)
	if len(want) == 0 {
		return e.staticCondition(object.Range, false, refinements{})
	}
	want = types.Members(types.NewUnion(want...))
	var yes, no []types.Type
	all := true
	for _, have := range alternatives(v.Type(), want) {
		if have.Kind() == types.KindAny {
			yes = append(yes, want...)
			no = append(no, types.Any)
			if len(yes) != 1 || yes[0].Kind() != types.KindAny {
				all = false
			}
			break
		}
		match := smallestMatch(have, want)
		if match == nil {
			no = append(no, have)
			all = false
			continue
		}
		yes = append(yes, match)
		if !types.IsSubtype(have, match) {
			no = append(no, have)
			all = false
		}
	}
	var r refinements
	if object.Kind == syntax.KindVar && host == nil { // a module is of its own type already
		name := syntax.AsVar(object).Name().Name()
		if len(yes) > 0 {
			r.yes = []refinement{{name, types.UnifyAll(yes, true, nil)}}
		}
		if len(no) > 0 {
			r.no = []refinement{{name, types.UnifyAll(no, true, nil)}}
		}
	}
	if len(yes) == 0 {
		return e.staticCondition(object.Range, false, r)
	}
	if all {
		return e.staticCondition(object.Range, true, r)
	}
	n := e.g.InsertNode(e.g.CreateIsInstance(v, want))
	return condition{value: n.Output(), refine: r}
}

// alternatives returns the members of a type; a number counts as its three kinds where one of them is asked for.
func alternatives(t types.Type, want []types.Type) []types.Type {
	isKind := func(w types.Type) bool {
		return w.Kind() == types.KindInt || w.Kind() == types.KindFloat || w.Kind() == types.KindComplex
	}
	var found []types.Type
	for _, m := range types.Members(t) {
		if m.Kind() == types.KindNumber && slices.ContainsFunc(want, isKind) {
			found = append(found, types.Float, types.Complex, types.Int)
		} else {
			found = append(found, m)
		}
	}
	return found
}

// smallestMatch returns the narrower of have and the first of want that is comparable with it.
func smallestMatch(have types.Type, want []types.Type) types.Type {
	for _, w := range want {
		if types.IsSubtype(have, w) {
			return have
		}
		if types.IsSubtype(w, have) {
			return w
		}
	}
	return nil
}

func (e *Emitter) emitHasAttr(object, name syntax.Expr) condition {
	s := e.emitSugared(object, 1, nil)
	if name.Kind != syntax.KindStringLiteral {
		fail(name.Range, "hasattr's second argument must be a string literal")
	}
	has := s.HasAttr(e, object.Range, syntax.AsStringLiteral(name).Value())
	return e.staticCondition(object.Range, has, refinements{})
}
