package types

// Unify returns the smallest type that both a and b are subtypes of, or nil where there is none
// but a union. With toUnion it makes the union then. hint, if not nil, is the type that the
// context expects and is taken where both are subtypes of it.
func Unify(a, b Type, toUnion bool, hint Type) Type {
	if IsSubtype(a, b) {
		return b
	}
	if IsSubtype(b, a) {
		return a
	}
	if t := unifyParts(a, b, toUnion); t != nil {
		return t
	}
	if !toUnion {
		return nil
	}
	if hint != nil && IsSubtype(a, hint) && IsSubtype(b, hint) {
		return hint
	}
	return NewUnion(a, b)
}

func unifyParts(a, b Type, toUnion bool) Type {
	if a.Kind() == KindTensor && b.Kind() == KindTensor {
		return Tensor
	}
	if a.Kind() == KindNone && b.Kind() != KindNone {
		return NewOptional(b)
	}
	if b.Kind() == KindNone && a.Kind() != KindNone {
		return NewOptional(a)
	}
	if x, ok := a.(*Optional); ok {
		if t := Unify(x.Elem, withoutNone(b), false, nil); t != nil {
			return NewOptional(t)
		}
	} else if y, ok := b.(*Optional); ok {
		if t := Unify(a, y.Elem, false, nil); t != nil {
			return NewOptional(t)
		}
	}
	switch x := a.(type) {
	case *Tuple:
		y, ok := b.(*Tuple)
		if !ok || len(x.Elems) != len(y.Elems) {
			return nil
		}
		elems := make([]Type, len(x.Elems))
		for i := range elems {
			if elems[i] = Unify(x.Elems[i], y.Elems[i], toUnion, nil); elems[i] == nil {
				return nil
			}
		}
		return NewTuple(elems...)
	case *Future:
		if y, ok := b.(*Future); ok && x.Lazy == y.Lazy {
			if t := Unify(x.Elem, y.Elem, false, nil); t != nil {
				return &Future{t, x.Lazy}
			}
		}
	case *List, *Dict:
		ua, ub := Unshaped(a), Unshaped(b)
		if IsSubtype(ua, ub) {
			return ub
		}
		if IsSubtype(ub, ua) {
			return ua
		}
	}
	return nil
}

func withoutNone(t Type) Type {
	if o, ok := t.(*Optional); ok {
		return o.Elem
	}
	return t
}

// UnifyAll unifies all of ts from left to right, or returns nil. ts is not empty.
func UnifyAll(ts []Type, toUnion bool, hint Type) Type {
	t := ts[0]
	for _, next := range ts[1:] {
		if t = Unify(t, next, toUnion, hint); t == nil {
			return nil
		}
	}
	return t
}

// Bindings maps the names of type variables to the types that they stand for.
type Bindings map[string]Type

// Match binds the variables of formal so that actual is a value of it, or says why it cannot.
func (vars Bindings) Match(formal, actual Type) (Type, string) {
	if !HasVars(formal) {
		if formal.Kind() == KindTensor {
			return actual, ""
		}
		return formal, ""
	}
	switch f := formal.(type) {
	case *Var:
		bound, ok := vars[f.Name]
		if !ok {
			vars[f.Name] = actual
			return actual, ""
		}
		// The binding stays as it is: whether a value of a wider type can be converted is for the
		// caller to find out.
		if Unify(bound, actual, false, nil) == nil {
			return nil, "Type variable '" + f.Name + "' previously matched to type " + Repr(bound) +
				" is matched to type " + Repr(actual)
		}
		return bound, ""
	case *List:
		if a, ok := actual.(*List); ok {
			inner, why := vars.Match(f.Elem, a.Elem)
			if inner == nil {
				return nil, why
			}
			return NewList(inner), ""
		}
		if a, ok := actual.(*Tuple); ok && len(a.Elems) > 0 {
			t := UnifyAll(a.Elems, false, nil)
			if t == nil {
				return nil, "Cannot unify the elements of a tuple"
			}
			inner, why := vars.Match(f.Elem, t)
			if inner == nil {
				return nil, why
			}
			return NewList(inner), ""
		}
		return nil, "Cannot match " + Repr(formal) + " to " + Repr(actual)
	case *Tuple:
		a, ok := actual.(*Tuple)
		if !ok || len(a.Elems) != len(f.Elems) {
			return nil, "Cannot match a tuple to " + Repr(actual)
		}
		elems := make([]Type, len(f.Elems))
		for i := range elems {
			t, why := vars.Match(f.Elems[i], a.Elems[i])
			if t == nil {
				return nil, why
			}
			elems[i] = t
		}
		return NewTuple(elems...), ""
	case *Future:
		if a, ok := actual.(*Future); ok && a.Lazy == f.Lazy {
			inner, why := vars.Match(f.Elem, a.Elem)
			if inner == nil {
				return nil, why
			}
			return &Future{inner, f.Lazy}, ""
		}
		if f.Lazy {
			return nil, "Cannot match an await to " + Repr(actual)
		}
		return nil, "Cannot match a future to " + Repr(actual)
	case *RRef:
		if a, ok := actual.(*RRef); ok {
			inner, why := vars.Match(f.Elem, a.Elem)
			if inner == nil {
				return nil, why
			}
			return &RRef{inner}, ""
		}
		return nil, "Cannot match a reference to " + Repr(actual)
	case *Optional:
		if a, ok := actual.(*Optional); ok {
			inner, why := vars.Match(f.Elem, a.Elem)
			if inner == nil {
				return nil, why
			}
			return NewOptional(inner), ""
		}
		if actual.Kind() != KindNone {
			return vars.Match(f.Elem, actual)
		}
		return nil, "Cannot match an optional to None"
	case *Dict:
		a, ok := actual.(*Dict)
		if !ok {
			return nil, "Cannot match a dict to " + Repr(actual)
		}
		k, why := vars.Match(f.Key, a.Key)
		if k == nil {
			return nil, why
		}
		v, why := vars.Match(f.Value, a.Value)
		if v == nil {
			return nil, why
		}
		return NewDict(k, v), ""
	}
	return nil, "Cannot match " + Repr(formal) + " to " + Repr(actual)
}

// Apply returns t with its variables replaced by what they are bound to; an unbound variable
// stays.
func (vars Bindings) Apply(t Type) Type {
	if !HasVars(t) {
		return t
	}
	return Map(t, func(t Type) Type {
		if v, ok := t.(*Var); ok {
			if bound, ok := vars[v.Name]; ok {
				return bound
			}
		}
		return t
	})
}
