// Package trace records the operators that a program calls as a graph.
//
// A Recorder knows which value of the graph each tensor is, by identity: tensors are found again
// when they are arguments, and an operator that writes a tensor gives it a new value. Sizes are
// values too: the program gets tensors for them, and Given says which number of a call came from
// such a tensor. Everything else becomes a constant. What a traced module's submodules do is
// recorded in blocks (PushScope), which become their methods at the end. A Recorder serves one
// goroutine.
package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Host is the program that is being traced.
type Host interface {
	// Place returns where the program is.
	Place() source.Range
	// Name returns the name of the variable that holds a tensor, "" where none does.
	Name(t *tensor.Tensor) string
	// Warn tells the program that the trace may be incorrect.
	Warn(text string) error
}

// Recorder records one trace.
type Recorder struct {
	g       *ir.Graph
	host    Host
	values  map[*tensor.Tensor]*ir.Value
	objects map[*value.Object]*ir.Value  // the traced module and those in it
	packed  map[*value.Capsule]*ir.Value // packed parameters of modules
	futures map[*value.Future]*ir.Value  // what was forked, by calls of compiled functions too
	self    *value.Object                // the traced module; nil where a function is traced
	paths   map[string]*ir.Value         // what stands for "__module.a.weight" until the end
	scopes  []string                     // of the modules whose forward is running
	made    []*ir.Function
	given   map[*tensor.Tensor]*tensor.Tensor // what the program has instead of the inputs' tensors
	opaque  bool                              // values get no shapes: a call made them
	grad    bool                              // values are of tensors that need gradients though these do not
	// Outplace makes operators that write a tensor ones that make a new one, where there are such. Writes to memory that other tensors
	// have, too, are lost then, of which the host warns; but copies into it stay.
	Outplace bool
	// Exact records what package export captures: each operator as it was called, numbers as numbers, modules as scopes of nodes alone;
	// tensors from outside become further inputs, which Lifted lists.
	Exact    bool
	Lifted   []*tensor.Tensor
	examples []value.Value // of the inputs of an exact trace
	// FixedSizes gives the program the sizes of tensors as numbers.
	FixedSizes bool
	// NoGrad tells that what is recorded now has no gradients.
	NoGrad func() bool
	taken  []*tensor.Tensor        // what the block that was begun last takes
	forks  []*fork                 // the forked calls that are running, the innermost last
	hidden map[*tensor.Tensor]bool // made by forked calls that have ended
}

// NewRecorder returns a recorder with an empty graph. host may be nil: then there are no places and
// no names.
func NewRecorder(host Host) *Recorder {
	return &Recorder{g: ir.NewGraph(), host: host, values: map[*tensor.Tensor]*ir.Value{}, objects: map[*value.Object]*ir.Value{}, packed: map[*value.Capsule]*ir.Value{},
		futures: map[*value.Future]*ir.Value{},
		paths:   map[string]*ir.Value{}, given: map[*tensor.Tensor]*tensor.Tensor{}}
}

// TypeOf returns the type of a tensor with all that is known of it.
func TypeOf(t *tensor.Tensor) types.Type { return value.CompleteType(t) }

// place is where the program is, nowhere without a host.
func (r *Recorder) place() source.Range {
	if r.host == nil {
		return source.Range{}
	}
	return r.host.Place()
}

// Record adds the call of an operator that has run. given tells of the numbers among its arguments
// that came from tensors. It fails on an argument that a graph cannot hold.
func (r *Recorder) Record(o *ops.Operator, args, out []value.Value, given ...Given) error {
	if way, ok := o.Fact("traced"); ok && !r.Exact && decomposed[way](r, o, args, out) {
		return nil
	}
	return r.record(o, args, out, given)
}

func (r *Recorder) record(o *ops.Operator, args, out []value.Value, given []Given) error {
	place := r.place()
	if !r.Exact || len(args) > 0 && !args[0].IsTensor() {
		args = completed(o, args, out)
	}
	name := o.BaseName()
	if name == aten.Split && args[1].Kind() == value.KindList {
		name = aten.SplitWithSizes
	}
	written := r.Outplace && isReplaced(o)
	if written && strings.HasSuffix(name, "_") && args[0].IsTensor() {
		if n := r.references(args[0].Tensor()); n > 1 {
			if err := r.warnShared(name, n); err != nil {
				return err
			}
			written = name != aten.Copy_
		}
	}
	if written || name == aten.Detach_ && !r.Exact {
		name = strings.TrimSuffix(name, "_")
	}
	if written && name == aten.Copy { // the source in the shape of what is written
		return r.recordCopy(args, out, place)
	}
	if written && name == aten.Zero {
		return r.recordZeros(args[0].Tensor(), out, place)
	}
	n := r.g.Create(name, nil, 0).SetRange(place)
	if r.Exact {
		n.SetAttr("overload", o.Name)
		if r.NoGrad != nil && slices.ContainsFunc(args, wantsGradient) && r.NoGrad() {
			n.SetAttr(Detached, int64(1))
		}
	}
	stash := r.stash(given)
	for i := range o.Schema().Arguments {
		if a := &o.Schema().Arguments[i]; written && a.KwargOnly && a.Alias != nil {
			continue // out=
		}
		in, err := r.argument(o, i, args[i], stash, argumentPlace(o, i, place))
		if err != nil {
			return err
		}
		n.AddInput(in)
	}
	r.g.InsertNode(n)
	if r.Exact && (ops.DependsOnElements(o.BaseName()) || o.BaseName() == aten.Index && hasMask(args[1])) {
		r.FixedSizes = false // the sizes of what follows are not known
	}
	for i := range o.Schema().Returns {
		v := n.AddOutput().SetType(types.Unshaped(o.Schema().Returns[i].Type))
		if i < len(out) {
			r.setValue(out[i], v)
		}
	}
	return nil
}

// references returns how many tensors that the program has are over the memory of t, which is one.
func (r *Recorder) references(t *tensor.Tensor) int {
	n := 1
	for other := range r.values {
		if other != t && other.PyObject() != 0 && other.SharesStorage(t) {
			n++
		}
	}
	return n
}

// warnShared warns that a write is to memory of n tensors.
func (r *Recorder) warnShared(name string, n int) error {
	if r.host == nil {
		return nil
	}
	what := strings.TrimPrefix(name, "aten::")
	if what == "copy_" {
		what += " (possibly due to an assignment)"
	}
	return r.host.Warn(fmt.Sprintf("There are %d live references to the data region being modified when tracing in-place operator %s. "+
		"This might cause the trace to be incorrect, because all other views that also reference this data will not reflect this change in the trace! "+
		"On the other hand, if all other views use the same memory chunk, but are disjoint (e.g. are outputs of torch.split), this might still be safe.", n, what))
}

// recordCopy records a copy into a tensor as the source in its shape.
func (r *Recorder) recordCopy(args, out []value.Value, place source.Range) error {
	from, err := r.valueOf(args[1], place)
	if err != nil {
		return err
	}
	like, err := r.valueOf(args[0], place)
	if err != nil {
		return err
	}
	n := r.g.InsertNode(r.g.Create(aten.ExpandAs, []*ir.Value{from, like}, 1).SetRange(place))
	r.setValue(out[0], n.Output())
	return nil
}

// recordZeros records zeros in the place of t.
func (r *Recorder) recordZeros(t *tensor.Tensor, out []value.Value, place source.Range) error {
	like, err := r.valueOf(value.OfTensor(t), place)
	if err != nil {
		return err
	}
	inputs := []*ir.Value{like}
	for _, c := range []value.Value{value.None, value.Int(int64(t.Layout())), value.OfDevice(t.Device()), value.Bool(false), value.Int(int64(tensor.PreserveFormat))} {
		inputs = append(inputs, r.g.Constant(c, place))
	}
	n := r.g.Create(aten.ZerosLike, inputs, 1).SetRange(place)
	r.setValue(out[0], r.g.InsertNode(n).Output())
	return nil
}

// wantsGradient reports whether an argument is a tensor that gradients are asked for.
func wantsGradient(v value.Value) bool {
	if v.Kind() == value.KindList {
		return slices.ContainsFunc(v.List().Items, wantsGradient)
	}
	return v.IsTensor() && v.Tensor().RequiresGrad()
}

// hasMask reports whether there is a mask among indices.
func hasMask(indices value.Value) bool {
	return slices.ContainsFunc(indices.List().Items, func(v value.Value) bool {
		return v.IsTensor() && (v.Tensor().DType() == tensor.Bool || v.Tensor().DType() == tensor.Uint8)
	})
}

// isReplaced reports whether an operator writes a tensor and there is one that makes a new one instead.
func isReplaced(o *ops.Operator) bool {
	base := o.BaseName()
	if strings.HasSuffix(base, "_") {
		return len(ops.Overloads(strings.TrimSuffix(base, "_"))) > 0 && !strings.HasSuffix(base, "__")
	}
	arguments := o.Schema().Arguments
	last := &arguments[len(arguments)-1]
	return last.KwargOnly && last.Alias != nil && last.Alias.IsWrite
}

// argumentPlace is the place of constant arguments: how copies by assignment are made has none.
func argumentPlace(o *ops.Operator, i int, place source.Range) source.Range {
	if o.BaseName() == aten.Copy_ && i > 1 {
		return source.Range{}
	}
	return place
}

// argument returns the value of the graph that argument i is.
func (r *Recorder) argument(o *ops.Operator, i int, x value.Value, stash stash, place source.Range) (*ir.Value, error) {
	if v := stash.number(i); v != nil {
		return v, nil
	}
	if r.Exact && i > 0 && x.IsTensor() && r.values[x.Tensor()] == nil && x.Tensor().PyObject() == 0 && x.Tensor().Dim() == 0 &&
		o.Has(ops.WrapsNumbers) {
		return r.g.Constant(value.OfScalar(x.Tensor().At()), place), nil // the call was given a number
	}
	switch x.Kind() {
	case value.KindList:
		elem := types.Unshaped(x.List().Elem)
		items := make([]*ir.Value, len(x.List().Items))
		for k, item := range x.List().Items {
			if v := stash.item(i, k); v != nil {
				items[k] = v
				continue
			}
			v, err := r.valueOf(item, place)
			if err != nil {
				return nil, err
			}
			items[k] = v
		}
		return r.g.InsertNode(r.g.CreateList(elem, items)).Output(), nil
	case value.KindBool, value.KindInt, value.KindFloat:
		if i > 0 && !r.Exact && o.Has(ops.WrapsNumbers) && o.Schema().Arguments[i].Name == "other" {
			return r.constantTensor(wrapped(x), place), nil
		}
	}
	return r.valueOf(x, place)
}

// wrapped is the tensor that stands for a number.
func wrapped(x value.Value) *tensor.Tensor {
	switch x.Kind() {
	case value.KindBool:
		return tensor.FromScalar(tensor.Boolean(x.Bool()), tensor.Bool)
	case value.KindFloat:
		return tensor.FromScalar(tensor.Float(x.Float()), tensor.Float64)
	}
	return tensor.FromScalar(tensor.Int(x.Int()), tensor.Int64)
}

// valueOf returns the value of the graph that x is: what made it, or a constant. It fails on a
// tensor that needs a gradient and comes from nowhere, and on a module that is no part of the
// traced one.
func (r *Recorder) valueOf(x value.Value, place source.Range) (*ir.Value, error) {
	switch x.Kind() {
	case value.KindTensor:
		return r.tensor(x.Tensor(), place)
	case value.KindNone:
		return r.g.InsertNode(r.g.CreateNone()).Output(), nil
	case value.KindTuple:
		items, err := r.valuesOf(x.Tuple().Items, place)
		if err != nil {
			return nil, err
		}
		return r.g.InsertNode(r.g.CreateTuple(items, nil)).Output(), nil
	case value.KindList:
		items, err := r.valuesOf(x.List().Items, place)
		if err != nil {
			return nil, err
		}
		return r.g.InsertNode(r.g.CreateList(types.Unshaped(x.List().Elem), items)).Output(), nil
	case value.KindDict:
		return r.dict(x.Dict(), place)
	case value.KindObject:
		if v := r.objects[x.Object()]; v != nil {
			return v, nil
		}
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"Tried to trace <%s object at %p> but it is not part of the active trace. Modules that are called during a trace must be registered as submodules of the thing being traced.", x.Object().Class.Name, x.Object())
	}
	if x.Kind() == value.KindFuture && r.futures[x.Future()] != nil {
		return r.futures[x.Future()], nil
	}
	if x.Kind() == value.KindCapsule && r.packed[x.Capsule()] != nil {
		return r.packed[x.Capsule()], nil
	}
	if !ir.IsConstantable(x) {
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"Tracer cannot get value trace for type %s. The below value could not be materialized as a constant:\n%s", value.TypeOf(x).Annotation(nil), value.Repr(x, nil))
	}
	return r.g.Constant(x, place), nil
}

func (r *Recorder) valuesOf(xs []value.Value, place source.Range) ([]*ir.Value, error) {
	out := make([]*ir.Value, len(xs))
	for i, x := range xs {
		v, err := r.valueOf(x, place)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (r *Recorder) dict(d *value.Dict, place source.Range) (*ir.Value, error) {
	var keys, items []*ir.Value
	for key, item := range d.All {
		k, err := r.valueOf(key, place)
		if err != nil {
			return nil, err
		}
		v, err := r.valueOf(item, place)
		if err != nil {
			return nil, err
		}
		keys, items = append(keys, k), append(items, v)
	}
	return r.g.InsertNode(r.g.CreateDict(types.Unshaped(d.Key), types.Unshaped(d.Elem), keys, items)).Output(), nil
}

// tensor returns the value that a tensor is; one without a name gets that of a variable of the program.
func (r *Recorder) tensor(t *tensor.Tensor, place source.Range) (*ir.Value, error) {
	if v := r.values[t]; v != nil {
		if !v.HasName() && r.host != nil {
			v.SetName(r.host.Name(t))
		}
		return v, nil
	}
	if r.Exact {
		return r.lift(t), nil
	}
	if r.hidden[t] {
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"A tensor that a forked call made is used outside of it, where the trace does not have it: let the call return it, and wait for the call")
	}
	if t.RequiresGrad() {
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or detaching the gradient\nTensor:\n%s", t.CppString())
	}
	return r.constantTensor(t, place), nil
}

func (r *Recorder) constantTensor(t *tensor.Tensor, place source.Range) *ir.Value {
	return r.g.Constant(value.OfTensor(t), place).SetType(TypeOf(t))
}

// setValue makes v the value of the tensors in x.
func (r *Recorder) setValue(x value.Value, v *ir.Value) {
	switch x.Kind() {
	case value.KindTensor:
		if o, ok := v.Type().(*types.Optional); ok { // a call's result that is there this time
			v = r.g.InsertNode(r.g.CreateUncheckedCast(v, o.Elem)).Output()
		}
		if !r.opaque {
			v.SetType(withGrad(TypeOf(x.Tensor()), r.grad || x.Tensor().RequiresGrad()))
		}
		r.become(x.Tensor(), v)
	case value.KindObject:
		r.objects[x.Object()] = v
	case value.KindCapsule:
		r.packed[x.Capsule()] = v
	case value.KindFuture:
		r.futures[x.Future()] = v
	case value.KindTuple:
		if t, ok := v.Type().(*types.Tuple); ok && len(t.Elems) == len(x.Tuple().Items) {
			r.setValues(x.Tuple().Items, r.g.InsertNode(r.g.CreateTupleUnpack(v)))
		}
	case value.KindList:
		if items := x.List().Items; len(items) > 0 && isTraced(items[0]) {
			r.setValues(items, r.g.InsertNode(r.g.CreateListUnpack(v, len(items))))
		}
	case value.KindDict:
		t, ok := v.Type().(*types.Dict)
		if !ok {
			return
		}
		for key, item := range x.Dict().All {
			read := r.g.Create(aten.Getitem, []*ir.Value{v, r.g.Constant(key, source.Range{})}, 1)
			r.setValue(item, r.g.InsertNode(read).Output().SetType(t.Value))
		}
	}
}

// isTraced reports whether a value is, or may hold, what a trace follows.
func isTraced(v value.Value) bool {
	switch v.Kind() {
	case value.KindTensor, value.KindFuture, value.KindList, value.KindTuple, value.KindDict:
		return true
	}
	return false
}

// checkTraced fails for the result of a call with a number or text in it: it would become a constant in silence.
func checkTraced(v value.Value) error {
	var items []value.Value
	switch v.Kind() {
	case value.KindBool, value.KindInt, value.KindFloat, value.KindComplex, value.KindString:
		kinds := map[value.Kind]string{value.KindBool: "Bool", value.KindInt: "Int", value.KindFloat: "Double", value.KindComplex: "ComplexDouble", value.KindString: "String"}
		return source.Errorf(source.RuntimeError, source.Range{}, "Tracer cannot set value trace for type %s. Supported types are tensor, tensor list, and tuple of tensors.", kinds[v.Kind()])
	case value.KindList:
		items = v.List().Items
	case value.KindTuple:
		items = v.Tuple().Items
	case value.KindDict:
		for _, item := range v.Dict().All {
			items = append(items, item)
		}
	}
	for _, item := range items {
		if err := checkTraced(item); err != nil {
			return err
		}
	}
	return nil
}

// Wait adds the wait for a future that a recorded call gave, and has given result.
func (r *Recorder) Wait(f *value.Future, result value.Value) error {
	future := r.futures[f]
	if future == nil {
		return nil
	}
	if !r.sees(future) {
		return source.Errorf(source.RuntimeError, source.Range{}, "Tried to trace Future or Object that the tracer was not aware of.")
	}
	n := r.g.Create(aten.Wait, []*ir.Value{future}, 1)
	r.g.InsertNode(n)
	r.opaque = true
	r.setValue(result, n.Output().SetType(future.Type().(*types.Future).Elem))
	r.opaque = false
	return checkTraced(result)
}

func (r *Recorder) setValues(items []value.Value, unpack *ir.Node) {
	for i, part := range unpack.Outputs() {
		r.setValue(items[i], part)
	}
}

// Call adds the call of a compiled function or method that has run. It fails on a method of a
// module that is not part of the traced one.
func (r *Recorder) Call(f *ir.Function, args []value.Value, out value.Value) error {
	if err := checkTraced(out); err != nil && !r.Exact {
		return err
	}
	place := r.place()
	inputs := make([]*ir.Value, 0, len(args)+1)
	kind := prim.CallMethod
	given, err := r.valuesOf(args, place)
	if err != nil {
		return err
	}
	if !f.IsMethod {
		kind = prim.CallFunction
		constant := r.g.InsertNode(r.g.Create(prim.Constant, nil, 1)).SetAttr("name", f.ShortName())
		inputs = append(inputs, constant.Output().SetType(&types.Function{Name: f.ShortName(), Target: f}))
	}
	n := r.g.InsertNode(r.g.Create(kind, append(inputs, given...), 1))
	if f.IsMethod {
		n.SetAttr("name", f.ShortName())
	}
	r.opaque = true
	r.setValue(out, n.Output().SetType(f.Schema.Returns[0].Type))
	r.opaque = false
	return nil
}
