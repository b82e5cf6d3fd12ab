package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Input adds an input and returns what the program is to be called with: tensors of their own that
// share the memory of those in v. name may be "". It fails on what is not made of tensors.
func (r *Recorder) Input(name string, v value.Value) (value.Value, error) {
	if err := CheckInputs(v); err != nil {
		return value.None, err
	}
	in := r.g.AddInput(name)
	return r.bind(in, v, true)
}

// CheckInputs fails where v is not made of tensors.
func CheckInputs(v value.Value) error {
	if t := types.Unshaped(value.TypeOf(v)); !traceable(t) {
		return source.Errorf(source.RuntimeError, source.Range{},
			"Type '%s' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced", t.Annotation(nil))
	}
	return nil
}

// traceable reports whether values of a type are made of tensors.
func traceable(t types.Type) bool {
	switch t := t.(type) {
	case *types.List:
		return traceable(t.Elem)
	case *types.Tuple:
		for _, e := range t.Elems {
			if !traceable(e) {
				return false
			}
		}
		return true
	case *types.Dict:
		return traceable(t.Value) && (t.Key.Kind() == types.KindString || t.Key.Kind() == types.KindInt || traceable(t.Key))
	}
	return t.Kind() == types.KindTensor
}

// bind gives a value of the graph the type of v, with what is known of its tensors where it is to have shapes, and its tensors values of the graph.
func (r *Recorder) bind(in *ir.Value, v value.Value, shaped bool) (value.Value, error) {
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor().Detach()
		if v.Tensor().RequiresGrad() {
			if err := t.SetRequiresGrad(true); err != nil {
				return value.None, err
			}
		}
		in.SetType(known(TypeOf(t), shaped))
		if first := r.given[v.Tensor()]; first != nil {
			r.viewAgain(first)
		} else {
			r.given[v.Tensor()] = t
		}
		r.values[t] = in
		return value.OfTensor(t), nil
	case value.KindTuple:
		in.SetType(known(shapedType(v), shaped))
		bound, err := r.bindItems(r.g.InsertNode(r.g.CreateTupleUnpack(in)), v.Tuple().Items, shaped)
		return value.OfTuple(value.NewTuple(bound...)), err
	case value.KindList:
		in.SetType(types.Unshaped(value.TypeOf(v)))
		unpack := r.g.InsertNode(r.g.CreateListUnpack(in, len(v.List().Items)))
		bound, err := r.bindItems(unpack, v.List().Items, false)
		return value.OfList(value.NewList(types.Unshaped(v.List().Elem), bound...)), err
	}
	return r.bindDict(in, v.Dict())
}

// known is a type, without what it says of tensors unless they are to have shapes.
func known(t types.Type, shaped bool) types.Type {
	if shaped {
		return t
	}
	return types.Unshaped(t)
}

// shapedType is the type of a value with all that is known of the tensors in its tuples.
func shapedType(v value.Value) types.Type {
	switch v.Kind() {
	case value.KindTensor:
		return TypeOf(v.Tensor())
	case value.KindTuple:
		elems := make([]types.Type, len(v.Tuple().Items))
		for i, item := range v.Tuple().Items {
			elems[i] = shapedType(item)
		}
		return types.NewTuple(elems...)
	}
	return types.Unshaped(value.TypeOf(v))
}

func (r *Recorder) bindItems(unpack *ir.Node, items []value.Value, shaped bool) ([]value.Value, error) {
	bound := make([]value.Value, len(items))
	for i, item := range items {
		var err error
		if bound[i], err = r.bind(unpack.Outputs()[i], item, shaped); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// bindDict is bind of a dictionary: each of its items is read.
func (r *Recorder) bindDict(in *ir.Value, d *value.Dict) (value.Value, error) {
	t := types.Unshaped(d.Elem)
	in.SetType(types.NewDict(types.Unshaped(d.Key), t))
	bound := value.NewDict(d.Key, d.Elem)
	for key, item := range d.All {
		read := r.g.InsertNode(r.g.Create(aten.Getitem, []*ir.Value{in, r.g.Constant(key, source.Range{})}, 1)).Output()
		own, err := r.bind(read, item, false)
		if err != nil {
			return value.None, err
		}
		read.SetType(t)
		bound.Set(key, own)
	}
	return value.OfDict(bound), nil
}

// Finish ends the trace with its result and returns the function. It fails on a result that
// is not made of tensors, and on tensors in it that no recorded operator has made.
func (r *Recorder) Finish(name string, result value.Value) (*ir.Function, error) {
	if err := checkResult(result); err != nil {
		return nil, err
	}
	out, err := r.output(result, 0)
	if err != nil {
		return nil, err
	}
	r.g.AddOutput(out)
	if r.self != nil {
		r.makeMethods()
	} else {
		r.inlineScopes()
	}
	passes.LowerSimpleTuples(r.g)
	dropDeadWrites(r.g)
	passes.NormalizeOps(r.g)
	return ir.NewFunction(name, schemaOf(name, r.g), r.g), nil
}

// output returns the value of a result, which must be known.
func (r *Recorder) output(x value.Value, i int) (*ir.Value, error) {
	switch x.Kind() {
	case value.KindTensor:
		if v := r.values[x.Tensor()]; v != nil {
			return v, nil
		}
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"output %d (%s) of traced region did not have observable data dependence with trace inputs; this probably indicates your program cannot be understood by the tracer.", i+1, x.Tensor().CppString())
	case value.KindDict:
		var keys, items []*ir.Value
		for key, item := range x.Dict().All {
			k, err := r.outputKey(key)
			if err != nil {
				return nil, err
			}
			keys = append(keys, k)
			v, err := r.output(item, i)
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		return r.g.InsertNode(r.g.CreateDict(types.Unshaped(x.Dict().Key), types.Unshaped(items[0].Type()), keys, items)).Output(), nil
	}
	given := itemsOf(x)
	items := make([]*ir.Value, len(given))
	for k, item := range given {
		var err error
		if items[k], err = r.output(item, i); err != nil {
			return nil, err
		}
	}
	if x.Kind() == value.KindTuple {
		return r.g.InsertNode(r.g.CreateTuple(items, nil)).Output(), nil
	}
	return r.g.InsertNode(r.g.CreateList(types.Unshaped(x.List().Elem), items)).Output(), nil
}

// outputKey returns the value of a key of a dictionary that is a result.
func (r *Recorder) outputKey(key value.Value) (*ir.Value, error) {
	if key.IsTensor() {
		return r.output(key, 0)
	}
	return r.g.Constant(key, source.Range{}), nil
}

func itemsOf(v value.Value) []value.Value {
	if v.Kind() == value.KindTuple {
		return v.Tuple().Items
	}
	return v.List().Items
}

// schemaOf returns the schema of a recorded graph.
func schemaOf(name string, g *ir.Graph) *schema.FunctionSchema {
	s := &schema.FunctionSchema{Name: name[strings.LastIndexByte(name, '.')+1:]}
	for i, in := range g.Inputs() {
		argument := "argument_" + strconv.Itoa(i)
		if in.HasName() {
			argument = in.BaseName()
		}
		t := types.Unshaped(in.Type())
		s.Arguments = append(s.Arguments, schema.Argument{Name: argument, Type: t, RealType: t, ListSize: -1})
	}
	for _, out := range g.Outputs() {
		t := types.Unshaped(out.Type())
		s.Returns = append(s.Returns, schema.Argument{Type: t, RealType: t, ListSize: -1})
	}
	return s
}

func checkResult(v value.Value) error {
	switch v.Kind() {
	case value.KindTensor:
		return nil
	case value.KindNone:
		return source.Errorf(source.RuntimeError, source.Range{},
			"The traced function didn't return any values! Side-effects are not captured in traces, so it would be a no-op.")
	case value.KindTuple, value.KindList:
		for _, item := range itemsOf(v) {
			if item.IsNone() || v.Kind() == value.KindList && !item.IsTensor() {
				return cannotReturn()
			}
			if err := checkResult(item); err != nil {
				return err
			}
		}
		return nil
	case value.KindDict:
		return checkDict(v)
	}
	return cannotReturn()
}

func cannotReturn() error {
	return source.Errorf(source.RuntimeError, source.Range{},
		"Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions")
}

// isItem reports whether a value may be in a dictionary that a traced function returns.
func isItem(v value.Value) bool {
	return v.IsTensor() || v.Kind() == value.KindTuple && !slices.ContainsFunc(v.Tuple().Items, func(x value.Value) bool { return !x.IsTensor() })
}

func checkDict(v value.Value) error {
	if v.Dict().Len() == 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "An empty dictionary cannot be the output of a traced function: the type of its values is not known")
	}
	var first types.Type
	for key, item := range v.Dict().All {
		if key.Kind() != value.KindString && !key.IsTensor() || !isItem(item) {
			return source.Errorf(source.RuntimeError, source.Range{},
				"output 1 (%s) of traced region cannot be understood by the tracer, only outputs matching"+
					"dict[Union[str, Tensor], Union[Tensor, Tuple[Tensor, ...]]] can be a dictionary output of a traced function", prim.Display(v))
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
