package aten

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Views of conjugates and of negatives share their memory with what they are views of. Views of them are made as those of others, and what asks for
// the geometry alone sees that; every other operator gets resolved copies, and what it writes goes back through the bits.

// hasBits reports whether a view of conjugates or negatives is among the arguments.
func hasBits(args []value.Value) bool {
	return !define.EachTensorIn(args, func(t *tensor.Tensor) bool { return t.Bits() == 0 })
}

// runWithBits runs an operator with views of conjugates or negatives among its arguments. body is what it does with others.
func runWithBits(name string, body func(c define.Call), args, out []value.Value) {
	op := ops.Find(name)
	s := op.Schema()
	switch {
	case op.Has(ops.ReshapesInPlace) || op.Has(ops.AnyLayout):
		body(define.Call{Args: args, Out: out})
		return
	case op.Has(ops.Resizes):
		source.Raise(source.NotImplementedError, "Could not run '%s' with a view of conjugates or negatives, whose memory is that of another tensor: call resolve_conj() or resolve_neg() first.", op.Name)
	case !s.IsMutable() && slices.ContainsFunc(s.Returns, func(r schema.Argument) bool { return r.Alias != nil }):
		body(define.Call{Args: args, Out: out})
		if !slices.ContainsFunc(out, isHollowCopy) {
			return
		}
	case !s.IsMutable() && !ops.DependsOnElements(ops.BaseName(name)) && !slices.ContainsFunc(s.Returns, func(r schema.Argument) bool { return strings.Contains(r.Type.String(), "Tensor") }):
		body(define.Call{Args: args, Out: out}) // of the geometry
		return
	}
	resolved := &standIns{isAway: func(t *tensor.Tensor) bool { return t.Bits() != 0 }, make: resolvedCopy, of: map[*tensor.Tensor]*tensor.Tensor{}}
	source.Throw(op.Run(resolved.values(args), out))
	for i, a := range s.Arguments {
		if i < len(args) && a.Alias != nil && a.Alias.IsWrite {
			define.EachTensorIn(args[i:i+1], func(t *tensor.Tensor) bool {
				if here := resolved.of[t]; here != nil {
					source.Throw(tensor.Copy(t, here))
					t.Bump()
				}
				return true
			})
		}
	}
	for t, here := range resolved.of {
		for i := range out {
			if out[i].IsTensor() && out[i].Tensor() == here {
				out[i] = value.OfTensor(t)
			}
		}
		if here.Users() == 1 && !define.IsAmong(here, out) {
			here.Release()
		}
	}
}

// resolvedCopy is a copy with the numbers that t shows, which a kernel makes.
func resolvedCopy(t *tensor.Tensor) *tensor.Tensor {
	switch plain := t.WithBits(0); t.Bits() {
	case tensor.ConjugateBit:
		return elementwise.Conjugate(plain)
	case tensor.NegativeBit:
		return elementwise.Neg.On(plain)
	}
	return source.Must(t.Resolved())
}

// isHollowCopy reports whether a result is a copy that nobody has filled, as operators make them of tensors on meta.
func isHollowCopy(v value.Value) bool {
	return !define.EachTensorIn([]value.Value{v}, func(t *tensor.Tensor) bool { return !define.IsMeta(t) || t.Bits() != 0 })
}
