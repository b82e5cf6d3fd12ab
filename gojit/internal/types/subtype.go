package types

import (
	"slices"

	"fmt"
)

// Equal reports whether a and b are the same type.
func Equal(a, b Type) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Kind() != b.Kind() {
		return false
	}
	switch x := a.(type) {
	case *Simple:
		return true
	case *TensorInfo:
		return x.String() == b.(*TensorInfo).String()
	case *List:
		return Equal(x.Elem, b.(*List).Elem)
	case *Dict:
		y := b.(*Dict)
		return Equal(x.Key, y.Key) && Equal(x.Value, y.Value)
	case *Optional:
		return Equal(x.Elem, b.(*Optional).Elem)
	case *Tuple:
		y := b.(*Tuple)
		return x.Name == y.Name && slices.Equal(x.Fields, y.Fields) && slices.EqualFunc(x.Elems, y.Elems, Equal)
	case *Union:
		return slices.EqualFunc(x.Elems, b.(*Union).Elems, Equal)
	case *Future:
		return x.Lazy == b.(*Future).Lazy && Equal(x.Elem, b.(*Future).Elem)
	case *RRef:
		return Equal(x.Elem, b.(*RRef).Elem)
	case *Var:
		return x.Name == b.(*Var).Name
	case *Function:
		return x.Target == b.(*Function).Target
	case *Enum: // a loaded program has a type of its own for the same enumeration
		y := b.(*Enum)
		return x.Name == y.Name && slices.EqualFunc(x.Members, y.Members, func(a, b EnumMember) bool { return a.Name == b.Name })
	}
	return false
}

// IsSubtype reports whether every value of type a is a value of type b.
func IsSubtype(a, b Type) bool {
	ok, _ := IsSubtypeWhy(a, b)
	return ok
}

// IsSubtypeWhy is IsSubtype and, where it is false and there is more to say than that the types
// differ, the reason.
func IsSubtypeWhy(a, b Type) (ok bool, why string) {
	if b.Kind() == KindAny || Equal(a, b) {
		return true, ""
	}
	switch y := b.(type) {
	case *Optional:
		if a.Kind() == KindNone {
			return true, ""
		}
		if x, isOptional := a.(*Optional); isOptional {
			return IsSubtypeWhy(x.Elem, y.Elem)
		}
		if x, isUnion := a.(*Union); isUnion {
			return allSubtypes(x.Elems, b)
		}
		return IsSubtypeWhy(a, y.Elem)
	case *Union:
		switch x := a.(type) {
		case *Union:
			return allSubtypes(x.Elems, b)
		case *Optional:
			return allSubtypes([]Type{x.Elem, None}, b)
		}
		return y.CanHold(a), ""
	}
	switch x := a.(type) {
	case *Simple:
		if b.Kind() == KindNumber {
			return isNumber(a), ""
		}
		if a.Kind() == KindNumber {
			return false, ""
		}
		return intStandsFor(a.Kind(), b.Kind()), ""
	case *TensorInfo:
		y, isTensor := b.(*TensorInfo)
		return isTensor && refines(x, y), ""
	case *List:
		if b.Kind() == KindAnyList {
			return true, ""
		}
		y, isList := b.(*List)
		return isList && Equal(Unshaped(x.Elem), Unshaped(y.Elem)), ""
	case *Dict:
		y, isDict := b.(*Dict)
		return isDict && Equal(Unshaped(x.Key), Unshaped(y.Key)) && Equal(Unshaped(x.Value), Unshaped(y.Value)), ""
	case *Tuple:
		return tupleSubtype(x, b)
	case *Future:
		y, isFuture := b.(*Future)
		if !isFuture || x.Lazy != y.Lazy {
			return false, ""
		}
		return IsSubtypeWhy(x.Elem, y.Elem)
	case *Class:
		if b.Kind() == KindAnyClass {
			return true, ""
		}
		if y, isInterface := b.(*Interface); isInterface {
			if y.IsModule && !x.IsModule {
				return false, fmt.Sprintf("Class '%s' is not a subtype of the module interface '%s'", x.Name, y.Name)
			}
			return y.Satisfies(x)
		}
	case *Enum:
		return b.Kind() == KindAnyEnum, ""
	case *Interface:
		if y, isInterface := b.(*Interface); isInterface {
			return interfaceSubtype(x, y), ""
		}
	case *Optional:
		if ok, why := IsSubtypeWhy(x.Elem, b); !ok {
			return false, why
		}
		return IsSubtypeWhy(None, b)
	case *Union:
		return allSubtypes(x.Elems, b)
	}
	return false, ""
}

// intStandsFor reports the pairs of kinds that are one type at run time.
func intStandsFor(a, b Kind) bool {
	isInt := func(k Kind) bool {
		return k == KindInt || k == KindScalarType || k == KindLayout || k == KindMemoryFormat || k == KindSymInt || k == KindQScheme
	}
	return isInt(a) && isInt(b)
}

func allSubtypes(as []Type, b Type) (bool, string) {
	for _, a := range as {
		if ok, why := IsSubtypeWhy(a, b); !ok {
			return false, why
		}
	}
	return true, ""
}

func tupleSubtype(x *Tuple, b Type) (bool, string) {
	if b.Kind() == KindAnyTuple {
		return true, ""
	}
	y, isTuple := b.(*Tuple)
	if !isTuple || len(x.Elems) != len(y.Elems) {
		return false, ""
	}
	if y.Name != "" && (x.Name != y.Name || !slices.Equal(x.Fields, y.Fields)) {
		return false, ""
	}
	for i := range x.Elems {
		if ok, why := IsSubtypeWhy(x.Elems[i], y.Elems[i]); !ok {
			return false, why
		}
	}
	return true, ""
}

func interfaceSubtype(x, y *Interface) bool {
	if y.IsModule && !x.IsModule {
		return false
	}
	for _, m := range y.Methods {
		if x.FindMethod(m.Name) == nil {
			return false
		}
	}
	return true
}

// refines reports whether all that general says of a tensor also holds of one of type special.
func refines(special, general *TensorInfo) bool {
	if general.isBare() {
		return true
	}
	if general.DType != "" && special.DType != general.DType || general.Device != "" && special.Device != general.Device {
		return false
	}
	if general.Dims != nil && (special.Dims == nil || *special.Dims != *general.Dims) {
		return false
	}
	if general.RequiresGrad != nil && (special.RequiresGrad == nil || *special.RequiresGrad != *general.RequiresGrad) {
		return false
	}
	return sizesRefine(special.Sizes, general.Sizes) && sizesRefine(special.Strides, general.Strides)
}

func sizesRefine(special, general []int) bool {
	if general == nil {
		return true
	}
	if len(special) != len(general) {
		return false
	}
	for i, g := range general {
		if g >= 0 && special[i] != g {
			return false
		}
	}
	return true
}
