package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// typeKinds are the Python classes of types by kind; those that are missing are plain Types.
var typeKinds = map[types.Kind]string{
	types.KindAny: "AnyType", types.KindTensor: "TensorType", types.KindNone: "NoneType", types.KindBool: "BoolType",
	types.KindInt: "IntType", types.KindFloat: "FloatType", types.KindComplex: "ComplexType", types.KindNumber: "NumberType",
	types.KindString: "StringType", types.KindDevice: "DeviceObjType", types.KindGenerator: "GeneratorType",
	types.KindStream: "StreamObjType", types.KindStorage: "StorageType", types.KindScalarType: "ScalarTypeType",
	types.KindLayout: "LayoutType", types.KindMemoryFormat: "MemoryFormatType", types.KindQScheme: "QSchemeType",
	types.KindSymInt: "SymIntType", types.KindCapsule: "CapsuleType", types.KindPyObject: "PyObjectType",
	types.KindQuantizer: "QuantizerType", types.KindAnyList: "AnyListType", types.KindAnyTuple: "AnyTupleType",
	types.KindAnyClass: "AnyClassType", types.KindAnyEnum: "AnyEnumType", types.KindList: "ListType",
	types.KindTuple: "TupleType", types.KindDict: "DictType", types.KindOptional: "OptionalType", types.KindUnion: "UnionType",
	types.KindFuture: "FutureType", types.KindRRef: "RRefType", types.KindVar: "VarType", types.KindClass: "ClassType",
	types.KindInterface: "InterfaceType", types.KindEnum: "EnumType", types.KindFunction: "FunctionType",
}

// typeMembers are the methods of types. The classes' constructors are called __make.
var typeMembers = []function{
	{schema: "_C.type_classes() -> list", doc: "The number of the handle class and the name of each class of types.", run: typeClasses},
	{schema: "_C.simple_type(str name) -> Type", doc: "The type without parts that graphs print as name.", run: bind(simpleType)},
	{schema: "_C._program_type(str text) -> Type", doc: "The type of a text in the form of schemas, with the classes of the program.", run: bind(parseType)},
	{schema: "Type.str(Type self) -> str", doc: "The form in graphs and schemas.", run: bind(typeText)},
	{schema: "Type.annotation_str(Type self) -> str", doc: "The form in Python source.", property: true, run: bind(annotationOf)},
	{schema: "Type.__repr__(Type self) -> str", doc: "The form in Python source.", run: bind(annotationOf)},
	{schema: "Type.kind(Type self) -> str", doc: "The name of the type's class.", run: bind(func(t types.Type) string { return typeKinds[t.Kind()] })},
	{schema: "Type.containedTypes(Type self) -> list", doc: "The types that the type is made of.", run: bind(containedTypes)},
	{schema: "Type.equals(Type self, Type other) -> bool", doc: "Whether two types are the same.", run: bind(types.Equal)},
	{schema: "Type.isSubtypeOf(Type self, Type other) -> bool", doc: "Whether every value of the type is one of another.", run: bind(types.IsSubtype)},
	{schema: "Type.is_interface_type(Type self) -> bool", doc: "Whether it is an interface.", run: bind(func(t types.Type) bool { return t.Kind() == types.KindInterface })},
	{schema: "Type.requires_grad(Type self) -> bool", doc: "Whether a value of the type may need a gradient.", run: bind(typeRequiresGrad)},

	{schema: "Type.dim(Type self) -> int", doc: "A tensor's number of dimensions, None where it is not known.", run: bind(typeDim)},
	{schema: "Type.sizes(Type self) -> list", doc: "A tensor's sizes, None where one is not known.", run: bind(tensorSizes)},
	{schema: "Type.strides(Type self) -> list", doc: "A tensor's strides, None where one is not known.", run: bind(tensorStrides)},
	{schema: "Type.varyingSizes(Type self) -> list", doc: "A tensor's sizes, with None for those that are not known.", run: bind(tensorVaryingSizes)},
	{schema: "Type.symbolic_sizes(Type self) -> list", doc: "A tensor's sizes, negative where they are not known.", run: bind(tensorSymbolicSizes)},
	{schema: "Type.scalarType(Type self) -> str", doc: "The name of a tensor's element type, None where it is not known.", run: bind(tensorScalarType)},
	{schema: "Type.dtype(Type self) -> dtype", doc: "A tensor's element type, None where it is not known.", run: bind(tensorDTypeOf)},
	{schema: "Type.device(Type self) -> device", doc: "A tensor's device, None where it is not known.", run: bind(tensorDeviceOf)},
	{schema: "Type.undefined(Type self) -> bool", doc: "Whether it is the type of a tensor that does not exist.", run: bind(func(t types.Type) (bool, error) { _, err := tensorInfo(t); return false, err })},
	{schema: "Type.contiguous(Type self) -> Type", doc: "A tensor's type with the strides of a contiguous one.", run: bind(contiguousType)},
	{schema: "Type.with_sizes(Type self, any sizes) -> Type", doc: "A tensor's type with other sizes; None stands for a new symbol, and a negative number for one that _new_symbolic_shape_symbol gave.", run: bind(withSizes)},
	{schema: "_C._new_symbolic_shape_symbol() -> int", doc: "A number, negative, for a size that is not known: sizes of one symbol are equal.", run: bind(types.NewSymbol)},
	{schema: "Type.with_dtype(Type self, any dtype) -> Type", doc: "A tensor's type with another element type, None for one that is not known.", run: bind(withDType)},
	{schema: "Type.with_device(Type self, any device) -> Type", doc: "A tensor's type with another device, None for one that is not known.", run: bind(withDevice)},

	{schema: "TensorType.get() -> Type", doc: "The type of tensors of which nothing is known.", run: bind(func() types.Type { return types.Tensor })},
	{schema: "TensorType.getInferred() -> Type", doc: "The type of a parameter without annotation.", run: bind(func() types.Type { return types.InferredTensor })},
	{schema: "TensorType.create_from_tensor(Tensor t) -> Type", doc: "The type that says all of a tensor.", run: bind(func(t *tensor.Tensor) types.Type { return value.CompleteType(t) })},
	{schema: "ListType.__make(Type elem) -> Type", doc: "The type of lists of elem.", run: bind(func(t types.Type) types.Type { return types.NewList(t) })},
	{schema: "ListType.ofInts() -> Type", doc: "List[int]", run: bind(listTypeOf(types.Int))},
	{schema: "ListType.ofFloats() -> Type", doc: "List[float]", run: bind(listTypeOf(types.Float))},
	{schema: "ListType.ofBools() -> Type", doc: "List[bool]", run: bind(listTypeOf(types.Bool))},
	{schema: "ListType.ofComplexDoubles() -> Type", doc: "List[complex]", run: bind(listTypeOf(types.Complex))},
	{schema: "ListType.ofTensors() -> Type", doc: "List[Tensor]", run: bind(listTypeOf(types.Tensor))},
	{schema: "ListType.getElementType(ListType self) -> Type", doc: "The type of the elements.", run: bind(firstContained)},
	{schema: "OptionalType.__make(Type elem) -> Type", doc: "The type of elem or None.", run: bind(types.NewOptional)},
	{schema: "OptionalType.ofTensor() -> Type", doc: "Optional[Tensor]", run: bind(func() types.Type { return types.NewOptional(types.Tensor) })},
	{schema: "OptionalType.getElementType(OptionalType self) -> Type", doc: "The type besides None.", run: bind(firstContained)},
	{schema: "FutureType.__make(Type elem) -> Type", doc: "The type of futures of elem.", run: bind(func(t types.Type) types.Type { return &types.Future{Elem: t} })},
	{schema: "FutureType.getElementType(FutureType self) -> Type", doc: "The type of the result.", run: bind(firstContained)},
	{schema: "RRefType.__make(Type elem) -> Type", doc: "The type of remote references to elem.", run: bind(func(t types.Type) types.Type { return &types.RRef{Elem: t} })},
	{schema: "RRefType.getElementType(RRefType self) -> Type", doc: "The type referred to.", run: bind(firstContained)},
	{schema: "DictType.__make(Type key, Type value) -> Type", doc: "The type of dictionaries from key to value.", run: bind(newDictType)},
	{schema: "DictType.getKeyType(DictType self) -> Type", doc: "The type of the keys.", run: bind(firstContained)},
	{schema: "DictType.getValueType(DictType self) -> Type", doc: "The type of the values.", run: bind(func(t types.Type) types.Type { return types.Contained(t)[1] })},
	{schema: "TupleType.__make(list elements) -> Type", doc: "The type of tuples of elements.", run: bind(func(ts []types.Type) types.Type { return types.NewTuple(ts...) })},
	{schema: "TupleType.elements(TupleType self) -> list", doc: "The types of the elements.", run: bind(containedTypes)},
	{schema: "UnionType.__make(list types) -> Type", doc: "The type of values of any of the types.", run: bind(newUnionType)},
	{schema: "ClassType.__make(str name) -> Type", doc: "The class of a qualified name in the program.", run: bind(classType)},
	{schema: "ClassType.name(ClassType self) -> str", doc: "The last part of the name.", run: bind(func(t types.Type) string { return lastPart(t.(*types.Class).Name) })},
	{schema: "ClassType.qualified_name(ClassType self) -> str", doc: "The name in the program.", run: bind(func(t types.Type) string { return t.(*types.Class).Name })},
	{schema: "InterfaceType.__make(str name) -> Type", doc: "The interface of a qualified name in the program.", run: bind(interfaceType)},
	{schema: "InterfaceType.getMethodNames(InterfaceType self) -> list", doc: "The names of the methods.", run: bind(interfaceMethodNames)},
	{schema: "InterfaceType.getMethod(InterfaceType self, str name) -> FunctionSchema", doc: "The schema of a method.", run: bind(interfaceMethod)},

	{schema: "_C.unify_type_list(list types) -> Type", doc: "The smallest type that all of several are subtypes of.", run: bind(unifyTypes)},
}

// typeClasses replies the handle class and the Python class of each kind of type.
func typeClasses(c *call) error {
	c.open(kindList, len(typeKinds))
	for k := types.KindAny; k <= types.KindFunction; k++ {
		c.open(kindTuple, 2)
		c.int(int(handleType) + int(k))
		c.string(typeKinds[k])
	}
	return nil
}

func simpleType(name string) (types.Type, error) {
	t, err := types.Parse(name)
	if err != nil {
		return nil, runtimeErrorf("%s", err)
	}
	return t, nil
}

func annotationOf(t types.Type) string { return t.Annotation(nil) }

func containedTypes(t types.Type) []types.Type {
	if o, ok := t.(*types.Optional); ok {
		return []types.Type{o.Elem}
	}
	return types.Contained(t)
}

func firstContained(t types.Type) types.Type { return types.Contained(t)[0] }

func listTypeOf(elem types.Type) func() types.Type {
	return func() types.Type { return types.NewList(elem) }
}

func newDictType(key, item types.Type) (types.Type, error) {
	switch key.Kind() {
	case types.KindString, types.KindInt, types.KindBool, types.KindFloat, types.KindComplex, types.KindTensor, types.KindDevice, types.KindAny:
		return types.NewDict(key, item), nil
	}
	return nil, runtimeErrorf("Cannot create dict for key type '%s', only int, float, complex, Tensor, device and string keys are supported", key)
}

func newUnionType(ts []types.Type) (types.Type, error) {
	if len(ts) == 0 {
		return nil, runtimeErrorf("Cannot create an empty Union")
	}
	return types.NewUnion(ts...), nil
}

func classType(name string) (types.Type, error) {
	if t, ok := program.Type(name).(*types.Class); ok {
		return t, nil
	}
	return nil, typeErrorf("there is no class '%s' in the program", name)
}

func interfaceType(name string) (types.Type, error) {
	if t, ok := program.Type(name).(*types.Interface); ok {
		return t, nil
	}
	return nil, typeErrorf("there is no interface '%s' in the program", name)
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
		return nil, runtimeErrorf("the interface has no method '%s'", name)
	}
	return m.Schema.(*schema.FunctionSchema), nil
}

func unifyTypes(ts []types.Type) (types.Type, error) {
	if len(ts) == 0 {
		return nil, runtimeErrorf("Cannot get unified type from empty list")
	}
	unified := ts[0]
	for i, t := range ts[1:] {
		next := types.Unify(unified, t, false, nil)
		if next == nil {
			return nil, runtimeErrorf("Could not unify type list since element %d of type %s did not match the types before it (%s)",
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
		return nil, runtimeErrorf("the element type %s is not known", info.DType)
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
		return nil, runtimeErrorf("the sizes of %s are not known", t)
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

func withSizes(t types.Type, sizes *Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	changed.Sizes, changed.Strides, changed.Dims = nil, nil, nil
	if sizes.kind() == kindNone {
		return &changed, nil
	}
	if !sizes.isSequence() {
		return nil, typeErrorf("with_sizes(): incompatible function arguments: expected a list, not a %s", sizes.kindName())
	}
	changed.Sizes = []int{}
	for x := range sizes.items {
		switch x.kind() {
		case kindNone:
			changed.Sizes = append(changed.Sizes, types.NewSymbol())
		case kindInt:
			changed.Sizes = append(changed.Sizes, int(x.int()))
		default:
			return nil, typeErrorf("with_sizes(): incompatible function arguments: a size is a %s", x.kindName())
		}
	}
	return &changed, nil
}

func withDType(t types.Type, dtype *Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	switch {
	case dtype.kind() == kindNone:
		changed.DType = ""
	case isToken(dtype, tokenDType):
		changed.DType = tensor.DType(dtype.bits).String()
	default:
		return nil, typeErrorf("with_dtype(): incompatible function arguments: expected a dtype, not a %s", dtype.kindName())
	}
	return &changed, nil
}

func withDevice(t types.Type, device *Word) (types.Type, error) {
	info, err := tensorInfo(t)
	if err != nil {
		return nil, err
	}
	changed := *info
	switch {
	case device.kind() == kindNone:
		changed.Device = ""
	case isToken(device, tokenDevice):
		changed.Device = deviceOfCode(device.int()).String()
	default:
		return nil, typeErrorf("with_device(): incompatible function arguments: expected a device, not a %s", device.kindName())
	}
	return &changed, nil
}

// typeText is how a type is shown on its own: futures and references have brackets there, which graphs and schemas do not show.
func typeText(t types.Type) string {
	switch t := t.(type) {
	case *types.Future:
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
