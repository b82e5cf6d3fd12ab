package aten

import (
	"slices"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/sparse"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// loan says whether an operator gets its large tensors borrowed: the views of them that it makes and forgets would keep
// their memory from being reused. One that writes its arguments, or gives views of them or objects that may have them, gets the tensors themselves.
type loan struct {
	name  string
	state atomic.Uint32
}

const (
	unknownLoan uint32 = iota
	borrows
	borrowsNothing
)

// of returns the arguments with large tensors borrowed, nil where there are none.
func (l *loan) of(args []value.Value) []value.Value {
	var given []value.Value
	for i := range args {
		if !args[i].IsTensor() || !args[i].Tensor().IsWorthBorrowing() {
			continue
		}
		if given == nil {
			if !l.allowed() {
				return nil
			}
			given = slices.Clone(args)
		}
		if same := slices.IndexFunc(args[:i], func(v value.Value) bool { return v.IsTensor() && v.Tensor() == args[i].Tensor() }); same >= 0 {
			given[i] = given[same]
		} else {
			given[i] = value.OfTensor(args[i].Tensor().Borrow())
		}
	}
	return given
}

func (l *loan) allowed() bool {
	state := l.state.Load()
	if state == unknownLoan {
		state = borrowsNothing
		if o := ops.Find(l.name); o != nil && !sparse.KeepsParts(l.name) && !o.Schema().IsMutable() && !slices.ContainsFunc(o.Schema().Returns, mayKeep) {
			state = borrows
		}
		l.state.Store(state)
	}
	return state == borrows
}

// mayKeep reports whether a result may be a view of an argument, or an object that has an argument: packed weights have.
func mayKeep(result schema.Argument) bool { return result.Alias != nil || !isSeen(result.Type) }

// isSeen reports whether all tensors in values of a type are seen by restore.
func isSeen(t types.Type) bool {
	switch t := t.(type) {
	case *types.List:
		return isSeen(t.Elem)
	case *types.Optional:
		return isSeen(t.Elem)
	}
	switch t.Kind() {
	case types.KindTensor, types.KindNone, types.KindBool, types.KindInt, types.KindFloat, types.KindComplex, types.KindNumber, types.KindString, types.KindScalarType:
		return true
	}
	return false
}

// giveBack replaces what is borrowed among the results, and ends the loan.
func giveBack(args, given, out []value.Value) {
	restore(args, given, out)
	for i := range given {
		if b := given[i]; b.IsTensor() && b.Tensor() != args[i].Tensor() && isFirst(given, i) {
			b.Tensor().Return()
		}
	}
}

// isFirst reports whether no value before the one at i has its tensor.
func isFirst(vs []value.Value, i int) bool {
	return !slices.ContainsFunc(vs[:i], func(v value.Value) bool { return v.IsTensor() && v.Tensor() == vs[i].Tensor() })
}

// restore replaces what is borrowed among the results.
func restore(args, given, out []value.Value) {
	for i := range out {
		switch out[i].Kind() {
		case value.KindTensor:
			out[i] = lent(args, given, out[i])
		case value.KindList:
			restore(args, given, out[i].List().Items)
		}
	}
}

// lent returns a result that is an argument, or a view of one, as that of the argument itself.
func lent(args, given []value.Value, v value.Value) value.Value {
	t := v.Tensor()
	if !t.IsBorrowed() {
		return v
	}
	lender := -1
	for i := range args {
		if !args[i].IsTensor() || args[i].Tensor() == given[i].Tensor() || !t.SharesStorage(args[i].Tensor()) {
			continue
		}
		if t == given[i].Tensor() {
			return args[i]
		}
		if lender < 0 || t.Base() == given[i].Tensor() {
			lender = i
		}
	}
	if lender >= 0 {
		t.Keep(given[lender].Tensor(), args[lender].Tensor())
	}
	return v
}
