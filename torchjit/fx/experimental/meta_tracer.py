"""Tracing with tensors without elements: sizes and types are known while a graph is recorded."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.fx._symbolic_trace import Tracer
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import map_aggregate
from torchjit.fx.proxy import Proxy


def _relu_function(x: Any, inplace: bool = False) -> Any:
    assert not inplace, "dont support inplace functional.relu for metatensor analysis"
    return x


# What gives the metadata of a function or method in the place of itself.
manual_meta_overrides: dict[Callable[..., Any], Callable[..., Any]] = {torch.nn.functional.relu: _relu_function}


class MetaProxy(Proxy):
    """A proxy that may know what its tensor is like: then its sizes, number of dimensions, type and device are known."""

    def install_tensor_meta(self, tensor_meta: Any) -> None:
        """Says what the tensor is like: a tensor on meta."""
        self._tensor_meta = tensor_meta

    def _known(self) -> Any:
        return self.__dict__.get("_tensor_meta")

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them."""
        meta = self._known()
        if meta is not None:
            return meta.size(*[dim] if dim is not None else [])
        return self.tracer.create_proxy("call_method", "size", (self, dim) if dim is not None else (self,), {})

    def dim(self) -> Any:
        """The number of dimensions."""
        meta = self._known()
        return meta.dim() if meta is not None else self.tracer.create_proxy("call_method", "dim", (self,), {})

    @property
    def shape(self) -> Any:
        """The sizes."""
        meta = self._known()
        return meta.shape if meta is not None else self.tracer.create_proxy("call_function", getattr, (self, "shape"), {})

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        meta = self._known()
        return meta.dtype if meta is not None else self.tracer.create_proxy("call_function", getattr, (self, "dtype"), {})

    @property
    def device(self) -> Any:
        """The device, which is recorded: it is not that of the tensor without elements."""
        return MetaDeviceAttribute(self, "device")

    def __getattr__(self, k: str) -> Any:
        if k == "_tensor_meta":
            return self.__getattribute__(k)
        return MetaAttribute(self, k)


class MetaAttribute(MetaProxy):
    """An attribute of a proxy: a node only when it is used otherwise than by calling it."""

    def __init__(self, root: Any, attr: str) -> None:
        self.root = root
        self.attr: str = attr
        self.tracer = root.tracer
        self._node: Any = None

    @property
    def node(self) -> Any:  # type: ignore[override]
        """The node of the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class MetaDeviceAttribute(MetaAttribute):
    """The device of a tensor."""


def proxys_to_metas(v: Any) -> Any:
    """For a proxy the tensor that it knows of; other values as they are. Raises AssertionError for a proxy that knows none."""
    if isinstance(v, MetaDeviceAttribute):
        return "meta"
    if isinstance(v, Proxy):
        assert isinstance(v, MetaProxy), f"Expected MetaProxy but got {type(v)}"
        assert v._known() is not None, "MetaProxy does not have an associated meta"
        return v._known()
    return v


class MetaTracer(Tracer):
    """A tracer whose proxies know what their tensors are like, as far as that follows from the arguments."""

    allow_insert_stateless_mods: bool = True
    _TORCH_METHODS_TO_PATCH = ["arange", "zeros", "ones", "full_like", "eye"]

    def create_proxy(self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type_expr: Any = None, proxy_factory_fn: Any = None) -> Any:
        """A proxy for a node, with what running the node on tensors without elements gave."""
        made = super().create_proxy(kind, target, args, kwargs, name, type_expr, proxy_factory_fn)
        if kind == "placeholder" and target in self.meta_args:
            made.install_tensor_meta(self.meta_args[target])
        if target in self.orig_fns:
            # These are patched: a proxy among their arguments makes them calls.
            if "device" in kwargs:
                kwargs = {**kwargs, "device": "meta"}
        try:
            args, kwargs = map_aggregate(args, proxys_to_metas), map_aggregate(kwargs, proxys_to_metas)
            found = self._computed(kind, target, args, kwargs)
            if found is not None:
                if not isinstance(made, Proxy):
                    raise ValueError("Don't support composite output yet")
                made.install_tensor_meta(found)
        except Exception as e:
            warnings.warn(f"Could not compute metadata for {kind} target {target}: {e}", stacklevel=2)
        return made

    def _computed(self, kind: str, target: Any, args: Any, kwargs: Any) -> Any:
        if kind == "call_function":
            return manual_meta_overrides.get(target, target)(*args, **kwargs)
        if kind == "call_method":
            method = getattr(args[0].__class__, target)
            return manual_meta_overrides.get(method, method)(*args, **kwargs)
        if kind == "call_module":
            assert hasattr(self, "orig_forward")
            self._disable_module_getattr = True
            try:
                module = self.root.get_submodule(target)
                kept = {**dict(module.named_parameters()), **dict(module.named_buffers())}
                state = {key: value.detach().to("meta") for key, value in kept.items()}
                return torch.nn.utils.stateless.functional_call(module, state, args, kwargs)
            finally:
                self._disable_module_getattr = False
        if kind == "get_attr":
            found: Any = self.root
            for part in target.split("."):
                found = getattr(found, part)
            return found.to(device="meta") if isinstance(found, torch.Tensor) else None
        return None

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """The attribute of a module: a proxy for a parameter, unless a module is run for its metadata."""
        if getattr(self, "_disable_module_getattr", False):
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def call_module(self, m: torch.nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        """The call of a module."""
        if getattr(self, "_disable_module_getattr", False):
            return forward(*args, **kwargs)
        self.orig_forward = forward
        return super().call_module(m, forward, args, kwargs)

    def _insert_module_as_submodule(self, mod: torch.nn.Module) -> str:
        """Makes a module that was made while tracing one of the root's; a module with parameters is refused."""
        if next(mod.parameters(), None) is not None or next(mod.buffers(), None) is not None:
            raise ValueError(f"{mod} was made while tracing and has parameters or buffers")
        name, i = f"{type(mod).__name__.lower()}_0", 0
        while hasattr(self.root, name):
            i += 1
            name = f"{type(mod).__name__.lower()}_{i}"
        self.root.add_module(name, mod)
        return name

    def path_of_module(self, mod: torch.nn.Module) -> str:
        """The path of a module, which becomes the root's where it is not and has no parameters."""
        try:
            return super().path_of_module(mod)
        except NameError:
            if self.allow_insert_stateless_mods and not list(mod.parameters()) and not list(mod.buffers()):
                path = self._insert_module_as_submodule(mod)
                self.prev_module = path
                return path
            raise

    def proxy(self, node: Any) -> Proxy:
        """The proxy of a node."""
        return MetaProxy(node, self)

    def trace(self, root: Any, meta_args: dict[str, torch.Tensor], concrete_args: dict[str, Any] | None = None) -> Graph:  # type: ignore[override]
        """The graph of a function or module for parameters like the tensors of meta_args, which are on meta."""
        assert isinstance(meta_args, dict)
        self.meta_args = meta_args
        self.orig_fns = {getattr(torch, name) for name in self._TORCH_METHODS_TO_PATCH}
        before = {name: getattr(torch, name) for name in self._TORCH_METHODS_TO_PATCH}
        for name, function in before.items():
            setattr(torch, name, _recording(function))
        try:
            graph = super().trace(root, concrete_args)
        finally:
            for name, function in before.items():
                setattr(torch, name, function)
        graph._tracer_extras = {"meta_args": meta_args}
        return graph


def _recording(target: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes tensors, recorded where an argument is a proxy."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        proxies: list[Any] = []
        map_aggregate((args, kwargs), lambda v: proxies.append(v) if isinstance(v, Proxy) else None)
        return proxies[0].tracer.create_proxy("call_function", target, args, kwargs) if proxies else target(*args, **kwargs)

    return wrapper


def symbolic_trace(root: Any, meta_args: dict[str, torch.Tensor] | None = None, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """The graph module of a function or module whose parameters are like the tensors of meta_args."""
    tracer = MetaTracer()
    graph = tracer.trace(root, meta_args, concrete_args)  # type: ignore[arg-type]
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


__all__ = [
    "MetaAttribute", "MetaDeviceAttribute", "MetaProxy", "MetaTracer", "manual_meta_overrides", "proxys_to_metas", "symbolic_trace",
]  # fmt: skip
