"""Proxies: what stands for values while a function is recorded, and the tracers that turn operations on them into nodes."""

from __future__ import annotations

import dis
import inspect
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torchjit as torch
import torchjit.overrides
from torchjit import _native
from torchjit.fx import traceback as fx_traceback
from torchjit.fx._codegen import magic_methods, reflectable_magic_methods
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph import Graph
from torchjit.fx.node import Argument, Node, Target, _is_namedtuple, base_types, map_aggregate
from torchjit.fx.operator_schemas import check_for_mutable_operation

__all__ = ["TracerBase", "GraphAppendingTracer", "TraceError", "Proxy", "Attribute", "ParameterProxy"]

_OWN_FILES = ("fx/proxy.py", "fx/_symbolic_trace.py", "fx/experimental/proxy_tensor.py", "torchjit/overrides.py", "torchjit/_override.py", "torchjit/_ops.py")


@compatibility(is_backward_compatible=True)
class TracerBase:
    """What makes nodes of operations, and decides what is asked of proxies that only a value could tell."""

    graph: Graph
    record_stack_traces: bool = False
    # Whether functions that change their arguments are refused; only functions, no methods.
    check_mutable_operations: bool = False
    # Whether asserts are recorded where Python asks for the truth of a proxy.
    trace_asserts: bool = False
    # Whether reading a buffer of a module gives a proxy.
    proxy_buffer_attributes: bool = False
    # The method of the root that is traced.
    traced_func_name: str = "forward"

    @compatibility(is_backward_compatible=True)
    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a node to the graph. Subclasses may look at or change what is recorded."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    @compatibility(is_backward_compatible=True)
    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    @compatibility(is_backward_compatible=True)
    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Adds a node for an operation on proxies and other values, and gives its proxy."""
        node_args = self.create_arg(args)
        node_kwargs = self.create_arg(kwargs)
        assert isinstance(node_args, tuple)
        assert isinstance(node_kwargs, dict)
        node = self.create_node(kind, target, node_args, node_kwargs, name, type_expr)
        proxy = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if fx_traceback.is_stack_trace_overridden():
            proxy.node.stack_trace = "".join(fx_traceback.format_stack())
        elif self.record_stack_traces and not proxy.node.stack_trace:
            frame = self._find_user_frame()
            if frame:
                stack = traceback.StackSummary.extract(traceback.walk_stack(frame))
                proxy.node.stack_trace = "".join(stack.format())
        return proxy

    def _find_user_frame(self) -> FrameType | None:
        """The innermost Python frame that is not of the tracing itself."""
        frame = inspect.currentframe()
        while frame:
            frame = frame.f_back
            if frame and not frame.f_code.co_filename.endswith(_OWN_FILES):
                break
        return frame

    @compatibility(is_backward_compatible=True)
    def create_arg(self, a: Any) -> Argument:
        """What a node has for a value: nodes for proxies, in containers too. Raises NotImplementedError for other objects."""
        if not isinstance(a, Proxy) and hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and _is_namedtuple(a):
            return type(a)(*(self.create_arg(x) for x in a))
        if isinstance(a, (tuple, list)):
            return (list if isinstance(a, list) else tuple)(self.create_arg(x) for x in a)
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, base_types) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        def no_node(arg: Any) -> None:
            if isinstance(arg, Node):
                raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. Got key: {k}")

        key = self.create_arg(key)
        map_aggregate(key, no_node)
        return key

    @compatibility(is_backward_compatible=True)
    def to_bool(self, obj: Proxy) -> bool:
        """What bool() of a proxy gives: it raises TraceError, since the value is not there."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    @compatibility(is_backward_compatible=True)
    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What a loop over a proxy goes over: it raises TraceError, since the length is not there."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
            "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
            "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    @compatibility(is_backward_compatible=True)
    def keys(self, obj: Proxy) -> Any:
        """What keys() of a proxy gives."""
        return Attribute(obj, "keys")()


@compatibility(is_backward_compatible=True)
class GraphAppendingTracer(TracerBase):
    """A tracer that adds to a graph: the one of proxies that a program makes itself."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


@compatibility(is_backward_compatible=False)
def assert_fn(x: Any) -> None:
    """What a recorded assert calls."""
    assert x


@compatibility(is_backward_compatible=True)
class TraceError(ValueError):
    """A recorded function asked for what only a value can tell."""


def _instruction(frame: FrameType) -> tuple[dis.Instruction, dis.Instruction]:
    """The instruction that a frame stands at, and the next one."""
    instructions = list(dis.get_instructions(frame.f_code))
    at = next(i for i, x in enumerate(instructions) if x.offset == frame.f_lasti)
    return instructions[at], instructions[min(at + 1, len(instructions) - 1)]


@compatibility(is_backward_compatible=True)
class Proxy:
    """Stands for the value of a node: operators, methods, attributes and functions of torch on it add nodes.

    >>> seen = []
    >>> traced = torch.fx.symbolic_trace(lambda x: seen.append(isinstance(x, torch.fx.Proxy)) or x + 1)
    >>> seen
    [True]
    """

    @compatibility(is_backward_compatible=True)
    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer: GraphAppendingTracer | TracerBase = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # No node yet: a call of it becomes one of a method.
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        caller = sys._getframe(1)
        at, _ = _instruction(caller)
        if at.opname == "UNPACK_SEQUENCE":
            items: Any = self
            return (items[i] for i in range(at.argval))
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts:
            at, after = _instruction(sys._getframe(1))
            if at.opname.startswith("POP_JUMP") and at.opname.endswith("IF_TRUE") and after.opname == "LOAD_ASSERTION_ERROR":
                self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                return True
        return self.tracer.to_bool(self)

    @compatibility(is_backward_compatible=True)
    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args = args or ()
        kwargs = kwargs or {}
        tracers: dict[Any, None] = {}

        def note(a: Any) -> None:
            if isinstance(a, cls):
                tracers[a.tracer] = None

        map_aggregate(args, note)
        map_aggregate(kwargs, note)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers.keys())} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if isinstance(orig_method, _native.ScriptMethod):
            return tracer.create_proxy("call_method", orig_method.name, (orig_method.owner, *args), kwargs)
        if torch.overrides.is_tensor_method_or_property(orig_method):
            if orig_method.__name__ == "tensor_getitem":
                index = args[1] if isinstance(args[1], tuple) else (args[1],)
                return tracer.create_proxy("call_method", "__getitem__", (args[0], index), kwargs)
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method.__name__)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


@compatibility(is_backward_compatible=True)
class Attribute(Proxy):
    """An attribute of a proxy: a node only when it is more than the name of a method."""

    @compatibility(is_backward_compatible=True)
    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer: GraphAppendingTracer | TracerBase = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


@compatibility(is_backward_compatible=False)
class ParameterProxy(Proxy):
    """The proxy of a parameter whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        assert isinstance(param, torch.nn.Parameter)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self) -> Any:
        return self.param.size()

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def _define_operator(name: str) -> None:
    """Gives Proxy the special method of an operator."""

    def special(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", getattr(operator, name), args, kwargs)

    special.__name__ = special.__qualname__ = f"__{name.strip('_')}__"
    setattr(Proxy, special.__name__, special)


def _define_reflectable(orig_method_name: str) -> None:
    """Gives Proxy the special method of an operator whose right side it is."""

    def special(self: Proxy, rhs: Any) -> Any:
        return self.tracer.create_proxy("call_function", getattr(operator, orig_method_name), (rhs, self), {})

    special.__name__ = special.__qualname__ = f"__r{orig_method_name.strip('_')}__"
    setattr(Proxy, special.__name__, special)


for _name in magic_methods:
    _define_operator(_name)
for _name in reflectable_magic_methods:
    _define_reflectable(_name)
