// Package trace records the operators that a program calls as a graph.
//
// A Recorder knows which value of the graph each tensor is, by identity: tensors are found again
// when they are arguments, and an operator that writes a tensor gives it a new value. Everything
// else that an operator takes becomes a constant. Numbers, lengths and decisions that the program
// takes from tensors are therefore fixed in the graph. A Recorder serves one goroutine.
package trace

import (
	"strings"

	"torchjit/gojit/ir"
	"torchjit/gojit/ops"
	"torchjit/gojit/passes"
	"torchjit/gojit/schema"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

// Recorder records one trace.
type Recorder struct {
	g      *ir.Graph
	values map[*tensor.Tensor]*ir.Value
	slots  map[*tensor.Tensor]slot
	object map[*value.Object]*ir.Value // of the modules that have been read
	inside map[*value.Object]slot      // modules in the traced one
	args   []schema.Argument
}

// slot is where a module holds a tensor.
type slot struct {
	object *value.Object
	name   string
	outer  *slot // that holds object; nil for the traced module itself
}

// NewRecorder returns a recorder with an empty graph.
func NewRecorder() *Recorder {
	return &Recorder{g: ir.NewGraph(), values: map[*tensor.Tensor]*ir.Value{}, slots: map[*tensor.Tensor]slot{}, object: map[*value.Object]*ir.Value{}, inside: map[*value.Object]slot{}}
}

// Self makes a module the first input: its tensors become attributes in the graph.
func (r *Recorder) Self(o *value.Object) {
	in := r.g.AddInput("self").SetType(o.Class)
	r.object[o] = in
	r.args = append(r.args, schema.Argument{Name: "self", Type: o.Class, RealType: o.Class, ListSize: -1})
	r.addSlots(o, nil)
}

func (r *Recorder) addSlots(o *value.Object, outer *slot) {
	for i, a := range o.Class.Attributes {
		s := slot{o, a.Name, outer}
		switch v := o.Slots[i]; v.Kind() {
		case value.KindTensor:
			if _, known := r.slots[v.Tensor()]; !known {
				r.slots[v.Tensor()] = s
			}
		case value.KindObject:
			r.inside[v.Object()] = s
			r.addSlots(v.Object(), &s)
		}
	}
}

// Input adds an input and returns what the program is to be called with: tensors of their own that
// share the memory of those in v.
func (r *Recorder) Input(name string, v value.Value) (value.Value, error) {
	in := r.g.AddInput(name)
	out, err := r.bind(in, v)
	if err != nil {
		return value.None, err
	}
	t := types.Unshaped(in.Type())
	r.args = append(r.args, schema.Argument{Name: name, Type: t, RealType: t, ListSize: -1})
	return out, nil
}

// bind gives a value of the graph the type of v, and its tensors values of the graph.
func (r *Recorder) bind(in *ir.Value, v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor().Detach()
		in.SetType(TypeOf(t))
		r.values[t] = in
		return value.OfTensor(t), nil
	case value.KindTuple, value.KindList:
		items := itemsOf(v)
		if v.Kind() == value.KindTuple {
			in.SetType(types.Unshaped(value.TypeOf(v)))
		} else {
			in.SetType(types.NewList(types.Tensor))
		}
		var parts []*ir.Value
		if v.Kind() == value.KindTuple {
			parts = r.g.InsertNode(r.g.CreateTupleUnpack(in)).Outputs()
		} else {
			parts = r.g.InsertNode(r.g.CreateListUnpack(in, len(items))).Outputs()
		}
		bound := make([]value.Value, len(items))
		for i, item := range items {
			var err error
			if bound[i], err = r.bind(parts[i], item); err != nil {
				return value.None, err
			}
		}
		if v.Kind() == value.KindTuple {
			return value.OfTuple(value.NewTuple(bound...)), nil
		}
		return value.OfList(value.NewList(types.Tensor, bound...)), nil
	case value.KindDict:
		return r.bindDict(in, v.Dict())
	}
	return value.None, source.Errorf(source.RuntimeError, source.Range{},
		"Type '%s' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced", value.TypeOf(v).Annotation(nil))
}

// bindDict is bind of a dictionary from strings to tensors.
func (r *Recorder) bindDict(in *ir.Value, d *value.Dict) (value.Value, error) {
	bound := value.NewDict(types.Str, types.Tensor)
	in.SetType(types.NewDict(types.Str, types.Tensor))
	for key, item := range d.All {
		if key.Kind() != value.KindString || !item.IsTensor() {
			return value.None, source.Errorf(source.RuntimeError, source.Range{},
				"Dictionaries that are traced go from str to Tensor, not from %s to %s", value.TypeOf(key).Annotation(nil), value.TypeOf(item).Annotation(nil))
		}
		read := r.g.InsertNode(r.g.Create("aten::__getitem__", []*ir.Value{in, r.g.Constant(key, source.Range{})}, 1)).Output()
		own, err := r.bind(read, item)
		if err != nil {
			return value.None, err
		}
		read.SetType(types.Tensor)
		bound.Set(key, own)
	}
	return value.OfDict(bound), nil
}

func itemsOf(v value.Value) []value.Value {
	if v.Kind() == value.KindTuple {
		return v.Tuple().Items
	}
	return v.List().Items
}

// TypeOf returns the type of a tensor with all that is known of it.
func TypeOf(t *tensor.Tensor) types.Type { return value.CompleteType(t) }

// Record adds the call of an operator that has run.
func (r *Recorder) Record(o *ops.Operator, args, out []value.Value) {
	inputs := make([]*ir.Value, len(args))
	for i, a := range args {
		inputs[i] = r.valueOf(a)
	}
	n := r.g.InsertNode(r.g.Create(o.BaseName(), inputs, 0))
	for i := range o.Schema().Returns {
		v := n.AddOutput().SetType(o.Schema().Returns[i].Type)
		if i < len(out) {
			r.result(v, out[i])
		}
	}
}

// Call adds the call of a compiled function or method that has run. It fails on a method of a
// module that is not part of the traced one.
func (r *Recorder) Call(f *ir.Function, args []value.Value, out value.Value) error {
	inputs := make([]*ir.Value, 0, len(args)+1)
	kind := "prim::CallMethod"
	if !f.IsMethod {
		kind = "prim::CallFunction"
		constant := r.g.InsertNode(r.g.Create("prim::Constant", nil, 1)).SetAttr("name", f.ShortName())
		inputs = append(inputs, constant.Output().SetType(&types.Function{Name: f.ShortName(), Target: f}))
	} else if r.module(args[0].Object()) == nil {
		return source.Errorf(source.RuntimeError, source.Range{},
			"The traced function calls the compiled module %s, which is not part of the traced module: trace a module that holds it", args[0].Object().Class.Name)
	}
	for _, a := range args {
		inputs = append(inputs, r.valueOf(a))
	}
	n := r.g.InsertNode(r.g.Create(kind, inputs, 1))
	if f.IsMethod {
		n.SetAttr("name", f.ShortName())
	}
	r.result(n.Output().SetType(f.Schema.Returns[0].Type), out)
	return nil
}

// result makes v the value of the tensors in x.
func (r *Recorder) result(v *ir.Value, x value.Value) {
	switch x.Kind() {
	case value.KindTensor:
		v.SetType(TypeOf(x.Tensor()))
		r.values[x.Tensor()] = v
	case value.KindTuple:
		if t, ok := v.Type().(*types.Tuple); ok && len(t.Elems) == len(x.Tuple().Items) {
			for i, part := range r.g.InsertNode(r.g.CreateTupleUnpack(v)).Outputs() {
				r.result(part, x.Tuple().Items[i])
			}
		}
	case value.KindList:
		items := x.List().Items
		if len(items) > 0 && items[0].IsTensor() {
			for i, part := range r.g.InsertNode(r.g.CreateListUnpack(v, len(items))).Outputs() {
				r.result(part, items[i])
			}
		}
	}
}

// valueOf returns the value of the graph that x is: what made it, or a constant.
func (r *Recorder) valueOf(x value.Value) *ir.Value {
	switch x.Kind() {
	case value.KindTensor:
		return r.tensor(x.Tensor())
	case value.KindList:
		items := make([]*ir.Value, len(x.List().Items))
		for i, item := range x.List().Items {
			items[i] = r.valueOf(item)
		}
		return r.g.InsertNode(r.g.CreateList(types.Unshaped(x.List().Elem), items)).Output()
	case value.KindTuple:
		items := make([]*ir.Value, len(x.Tuple().Items))
		for i, item := range x.Tuple().Items {
			items[i] = r.valueOf(item)
		}
		return r.g.InsertNode(r.g.CreateTuple(items, nil)).Output()
	case value.KindDict:
		var keys, items []*ir.Value
		for key, item := range x.Dict().All {
			keys, items = append(keys, r.g.Constant(key, source.Range{})), append(items, r.valueOf(item))
		}
		return r.g.InsertNode(r.g.CreateDict(types.Str, types.Unshaped(items[0].Type()), keys, items)).Output()
	case value.KindObject:
		if v := r.module(x.Object()); v != nil {
			return v
		}
	}
	return r.g.Constant(x, source.Range{})
}

func (r *Recorder) tensor(t *tensor.Tensor) *ir.Value {
	if v := r.values[t]; v != nil {
		return v
	}
	if s, ok := r.slots[t]; ok {
		v := r.attribute(s)
		v.SetType(types.Tensor)
		r.values[t] = v
		return v
	}
	v := r.g.Constant(value.OfTensor(t), source.Range{})
	r.values[t] = v
	return v
}

// attribute reads a slot of the traced module or of a module in it.
func (r *Recorder) attribute(s slot) *ir.Value {
	return r.g.InsertNode(r.g.CreateGetAttr(r.module(s.object), s.name)).Output()
}

// module returns the traced module or one in it, nil for another.
func (r *Recorder) module(o *value.Object) *ir.Value {
	if v := r.object[o]; v != nil {
		return v
	}
	s, ok := r.inside[o]
	if !ok {
		return nil
	}
	v := r.attribute(s)
	r.object[o] = v
	return v
}

// Finish ends the trace with its result and returns the function. It fails on a result that
// is not made of tensors.
func (r *Recorder) Finish(name string, result value.Value) (*ir.Function, error) {
	if err := checkResult(result); err != nil {
		return nil, err
	}
	out := r.valueOf(result)
	r.g.AddOutput(out)
	passes.LowerSimpleTuples(r.g)
	passes.NormalizeOps(r.g)
	t := types.Unshaped(out.Type())
	s := &schema.FunctionSchema{Name: name[strings.LastIndexByte(name, '.')+1:], Arguments: r.args, Returns: []schema.Argument{{Type: t, RealType: t, ListSize: -1}}}
	return ir.NewFunction(name, s, r.g), nil
}

func checkResult(v value.Value) error {
	switch v.Kind() {
	case value.KindTensor:
		return nil
	case value.KindTuple, value.KindList:
		for _, item := range itemsOf(v) {
			if err := checkResult(item); err != nil {
				return err
			}
		}
		return nil
	case value.KindDict:
		return checkDict(v)
	}
	return source.Errorf(source.RuntimeError, source.Range{},
		"Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions, but instead got value of type %s", value.TypeOf(v).Annotation(nil))
}

func checkDict(v value.Value) error {
	if v.Dict().Len() == 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "An empty dictionary cannot be the output of a traced function: the type of its values is not known")
	}
	var first types.Type
	for key, item := range v.Dict().All {
		if key.Kind() != value.KindString {
			return source.Errorf(source.RuntimeError, source.Range{},
				"output %v of traced region cannot be understood by the tracer: the keys of a dictionary must be strings, not %s", v, value.TypeOf(key).Annotation(nil))
		}
		if err := checkResult(item); err != nil {
			return err
		}
		switch t := types.Unshaped(value.TypeOf(item)); {
		case first == nil:
			first = t
		case !types.Equal(first, t):
			return source.Errorf(source.RuntimeError, source.Range{},
				"The values of a dictionary that a traced function returns must have one type, not %s and %s", first.Annotation(nil), t.Annotation(nil))
		}
	}
	return nil
}
