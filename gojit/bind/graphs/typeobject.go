package graphs

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// typeMembers are the methods of types. The classes' constructors are called __make.
var typeMembers = []abi.Function{
	{Schema: "_C.type_classes() -> list", Doc: "The number of the handle class and the name of each class of types.", Run: typeClasses},
	{Schema: "_C.simple_type(str name) -> Type", Doc: "The type without parts that graphs print as name.", Run: abi.Bind(simpleType)},
	{Schema: "_C._program_type(str text) -> Type", Doc: "The type of a text in the form of schemas, with the classes of the program.", Run: abi.Bind(abi.ParseType)},
	{Schema: "Type.str(Type self) -> str", Doc: "The form in graphs and schemas.", Run: abi.Bind(typeText)},
	{Schema: "Type.annotation_str(Type self) -> str", Doc: "The form in Python source.", Property: true, Run: abi.Bind(annotationOf)},
	{Schema: "Type.__repr__(Type self) -> str", Doc: "The form in Python source.", Run: abi.Bind(annotationOf)},
	{Schema: "Type.kind(Type self) -> str", Doc: "The name of the type's class.", Run: abi.Bind(func(t types.Type) string { return abi.TypeKinds[t.Kind()] })},
	{Schema: "Type.containedTypes(Type self) -> list", Doc: "The types that the type is made of.", Run: abi.Bind(containedTypes)},
	{Schema: "Type.equals(Type self, Type other) -> bool", Doc: "Whether two types are the same.", Run: abi.Bind(types.Equal)},
	{Schema: "Type.isSubtypeOf(Type self, Type other) -> bool", Doc: "Whether every value of the type is one of another.", Run: abi.Bind(types.IsSubtype)},
	{Schema: "Type.is_interface_type(Type self) -> bool", Doc: "Whether it is an interface.", Run: abi.Bind(func(t types.Type) bool { return t.Kind() == types.KindInterface })},
	{Schema: "Type.requires_grad(Type self) -> bool", Doc: "Whether a value of the type may need a gradient.", Run: abi.Bind(typeRequiresGrad)},

	{Schema: "Type.dim(Type self) -> int", Doc: "A tensor's number of dimensions, None where it is not known.", Run: abi.Bind(typeDim)},
	{Schema: "Type.sizes(Type self) -> list", Doc: "A tensor's sizes, None where one is not known.", Run: abi.Bind(tensorSizes)},
	{Schema: "Type.strides(Type self) -> list", Doc: "A tensor's strides, None where one is not known.", Run: abi.Bind(tensorStrides)},
	{Schema: "Type.varyingSizes(Type self) -> list", Doc: "A tensor's sizes, with None for those that are not known.", Run: abi.Bind(tensorVaryingSizes)},
	{Schema: "Type.symbolic_sizes(Type self) -> list", Doc: "A tensor's sizes, negative where they are not known.", Run: abi.Bind(tensorSymbolicSizes)},
	{Schema: "Type.scalarType(Type self) -> str", Doc: "The name of a tensor's element type, None where it is not known.", Run: abi.Bind(tensorScalarType)},
	{Schema: "Type.dtype(Type self) -> dtype", Doc: "A tensor's element type, None where it is not known.", Run: abi.Bind(tensorDTypeOf)},
	{Schema: "Type.device(Type self) -> device", Doc: "A tensor's device, None where it is not known.", Run: abi.Bind(tensorDeviceOf)},
	{Schema: "Type.undefined(Type self) -> bool", Doc: "Whether it is the type of a tensor that does not exist.", Run: abi.Bind(func(t types.Type) (bool, error) { _, err := tensorInfo(t); return false, err })},
	{Schema: "Type.contiguous(Type self) -> Type", Doc: "A tensor's type with the strides of a contiguous one.", Run: abi.Bind(contiguousType)},
	{Schema: "Type.with_sizes(Type self, any sizes) -> Type", Doc: "A tensor's type with other sizes; None stands for a new symbol, and a negative number for one that _new_symbolic_shape_symbol gave.", Run: abi.Bind(withSizes)},
	{Schema: "_C._new_symbolic_shape_symbol() -> int", Doc: "A number, negative, for a size that is not known: sizes of one symbol are equal.", Run: abi.Bind(types.NewSymbol)},
	{Schema: "Type.with_dtype(Type self, any dtype) -> Type", Doc: "A tensor's type with another element type, None for one that is not known.", Run: abi.Bind(withDType)},
	{Schema: "Type.with_device(Type self, any device) -> Type", Doc: "A tensor's type with another device, None for one that is not known.", Run: abi.Bind(withDevice)},

	{Schema: "TensorType.get() -> Type", Doc: "The type of tensors of which nothing is known.", Run: abi.Bind(func() types.Type { return types.Tensor })},
	{Schema: "TensorType.getInferred() -> Type", Doc: "The type of a parameter without annotation.", Run: abi.Bind(func() types.Type { return types.InferredTensor })},
	{Schema: "TensorType.create_from_tensor(Tensor t) -> Type", Doc: "The type that says all of a tensor.", Run: abi.Bind(func(t *tensor.Tensor) types.Type { return value.CompleteType(t) })},
	{Schema: "ListType.__make(any elem) -> Type", Doc: "The type of lists of elem.", Run: abi.Bind(newListType)},
	{Schema: "ListType.ofInts() -> Type", Doc: "List[int]", Run: abi.Bind(listTypeOf(types.Int))},
	{Schema: "ListType.ofFloats() -> Type", Doc: "List[float]", Run: abi.Bind(listTypeOf(types.Float))},
	{Schema: "ListType.ofBools() -> Type", Doc: "List[bool]", Run: abi.Bind(listTypeOf(types.Bool))},
	{Schema: "ListType.ofComplexDoubles() -> Type", Doc: "List[complex]", Run: abi.Bind(listTypeOf(types.Complex))},
	{Schema: "ListType.ofStrings() -> Type", Doc: "List[str]", Run: abi.Bind(listTypeOf(types.Str))},
	{Schema: "ListType.ofTensors() -> Type", Doc: "List[Tensor]", Run: abi.Bind(listTypeOf(types.Tensor))},
	{Schema: "ListType.getElementType(ListType self) -> Type", Doc: "The type of the elements.", Run: abi.Bind(firstContained)},
	{Schema: "OptionalType.__make(Type elem) -> Type", Doc: "The type of elem or None.", Run: abi.Bind(types.NewOptional)},
	{Schema: "OptionalType.ofTensor() -> Type", Doc: "Optional[Tensor]", Run: abi.Bind(func() types.Type { return types.NewOptional(types.Tensor) })},
	{Schema: "OptionalType.getElementType(OptionalType self) -> Type", Doc: "The type besides None.", Run: abi.Bind(firstContained)},
	{Schema: "FutureType.__make(Type elem) -> Type", Doc: "The type of futures of elem.", Run: abi.Bind(func(t types.Type) types.Type { return &types.Future{Elem: t} })},
	{Schema: "FutureType.getElementType(FutureType self) -> Type", Doc: "The type of the result.", Run: abi.Bind(firstContained)},
	{Schema: "AwaitType.__make(Type elem) -> Type", Doc: "The type of calls that run when they are waited for.", Run: abi.Bind(func(t types.Type) types.Type { return &types.Future{Elem: t, Lazy: true} })},
	{Schema: "AwaitType.getElementType(AwaitType self) -> Type", Doc: "The type of the result.", Run: abi.Bind(firstContained)},
	{Schema: "RRefType.__make(Type elem) -> Type", Doc: "The type of remote references to elem.", Run: abi.Bind(func(t types.Type) types.Type { return &types.RRef{Elem: t} })},
	{Schema: "RRefType.getElementType(RRefType self) -> Type", Doc: "The type referred to.", Run: abi.Bind(firstContained)},
	{Schema: "DictType.__make(Type key, Type value) -> Type", Doc: "The type of dictionaries from key to value.", Run: abi.Bind(NewDictType)},
	{Schema: "DictType.getKeyType(DictType self) -> Type", Doc: "The type of the keys.", Run: abi.Bind(firstContained)},
	{Schema: "DictType.getValueType(DictType self) -> Type", Doc: "The type of the values.", Run: abi.Bind(func(t types.Type) types.Type { return types.Contained(t)[1] })},
	{Schema: "TupleType.__make(list elements) -> Type", Doc: "The type of tuples of elements.", Run: abi.Bind(func(ts []types.Type) types.Type { return types.NewTuple(ts...) })},
	{Schema: "TupleType.elements(TupleType self) -> list", Doc: "The types of the elements.", Run: abi.Bind(containedTypes)},
	{Schema: "UnionType.__make(list types) -> Type", Doc: "The type of values of any of the types.", Run: abi.Bind(newUnionType)},
	{Schema: "ClassType.__make(str name) -> Type", Doc: "The class of a qualified name in the program.", Run: abi.Bind(classType)},
	{Schema: "ClassType.name(ClassType self) -> str", Doc: "The last part of the name.", Run: abi.Bind(func(t types.Type) string { return LastPart(t.(*types.Class).Name) })},
	{Schema: "ClassType.qualified_name(ClassType self) -> str", Doc: "The name in the program.", Run: abi.Bind(func(t types.Type) string { return t.(*types.Class).Name })},
	{Schema: "ClassType.method_names(ClassType self) -> list", Doc: "The names of the methods.", Run: abi.Bind(func(t types.Type) []string { return t.(*types.Class).MethodNames() })},
	{Schema: "InterfaceType.__make(str name) -> Type", Doc: "The interface of a qualified name in the program.", Run: abi.Bind(interfaceType)},
	{Schema: "InterfaceType.getMethodNames(InterfaceType self) -> list", Doc: "The names of the methods.", Run: abi.Bind(interfaceMethodNames)},
	{Schema: "InterfaceType.getMethod(InterfaceType self, str name) -> FunctionSchema", Doc: "The schema of a method.", Run: abi.Bind(interfaceMethod)},

	{Schema: "_C.unify_type_list(list types) -> Type", Doc: "The smallest type that all of several are subtypes of.", Run: abi.Bind(unifyTypes)},
}

// typeClasses replies the handle class and the Python class of each kind of type.
func typeClasses(c *abi.Call) error {
	c.Open(abi.KindList, len(abi.TypeKinds))
	for k := types.KindAny; k <= types.KindFunction; k++ {
		c.Open(abi.KindTuple, 2)
		c.Int(int(abi.HandleType) + int(k))
		c.String(abi.TypeKinds[k])
	}
	return nil
}

func simpleType(name string) (types.Type, error) {
	t, err := types.Parse(name)
	if err != nil {
		return nil, abi.RuntimeErrorf("%s", err)
	}
	return t, nil
}

func annotationOf(t types.Type) string { return t.Annotation(nil) }

func containedTypes(t types.Type) []types.Type {
	switch t := t.(type) {
	case *types.Optional:
		return []types.Type{t.Elem}
	case *types.Class:
		contained := make([]types.Type, len(t.Attributes))
		for i, a := range t.Attributes {
			contained[i] = a.Type
		}
		return contained
	}
	return types.Contained(t)
}

func firstContained(t types.Type) types.Type { return types.Contained(t)[0] }

func newListType(elem *abi.Word) (types.Type, error) {
	t, ok := elem.Content().(types.Type)
	switch {
	case elem.Kind() == abi.KindNone:
		return nil, abi.RuntimeErrorf("Can not create ListType with None type")
	case !ok:
		return nil, abi.TypeErrorf("ListType(): expected a Type, not a %s", elem.KindName())
	}
	return types.NewList(t), nil
}

func listTypeOf(elem types.Type) func() types.Type {
	return func() types.Type { return types.NewList(elem) }
}

// NewDictType is the type of dictionaries; it fails where no key can be of a type.
func NewDictType(key, item types.Type) (types.Type, error) {
	switch key.Kind() {
	case types.KindString, types.KindInt, types.KindBool, types.KindFloat, types.KindComplex, types.KindTensor, types.KindDevice, types.KindAny:
		return types.NewDict(key, item), nil
	}
	return nil, abi.RuntimeErrorf("Cannot create dict for key type '%s', only int, float, complex, Tensor, device and string keys are supported", key)
}

func newUnionType(ts []types.Type) (types.Type, error) {
	if len(ts) == 0 {
		return nil, abi.RuntimeErrorf("Cannot create an empty Union")
	}
	return types.NewUnion(ts...), nil
}

func classType(name string) (types.Type, error) {
	if t, ok := abi.Program.Type(name).(*types.Class); ok {
		return t, nil
	}
	return nil, abi.TypeErrorf("there is no class '%s' in the program", name)
}

func interfaceType(name string) (types.Type, error) {
	if t, ok := abi.Program.Type(name).(*types.Interface); ok {
		return t, nil
	}
	return nil, abi.TypeErrorf("there is no interface '%s' in the program", name)
}

func interfaceMethodNames(t types.Type) []string {
	var names []string
	for _, m := range t.(*types.Interface).Methods {
		names = append(names, m.Name)
	}
	return names
}

func interfaceMethod(t types.Type, name string) (*schema.FunctionSchema, error) {
	m := t.(*types.Interface).FindMethod(name)
	if m == nil {
		return nil, abi.RuntimeErrorf("the interface has no method '%s'", name)
	}
	return m.Schema.(*schema.FunctionSchema), nil
}

func unifyTypes(ts []types.Type) (types.Type, error) {
	if len(ts) == 0 {
		return nil, abi.RuntimeErrorf("Cannot get unified type from empty list")
	}
	unified := ts[0]
	for i, t := range ts[1:] {
		next := types.Unify(unified, t, false, nil)
		if next == nil {
			return nil, abi.RuntimeErrorf("Could not unify type list since element %d of type %s did not match the types before it (%s)",
				i+1, t.Annotation(nil), unified.Annotation(nil))
		}
		unified = next
	}
	return unified, nil
}

func typeDim(t types.Type) (*int, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	if info.Sizes != nil {
		n := len(info.Sizes)
		return &n, nil
	}
	return info.Dims, nil
}

// known returns numbers none of which is negative, nil where one is.
func known(xs []int) []int {
	for _, x := range xs {
		if x < 0 {
			return nil
		}
	}
	return xs
}

// optionalInts is a list that is None where it is nil.
func optionalInts(xs []int) *[]int {
	if xs == nil {
		return nil
	}
	return &xs
}

func tensorSizes(t types.Type) (*[]int, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	return optionalInts(known(info.Sizes)), nil
}

func tensorStrides(t types.Type) (*[]int, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	return optionalInts(known(info.Strides)), nil
}

func tensorVaryingSizes(t types.Type) (*[]*int, error) {
	sizes, err := tensorSymbolicSizes(t)
	if sizes == nil {
		return nil, err
	}
	var out []*int
	for i := range *sizes {
		if p := &(*sizes)[i]; *p >= 0 {
			out = append(out, p)
		} else {
			out = append(out, nil)
		}
	}
	return &out, nil
}

func tensorSymbolicSizes(t types.Type) (*[]int, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	if info.Sizes == nil && info.Dims != nil {
		sizes := make([]int, *info.Dims)
		for i := range sizes {
			sizes[i] = -1
		}
		return &sizes, nil
	}
	return optionalInts(info.Sizes), nil
}

func tensorScalarType(t types.Type) (*string, error) {
	info, err := tensorInfo(t)
	if err != nil || info.DType == "" {
		return nil, err
	}
	name := info.ScalarTypeName()
	return &name, nil
}

func tensorDTypeOf(t types.Type) (*tensor.DType, error) {
	info, err := tensorInfo(t)
	if err != nil || info.DType == "" {
		return nil, err
	}
	d, ok := tensor.ParseDType(info.DType)
	if !ok {
		return nil, abi.RuntimeErrorf("the element type %s is not known", info.DType)
	}
	return &d, nil
}

func tensorDeviceOf(t types.Type) (*tensor.Device, error) {
	info, err := tensorInfo(t)
	if err != nil || info.Device == "" {
		return nil, err
	}
	d, err := tensor.ParseDevice(info.Device)
	return &d, err
}

func contiguousType(t types.Type) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	if info.Sizes == nil || known(info.Sizes) == nil && len(info.Sizes) > 0 {
		return nil, abi.RuntimeErrorf("the sizes of %s are not known", t)
	}
	changed := *info
	changed.Strides = make([]int, len(info.Sizes))
	stride := 1
	for i := len(info.Sizes) - 1; i >= 0; i-- {
		changed.Strides[i] = stride
		stride *= max(info.Sizes[i], 1)
	}
	return &changed, nil
}

func withSizes(t types.Type, sizes *abi.Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	changed.Sizes, changed.Strides, changed.Dims = nil, nil, nil
	if sizes.Kind() == abi.KindNone {
		return &changed, nil
	}
	if !sizes.IsSequence() {
		return nil, abi.TypeErrorf("with_sizes(): incompatible function arguments: expected a list, not a %s", sizes.KindName())
	}
	changed.Sizes = []int{}
	for x := range sizes.Items {
		switch x.Kind() {
		case abi.KindNone:
			changed.Sizes = append(changed.Sizes, types.NewSymbol())
		case abi.KindInt:
			changed.Sizes = append(changed.Sizes, int(x.Int()))
		default:
			return nil, abi.TypeErrorf("with_sizes(): incompatible function arguments: a size is a %s", x.KindName())
		}
	}
	if len(info.Strides) == len(changed.Sizes) { // as PyTorch's types do, whatever the sizes
		changed.Strides = info.Strides
	}
	return &changed, nil
}

func withDType(t types.Type, dtype *abi.Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	switch {
	case dtype.Kind() == abi.KindNone:
		changed.DType = ""
	case abi.IsToken(dtype, abi.TokenDType):
		changed.DType = tensor.DType(dtype.Bits).String()
	default:
		return nil, abi.TypeErrorf("with_dtype(): incompatible function arguments: expected a dtype, not a %s", dtype.KindName())
	}
	return &changed, nil
}

func withDevice(t types.Type, device *abi.Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	switch {
	case device.Kind() == abi.KindNone:
		changed.Device = ""
	case abi.IsToken(device, abi.TokenDevice):
		changed.Device = abi.DeviceOfCode(device.Int()).String()
	default:
		return nil, abi.TypeErrorf("with_device(): incompatible function arguments: expected a device, not a %s", device.KindName())
	}
	return &changed, nil
}

// typeText is how a type is shown on its own: futures and references have brackets there, which graphs and schemas do not show.
func typeText(t types.Type) string {
	switch t := t.(type) {
	case *types.Future:
		if t.Lazy {
			return "Await(" + typeText(t.Elem) + ")"
		}
		return "Future[" + typeText(t.Elem) + "]"
	case *types.RRef:
		return "RRef[" + typeText(t.Elem) + "]"
	case *types.List:
		return typeText(t.Elem) + "[]"
	case *types.Optional:
		return typeText(t.Elem) + "?"
	}
	return t.String()
}
