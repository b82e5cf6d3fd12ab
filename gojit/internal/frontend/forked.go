package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// forkedFunction is a function without parameters inside another, as archives have it for what is forked:
//
//	def __forked_function():
//	  return (m).forward(x, )
//	f = fork(__forked_function)
//
// Its last statement is its only return. What it uses of the function around it, it uses as its own.
type forkedFunction struct {
	NotFirstClass
	def syntax.Def
}

// emitInner gives the name of a function inside another its meaning.
func (e *Emitter) emitInner(def syntax.Def) {
	if e.o.Version > 0 && len(def.Decl().Params()) == 0 {
		e.env.setSugared(def.Name().Range, def.Name().Name(), &forkedFunction{"function", def}, nil)
		return
	}
	e.env.setSugared(def.Name().Range, def.Name().Name(), e.emitClosure(def), nil)
}

// closureValue is a function inside another. Programs can pass it on, but not call it.
type closureValue struct {
	NotFirstClass
	v *ir.Value
}

// emitClosure emits a function as a prim::Closure, whose block has the parameters.
func (e *Emitter) emitClosure(def syntax.Def) SugaredValue {
	n := e.g.InsertNode(e.g.Create(prim.Closure, nil, 1))
	n.Output().SetType(types.None)
	b := n.AddBlock()
	inner := &Emitter{f: e.f, g: e.g, resolver: e.resolver, o: e.o, env: e.env, exits: e.exits, jumps: e.jumps, ints: e.ints, floats: e.floats, complexes: e.complexes}
	inner.o.Self, inner.o.Defaults = nil, nil
	inner.pushFrame(b)
	old := e.g.SetInsertEnd(b)
	declared := inner.declaredSchema(def)
	inner.declaredReturn = declared.Returns[0].Type
	for i, p := range def.Decl().Params() {
		in := b.AddInput(p.Ident().Name()).SetType(declared.Arguments[i].Type)
		inner.env.set(p.Ident().Range, p.Ident().Name(), in)
	}
	inner.emitBody(def, b)
	e.g.SetInsertPoint(old)
	return &closureValue{"closure", n.Output()}
}

// AsValue implements SugaredValue.
func (c *closureValue) AsValue(*Emitter, source.Range) *ir.Value { return c.v }

// Call implements SugaredValue.
func (c *closureValue) Call(_ *Emitter, at source.Range, _, _ []ir.Argument, _ int) SugaredValue {
	fail(at, "cannot call a closure")
	return nil
}

// Call implements SugaredValue: it emits the body.
func (f *forkedFunction) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	body := f.def.Body()
	if len(args)+len(kwargs) > 0 || len(body) == 0 || body[len(body)-1].Kind != syntax.KindReturn {
		fail(at, "%s can only be forked without arguments, and ends with a return", f.def.Name().Name())
	}
	e.emitStatements(body[:len(body)-1])
	return simple{e.emitExpr(syntax.AsReturn(body[len(body)-1]).Expr(), nil)}
}
