package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Precision is what compiled code casts the tensors that an operator takes to, where an autocast is enabled.
type Precision uint8

const (
	AnyPrecision     Precision = iota // none
	ReducedPrecision                  // the smaller type
	FullPrecision                     // float32
	// PromotedPrecision is float32 where a tensor may be float32, as MayBeFloat32 says.
	PromotedPrecision
	// AccumulatedPrecision is float32 where the argument dtype is None.
	AccumulatedPrecision
)

// precisions are the words for them behind schemas.
var precisions = [...]string{ReducedPrecision: "reduced", FullPrecision: "full", PromotedPrecision: "promoted", AccumulatedPrecision: "accumulated"}

// CompiledPrecision returns what PyTorch 1.13's compiler casts the tensors of an operator to; name has no overload. It is not what castPolicyOf
// says: what compiled code computes from a product, say, is float32 more often.
func CompiledPrecision(name string) Precision {
	word, _ := ops.FactOf(name, "compiled_cast")
	return precisionOf(word)
}

// CompiledPrecisionOnCUDA is CompiledPrecision of an operator that is cast where an autocast of CUDA is enabled, and only there.
func CompiledPrecisionOnCUDA(name string) (p Precision, ok bool) {
	word, ok := ops.FactOf(name, "cuda_cast")
	return precisionOf(word), ok
}

func precisionOf(word string) Precision { return Precision(max(slices.Index(precisions[:], word), 0)) }

// Casts reports whether an autocast may cast what an operator reads although all of it is of one type.
func Casts(op *ops.Operator) bool {
	p := CompiledPrecision(op.Schema().Name)
	return p != AnyPrecision && p != PromotedPrecision || castPolicyOf(CastCPU, op) == castLower || castPolicyOf(CastCPU, op) == castFloat
}

// TakesCast reports whether an autocast casts an argument of an operator: a tensor, also one that need not be given, such as a bias.
func TakesCast(t types.Type) bool {
	if optional, ok := t.(*types.Optional); ok {
		t = optional.Elem
	}
	return t.Kind() == types.KindTensor
}

// MayBeFloat32 reports whether what has a static type may be a tensor of float32: its element type is that, or is not known. In traces it is known.
func MayBeFloat32(t types.Type) bool {
	if t.Kind() != types.KindTensor {
		return false
	}
	info, ok := t.(*types.TensorInfo)
	return !ok || info.DType == "" || info.DType == tensor.Float32.String()
}

// compiledCast is CompiledOperationOf for an operator that does not read the mode.
func compiledCast(op *ops.Operator, takes []types.Type, mayBeFloat32 bool, casts func() bool) Operation {
	precisions := [castKinds]Precision{CastCPU: CompiledPrecision(op.Schema().Name), CastCUDA: CompiledPrecision(op.Schema().Name)}
	if p, ok := CompiledPrecisionOnCUDA(op.Schema().Name); ok {
		precisions[CastCUDA] = p
	}
	counts := false
	for kind, p := range precisions {
		if p == PromotedPrecision && !mayBeFloat32 {
			precisions[kind] = AnyPrecision
		}
		counts = counts || precisions[kind] != AnyPrecision
	}
	if !counts {
		return func(m *Mode, args, out []value.Value) error { return m.Run(op, args, out) }
	}
	dtype := op.Schema().ArgumentIndex("dtype")
	return func(m *Mode, args, out []value.Value) error {
		if m.IsCasting() && casts() {
			kind := castKindOf(args)
			precision := precisions[kind]
			if m.casting.kinds[kind].enabled && precision != AnyPrecision && (precision != AccumulatedPrecision || dtype >= 0 && args[dtype].IsNone()) {
				var err error
				if args, err = m.castCompiled(kind, takes, precision, args); err != nil {
					return err
				}
			}
		}
		return m.Run(op, args, out)
	}
}

// castCompiled returns the arguments of an operator with its tensors cast: those that are tensors by their static types.
func (m *Mode) castCompiled(kind CastKind, takes []types.Type, precision Precision, args []value.Value) ([]value.Value, error) {
	c, state := m.casting, m.casting.kinds[kind]
	m.casting = nil
	defer func() { m.casting = c }()
	to := tensor.Float32
	if precision == ReducedPrecision {
		to = state.lower
	}
	cast := slices.Clone(args)
	for i, v := range cast {
		if !v.IsTensor() || i >= len(takes) || takes[i].Kind() != types.KindTensor {
			continue
		}
		if to != tensor.Float32 && v.Tensor().DType() != tensor.Float32 {
			continue // only float32 becomes smaller
		}
		var err error
		if cast[i], err = c.castTensor(m, state, v, to); err != nil {
			return nil, err
		}
	}
	return cast, nil
}
