"""Functions of torch._C that are other names of what is elsewhere, or hooks around the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit import _native

# What is called with every module and every function that torch.jit.script has compiled.
_emit_hooks: list[Any] = [None, None]


def _jit_set_emit_hooks(module_hook: Callable[[Any], Any] | None, function_hook: Callable[[Any], Any] | None) -> None:
    """Has module_hook called with every module of the library, and function_hook with every function, that is compiled from now on."""
    _emit_hooks[:] = [module_hook, function_hook]


def _jit_get_emit_hooks() -> tuple[Any, Any]:
    """The hooks that _jit_set_emit_hooks has set."""
    return _emit_hooks[0], _emit_hooks[1]


def emitted(compiled: Any) -> Any:
    """A compiled module or function, after the hook for it has been called."""
    hook = _emit_hooks[isinstance(compiled, _native.ScriptFunction)]
    if hook is not None:
        hook(compiled if isinstance(compiled, _native.ScriptFunction) else compiled._c)
    return compiled


def _jit_clear_class_registry() -> None:
    """Lets the next classes have the names of those that there are; these stay. No module is compiled to one of these classes any more."""
    from torchjit.jit import _recursive

    _native.release_type_names()
    _recursive.concrete_type_store = _recursive.ConcreteTypeStore()


def _jit_to_backend(backend_name: str, module: Any, method_compile_spec: dict[str, Any]) -> Any:
    """Raises RuntimeError: there are no backends, which PyTorch's libraries of C++ register."""
    module._c  # noqa: B018  (AttributeError for what is not compiled)
    raise RuntimeError(f"Preprocessing function for backend {backend_name} is not registered.")


def _jit_is_script_object(obj: Any) -> bool:
    """Whether an object is an instance of a class of a program: a module of the library is."""
    from torchjit.jit._module import RecursiveScriptClass, _CModule

    return isinstance(obj, (RecursiveScriptClass, _CModule))


def _jit_script_compile(qualname: str, definition: Any, rcb: Callable[[str], Any], defaults: dict[str, Any]) -> Any:
    """The compiled form of a Tree that get_jit_def made; rcb gives the values of names."""
    from torchjit.jit._resolve import CallbackScope

    made = _native.compile_function(qualname, definition.data, CallbackScope(rcb), defaults, None)
    _native.ensure_compiled(made)
    return made


def _log_api_usage_once(event: str) -> None:
    """Does nothing: the library tells nobody how it is used."""


def _get_max_operator_version() -> int:
    """The newest version of operators that archives can have."""
    return 10


def _is_alias_of(self: Any, other: Any) -> bool:
    """Whether two tensors show the same memory."""
    return _native.tensor_shares_storage(self, other)


def _storage_id(t: Any) -> int:
    """The address of the memory that a tensor shows."""
    return _native.tensor_storage(t).data_ptr()


def _get_default_device() -> str:
    """The device on which tensors are made."""
    return "cpu"


def _set_grad_enabled(mode: bool) -> None:
    """Switches the recording of operations on or off."""
    _native.set_grad_enabled(mode)


def _set_default_dtype(d: Any) -> None:
    """torch.set_default_dtype."""
    _native.set_default_dtype(d)


def _from_dlpack(capsule: Any) -> Any:
    """torch.from_dlpack of a capsule."""
    return _native.tensor_from_dlpack(capsule)


def _to_dlpack(t: Any) -> Any:
    """A DLPack capsule of a tensor."""
    return _native.to_dlpack(t)


def _get_warnAlways() -> bool:
    """torch.is_warn_always_enabled."""
    from torchjit import is_warn_always_enabled

    return is_warn_always_enabled()


def _get_deterministic_algorithms() -> bool:
    """torch.are_deterministic_algorithms_enabled."""
    from torchjit import are_deterministic_algorithms_enabled

    return are_deterministic_algorithms_enabled()


def _llvm_enabled() -> bool:
    """Whether kernels are made by LLVM: they are made by torchjit itself."""
    return False


def _jit_has_cpp_tests() -> bool:
    """Whether tests of PyTorch's C++ can be run: there is none."""
    return False


def _has_tensorexpr_cpp_tests() -> bool:
    """Whether tests of PyTorch's C++ fuser can be run: there is none."""
    return False


def _jit_debug_fuser_num_cached_kernel_specs() -> int:
    """How many kernels PyTorch's first fuser keeps: there is none."""
    return 0


def _ivalue_tags_match(lhs: Any, rhs: Any) -> bool:
    """Whether two modules hold attributes of the same names and types, and so do the modules in them."""
    mine, theirs = _native.module_slots(lhs), _native.module_slots(rhs)
    if dict(mine) != dict(theirs):
        return False
    for name, kind in mine:
        a, b = _native.module_get(lhs, name), _native.module_get(rhs, name)
        if kind == "module" and not _ivalue_tags_match(a, b):
            return False
        if kind != "module" and _tag(a) != _tag(b):
            return False
    return True


def _tag(value: Any) -> str:
    """The type of what a program holds, or the Python class of what has none."""
    from torchjit import _C

    infer: Any = _C._jit_try_infer_type
    inferred = infer(value)
    return str(inferred.type()) if inferred.success() else type(value).__name__


def _infer_size(a: Any, b: Any) -> Any:
    """The shape that two shapes broadcast to."""
    from torchjit import broadcast_shapes

    return broadcast_shapes(a, b)


def _overlaps(a: Any, b: Any) -> bool:
    """Whether the memory that two tensors span is partly the same."""

    def span(t: Any) -> tuple[int, int]:
        last = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
        return t.data_ptr(), t.data_ptr() + (last + 1) * t.element_size()

    if not a.numel() or not b.numel():
        return False
    (low, high), (other_low, other_high) = span(a), span(b)
    return low < other_high and other_low < high


def _create_function_from_trace(
    qualname: str, func: Callable[..., Any], example_inputs: tuple[Any, ...], var_lookup_fn: Callable[[Any], str], strict: bool,
    force_outplace: bool, argument_names: Any = (),
) -> Any:  # fmt: skip
    """A compiled function of what a call of a function does. Values have the names of the function's variables; var_lookup_fn is not asked."""
    from torchjit.jit._trace import _record

    return _record(func, example_inputs, None, qualname, "", strict, list(argument_names), force_outplace)


def _create_graph_by_tracing(
    func: Callable[..., Any], inputs: Any, var_name_lookup_fn: Callable[[Any], str], strict: bool, force_outplace: bool, self: Any = None,
    argument_names: Any = (),
) -> tuple[Any, list[Any]]:  # fmt: skip
    """The graph of what a call of a function does, and what it gave. Values have the names of the function's variables; var_name_lookup_fn is not asked."""
    from torchjit.jit._trace import _record

    results: list[Any] = []

    def keep(*args: Any) -> Any:
        results.append(func(*args))
        return results[0]

    made = _record(keep, tuple(inputs), self, "traced", "", strict, list(argument_names), force_outplace)
    given = results[0]
    return made.graph, list(given) if isinstance(given, (tuple, list)) else [given]


def _jit_debug_module_iterators(module: Any) -> dict[str, list[Any]]:
    """What a module of the library holds: modules, parameters, buffers and attributes, of its own and (_r) of its submodules."""
    named = _native.module_slots(module)
    own = {kind: [(name, _native.module_get(module, name)) for name, k in named if kind in (k, "")] for kind in ("module", "parameter", "buffer", "")}
    found: dict[str, list[Any]] = {
        "children": [child for _, child in own["module"]], "named_children": own["module"], "modules": [module], "named_modules": [("", module)],
        "named_attributes": own[""], "named_parameters": own["parameter"], "named_buffers": own["buffer"],
    }  # fmt: skip
    for kind in ("attributes", "parameters", "buffers"):
        found[f"named_{kind}_r"] = list(found[f"named_{kind}"]) if kind != "attributes" else []
    for slot, value in own[""]:
        found["named_attributes_r"].append((slot, value))
        if slot not in dict(own["module"]):
            continue
        inner = _jit_debug_module_iterators(value)
        found["modules"] += inner["modules"]
        found["named_modules"] += [(f"{slot}.{name}".rstrip("."), m) for name, m in inner["named_modules"]]
        for kind in ("attributes", "parameters", "buffers"):
            found[f"named_{kind}_r"] += [(f"{slot}.{name}", v) for name, v in inner[f"named_{kind}_r"]]
    for kind in ("parameters", "buffers"):
        found[kind] = [v for _, v in found[f"named_{kind}"]]
        found[f"{kind}_r"] = [v for _, v in found[f"named_{kind}_r"]]
    return found


def _jit_nvfuser_can_be_enabled() -> bool:
    """Whether PyTorch's fuser for NVIDIA's GPUs is there: it is not."""
    return False


def _jit_set_nvfuser_skip_node_kind(op_name: str, flip: bool = True) -> bool:
    """Whether PyTorch's fuser for NVIDIA's GPUs leaves an operator out: there is no such fuser."""
    return False


def _jit_nvfuser_clear_comparison_callback() -> None:
    """Does nothing: there is no fuser for NVIDIA's GPUs that would call one."""


def _jit_get_custom_class_schemas() -> list[Any]:
    """The schemas of the methods of classes that are registered in C++: there is none."""
    return []


def _jit_pass_filter_non_tensor_arguments(params: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are tensors."""
    return {name: value for name, value in params.items() if isinstance(value, _native.TensorBase)}


_IVALUE_KINDS = {type(None): "None", bool: "Bool", int: "Int", float: "Double", complex: "ComplexDouble", str: "String"}


def _jit_object_is_non_holding(node: Any) -> bool:
    """Whether the object that a constant is does not keep its program alive. RuntimeError for a node that is no constant object."""
    value = node.output().toIValue() if node.outputsSize() == 1 else None
    kind = _IVALUE_KINDS.get(type(value), "Tensor" if isinstance(value, _native.TensorBase) else "GenericList")
    raise RuntimeError(f"Expected Object but got {kind}: the graphs of torchjit have no constants that are objects")


def _jit_pass_fuse(graph: Any, on_cpu: bool) -> None:
    """Leaves a graph as it is, as PyTorch does without GPUs.

    RuntimeError where _jit_override_can_fuse_on_cpu_legacy has asked for PyTorch's first fuser, which is not here.
    """
    from torchjit import _C

    if not isinstance(graph, _C.Graph):
        raise TypeError(f"_jit_pass_fuse(): incompatible function arguments. Expected a Graph, not {type(graph).__name__}")
    can_fuse: Any = _C._jit_can_fuse_on_cpu_legacy
    if can_fuse():
        raise RuntimeError("PyTorch's first fuser is not here: _jit_pass_fuse_tensorexprs groups elementwise operators")


def _jit_pass_fuse_frozen_conv_add_relu(graph: Any) -> None:
    """Leaves a graph as it is: such groups are cuDNN's."""


def _jit_pass_concat_frozen_linear(graph: Any) -> bool:
    """Leaves a graph as it is and returns False: linear layers are joined where their weights are on a GPU."""
    return False


def _dispatch_has_kernel(name: str) -> bool:
    """Whether there is an operator, given with its overload."""
    from torchjit import _C

    base, _, overload = name.partition(".")
    return any(s.overload_name == overload for s in _C._jit_get_schemas_for_operator(base))


def _get_qengine() -> int:
    """The number of the engine of quantized operators: 0 is none, 1 fbgemm."""
    from torchjit.backends import quantized

    return quantized._NUMBERS[quantized.engine]


def _supported_qengines() -> list[int]:
    """The numbers of the engines of quantized operators."""
    from torchjit.backends import quantized

    return [quantized._NUMBERS[name] for name in quantized.supported_engines]


def _collect_all(futures: list[Any]) -> Any:
    """A future of the list of futures, which is done when all of them are."""
    from torchjit.futures import collect_all

    return collect_all(futures)


def _get_file_format(path: str) -> str:
    """What a file is by its first bytes: "zipfile", "flatbuffer" or "invalid"."""
    try:
        with open(path, "rb") as f:
            head = f.read(8)
    except OSError:
        return "invalid"
    if head[:4] == b"PK\x03\x04":
        return "zipfile"
    return "flatbuffer" if head[4:8] == b"PTMF" else "invalid"


def _set_warnAlways(b: bool) -> None:
    """torch.set_warn_always."""
    from torchjit import set_warn_always

    set_warn_always(b)


def _get_deterministic_algorithms_warn_only() -> bool:
    """torch.is_deterministic_algorithms_warn_only_enabled."""
    from torchjit import is_deterministic_algorithms_warn_only_enabled

    return is_deterministic_algorithms_warn_only_enabled()


def _set_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """torch.use_deterministic_algorithms."""
    from torchjit import use_deterministic_algorithms

    use_deterministic_algorithms(mode, warn_only=warn_only)


def _get_float32_matmul_precision() -> str:
    """torch.get_float32_matmul_precision."""
    from torchjit import get_float32_matmul_precision

    return get_float32_matmul_precision()


def _set_float32_matmul_precision(precision: str) -> None:
    """torch.set_float32_matmul_precision."""
    from torchjit import set_float32_matmul_precision

    set_float32_matmul_precision(precision)


def _tracer_warn_use_python() -> None:
    """Does nothing: warnings of traces are Python's from the beginning."""


def _tracer_set_get_unique_name_fn(func: Callable[[Any], str]) -> None:
    """Asks a function for the names of tensors that have none yet, until the trace that is being recorded ends."""
    from torchjit import _host

    if not _native.is_tracing():
        raise RuntimeError("no trace is being recorded")
    _host.naming.function = func


def functions() -> dict[str, Any]:
    """The functions by name."""
    return {name: f for name, f in globals().items() if callable(f) and name.startswith("_") and name not in ("_native", "_emit_hooks", "_IVALUE_KINDS")}


def unify_type_list(types: list[Any]) -> Any:
    """The type of all values of some types: the one that they are, or that all are subtypes of, or that may be None.

    Raises RuntimeError where there is none.
    """
    import torchjit

    if not types:
        raise RuntimeError("Cannot get unified type from empty list")
    unified, nothing = types[0], torchjit._C.NoneType.get()
    for i, kind in enumerate(types[1:], 1):
        if kind.isSubtypeOf(unified):
            continue
        if unified.isSubtypeOf(kind):
            unified = kind
        elif kind == nothing or unified == nothing:
            unified = torchjit._C.OptionalType(unified if kind == nothing else kind)
        else:
            before = ", ".join(map(str, types[:i]))
            raise RuntimeError(f"Could not unify type list since element {i} of type {kind} did not match the types before it ({before})")
    return unified


# Facts about a run that programs note, where the environment says TORCH_VITAL.
_vitals: dict[tuple[str, str], str] = {}


def vitals_enabled() -> bool:
    """Whether the environment has TORCH_VITAL."""
    import os

    return bool(os.environ.get("TORCH_VITAL"))


def set_vital(vital: str, attr: str, value: str) -> bool:
    """Notes a fact; False where none are noted."""
    if vitals_enabled():
        _vitals[vital, attr] = value
        return True
    return False


def read_vitals() -> str:
    """The facts, a line each."""
    return "".join(f"[TORCH_VITAL] {vital}.{attr}\t\t {value}\n" for (vital, attr), value in _vitals.items()) if vitals_enabled() else ""


def init_num_threads() -> None:
    """Nothing: threads are started when there is work for them."""
