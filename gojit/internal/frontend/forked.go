package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
)

// forkedFunction is a function without parameters inside another, as archives have it for what is forked:
//
//	def __forked_function():
//	  return (m).forward(x, )
//	f = fork(__forked_function)
//
// Its last statement is its only return. What it uses of the function around it, it uses as its own.
type forkedFunction struct {
	notFirstClass
	def syntax.Def
}

// emitForked gives the name of a function inside another its meaning. It fails in text that is of no archive.
func (e *emitter) emitForked(def syntax.Def) {
	if e.o.Version == 0 || len(def.Decl().Params()) > 0 {
		fail(def.Range, "function definitions aren't supported")
	}
	e.env.setSugared(def.Name().Range, def.Name().Name(), &forkedFunction{"function", def}, nil)
}

// Call implements SugaredValue: it emits the body.
func (f *forkedFunction) Call(e *emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	body := f.def.Body()
	if len(args)+len(kwargs) > 0 || len(body) == 0 || body[len(body)-1].Kind != syntax.KindReturn {
		fail(at, "%s can only be forked without arguments, and ends with a return", f.def.Name().Name())
	}
	e.emitStatements(body[:len(body)-1])
	return simple{e.emitExpr(syntax.AsReturn(body[len(body)-1]).Expr(), nil)}
}
