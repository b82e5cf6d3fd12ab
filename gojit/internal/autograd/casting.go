package autograd

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// casting is one nesting of autocast: while it is enabled, operators that gain from a smaller type get their tensors in
// it, those that lose get float32, and those that join tensors the widest of what they get.
type casting struct {
	outer   *casting
	enabled bool
	lower   tensor.DType
	cache   *castCache
}

// castCache has parameters in the smaller type until the outermost autocast ends.
type castCache struct {
	mu   sync.Mutex
	cast map[*tensor.Tensor]*tensor.Tensor
}

// BeginCasting begins an autocast to a smaller type, or one that is not enabled.
func (m *Mode) BeginCasting(enabled bool, lower tensor.DType) {
	cache := &castCache{cast: map[*tensor.Tensor]*tensor.Tensor{}}
	if m.casting != nil {
		cache = m.casting.cache
	}
	m.casting = &casting{outer: m.casting, enabled: enabled, lower: lower, cache: cache}
}

// EndCasting ends the innermost autocast; it does nothing where there is none.
func (m *Mode) EndCasting() {
	if m.casting != nil {
		m.casting = m.casting.outer
	}
}

// SetCasting switches casting by operators on or off until the innermost autocast ends, or for good where there is none.
func (m *Mode) SetCasting(enabled bool) {
	if m.casting == nil {
		if enabled {
			m.BeginCasting(true, tensor.BFloat16)
		}
		return
	}
	changed := *m.casting // others may have the mode's state as it was
	changed.enabled = enabled
	m.casting = &changed
}

// SetCastCache has parameters in the smaller type kept until the outermost autocast ends, or made anew each time.
func (m *Mode) SetCastCache(on bool) { m.uncached = !on }

// Casting reports whether operators cast their tensors, and to which type.
func (m *Mode) Casting() (lower tensor.DType, enabled bool) {
	if m.casting == nil || !m.casting.enabled {
		return tensor.BFloat16, false
	}
	return m.casting.lower, true
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
	castNothing castPolicy = iota
	castLower              // the smaller type
	castFloat              // float32
	castWidest             // float32 where a tensor has it, else the smaller type
	castPairs              // the smaller type where there are several tensors, whose products are taken
	castInside             // what it is made of is cast, such as the products of a recurrent layer
)

// castWords are the words for policies behind schemas.
var castWords = [...]string{castLower: "lower", castFloat: "float", castWidest: "widest", castPairs: "pairs", castInside: "inside"}

// castPolicyOf returns the policy of PyTorch 1.13 on the CPU.
func castPolicyOf(op *ops.Operator) castPolicy {
	word, _ := op.Fact("cast")
	return castPolicy(max(slices.Index(castWords[:], word), 0))
}

// runCast gives an operator its tensors as an enabled autocast has them. The operator itself, and what it is made of, does not cast again, unless the
// operator is to be cast inside.
func runCast(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	policy := castPolicyOf(op)
	if policy == castInside && !m.isExpanding(op) {
		return m.next(rest|1<<expand, op, args, out)
	}
	c := m.casting
	m.casting = nil
	defer func() { m.casting = c }()
	if to := c.target(policy, args); to.Valid() {
		cast, err := c.cast(m, args, to)
		if err != nil {
			return err
		}
		args = cast
	}
	return m.Run(op, args, out)
}

// CastBy returns the arguments of an operator as an enabled autocast has them, each tensor that is not of its type converted by
// convert, the last first. A trace records what convert does, and nothing of casts inside of composite operators.
func (m *Mode) CastBy(op *ops.Operator, args []value.Value, convert func(v value.Value, to tensor.DType) (value.Value, error)) ([]value.Value, error) {
	policy := castPolicyOf(op)
	if !m.IsCasting() || policy == castPairs || policy == castInside {
		return args, nil
	}
	to := m.casting.target(policy, args)
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
func (c *casting) target(p castPolicy, args []value.Value) tensor.DType {
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
func (c *casting) cast(m *Mode, args []value.Value, to tensor.DType) ([]value.Value, error) {
	made := make([]value.Value, len(args))
	for i, v := range args {
		made[i] = v
		var err error
		switch v.Kind() {
		case value.KindTensor:
			made[i], err = c.castTensor(m, v, to)
		case value.KindList:
			if items := v.List().Items; len(items) > 0 && items[0].IsTensor() {
				if items, err = c.cast(m, items, to); err == nil {
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

func (c *casting) castTensor(m *Mode, v value.Value, to tensor.DType) (value.Value, error) {
	t := v.Tensor()
	if !isCastable(t) || t.DType() == to {
		return v, nil
	}
	kept := !m.uncached && to == c.lower && t.DType() == tensor.Float32 && t.RequiresGrad() && t.IsLeaf() && t.Base() == nil
	if kept {
		c.cache.mu.Lock()
		defer c.cache.mu.Unlock()
		if known := c.cache.cast[t]; known != nil {
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
		c.cache.cast[t] = out[0].Tensor()
	}
	return out[0], nil
}
