"""torch._C: graphs and what they are made of, types, schemas, and the passes over graphs.

The classes are made from the members that the library registers (`_native.members()`): a member
called `Graph.addInput` becomes a method of Graph, one of the class `_C` a function of this module.
"""

from __future__ import annotations

import enum
import importlib as _importlib
import numbers
from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _executor_settings, _graph_results, _lazy, _native, _other_names, _quantization_passes, _upgraders

# The numbers of the handle classes (see gojit/bind/abi/slots.go); _C.type_classes tells those of types.
_HANDLE_CLASSES = {
    "Graph": 3, "Node": 9, "Value": 10, "Block": 11, "Use": 12, "FunctionSchema": 13, "Argument": 14, "_AliasInfo": 15,
    "AliasDb": 16, "ScriptList": 17, "ScriptDict": 18, "TracingState": 20,
}  # fmt: skip


class Graph(_native.Handle):
    """A function body: nodes in blocks over values."""

    def __new__(cls) -> Graph:
        return _new_graph()

    # Whether the text of a graph has the places in the source.
    global_print_source_ranges = True

    @classmethod
    def set_global_print_source_ranges(cls, enabled: bool = True) -> None:
        """Has the texts of all graphs show the places in the source, or not."""
        cls.global_print_source_ranges = bool(enabled)

    def __repr__(self) -> str:
        return self.str(self.global_print_source_ranges)

    def op(self, opname: str, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """Inserts a node of any kind, onnx:: where none is said: `g.op("Add", x, y, alpha_f=1.0)`.

        An argument that is no Value becomes a constant. An attribute's name ends with the letter of its kind.
        """
        kind = opname if "::" in opname else "onnx::" + opname
        args = [a if isinstance(a, Value) else self.insertConstant(a) for a in raw_args if a is not None]
        node = self.insertNode(self.create(kind, args, outputs))
        _set_attributes(node, kwargs)
        return node.output() if outputs == 1 else tuple(node.outputs())

    def at(self, operator: str, *args: Any, overload_name: str = "", **kwargs: Any) -> Any:
        """Inserts an aten::ATen node, which stands for an operator where a graph becomes ONNX."""
        return self.op("aten::ATen", *args, operator_s=operator, overload_name_s=overload_name, **kwargs)

    def constant(self, value: Any, dims: Any, type_: str, *args: Any, **kwargs: Any) -> Any:
        """Inserts an onnx::Constant: a tensor of a shape whose elements are all value, without dimensions where dims is None, 0 or [0].

        type_ is one of char, short, int, long, half, float and double. Raises AssertionError for a value that is no number and
        ValueError for another type.
        """
        import torchjit

        assert isinstance(value, numbers.Number), f"{value!r} is not a number"
        dtype = _CONSTANT_TYPES.get(type_.lower())
        if dtype is None:
            raise ValueError("Unknown type, type should be one of the following strings: " + ", ".join(_CONSTANT_TYPES))
        shape = [] if dims is None or dims == 0 or set(dims) == {0} else dims
        tensor = torchjit.full(shape, value, dtype=getattr(torchjit, dtype))
        made = self.op("Constant", *args, value_t=tensor, **kwargs)
        any_tensor = globals()["TensorType"].get()  # classes of types are made when the module is loaded
        kind = any_tensor.with_dtype(tensor.dtype).with_device(tensor.device).with_sizes(shape)
        return made.setType(kind.contiguous() if shape else kind)

    def insert_point_guard(self, at: Any) -> Any:
        """A context manager that moves the insertion point before a node, or to the end of a block, and back."""
        return _InsertPoint(self, at)


# What Graph.constant calls the types of elements.
_CONSTANT_TYPES = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "half": "float16", "float": "float32", "double": "float64",
}  # fmt: skip


def _set_attributes(node: Any, attributes: dict[str, Any]) -> None:
    """Sets attributes of a node in the order of their names, each of which ends with the letter of its kind."""
    for key, value in sorted(attributes.items()):
        name, _, letter = key.rpartition("_")
        if isinstance(value, (list, tuple)) and letter in "ifst":
            letter += "s"
        getattr(node, letter + "_")(name, value)


ScriptFunction = _native.ScriptFunction
ScriptMethod = _native.ScriptMethod


class ConstMap:
    """What the source of a compiled function calls CONSTANTS: its attributes are c0, c1 and so on."""

    def __init__(self, const_mapping: dict[str, Any]) -> None:
        self.const_mapping = const_mapping

    def __getattr__(self, attr: str) -> Any:
        return self.const_mapping[attr]


def _code_with_constants(self: Any) -> tuple[str, ConstMap]:
    code, constants = self._code_and_constants()
    return code, ConstMap({f"c{i}": value for i, value in enumerate(constants)})


class _InsertPoint:
    """A context in which a graph's insertion point is elsewhere."""

    __module__ = "torchjit.jit._ir_utils"

    def __init__(self, insert_point_graph: Any, insert_point: Any) -> None:
        self.g, self.insert_point = insert_point_graph, insert_point

    def __enter__(self) -> None:
        self.prev_insert_point = self.g.insertPoint()
        self.g.setInsertPoint(self.insert_point)

    def __exit__(self, *exception: object) -> None:
        self.g.setInsertPoint(self.prev_insert_point)


class Node(_native.Handle):
    """An operator applied to values; it may hold attributes and blocks."""

    def __getitem__(self, name: str) -> Any:
        """An attribute of any kind."""
        return getattr(self, self.kindOf(name))(name)


class Value(_native.Handle):
    """What a node defines or a block takes."""


class Block(_native.Handle):
    """A list of nodes with parameters and results."""

    def op(self, opname: str, *args: Any, **kwargs: Any) -> Any:
        """Adds a node of any kind, onnx:: where none is said, at the end. An attribute's name ends with the letter of its kind."""
        node = self.addNode(opname if "::" in opname else "onnx::" + opname, list(args))
        _set_attributes(node, kwargs)
        outputs = tuple(node.outputs())
        return outputs[0] if len(outputs) == 1 else outputs


class Use(_native.Handle):
    """One place where a value is an input."""


class FunctionSchema(_native.Handle):
    """The signature of a function or operator."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Argument(_native.Handle):
    """An argument or a return of a schema."""


class _AliasInfo(_native.Handle):
    """The sets of memory that an argument may be part of."""

    @property
    def before_set(self) -> set[str]:
        """The sets before the call."""
        return set(self.before_names())

    @property
    def after_set(self) -> set[str]:
        """The sets after the call."""
        return set(self.after_names())


class AliasDb(_native.Handle):
    """Which values of a graph may share memory, and which of it is written."""


class TracingState(_native.Handle):
    """A trace while it is being recorded."""

    def __new__(cls) -> Any:
        raise TypeError("torch._C.TracingState: No constructor defined!")


class _ScriptIterator:
    """Goes over the items that a container of a program had when it was asked."""

    def __init__(self, items: Any) -> None:
        self._items = iter(items)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self._items)


class ScriptListIterator(_ScriptIterator):
    """Goes over the items of a ScriptList."""


class ScriptDictKeyIterator(_ScriptIterator):
    """Goes over the keys of a ScriptDict."""


class ScriptDictIterator(_ScriptIterator):
    """Goes over the pairs of keys and values of a ScriptDict."""


class ScriptList(_native.Handle):
    """A list of a program: compiled functions that are given it see and change the same list."""

    def __new__(cls, items: Any) -> Any:
        from torchjit.jit._script import create_script_list

        return create_script_list(items)

    def __repr__(self) -> str:
        return self._text()

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return ScriptListIterator(self._items())

    def __contains__(self, item: Any) -> bool:
        return self._held(item) in self._items()

    def _held(self, item: Any) -> Any:
        """The item as an element of such a list. Raises TypeError where it is of another type."""
        one = self._part(())
        one._replace(0, 0, [item])
        return one._item(0)

    def _at(self, index: int) -> int:
        n = len(self)
        if not -n <= index < n:
            raise IndexError("list index out of range")
        return index + n if index < 0 else index

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(tuple(range(len(self))[index]))
        if not isinstance(index, int):
            raise TypeError(f"__getitem__(): incompatible function arguments. An index is an int or a slice, not a {type(index).__name__}")
        return self._item(self._at(index))

    def __setitem__(self, index: Any, item: Any) -> None:
        if not isinstance(index, slice):
            at = self._at(index)
            self._replace(at, at + 1, [item])
            return
        indices, items = range(len(self))[index], list(item)
        if len(indices) != len(items):
            raise RuntimeError("Left and right hand size of slice assignment have different sizes")
        for at, x in zip(indices, items, strict=True):
            self._replace(at, at + 1, [x])

    def __delitem__(self, index: int) -> None:
        if not isinstance(index, int):
            raise TypeError(f"__delitem__(): incompatible function arguments. An index is an int, not a {type(index).__name__}")
        self.pop(index)

    def append(self, item: Any) -> None:
        """Puts an item at the end. Raises TypeError where it is not of the list's type."""
        self._replace(len(self), len(self), [item])

    def extend(self, items: Any) -> None:
        """Puts items at the end."""
        self._replace(len(self), len(self), list(items))

    def insert(self, index: int, item: Any) -> None:
        """Puts an item before that of an index."""
        n = len(self)
        if not -n <= index <= n:
            raise IndexError("list index out of range")
        at = index + n if index < 0 else index
        self._replace(at, at, [item])

    def pop(self, index: int = -1) -> Any:
        """Takes out the item of an index: the last."""
        at = self._at(index)
        found = self._item(at)
        self._replace(at, at + 1, [])
        return found

    def remove(self, item: Any) -> None:
        """Takes out the first item that is equal. Raises ValueError where there is none."""
        at = self._items().index(self._held(item))
        self._replace(at, at + 1, [])

    def count(self, item: Any) -> int:
        """The number of equal items."""
        return self._items().count(self._held(item))

    def clear(self) -> None:
        """Takes out all items."""
        self._replace(0, len(self), [])


class ScriptDict(_native.Handle):
    """A dictionary of a program: compiled functions that are given it see and change the same dictionary."""

    def __new__(cls, items: Any) -> Any:
        from torchjit.jit._script import create_script_dict

        return create_script_dict(items)

    def __repr__(self) -> str:
        return self._text()

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return ScriptDictKeyIterator(self._items())

    def keys(self) -> Iterator[Any]:
        """The keys in the order in which they came."""
        return iter(self)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """The pairs of keys and values."""
        return ScriptDictIterator(self._items().items())


class Type(_native.Handle):
    """A static type."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.equals(other)

    def __hash__(self) -> int:
        return hash(self.str())


_SIMPLE_TYPES = {
    "AnyType": "Any", "NoneType": "NoneType", "BoolType": "bool", "IntType": "int", "FloatType": "float", "ComplexType": "complex",
    "NumberType": "Scalar", "StringType": "str", "DeviceObjType": "Device", "StreamObjType": "Stream", "SymIntType": "SymInt",
    "PyObjectType": "PyObject", "CapsuleType": "Capsule", "GeneratorType": "Generator",
}  # fmt: skip


def _make_type_class(name: str) -> type:
    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        constructor = getattr(cls, "__make", None)
        if constructor is None:
            raise TypeError(f"torch._C.{name}: No constructor defined!")
        return constructor(*args, **kwargs)

    doc = f"A static type of the kind {name}."
    made: Any = type(name, (Type,), {"__new__": make, "__doc__": doc, "__module__": __name__})
    simple = _SIMPLE_TYPES.get(name)
    if simple is not None:
        made.get = staticmethod(lambda: _simple_type(simple))
    return made


def _iterating(f: Callable[..., list[Any]]) -> Callable[..., Iterator[Any]]:
    def method(self: Any) -> Iterator[Any]:
        return iter(f(self))

    return method


def _add_member(schema: str, doc: str, is_property: bool) -> None:
    """Puts a member into its class, or into this module."""
    full, _, rest = schema.partition("(")
    owner, _, name = full.partition(".")
    f: Any = _native.function(full)
    parameters, _, result = rest.rpartition(") -> ")
    f.__doc__ = doc
    if owner == "_C":
        globals()[name] = f
        return
    if result == "Iterator":
        f = _iterating(f)
        f.__name__, f.__doc__ = name, doc
    if is_property:
        f = property(f, doc=doc)
    elif not parameters.partition(",")[0].partition("=")[0].endswith(" self"):
        f = staticmethod(f)
    setattr(globals()[owner], name, f)
    if owner == "ScriptFunction":
        setattr(ScriptMethod, name, f)


def _make_classes() -> None:
    for name, number in _HANDLE_CLASSES.items():
        _native.register_handle_class(number, globals()[name])
    for number, name in _native.function("_C.type_classes")():
        globals()[name] = made = _make_type_class(name)
        _native.register_handle_class(number, made)
    for member in _native.members():
        _add_member(*member)


_simple_type = _native.function("_C.simple_type")
_new_graph = _native.function("Graph.__new_graph")
_make_classes()
for _cls in (ScriptFunction, ScriptMethod):
    _cls.name = property(lambda self: self.__name__)  # type: ignore[attr-defined]
    _cls.code_with_constants = property(  # type: ignore[attr-defined]
        _code_with_constants, doc="The function as Python source, and a map of the constants that it names."
    )
ScriptMethod.owner = property(lambda self: self._owner())  # type: ignore[attr-defined]


def _jit_get_operation(qualified_name: str) -> tuple[Any, list[str]]:
    """An operator as a function of Python, and the names of its overloads. RuntimeError where there is none."""
    if "::" not in qualified_name:
        raise RuntimeError(f"all symbols must have a namespace, <namespace>::<string>, but found: {qualified_name}")
    names = _overload_names(qualified_name)  # type: ignore[name-defined]  # noqa: F821
    return _native.operator(qualified_name), names


class InferredType:
    """The type of a Python value, or why it has none."""

    def __init__(self, type: Any = None, reason: str = "") -> None:
        if isinstance(type, str):
            type, reason = None, type
        self._type, self._reason = type, reason

    def type(self) -> Any:
        """The type."""
        if self._type is None:
            raise RuntimeError("Tried to get the type from an InferredType but the type is null.")
        return self._type

    def success(self) -> bool:
        """Whether there is a type."""
        return self._type is not None

    def reason(self) -> str:
        """Why there is none."""
        return self._reason


def _jit_try_infer_type(value: Any) -> InferredType:
    """The type that a Python value has in a program."""
    inferred, reason = _infer_type(value)  # type: ignore[name-defined]  # noqa: F821
    if inferred is None and isinstance(value, (enum.Enum, list, tuple, dict)):
        from torchjit.jit import _recursive

        text, _ = _recursive.infer_type(value)
        inferred = None if text is None else _program_type(text)  # type: ignore[name-defined]  # noqa: F821
    if inferred is None:
        from torchjit.jit import ScriptModule
        from torchjit.nn import Module

        if isinstance(value, Module):
            reason = "Cannot infer type of ScriptModule" if isinstance(value, ScriptModule) else "Cannot infer concrete type of torch.nn.Module"
    return InferredType(inferred, reason)


def _is_tracing() -> bool:
    """Whether a trace is being recorded."""
    return _native.is_tracing()


class IODescriptor:
    """How tensors stand in nested containers; see _jit_flatten."""

    def __init__(self, form: Any) -> None:
        self._form = form


def _jit_flatten(*args: Any) -> tuple[list[Any], IODescriptor]:
    """The tensors in nested tuples, lists and dictionaries, where numbers count as tensors, and what _jit_unflatten needs to put them back."""
    found: list[Any] = []
    return found, IODescriptor(_form_of(args[0] if len(args) == 1 else args, found))


def _form_of(x: Any, found: list[Any]) -> Any:
    if isinstance(x, _native.TensorBase):
        found.append(x)
        return ("tensor",)
    if isinstance(x, (tuple, list)):
        return (type(x).__name__, [_form_of(item, found) for item in x])
    if isinstance(x, dict):
        return ("dict", [(k, _form_of(v, found)) for k, v in x.items()])
    if isinstance(x, str) or x is None:
        return ("value", x)
    if isinstance(x, (bool, int, float)):
        from torchjit import float64, tensor

        found.append(tensor(x, dtype=float64 if isinstance(x, float) else None))
        return ("tensor",)
    raise RuntimeError(
        "Only tuples, lists and Variables are supported as JIT inputs/outputs. Dictionaries and strings are also accepted, but their usage "
        f"is not recommended. Here, received an input of unsupported type: {type(x).__name__}"
    )


def _jit_unflatten(vars: Any, desc: IODescriptor) -> Any:
    """The containers that _jit_flatten took apart, with other tensors."""
    left = iter(vars)

    def build(form: Any) -> Any:
        kind = form[0]
        if kind == "tensor":
            for given in left:
                return given
            raise RuntimeError("Not enough Variables given to unflatten")
        if kind == "value":
            return form[1]
        if kind == "dict":
            return {k: build(f) for k, f in form[1]}
        parts = [build(f) for f in form[1]]
        return tuple(parts) if kind == "tuple" else parts

    built = build(desc._form)
    for _ in left:
        raise RuntimeError("Too many Variables given to unflatten")
    return built


globals().update(_executor_settings.functions())
globals().update(_other_names.functions())
globals().update(_graph_results.members())
globals().update(_upgraders.members())
globals().update(_quantization_passes.members())

for _made in [x for x in globals().values() if isinstance(x, type) and x.__module__ == __name__ and not x.__name__.startswith("_")]:
    _made.__module__ = "torchjit"  # as in PyTorch, where torch has them too

# What torch.jit.mobile makes, with the forms for a path and for bytes.
_OF_MOBILE = frozenset((
    "LiteScriptModule", "OperatorInfo", "_backport_for_mobile", "_backport_for_mobile_from_buffer", "_backport_for_mobile_from_buffer_to_buffer",
    "_backport_for_mobile_to_buffer", "_enable_mobile_interface_call_export", "_export_operator_list", "_get_mobile_model_contained_types",
    "_get_mobile_model_contained_types_from_buffer", "_get_model_bytecode_version", "_get_model_bytecode_version_from_buffer",
    "_get_model_extra_files", "_get_model_extra_files_from_buffer", "_get_model_ops_and_info", "_get_model_ops_and_info_from_buffer",
    "_load_for_lite_interpreter", "_load_for_lite_interpreter_from_buffer", "_nn_module_to_mobile",
))  # fmt: skip


def _of_mobile(name: str) -> Any:
    return _importlib.import_module("torchjit.jit.mobile")._members()[name] if name in _OF_MOBILE else None


# What is made elsewhere, over this module.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.jit._await": "_Await _awaitable _awaitable_nowait _awaitable_wait",
    "torchjit": """
        Generator Size autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache default_generator device dtype finfo
        get_autocast_cpu_dtype get_autocast_gpu_dtype get_default_dtype get_num_interop_threads get_num_threads has_cuda has_cudnn
        has_lapack has_mkl has_mkldnn has_mps has_openmp has_spectral iinfo is_anomaly_enabled is_autocast_cache_enabled
        is_autocast_cpu_enabled is_autocast_enabled is_grad_enabled is_inference_mode_enabled layout memory_format qscheme
        set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_enabled
        set_autocast_gpu_dtype set_flush_denormal set_num_interop_threads set_num_threads _set_default_tensor_type=set_default_tensor_type
    """,
    "torchjit._C._compiler": """
        CallStack ErrorReport FatalError _OutOfMemoryError _create_module_with_type _create_object_with_type _export_opnames
        _get_operation_overload _ivalue_debug_python_object _jit_assert_is_instance _jit_script_class_compile
        _jit_script_compile_overload _jit_script_interface_compile _propagate_and_assign_input_shapes _resolve_type
        _resolve_type_from_object _run_emit_module_hook
    """,
    "torchjit._C._autograd": "_autograd=",
    "torchjit._C._conv_backends": "_ConvBackend _select_conv_backend",
    "torchjit._C._functions": "_functions=",
    "torchjit._C._jit_tree_views": "_jit_tree_views=",
    "torchjit._C._library": "_WeakTensorRef _parallel_info _show_config is_anomaly_check_nan_enabled vitals_enabled",
    "torchjit._C._profiler": "_profiler=",
    "torchjit._C._te": "_te=",
    "torchjit._C._switches": """
        _LinalgBackend _add_docstr _get_backcompat_broadcast_warn _get_backcompat_keepdim_warn
        _get_cublas_allow_fp16_reduced_precision_reduction _get_cublas_allow_tf32 _get_cudnn_allow_tf32 _get_cudnn_benchmark
        _get_cudnn_deterministic _get_cudnn_enabled _get_flash_sdp_enabled _get_linalg_preferred_backend _get_math_sdp_enabled
        _get_mkldnn_enabled _getter _has_distributed _is_mps_available _is_xnnpack_enabled _set_backcompat_broadcast_warn
        _set_backcompat_keepdim_warn _set_cublas_allow_fp16_reduced_precision_reduction _set_cublas_allow_tf32 _set_cudnn_allow_tf32
        _set_cudnn_benchmark _set_cudnn_deterministic _set_cudnn_enabled _set_linalg_preferred_backend _set_mkldnn_enabled _set_qengine
        _set_sdp_use_flash _set_sdp_use_math _setter
    """,
    "torchjit._classes": "ScriptClass _get_custom_class_python_wrapper=script_class",
    "torchjit._dispatch_classes": """
        _AutoDispatchBelowAutograd _DisableTorchDispatch _disabled_torch_dispatch_impl
        _dispatch_isTensorSubclassLike=_isTensorSubclassLike
    """,
    "torchjit._dispatch_keys": """
        DispatchKey DispatchKeySet Tag _dispatch_has_computed_kernel_for_dispatch_key _dispatch_has_kernel_for_any_dispatch_key
        _dispatch_has_kernel_for_dispatch_key _dispatch_is_included_in_alias _dispatch_key_name _dispatch_key_parse _dispatch_key_set
        _dispatch_keys _dispatch_keyset_to_string _dispatch_num_backends _dispatch_tls_is_dispatch_key_excluded
        _dispatch_tls_local_exclude_set _dispatch_tls_local_include_set
    """,
    "torchjit._native": "_is_torch_function_enabled=torch_function_enabled",
    "torchjit._operator_modules": "_fft _linalg _nn _special",
    "torchjit._other_names": "init_num_threads read_vitals set_vital unify_type_list",
    "torchjit._override": """
        DisableTorchFunction _DisableFuncTorch _disabled_torch_function_impl _is_torch_function_mode_enabled=has_mode
    """,
    "torchjit._pickled_functions": "_VariableFunctions=_VariableFunctionsClass _VariableFunctionsClass",
    "torchjit._schema_info": "_SchemaArgType _SchemaArgument _SchemaInfo",
    "torchjit._tensor": "_TensorBase _TensorMeta",
    "torchjit.autograd.forward_ad": "_enter_dual_level=enter_dual_level _exit_dual_level=exit_dual_level",
    "torchjit.jit": "JITException=Error",
    "torchjit.jit._alias_check": "_jit_check_alias_annotation=check_alias_annotation",
    "torchjit.jit._async": "Future fork wait",
    "torchjit.jit._executor_state": "ArgumentSpec Code CompleteArgumentSpec ExecutionPlan GraphExecutorState",
    "torchjit.jit._logging": "AVG AggregationType LockingLogger LoggerBase NoopLogger SUM _logging_set_logger=set_logger",
    "torchjit.jit._module": "ScriptModule=_CModule ScriptObject=RecursiveScriptClass ScriptObjectProperty",
    "torchjit.jit._module_dicts": "BufferDict ModuleDict ParameterDict",
    "torchjit.jit._records": "PyTorchFileReader PyTorchFileWriter",
    "torchjit.jit._recursive": "ConcreteModuleType=ConcreteType",
    "torchjit.jit._script": "CompilationUnit",
    "torchjit.jit._serialization": "import_ir_module import_ir_module_from_buffer",
    "torchjit.jit._static": "StaticModule _jit_to_static_module=to_static_module",
    "torchjit.jit._type_builder": "ConcreteModuleTypeBuilder",
    "torchjit.jit.frontend": "_parse_source_def _replace_overloaded_method_decl merge_type_from_type_comment parse_type_comment",
    "torchjit.linalg": "_LinAlgError=LinAlgError",
    "torchjit.onnx._passes": """
        _jit_is_onnx_log_enabled _jit_onnx_create_full_scope_name _jit_onnx_list_model_parameters _jit_onnx_log _jit_pass_onnx
        _jit_pass_onnx_assign_output_shape _jit_pass_onnx_assign_scoped_names_for_node_and_value
        _jit_pass_onnx_cast_all_constant_to_floating _jit_pass_onnx_clear_scope_records _jit_pass_onnx_constant_fold
        _jit_pass_onnx_deduplicate_initializers _jit_pass_onnx_eliminate_unused_items _jit_pass_onnx_eval_peephole
        _jit_pass_onnx_function_substitution _jit_pass_onnx_graph_shape_type_inference _jit_pass_onnx_lint
        _jit_pass_onnx_node_shape_type_inference _jit_pass_onnx_peephole _jit_pass_onnx_preprocess
        _jit_pass_onnx_remove_inplace_ops_for_onnx _jit_pass_onnx_remove_print _jit_pass_onnx_scalar_type_analysis
        _jit_pass_onnx_set_dynamic_input_shape _jit_pass_prepare_division_for_onnx _jit_set_onnx_log_enabled
        _jit_set_onnx_log_output_stream
    """,
    "torchjit.overrides": """
        _get_function_stack_at _has_torch_function _has_torch_function_unary _has_torch_function_variadic _len_torch_function_stack
        _pop_torch_function_stack _push_on_torch_function_stack
    """,
    "torchjit.storage": "StorageBase",
    "torchjit.testing._filecheck": "FileCheck",
    "torchjit.utils._python_dispatch": """
        _get_dispatch_stack_at _len_torch_dispatch_stack _pop_torch_dispatch_stack _push_on_torch_dispatch_stack
    """,
    "torchjit.utils.throughput_benchmark": "BenchmarkConfig BenchmarkExecutionStats=ExecutionStats ThroughputBenchmark",
}, otherwise=_of_mobile, listed=lambda: _OF_MOBILE)  # fmt: skip
