package interp

import (
	"context"
	"fmt"
	"math/bits"
	"runtime/debug"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func errorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

// callFunction calls the function of a site with its inputs.
func (s *stack) callFunction(site *site, regs, area []value.Value) error {
	if site.event != "" && autograd.IsProfiling() {
		span := s.mode.BeginEvent(site.event)
		defer span.End()
	}
	c := site.code.Load()
	if c == nil || site.changes {
		var err error
		if c, err = site.options.codeOf(site.callee); err != nil {
			return err
		}
		site.code.Store(c)
	}
	return s.callCode(c, site, regs, area)
}

func (s *stack) callCode(c *Code, site *site, regs, area []value.Value) error {
	if c.numInputs != len(site.inputs) || c.numOutputs != site.numOutputs {
		return errorf("%s takes %d arguments and gives %d results, not %d and %d",
			c.name, c.numInputs, c.numOutputs, len(site.inputs), site.numOutputs)
	}
	args, results := site.read(regs, area), regs[site.output:int(site.output)+site.numOutputs]
	lent, escaped := lend(args, site.inputs), s.escaped
	err := s.call(c, args, results)
	if lent != 0 && err == nil && s.escaped == escaped {
		takeBack(args, lent, results)
	}
	if !site.gives {
		keepTuples(results)
	}
	clear(args)
	return err
}

// lend takes the tensors that registers own and keep through a call from them for its time, and returns which arguments these are. Without
// inputs, those that the caller keeps are all.
func lend(args []value.Value, inputs []input) (lent uint64) {
	for i, v := range args {
		if v.IsTensor() && (inputs == nil || !inputs[i].move) && v.Tensor().IsTemporary() {
			if i < 64 && !v.Tensor().IsShared() {
				lent |= 1 << i
			}
			v.Tensor().UnmarkTemporary()
		}
	}
	return lent
}

// takeBack ends what lend began, where the callee has kept nothing: registers own their tensors again, but those that are results.
func takeBack(args []value.Value, lent uint64, results []value.Value) {
	for ; lent != 0; lent &= lent - 1 {
		if v := args[bits.TrailingZeros64(lent)]; !isAmong(v, results) {
			v.Tensor().MarkTemporary()
		}
	}
}

// callMethod calls the method that a site names of its first input.
func (s *stack) callMethod(site *site, regs, area []value.Value) error {
	c, err := site.method(regs[site.inputs[0].register])
	if err != nil {
		return err
	}
	return s.callCode(c, site, regs, area)
}

// method returns the code of the site's method of an object. The last class seen is remembered.
func (s *site) method(object value.Value) (*Code, error) {
	if object.Kind() != value.KindObject {
		return nil, errorf("a %s has no method '%s'", object.Kind(), s.name)
	}
	class := object.Object().Class
	if m := s.cached.Load(); m != nil && m.class == class {
		return m.code, nil
	}
	f, ok := class.FindMethod(s.name).(*ir.Function)
	if !ok {
		return nil, errorf("'%s' object has no method '%s'", class.Name, s.name)
	}
	c, err := s.options.codeOf(f)
	if err != nil {
		return nil, err
	}
	s.cached.Store(&methodCache{class, c})
	return c, nil
}

// sort sorts a list, or a copy of it where the site has a result, by the method __lt__ of its objects.
func (s *stack) sort(site *site, regs, area []value.Value) error {
	args := site.read(regs, area)
	l, descending := args[0].List(), len(args) > 1 && args[1].Bool()
	clear(args)
	items := slices.Clone(l.Items) // a comparison may look at the list
	err := prim.SortItems(items, descending, func(a, b value.Value) (bool, error) { return s.less(site, a, b) })
	if err != nil {
		return err
	}
	if site.numOutputs > 0 {
		regs[site.output] = value.OfList(value.NewList(l.Elem, items...))
	} else {
		l.Items = items
	}
	return nil
}

// less calls __lt__ of an object.
func (s *stack) less(site *site, a, b value.Value) (bool, error) {
	var out [1]value.Value
	c, err := site.method(a)
	if err == nil && c.numInputs == 2 && c.numOutputs == 1 {
		err = s.call(c, []value.Value{a, b}, out[:])
	}
	if err == nil && out[0].Kind() != value.KindBool || err != nil && c == nil {
		name := types.Repr(value.TypeOf(a))
		return false, errorf("To sort a list of %s it must define a __lt__ method with two inputs of type %s that returns a bool", name, name)
	}
	return err == nil && out[0].Bool(), err
}

// warn warns of the message of a site, which a run does once however often it comes there.
func (s *stack) warn(at *site, regs, area []value.Value) error {
	args := at.read(regs, area)
	message := args[0].Str()
	clear(args)
	if slices.Contains(s.warned, at) {
		return nil
	}
	s.warned = append(s.warned, at)
	return source.Warn(message, at.at)
}

// enter opens a with statement over an object.
func (s *stack) enter(site *site, result *value.Value, object value.Value) error {
	c, err := site.method(object)
	if err != nil {
		return err
	}
	var out [1]value.Value
	if c.numInputs != 1 || c.numOutputs != 1 {
		return errorf("__enter__ of '%s' must take no arguments", object.Object().Class.Name)
	}
	if err := s.call(c, []value.Value{object}, out[:]); err != nil {
		return err
	}
	*result = out[0]
	s.entered = append(s.entered, entered{object, site.exitSite()})
	if isAutocast(object) {
		s.beginCasting(object.Object(), site.options)
	}
	return nil
}

// isAutocast reports whether a with statement over an object is an autocast.
func isAutocast(object value.Value) bool {
	switch object.Object().Class.Name {
	case "__torch__.torch.amp.autocast_mode.autocast", "__torch__.torch.cpu.amp.autocast_mode.autocast", "__torch__.torch.cuda.amp.autocast_mode.autocast":
		return true
	}
	return false
}

// beginCasting begins the autocast that the attributes of an object describe. One that the settings of the compiler do not let count leaves what is cast as
// it is.
func (s *stack) beginCasting(o *value.Object, options *Options) {
	kind := autograd.CastCPU
	device, _ := o.Attr("device")
	if device.Kind() == value.KindString && device.Str() == "cuda" {
		kind = autograd.CastCUDA
	}
	d, on := s.mode.Casting(kind)
	if options.castsAsCompiled() {
		enabled, _ := o.Attr("_enabled")
		lower, _ := o.Attr("fast_dtype")
		on = enabled.Kind() == value.KindBool && enabled.Bool() && lower.IsInt()
		switch {
		case on && kind == autograd.CastCPU:
			on = tensor.DType(lower.Int()) == tensor.BFloat16
		case on:
			d = tensor.DType(lower.Int())
			_, err := tensor.FindDevice(tensor.NewDevice(tensor.CUDA, -1))
			on = err == nil // where there is none it is disabled, as in Python
		}
	}
	s.mode.BeginCasting(kind, on, d)
	s.direct = s.mode.Direct()
}

// exitSite returns a site for __exit__ beside the one for __enter__.
func (s *site) exitSite() *site { return &site{name: "__exit__", options: s.options} }

// closeWith closes the innermost with statement, which is over the object.
func (s *stack) closeWith(site *site, object value.Value) error {
	if n := len(s.entered); n > 0 && s.entered[n-1].object == object {
		s.entered = s.entered[:n-1]
	}
	return s.exit(site, object)
}

// exit calls __exit__ of an object.
func (s *stack) exit(site *site, object value.Value) error {
	if isAutocast(object) {
		s.mode.EndCasting()
		s.direct = s.mode.Direct()
	}
	c, err := site.method(object)
	if err != nil {
		return err
	}
	if c.numInputs != 4 || c.numOutputs != 1 {
		return errorf("__exit__ of '%s' must take three arguments", object.Object().Class.Name)
	}
	var out [1]value.Value
	return s.call(c, []value.Value{object, value.None, value.None, value.None}, out[:])
}

// A Forker is the context of a run whose forked calls have another one.
type Forker interface{ Forked() context.Context }

// fork starts the body of a site on a stack of its own, or leaves that to whoever waits; the output is the future of its result.
func (s *stack) fork(site *site, regs, area []value.Value) {
	args := append([]value.Value(nil), s.escapeAll(site.read(regs, area))...)
	if site.lazy {
		mode := s.mode.Forked()
		ctx := autograd.WithMode(s.ctx, &mode)
		regs[site.output] = value.OfFuture(value.NewAwait(site.list, func() (value.Value, error) {
			var out [1]value.Value
			err := site.body.Run(ctx, args, out[:])
			return out[0], err
		}))
		return
	}
	future := value.NewFuture(site.list)
	ctx := s.ctx
	if c, ok := ctx.(Forker); ok {
		ctx = c.Forked()
	}
	if forks := site.options.Forks; forks != nil {
		ctx = forks.start(ctx, site.at, future, args)
	}
	mode := s.mode.Forked()
	ctx = autograd.WithMode(ctx, &mode)
	budget, threads := tensor.BudgetHere(), parallel.ThreadLimit()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				future.Complete(value.None, fmt.Errorf("internal error in a forked call: %v\n%s", p, debug.Stack()))
			}
		}()
		span := mode.BeginEvent("<forked function>")
		defer span.End()
		var out [1]value.Value
		var err error
		parallel.LimitThreads(threads, func() {
			budget.Run(ctx, func(ctx context.Context) { err = site.body.Run(ctx, args, out[:]) })
		})
		future.Complete(out[0], err)
	}()
	regs[site.output] = value.OfFuture(future)
}

func unpackTuple(args, out []value.Value) error {
	items := args[0].Tuple().Items
	if len(items) != len(out) {
		return errorf("Expected a tuple of %d elements, but got %d", len(out), len(items))
	}
	copy(out, items)
	args[0] = value.None
	return nil
}

func unpackList(args, out []value.Value) error {
	items := args[0].List().Items
	if len(items) != len(out) {
		return errorf("Expected %d elements in a list but found %d", len(out), len(items))
	}
	copy(out, items)
	args[0] = value.None
	return nil
}

func itemOfTuple(tuple value.Value, i int64) (value.Value, error) {
	items := tuple.Tuple().Items
	n := int64(len(items))
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return value.None, errorf("Tuple index out of range")
	}
	return items[i], nil
}

func dictOf(site *site, args []value.Value) value.Value {
	d := value.NewDict(site.key, site.list)
	for i := 0; i < len(args); i += 2 {
		d.Set(args[i], args[i+1])
	}
	clear(args)
	return value.OfDict(d)
}

func attribute(object value.Value, site *site) (value.Value, error) {
	if object.Kind() != value.KindObject || site.slot >= len(object.Object().Slots) {
		return value.None, errorf("a %s has no attribute '%s'", object.Kind(), site.name)
	}
	return object.Object().Slots[site.slot], nil
}

func setAttribute(object value.Value, site *site, v value.Value) error {
	if object.Kind() != value.KindObject {
		return errorf("a %s has no attribute '%s'", object.Kind(), site.name)
	}
	o := object.Object()
	for len(o.Slots) <= site.slot {
		o.Slots = append(o.Slots, value.None)
	}
	o.Slots[site.slot] = v
	return nil
}

func isInstance(v value.Value, site *site) bool {
	for _, t := range site.types {
		if value.Conforms(v, t) {
			return true
		}
	}
	return false
}

// cast returns v, which must be of the site's type; old is what the target register holds.
func cast(v, old value.Value, site *site) (value.Value, error) {
	t := site.types[0]
	if v.IsTensor() && t.Kind() == types.KindTensor || value.Conforms(v, t) || v == value.Uninitialized && old.IsNone() {
		return v, nil
	}
	return old, errorf("expected a value of type '%s' but found one of type '%s'", t.Annotation(nil), value.TypeOf(v).Annotation(nil))
}

func unwrap(v, old value.Value, site *site) (value.Value, error) {
	if v.IsNone() {
		return old, errorf("Unwrapping null optional")
	}
	return cast(v, old, site)
}
