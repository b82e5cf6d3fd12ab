"""Recording of functions and modules: they run once, with proxies for their arguments."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import math
import os
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any

import torchjit as torch
import torchjit.utils._pytree as pytree
from torchjit.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from torchjit.fx._compatibility import compatibility
from torchjit.fx._patch import _Patcher
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Argument, _is_namedtuple, _public_module, base_types, map_aggregate
from torchjit.fx.proxy import ParameterProxy, Proxy, TracerBase
from torchjit.jit._module import _CModule

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

# Replaced while a trace runs.
_orig_module_call = torch.nn.Module.__call__
_orig_module_getattr = torch.nn.Module.__getattr__

_proxyable_classes: dict[type, None] = {}
_is_fx_tracing_flag = False


def is_fx_tracing() -> bool:
    """Whether a trace runs."""
    return _is_fx_tracing_flag


@compatibility(is_backward_compatible=True)
class ProxyableClassMeta(type):
    """The metaclass of classes whose construction is recorded where an argument is a Proxy."""

    def __init__(cls, name: str, bases: Any, attrs: Any) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        made: Any = cls
        instance = made.__new__(made)
        made.__init__(instance, *args, **kwargs)
        return instance


def _patch_function(fn: FunctionType, nargs: int) -> FunctionType:
    """fn with its first nargs variables as plain parameters, *args and **kwargs among them."""
    code = fn.__code__.replace(
        co_flags=fn.__code__.co_flags & ~HAS_VARSTUFF, co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0
    )
    return FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


@compatibility(is_backward_compatible=False)
class PHBase:
    """Stands in concrete_args for what stays an argument."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


@compatibility(is_backward_compatible=True)
class Tracer(TracerBase):
    """Records functions and modules as graphs. Subclasses decide, by overriding methods, what is recorded as what.

    >>> class KeepsAll(torch.fx.Tracer):
    ...     def is_leaf_module(self, m, name):
    ...         return True
    >>> graph = KeepsAll().trace(nn.Sequential(nn.ReLU()))
    >>> [node.op for node in graph.nodes]
    ['placeholder', 'call_module', 'output']
    """

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        """Functions of autowrap_modules and autowrap_functions are recorded as calls where they get a proxy."""
        super().__init__()
        public = chain(*(vars(m).items() for m in autowrap_modules))
        self._autowrap_function_ids = {id(f) for name, f in public if not name.startswith("_") and callable(f)}
        self._autowrap_function_ids.update(id(f) for f in autowrap_functions)
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[torch.nn.Module, str] | None = None

    @compatibility(is_backward_compatible=True)
    def create_arg(self, a: Any) -> Argument:
        """What a node has for a value; parameters, buffers, modules and other tensors become attributes of the root."""
        if isinstance(a, torch.nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, torch.nn.Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and _is_namedtuple(a):
            args = tuple(self.create_arg(x) for x in a)
            return self.create_node("call_function", a.__class__, args, {})
        if isinstance(a, (torch.Tensor, _CModule)):
            path = self.tensor_attrs.get(a)
            if not path:
                path = self.tensor_attrs[a] = self._keep("_tensor_constant", a)
            return self.create_node("get_attr", path, (), {})
        if type(a) in _proxyable_classes:
            return self.create_node("get_attr", self._keep(f"_{a.__class__.__name__}_constant_", a), (), {})
        return super().create_arg(a)

    def _keep(self, prefix: str, value: Any) -> str:
        """Makes a value an attribute of the root, and gives its name."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        setattr(self.root, f"{prefix}{i}", value)
        return f"{prefix}{i}"

    @compatibility(is_backward_compatible=True)
    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        """Whether a call of a module is one node; else its forward is recorded. By default, the modules of torch.nn are."""
        module = _public_module(m.__module__)
        return module.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    @compatibility(is_backward_compatible=True)
    def path_of_module(self, mod: torch.nn.Module) -> str:
        """The dotted path of a submodule of the root. Raises NameError where it is none."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            assert isinstance(path, str)
            return path
        for name, module in self.root.named_modules():
            if mod is module:
                return name
        raise NameError("module is not installed as a submodule")

    @compatibility(is_backward_compatible=True)
    def call_module(
        self, m: torch.nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a call of a module gives while a trace runs: a proxy of one node, or what its forward gives."""
        path = self.path_of_module(m)
        if not self.is_leaf_module(m, path):
            return forward(*args, **kwargs)
        return self.create_proxy("call_module", path, args, kwargs)

    @compatibility(is_backward_compatible=False)
    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module gives while a trace runs: proxies for parameters."""
        if isinstance(attr_val, torch.nn.Parameter):
            found = self._attribute_proxy(attr_val, self.root.named_parameters(), parameter_proxy_cache)
            if found is not None:
                return found
        if self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            found = self._attribute_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
            if found is not None:
                return found
        return attr_val

    def _attribute_proxy(self, value: Any, named: Iterable[tuple[str, Any]], cache: dict[str, Any]) -> Any:
        for name, candidate in named:
            if value is not candidate:
                continue
            if name not in cache:
                options: dict[str, Any] = {}
                if self.param_shapes_constant and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
                    options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, value)  # noqa: B023
                cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
            return cache[name]
        return None

    @compatibility(is_backward_compatible=False)
    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
    ) -> tuple[Any, list[Any]]:
        """The function to run, and what it gets: the root where it is a method, placeholders and concrete arguments."""
        analyzed = inspect.unwrap(root_fn)
        code = analyzed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        all_names = list(code.co_varnames)
        names = iter(all_names)
        args: list[Any] = []
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        arg_names = [next(names) for _ in range(len(args), total)]
        if isinstance(concrete_args, tuple):
            if len(arg_names) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(arg_names)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(arg_names, concrete_args, strict=True))
        placeholders = _Placeholders(self, analyzed, concrete_args or {})
        args += [placeholders.make(name) for name in arg_names]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            if code.co_flags & inspect.CO_VARARGS:
                args.append(placeholders.make("*" + next(names)))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(placeholders.make("**" + next(names)))
            root_fn = _patch_function(root_fn, len(args))
        flat, spec = pytree.tree_flatten(tuple(args))
        if all(isinstance(child, pytree.LeafSpec) for child in spec.children_specs):
            return root_fn, args
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(all_names[:total], spec, None))
        return self._flat_function(root_fn, spec), flat

    def _flat_function(self, root_fn: Any, spec: pytree.TreeSpec) -> Any:
        """root_fn as a function of the leaves of its arguments that gives the leaves of its result."""

        def flatten_fn(*args):  # its annotations would be the graph's
            result, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(args), spec)))
            codegen = self.graph._codegen
            assert isinstance(codegen, _PyTreeCodeGen)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        return flatten_fn

    @compatibility(is_backward_compatible=True)
    def trace(
        self, root: torch.nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
    ) -> Graph:
        """The graph of a module or function. concrete_args has values for arguments that are none in the graph, by name."""
        global _is_fx_tracing_flag
        was_tracing, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            return self._trace(root, concrete_args)
        finally:
            _is_fx_tracing_flag = was_tracing

    def _trace(self, root: Any, concrete_args: Any) -> Graph:
        is_module = isinstance(root, torch.nn.Module)
        if is_module:
            self.root: torch.nn.Module = root
            assert hasattr(type(root), self.traced_func_name), (
                f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
            )
            fn = getattr(type(root), self.traced_func_name)
            self.submodule_paths = {mod: name for name, mod in root.named_modules()}
        else:
            self.root = torch.nn.Module()
            fn = root
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        # Tensors that are plain attributes of modules keep their paths.
        self.tensor_attrs: dict[Any, str] = {}
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, (torch.Tensor, _CModule)):
                    self.tensor_attrs[value] = f"{prefix}.{name}" if prefix else name
        assert isinstance(fn, FunctionType)
        fn_globals = fn.__globals__
        fn, args = self.create_args_for_root(fn, is_module, concrete_args)
        with self._recording(fn_globals):
            result = self.create_arg(fn(*args))
            self.create_node("output", "output", (result,), {}, type_expr=fn.__annotations__.get("return", None))
        self.submodule_paths = None
        return self.graph

    def _recording(self, fn_globals: dict[str, Any]) -> _Patcher:
        """As a context: modules, their parameters and wrapped functions are recorded."""
        parameter_proxies: dict[str, Any] = {}

        @functools.wraps(_orig_module_getattr)
        def module_getattr_wrapper(mod: Any, attr: str) -> Any:
            return self.getattr(attr, _orig_module_getattr(mod, attr), parameter_proxies)

        @functools.wraps(_orig_module_call)
        def module_call_wrapper(mod: Any, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return _orig_module_call(mod, *args, **kwargs)

            its_globals = getattr(getattr(mod, "forward", mod), "__globals__", {})
            _autowrap_check(patcher, its_globals, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        patcher = _Patcher()
        patcher.patch_method(torch.nn.Module, "__getattr__", module_getattr_wrapper, deduplicate=False)
        patcher.patch_method(torch.nn.Module, "__call__", module_call_wrapper, deduplicate=False)
        _patch_wrapped_functions(patcher)
        _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
        for module in self._autowrap_search:
            _autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
        return patcher

    def __deepcopy__(self, memo: Any) -> Tracer:
        made = Tracer.__new__(Tracer)
        for name, value in self.__dict__.items():
            # Modules cannot be copied.
            made.__dict__[name] = copy.copy(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return made


class _Placeholders:
    """Makes the placeholders of a function's arguments."""

    def __init__(self, tracer: Tracer, fn: Any, concrete_args: dict[str, Any]) -> None:
        self.tracer, self.fn, self.concrete_args = tracer, fn, concrete_args
        self.parameters = inspect.signature(fn).parameters
        self.count = 0

    def make(self, name: str) -> Any:
        """The proxy of an argument, or its concrete value with a placeholder for every leaf of that."""
        if name in self.concrete_args:
            self.count = 0
            return pytree.tree_map(lambda leaf: self._leaf(name, leaf), self.concrete_args[name])
        annotation = self.fn.__annotations__.get(name, None)
        return self.tracer.create_proxy("placeholder", name, self._default(name), {}, type_expr=annotation)

    def _default(self, name: str) -> tuple[Any, ...]:
        if name.startswith("*"):
            return ()
        default = self.parameters[name].default
        return () if default is inspect.Parameter.empty else (default,)

    def _leaf(self, name: str, value: Any) -> Any:
        self.count += 1
        out = self.tracer.create_proxy("placeholder", f"{name}_{self.count}", self._default(name), {})
        if isinstance(value, PHBase):
            return out
        if type(value) is bool or type(value) in base_types and type(value) is not torch.Tensor:
            torch._assert(out == value, f"{name} has been specialized to have value {value} but got another value")
        elif value is None:
            message = f"{name} has been specialized to have value None but got another value"
            self.tracer.create_proxy("call_function", _assert_is_none, (out, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user "
                "to make sure that your inputs match the inputs you specialized the function with."
            )
        return value


# Functions that wrap named, in the dictionaries of their modules, and methods: name by name.
_wrapped_fns_to_patch: list[tuple[dict[str, Any], str]] = []
_wrapped_methods_to_patch: list[tuple[type, str]] = []

if os.environ.get("FX_PATCH_GETITEM") == "1":
    # x[i] for a proxy i is then a node although x is a tensor.
    _wrapped_methods_to_patch.append((torch.Tensor, "__getitem__"))


def _find_proxy(*objects_to_search: Any) -> Proxy | None:
    """The first proxy in containers of values."""
    proxy = None

    def find(x: Any) -> None:
        nonlocal proxy
        if proxy is None and isinstance(x, Proxy):
            proxy = x

    map_aggregate(objects_to_search, find)
    return proxy


def _create_wrapped_func(orig_fn: Any) -> Any:
    """orig_fn as a function that records a call of it where an argument is a proxy."""

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        recorded = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        recorded.node.meta["is_wrapped"] = True
        return recorded

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Any:
    """The method of a class as one that records a call of it where an argument is a proxy."""
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    for frame_dict, name in _wrapped_fns_to_patch:
        found = frame_dict[name] if name in frame_dict else getattr(builtins, name)
        patcher.patch(frame_dict, name, _create_wrapped_func(found))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Wraps the functions of a module's dictionary that are among those that are always recorded."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if not name.startswith("_") and callable(value) and id(value) in function_ids:
                patcher.patch(frame_dict, name, _create_wrapped_func(value))


@compatibility(is_backward_compatible=True)
def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Has calls of a function of the calling module recorded as one node, by its name or as a decorator.

    Raises NotImplementedError where it is not called while a module is executed.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    fn_name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    caller = frame.f_back
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch.append((caller.f_globals, fn_name))
    return fn_or_name


@compatibility(is_backward_compatible=True)
def symbolic_trace(
    root: torch.nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
) -> GraphModule:
    """Records a module or function as a GraphModule. concrete_args has values for arguments that are none in the graph.

    >>> traced = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    >>> [node.op for node in traced.graph.nodes]
    ['placeholder', 'call_module', 'call_module', 'output']
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    assert value is None, msg
