package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// toList is the method of a tensor whose result has the type that the program expects of it.
type toList struct {
	NotFirstClass
	tensor *ir.Value
}

// elementCodes are the numbers that prim::tolist knows element types by.
var elementCodes = map[types.Kind]int64{
	types.KindInt: 0, types.KindFloat: 1, types.KindBool: 2, types.KindComplex: 3,
}

// emitToList emits prim::tolist with the number of dimensions and the element type of hint.
func (e *Emitter) emitToList(call syntax.Apply, l *toList, hint types.Type) SugaredValue {
	e.checkInputs(call, 0)
	if hint == nil {
		at := call.Range
		if e.o.FromText {
			at.End++ // the bracket
		}
		fail(at, "Expected type hint for result of tolist()")
	}
	dims, elem := int64(0), hint
	for elem.Kind() == types.KindList {
		dims++
		elem = elem.(*types.List).Elem
	}
	code, ok := elementCodes[elem.Kind()]
	if !ok {
		fail(call.Range, "%s is not one of the supported element types for tolist: int, float, complex, bool", types.Repr(elem))
	}
	n := e.g.Create(prim.Tolist, []*ir.Value{l.tensor}, 1)
	n.AddInput(e.g.Constant(value.Int(dims), source.Range{}))
	n.AddInput(e.g.Constant(value.Int(code), source.Range{}))
	return simple{e.g.InsertNode(n).Output().SetType(hint)}
}
