package autograd

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// casting is one nesting of autocast: where it is enabled for a kind of devices, operators there that gain from a smaller type get their tensors in
// it, those that lose get float32, and those that join tensors the widest of what they get.
type casting struct {
	outer *casting
	kinds [castKinds]castState
	cache *castCache
}

// CastKind is a kind of devices, for which autocasts are enabled.
type CastKind uint8

// The kinds of devices.
const (
	CastCPU CastKind = iota
	CastCUDA
	castKinds
)

// castState is what an autocast says of a kind of devices.
type castState struct {
	enabled bool
	lower   tensor.DType
}

// uncast is what there is where there is no autocast.
var uncast = [castKinds]castState{CastCPU: {lower: tensor.BFloat16}, CastCUDA: {lower: tensor.Float16}}

// castCache has parameters in the smaller type until the outermost autocast ends.
type castCache struct {
	mu   sync.Mutex
	cast map[castKey]*tensor.Tensor
}

// castKey is a parameter in a type.
type castKey struct {
	t  *tensor.Tensor
	to tensor.DType
}

// BeginCasting begins an autocast of a kind of devices to a smaller type, or one that is not enabled. Other kinds stay as they are.
func (m *Mode) BeginCasting(kind CastKind, enabled bool, lower tensor.DType) {
	c := &casting{outer: m.casting, kinds: uncast, cache: &castCache{cast: map[castKey]*tensor.Tensor{}}}
	if m.casting != nil {
		c.kinds, c.cache = m.casting.kinds, m.casting.cache
	}
	c.kinds[kind] = castState{enabled, lower}
	m.casting = c
}

// EndCasting ends the innermost autocast; it does nothing where there is none.
func (m *Mode) EndCasting() {
	if m.casting != nil {
		m.casting = m.casting.outer
	}
}

// SetCasting switches casting by operators on a kind of devices on or off until the innermost autocast ends, or for good where there is none.
func (m *Mode) SetCasting(kind CastKind, enabled bool) {
	lower, _ := m.Casting(kind)
	m.setCasting(kind, castState{enabled, lower})
}

// SetCastType is SetCasting of the smaller type.
func (m *Mode) SetCastType(kind CastKind, lower tensor.DType) {
	_, enabled := m.Casting(kind)
	m.setCasting(kind, castState{enabled, lower})
}

func (m *Mode) setCasting(kind CastKind, to castState) {
	if m.casting == nil {
		if to != uncast[kind] {
			m.BeginCasting(kind, to.enabled, to.lower)
		}
		return
	}
	changed := *m.casting // others may have the mode's state as it was
	changed.kinds[kind] = to
	m.casting = &changed
}

// SetCastCache has parameters in the smaller type kept until the outermost autocast ends, or made anew each time.
func (m *Mode) SetCastCache(on bool) { m.uncached = !on }

// Casting reports whether operators on a kind of devices cast their tensors, and to which type.
func (m *Mode) Casting(kind CastKind) (lower tensor.DType, enabled bool) {
	state := uncast[kind]
	if m.casting != nil {
		state = m.casting.kinds[kind]
	}
	return state.lower, state.enabled
}

// IsCasting reports whether operators cast their tensors, on devices of any kind.
func (m *Mode) IsCasting() bool {
	return m.casting != nil && (m.casting.kinds[CastCPU].enabled || m.casting.kinds[CastCUDA].enabled)
}

// castKindOf returns the kind of devices that an operator's tensors are on: one on a device decides.
func castKindOf(args []value.Value) (kind CastKind) {
	eachTensor(args, func(t *tensor.Tensor) bool {
		if t.Device().Type == tensor.CUDA {
			kind = CastCUDA
		}
		return kind == CastCPU
	})
	return kind
}

// ForgetCasts drops the parameters that are kept in the smaller type.
func (m *Mode) ForgetCasts() {
	if m.casting != nil {
		m.casting.cache.mu.Lock()
		clear(m.casting.cache.cast)
		m.casting.cache.mu.Unlock()
	}
}

// castPolicy is what an operator gets.
type castPolicy uint8

const (
	castNothing     castPolicy = iota
	castLower                  // the smaller type
	castFloat                  // float32
	castWidest                 // float32 where a tensor has it, else the smaller type
	castPairs                  // the smaller type where there are several tensors, whose products are taken
	castInside                 // what it is made of is cast, such as the products of a recurrent layer
	castAccumulated            // what it is given, and a result of float32 where no type is asked for
	castRefused                // an error: the operator fails with small numbers
)

// castWords are the words for policies behind schemas.
var castWords = [...]string{
	castLower: "lower", castFloat: "float", castWidest: "widest", castPairs: "pairs", castInside: "inside", castAccumulated: "accumulated", castRefused: "refused",
}

// castFacts are the facts that have an operator's policy, by the kind of devices.
var castFacts = [castKinds]string{CastCPU: "cast", CastCUDA: "device_cast"}

// castPolicyOf returns the policy of PyTorch 1.13 on a kind of devices.
func castPolicyOf(kind CastKind, op *ops.Operator) castPolicy {
	word, _ := op.Fact(castFacts[kind])
	return castPolicy(max(slices.Index(castWords[:], word), 0))
}

// runCast gives an operator its tensors as an enabled autocast has them. The operator itself, and what it is made of, does not cast again, unless the
// operator is to be cast inside.
func runCast(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	kind := castKindOf(args)
	state := m.casting.kinds[kind]
	if !state.enabled {
		return m.next(rest, op, args, out)
	}
	policy := castPolicyOf(kind, op)
	if policy == castInside && !m.isExpanding(op) {
		return m.next(rest|1<<expand, op, args, out)
	}
	c := m.casting
	m.casting = nil
	defer func() { m.casting = c }()
	switch policy {
	case castRefused:
		return source.Errorf(source.RuntimeError, source.Range{}, "%s is unsafe to autocast: its logarithms overflow in a smaller type; use the one that takes logits, or call it with autocast(enabled=False) and float32", strings.TrimPrefix(op.Schema().Name, "aten::"))
	case castAccumulated:
		args = accumulated(op, args)
	}
	if to := state.target(policy, args); to.Valid() {
		cast, err := c.cast(m, state, args, to)
		if err != nil {
			return err
		}
		args = cast
	}
	return m.Run(op, args, out)
}

// accumulated returns arguments that ask for a result of float32 where the first tensor has a smaller type and no type is asked for.
func accumulated(op *ops.Operator, args []value.Value) []value.Value {
	at := op.Schema().ArgumentIndex("dtype")
	if at < 0 || !args[at].IsNone() || !args[0].IsTensor() || !isCastable(args[0].Tensor()) || args[0].Tensor().DType() == tensor.Float32 {
		return args
	}
	args = slices.Clone(args)
	args[at] = value.Int(int64(tensor.Float32))
	return args
}

// CastBy returns the arguments of an operator as an enabled autocast has them, each tensor that is not of its type converted by
// convert, the last first. A trace records what convert does, and nothing of casts inside of composite operators.
func (m *Mode) CastBy(op *ops.Operator, args []value.Value, convert func(v value.Value, to tensor.DType) (value.Value, error)) ([]value.Value, error) {
	if !m.IsCasting() {
		return args, nil
	}
	kind := castKindOf(args)
	state, policy := m.casting.kinds[kind], castPolicyOf(kind, op)
	if !state.enabled || policy == castPairs || policy == castInside {
		return args, nil
	}
	if policy == castAccumulated {
		return accumulated(op, args), nil
	}
	to := state.target(policy, args)
	if !to.Valid() {
		return args, nil
	}
	var cast func(vs []value.Value) ([]value.Value, error)
	cast = func(vs []value.Value) (made []value.Value, err error) {
		made = slices.Clone(vs)
		for i := len(vs) - 1; i >= 0 && err == nil; i-- {
			switch v := vs[i]; {
			case v.IsTensor() && isCastable(v.Tensor()) && v.Tensor().DType() != to:
				made[i], err = convert(v, to)
			case v.Kind() == value.KindList && len(v.List().Items) > 0 && v.List().Items[0].IsTensor():
				var items []value.Value
				items, err = cast(v.List().Items)
				made[i] = value.OfList(value.NewList(v.List().Elem, items...))
			}
		}
		return made, err
	}
	return cast(args)
}

// target returns the type that tensors are cast to.
func (c castState) target(p castPolicy, args []value.Value) tensor.DType {
	switch p {
	case castLower:
		return c.lower
	case castFloat:
		return tensor.Float32
	case castWidest:
		to := c.lower
		eachTensor(args, func(t *tensor.Tensor) bool {
			if isCastable(t) && t.DType() == tensor.Float32 {
				to = tensor.Float32
			}
			return true
		})
		return to
	case castPairs:
		count := 0
		eachTensor(args, func(*tensor.Tensor) bool { count++; return true })
		if count > 1 {
			return c.lower
		}
	}
	return tensor.NoDType
}

// isCastable leaves float64, and what is not floating point, alone.
func isCastable(t *tensor.Tensor) bool { return t.DType().IsFloating() && t.DType() != tensor.Float64 }

// cast returns the arguments with their tensors, and lists of tensors, in another type.
func (c *casting) cast(m *Mode, state castState, args []value.Value, to tensor.DType) ([]value.Value, error) {
	made := make([]value.Value, len(args))
	for i, v := range args {
		made[i] = v
		var err error
		switch v.Kind() {
		case value.KindTensor:
			made[i], err = c.castTensor(m, state, v, to)
		case value.KindList:
			if items := v.List().Items; len(items) > 0 && items[0].IsTensor() {
				if items, err = c.cast(m, state, items, to); err == nil {
					made[i] = value.OfList(value.NewList(v.List().Elem, items...))
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (c *casting) castTensor(m *Mode, state castState, v value.Value, to tensor.DType) (value.Value, error) {
	t := v.Tensor()
	if !isCastable(t) || t.DType() == to {
		return v, nil
	}
	kept := !m.uncached && to == state.lower && t.DType() == tensor.Float32 && t.RequiresGrad() && t.IsLeaf() && t.Base() == nil
	if kept {
		c.cache.mu.Lock()
		defer c.cache.mu.Unlock()
		if known := c.cache.cast[castKey{t, to}]; known != nil {
			return value.OfTensor(known), nil
		}
	}
	var out [1]value.Value
	args := []value.Value{v, value.Int(int64(to)), value.Bool(false), value.Bool(false), value.None}
	if err := m.Run(ops.Find("aten::to.dtype"), args, out[:]); err != nil {
		return v, err
	}
	if kept {
		t.Retain()
		c.cache.cast[castKey{t, to}] = out[0].Tensor()
	}
	return out[0], nil
}
