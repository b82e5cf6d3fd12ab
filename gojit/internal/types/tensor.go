package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// TensorInfo is the type of tensors, with what is known of them statically. Pointers that are nil
// mean "not known".
type TensorInfo struct {
	DType        string // "float32", ...; "" unknown
	Device       string // "cpu", ...; "" unknown
	Dims         *int   // number of dimensions
	Sizes        []int  // per dimension, -1 unknown, a smaller number one that NewSymbol gave; nil: no dimension is known
	Strides      []int  // per dimension, -1 unknown; nil: none is known
	RequiresGrad *bool
	// Inferred marks the type of a parameter that has no annotation. It is Tensor in all else.
	Inferred bool
}

// symbols is the last that NewSymbol gave.
var symbols atomic.Int64

// NewSymbol returns a number below -1 for a size that is not known: where two sizes are the same symbol they are equal.
func NewSymbol() int { return int(symbols.Add(-1)) - 1 }

// keepSymbol has NewSymbol give other numbers than one that a text has.
func keepSymbol(n int) {
	for last := symbols.Load(); int64(n) < last && !symbols.CompareAndSwap(last, int64(n)); last = symbols.Load() {
	}
}

// Tensor is the type of tensors of which nothing is known.
var Tensor Type = &TensorInfo{}

// InferredTensor is the type of a parameter without annotation.
var InferredTensor Type = &TensorInfo{Inferred: true}

// Kind implements Type.
func (*TensorInfo) Kind() Kind { return KindTensor }

var tensorTypeNames = map[string]string{
	"uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
	"float16": "Half", "float32": "Float", "float64": "Double", "complex32": "ComplexHalf",
	"complex64": "ComplexFloat", "complex128": "ComplexDouble", "bool": "Bool",
	"qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32", "bfloat16": "BFloat16",
}

var tensorTypeDTypes = func() map[string]string {
	m := map[string]string{}
	for dtype, name := range tensorTypeNames {
		m[name] = dtype
	}
	return m
}()

// String implements Type: `Tensor`, or `Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)`.
func (t *TensorInfo) String() string {
	if t.isBare() {
		return "Tensor"
	}
	var b strings.Builder
	if t.DType == "" {
		b.WriteString("Tensor")
	} else {
		b.WriteString(tensorTypeNames[t.DType])
	}
	var parts []string
	if t.Sizes != nil {
		for _, s := range t.Sizes {
			parts = append(parts, dimString(s))
		}
	} else if t.Dims != nil {
		for range *t.Dims {
			parts = append(parts, "*")
		}
	}
	if t.Strides != nil {
		strides := make([]string, len(t.Strides))
		for i, s := range t.Strides {
			strides[i] = dimString(s)
		}
		parts = append(parts, "strides=["+strings.Join(strides, ", ")+"]")
	}
	if t.RequiresGrad != nil {
		if *t.RequiresGrad {
			parts = append(parts, "requires_grad=1")
		} else {
			parts = append(parts, "requires_grad=0")
		}
	}
	if t.Device != "" {
		parts = append(parts, "device="+t.Device)
	}
	if t.Dims == nil && t.Sizes == nil {
		if t.DType != "" {
			b.WriteString("Tensor")
		}
		if len(parts) == 0 {
			return b.String()
		}
	}
	fmt.Fprintf(&b, "(%s)", strings.Join(parts, ", "))
	return b.String()
}

// Brief is a type with less of what is known of tensors: level 1 leaves element types and sizes, 2 strides too, 3 everything.
func Brief(t Type, level int) Type {
	if level >= 3 {
		return t
	}
	return Map(t, func(t Type) Type {
		info, ok := t.(*TensorInfo)
		if !ok {
			return t
		}
		c := *info
		c.Device, c.RequiresGrad = "", nil
		if level < 2 {
			c.Strides = nil
		}
		return &c
	})
}

// Annotation implements Type.
func (*TensorInfo) Annotation(Renamer) string { return "Tensor" }

// ScalarTypeName returns the element type as printed types have it ("Float"), "" where it is not
// known.
func (t *TensorInfo) ScalarTypeName() string { return tensorTypeNames[t.DType] }

// IsComplete reports whether element type, device, sizes and strides are all known.
func (t *TensorInfo) IsComplete() bool {
	return t.DType != "" && t.Device != "" && allKnown(t.Sizes) && (allKnown(t.Strides) || len(t.Sizes) == 0)
}

// allKnown reports whether no size is missing.
func allKnown(sizes []int) bool {
	for _, s := range sizes {
		if s < 0 {
			return false
		}
	}
	return sizes != nil
}

func (t *TensorInfo) isBare() bool {
	return t.DType == "" && t.Device == "" && t.Dims == nil && t.Sizes == nil && t.Strides == nil && t.RequiresGrad == nil
}

func dimString(size int) string {
	if size < 0 {
		return "*"
	}
	return strconv.Itoa(size)
}

// Unshaped returns t with every tensor type in it replaced by Tensor.
func Unshaped(t Type) Type {
	return Map(t, func(t Type) Type {
		if t.Kind() == KindTensor {
			return Tensor
		}
		return t
	})
}

// Map rebuilds t with each part, from the inside out, replaced by what replace returns for it.
func Map(t Type, replace func(Type) Type) Type {
	switch x := t.(type) {
	case *List:
		if e := Map(x.Elem, replace); e != x.Elem {
			t = NewList(e)
		}
	case *Dict:
		k, v := Map(x.Key, replace), Map(x.Value, replace)
		if k != x.Key || v != x.Value {
			t = NewDict(k, v)
		}
	case *Optional:
		if e := Map(x.Elem, replace); e != x.Elem {
			t = NewOptional(e)
		}
	case *Tuple:
		if elems, changed := mapAll(x.Elems, replace); changed {
			t = &Tuple{Elems: elems, Name: x.Name, Fields: x.Fields, Defaults: x.Defaults}
		}
	case *Union:
		if elems, changed := mapAll(x.Elems, replace); changed {
			t = NewUnion(elems...)
		}
	case *Future:
		if e := Map(x.Elem, replace); e != x.Elem {
			t = &Future{e, x.Lazy}
		}
	case *RRef:
		if e := Map(x.Elem, replace); e != x.Elem {
			t = &RRef{e}
		}
	}
	return replace(t)
}

func mapAll(ts []Type, replace func(Type) Type) (out []Type, changed bool) {
	out = make([]Type, len(ts))
	for i, t := range ts {
		out[i] = Map(t, replace)
		changed = changed || out[i] != t
	}
	return out, changed
}

// Common returns what two types say alike. Sizes that differ are -1; strides are known where all are alike.
func (t *TensorInfo) Common(u *TensorInfo) *TensorInfo {
	c := &TensorInfo{}
	if t.DType == u.DType {
		c.DType = t.DType
	}
	if t.Device == u.Device {
		c.Device = t.Device
	}
	if t.RequiresGrad != nil && u.RequiresGrad != nil && *t.RequiresGrad == *u.RequiresGrad {
		c.RequiresGrad = t.RequiresGrad
	}
	if t.Sizes == nil || u.Sizes == nil || len(t.Sizes) != len(u.Sizes) {
		return c
	}
	c.Sizes = commonInts(t.Sizes, u.Sizes)
	dims := len(c.Sizes)
	c.Dims = &dims
	if len(t.Strides) == dims && len(u.Strides) == dims {
		if strides := commonInts(t.Strides, u.Strides); !slices.Contains(strides, -1) {
			c.Strides = strides
		}
	}
	return c
}

// commonInts has -1 where numbers differ.
func commonInts(a, b []int) []int {
	c := slices.Clone(a)
	for i := range c {
		if c[i] != b[i] {
			c[i] = -1
		}
	}
	return c
}
