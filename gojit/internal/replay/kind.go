package replay

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// call is a call as kinds look at it.
type call struct {
	mode       *autograd.Mode
	args       []value.Value
	attributes []value.Value // that the graph reads
	device     tensor.Device // of all tensors
	lane       uintptr       // that its work goes to
	settings   uint64        // of the device's libraries
	dtype      tensor.DType  // that floats have where none is given
}

// look reads the attributes. It returns why the call cannot be replayed, "" where it may be: its tensors are on one device, and nothing but results is wanted
// of them.
func (f *Function) look(c *call) (why string) {
	switch {
	case c.mode.IsCasting():
		return "autocast is on"
	case autograd.IsProfiling():
		return "a profile is taken"
	}
	for _, a := range c.args {
		if why := c.refuses(a); why != "" {
			return "an argument " + why
		}
	}
	for _, a := range f.attributes {
		var from value.Value
		if a.of >= 0 {
			from = c.attributes[a.of]
		} else {
			from = c.args[^a.of]
		}
		if from.Kind() != value.KindObject || a.slot >= len(from.Object().Slots) {
			return "an attribute is missing"
		}
		v := from.Object().Slots[a.slot]
		if why := c.refuses(v); why != "" {
			return "an attribute " + why
		}
		c.attributes = append(c.attributes, v)
	}
	for _, t := range f.constants {
		if t.OnDevice() {
			if why := c.refusesTensor(t); why != "" {
				return "a constant " + why
			}
		}
	}
	return ""
}

// refuses says why a value cannot be that of an argument or attribute, "" where it can.
func (c *call) refuses(v value.Value) (why string) {
	var items []value.Value
	switch v.Kind() {
	case value.KindTensor:
		return c.refusesTensor(v.Tensor())
	case value.KindList:
		items = v.List().Items
	case value.KindTuple:
		items = v.Tuple().Items
	case value.KindNone, value.KindBool, value.KindInt, value.KindFloat, value.KindString, value.KindDevice, value.KindObject:
	default:
		return "is a " + v.Kind().String()
	}
	for _, item := range items {
		if why := c.refuses(item); why != "" {
			return why
		}
	}
	return ""
}

func (c *call) refusesTensor(t *tensor.Tensor) (why string) {
	recorded, ok := c.mode.Groups(t)
	switch {
	case recorded:
		return "requires a gradient"
	case !t.OnDevice():
		return "is not on the device"
	case !ok || t.IsSparse() || t.Lengths() != nil || t.DType().IsQuantized():
		return "is no plain tensor"
	case c.device.Type != tensor.CUDA:
		c.device = t.Device()
	case c.device != t.Device():
		return "is on another device"
	}
	return ""
}

// kind is what calls have in common whose work is the same.
type kind struct {
	owner      *Function
	device     tensor.Device
	lane       uintptr
	settings   uint64
	dtype      tensor.DType
	gradients  bool // are recorded where a tensor asks for them
	inference  bool
	arguments  []form
	attributes []form

	calls    int  // that ran as any
	busy     bool // one is captured
	refused  string
	work     kernel.Work
	lost     atomic.Bool // the device has given the work up
	launches int
	arena    int              // bytes, 0 where its memory is in several blocks
	inputs   []*tensor.Tensor // that the work reads, in the order of the tensors among the arguments
	outputs  []output
	results  []result
}

// form is what a kind tells of a value: that of a scalar, how a tensor lies, for attributes also where.
type form struct {
	v              value.Value
	isTensor       bool
	storage        *tensor.Storage // of an attribute
	offset         int
	shape, strides []int
	dtype          tensor.DType
	items          []form
}

func newKind(c *call) *kind {
	k := &kind{device: c.device, lane: c.lane, settings: c.settings, dtype: c.dtype, gradients: c.mode.GradEnabled(), inference: c.mode.Inference(), calls: 1}
	for _, a := range c.args {
		k.arguments = append(k.arguments, formOf(a, false))
	}
	for _, a := range c.attributes {
		k.attributes = append(k.attributes, formOf(a, true))
	}
	return k
}

func formOf(v value.Value, fixed bool) form {
	x := form{v: v}
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor()
		x.isTensor, x.shape, x.strides, x.dtype = true, slices.Clone(t.Shape()), slices.Clone(t.Strides()), t.DType()
		x.v = value.None // which tensor it is does not matter
		if fixed {
			x.storage, x.offset = t.Storage(), t.Offset()
		}
	case value.KindList:
		x.v = value.None
		x.items = formsOf(v.List().Items, fixed)
	case value.KindTuple:
		x.v = value.None
		x.items = formsOf(v.Tuple().Items, fixed)
	}
	return x
}

func formsOf(vs []value.Value, fixed bool) []form {
	forms := make([]form, len(vs)) // not nil: a list
	for i, v := range vs {
		forms[i] = formOf(v, fixed)
	}
	return forms
}

// matches reports whether a call is of the kind.
func (k *kind) matches(c *call) bool {
	if k.device != c.device || k.lane != c.lane || k.settings != c.settings || k.dtype != c.dtype || k.gradients != c.mode.GradEnabled() || k.inference != c.mode.Inference() {
		return false
	}
	for i, v := range c.args {
		if !k.arguments[i].matches(v) {
			return false
		}
	}
	for i, v := range c.attributes {
		if !k.attributes[i].matches(v) {
			return false
		}
	}
	return true
}

// isOver reports whether the tensors among the attributes lie where those lie that the work reads.
func (k *kind) isOver(c *call) bool {
	for i, v := range c.attributes {
		if !k.attributes[i].isOver(v) {
			return false
		}
	}
	return true
}

func (x *form) isOver(v value.Value) bool {
	var items []value.Value
	switch v.Kind() {
	case value.KindTensor:
		return x.storage == v.Tensor().Storage() && x.offset == v.Tensor().Offset()
	case value.KindList:
		items = v.List().Items
	case value.KindTuple:
		items = v.Tuple().Items
	}
	for i, item := range items {
		if !x.items[i].isOver(item) {
			return false
		}
	}
	return true
}

func (x *form) matches(v value.Value) bool {
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor()
		if !x.isTensor || x.dtype != t.DType() || !slices.Equal(x.shape, t.Shape()) || !slices.Equal(x.strides, t.Strides()) {
			return false
		}
		return true
	case value.KindList:
		return matchAll(x.items, v.List().Items)
	case value.KindTuple:
		return matchAll(x.items, v.Tuple().Items)
	}
	return !x.isTensor && x.items == nil && value.Same(x.v, v)
}

func matchAll(forms []form, vs []value.Value) bool {
	if forms == nil || len(forms) != len(vs) {
		return false
	}
	for i, v := range vs {
		if !forms[i].matches(v) {
			return false
		}
	}
	return true
}

// size tells how much the work is: "8 kernels, arena of 4096 bytes".
func (k *kind) size() string {
	if k.arena == 0 {
		return fmt.Sprintf("%d kernels", k.launches)
	}
	return fmt.Sprintf("%d kernels, arena of %d bytes", k.launches, k.arena)
}

// String names the arguments: "float32 (2, 3)".
func (k *kind) String() string {
	var texts []string
	for i := range k.arguments {
		texts = k.arguments[i].texts(texts)
	}
	return strings.Join(texts, ", ")
}

func (x *form) texts(texts []string) []string {
	switch {
	case x.isTensor:
		sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(x.shape), " ", ", "), "[]")
		return append(texts, fmt.Sprintf("%s (%s)", x.dtype, sizes))
	case x.items != nil:
		for i := range x.items {
			texts = x.items[i].texts(texts)
		}
	}
	return texts
}
