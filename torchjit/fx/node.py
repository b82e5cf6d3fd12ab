"""Nodes of graphs: one call, attribute, argument or result each."""

from __future__ import annotations

import builtins
import types
import typing
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torchjit as torch
from torchjit import _lazy, _native
from torchjit.fx._compatibility import compatibility
from torchjit.fx._function_names import module_of_operator, public_module
from torchjit.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from torchjit.fx.graph import Graph

__all__ = ["Node", "map_arg", "map_aggregate", "has_side_effect"]

base_types = (str, int, float, bool, complex, torch.dtype, torch.Tensor, torch.device, torch.memory_format, torch.layout)

Target = Any  # a function or a name
Argument = Any

_legal_ops = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")

_side_effectful_functions: set[Callable[..., Any]] = {torch._assert}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Makes calls of a function stay in graphs although nobody uses what they give."""
    _side_effectful_functions.add(fn)
    return fn


_OWN_NAME = torch.__package__


def _public_module(module: str) -> str:
    """The name of a module of this library as programs know it: torch and what is in it."""
    if module == _OWN_NAME or module.startswith(_OWN_NAME + "."):
        module = "torch" + module[len(_OWN_NAME) :]
    return module


def _find_module_of_method(orig_method: Callable[..., Any]) -> str:
    if isinstance(orig_method, _native.Function):
        return module_of_operator(orig_method.__name__)
    module = orig_method.__module__
    if module is not None:
        return public_module(orig_method) or _public_module(module)
    for guess in (torch, torch.nn.functional):
        if getattr(guess, orig_method.__name__, None) is orig_method:
            return _public_module(guess.__name__)
    raise RuntimeError(f"cannot find module for {orig_method}")


def _get_qualified_name(func: Callable[..., Any]) -> str:
    """The name by which generated code calls a function, with its module."""
    name = func.__name__
    if getattr(builtins, name, None) is func:
        return name
    module = _find_module_of_method(func).replace("torch._ops", "torch.ops")
    return f"{module}.{name}"


def _format_sequence(items: Any, max_list_len: float) -> str:
    shown = ", ".join(_format_arg(a) for i, a in enumerate(items) if i < max_list_len)
    return shown if len(items) < max_list_len + 1 else f"{shown}, ...[total_len={len(items)}]"


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    """An argument as the text of a graph shows it: nodes with %, strings without quotes."""
    if isinstance(arg, list):
        return f"[{_format_sequence(arg, max_list_len)}]"
    if isinstance(arg, tuple):
        return f"({_format_sequence(arg, max_list_len)}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return "%" + str(arg) if isinstance(arg, Node) else str(arg)


def _type_repr(obj: Any) -> str:
    """A type as the text of a graph shows it."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        module = _public_module(obj.__module__)
        return obj.__qualname__ if module == "builtins" else f"{module}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj).replace(_OWN_NAME + ".", "torch.") if typing.get_origin(obj) is not None else repr(obj)


@compatibility(is_backward_compatible=True)
class Node:
    """One operation of a Graph.

    op is placeholder (an argument), get_attr, call_function, call_method, call_module or output; target what is read or
    called; args and kwargs hold values and other nodes. A node knows its users; assigning args or kwargs keeps them right.

    >>> traced = torch.fx.symbolic_trace(nn.ReLU())
    >>> [node.name for node in traced.graph.nodes if isinstance(node, torch.fx.Node)]
    ['input_1', 'relu', 'output']
    """

    # What passes leave on nodes.
    tag: str
    size_bytes: Any
    attrs_for_lowering: dict[str, Any]

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any | None = None,
    ) -> None:
        self.graph = graph
        self.name: str = name
        assert op in _legal_ops
        self.op = op
        kind = "Callable" if op == "call_function" else "str"
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} "
                f"but a {kind} is expected"
            )
        self.target = target
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self.type = return_type
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self.meta: dict[str, Any] = {}
        self.__update_args_kwargs(map_arg(args, lambda x: x), map_arg(kwargs, lambda x: x))

    @property
    def next(self) -> Node:
        """The node that follows in the graph."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one in the graph."""
        return self._prev

    @compatibility(is_backward_compatible=True)
    def prepend(self, x: Node) -> None:
        """Puts x before this node, taking it from where it stands."""
        assert self.graph == x.graph, "Attempting to move a Node into a different Graph"
        if self == x:
            warnings.warn("Trying to prepend a node to itself. This behavior has no effect on the graph.")
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    @compatibility(is_backward_compatible=True)
    def append(self, x: Node) -> None:
        """Puts x behind this node, taking it from where it stands."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        before, after = self._prev, self._next
        before._next, after._prev = after, before

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments. Their containers cannot be changed; assign new ones."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self.__update_args_kwargs(map_arg(a, lambda x: x), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments. Their containers cannot be changed; assign new ones."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self.__update_args_kwargs(self._args, map_arg(k, lambda x: x))

    @property
    def all_input_nodes(self) -> list[Node]:
        """Every node among the arguments, once."""
        return list(self._input_nodes)

    @compatibility(is_backward_compatible=True)
    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replaces the positional argument at idx."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    @compatibility(is_backward_compatible=True)
    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Adds a positional argument before that at idx."""
        assert 0 <= idx <= len(self.args), "insert_args index must be between 0 and len(self.args)"
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def _rename(self, candidate: str) -> None:
        """Gives the node a name like candidate that no other node has."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)

    @compatibility(is_backward_compatible=True)
    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replaces or adds the keyword argument of a name."""
        self.kwargs = {**self.kwargs, key: arg}

    @property
    def stack_trace(self) -> str | None:
        """The Python stack where the node was recorded, where that was asked for."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def __update_args_kwargs(self, new_args: Any, new_kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self)
        self._args, self._kwargs = new_args, new_kwargs
        self._input_nodes = {}
        map_arg(new_args, self._input_nodes.setdefault)
        map_arg(new_kwargs, self._input_nodes.setdefault)
        for new in self._input_nodes:
            new.users.setdefault(self)

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module == "builtins":
            return f"builtins.{target.__name__}"
        if module == "_operator":
            return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    @compatibility(is_backward_compatible=True)
    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None
    ) -> str | None:
        """The node's line in the text of the graph; None for a placeholder whose name goes to placeholder_names."""
        typename = f"{_type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {typename}[#users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            assert isinstance(self.target, str)
            if placeholder_names:
                placeholder_names.append(self.target + (f": {_type_repr(self.type)}" if self.type else ""))
                return None
            return f"{head}[target={self.target}]" + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        return (
            f"{head}[target={self._pretty_print_target(self.target)}]"
            f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )

    @compatibility(is_backward_compatible=True)
    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Puts another node into the arguments of all users that delete_user_cb takes, and gives these users.

        propagate_meta gives the other node this one's metadata, where it has none.
        """
        if propagate_meta:
            assert not replace_with.meta, (
                "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys"
            )
            replace_with.meta.update(self.meta)
        chosen = [user for user in list(self.users) if delete_user_cb(user)]
        for user in chosen:
            user.replace_input_with(self, replace_with)
        return chosen

    @compatibility(is_backward_compatible=False)
    def is_impure(self) -> bool:
        """Whether the node stays although nobody uses it."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            schema = getattr(self.target, "_schema", None)
            return self.target in _side_effectful_functions or schema is not None and schema.is_mutable
        if self.op == "call_module":
            assert self.graph.owning_module is not None, "self.graph.owning_module not set for purity check"
            target = self.graph.owning_module.get_submodule(typing.cast(str, self.target))
            assert target is not None, f"Did not find expected submodule target {self.target}"
            return getattr(target, "_is_impure", False)
        return False

    @compatibility(is_backward_compatible=False)
    def normalized_arguments(
        self,
        root: torch.nn.Module,
        arg_types: tuple[Any] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments by the signature of what is called; None where that is not known or does not fit.

        normalize_to_only_use_kwargs is for normalize_function and has no effect here, as in PyTorch.
        """
        from torchjit.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types)
        if self.op == "call_module":
            assert isinstance(self.target, str)
            return normalize_module(root, self.target, self.args, self.kwargs)
        return None

    @compatibility(is_backward_compatible=True)
    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Puts new_input wherever the arguments have old_input."""

        def replaced(n: Node) -> Node:
            return new_input if n == old_input else n

        self.__update_args_kwargs(map_arg(self.args, replaced), map_arg(self.kwargs, replaced))


def _is_namedtuple(a: tuple[Any, ...]) -> bool:
    """Whether a tuple is of a class of named tuples; the named results of operators are plain ones."""
    return hasattr(a, "_fields") and type(a).__module__ != "torch.return_types"


@compatibility(is_backward_compatible=True)
def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """a with fn(node) in the place of every node, in containers too.

    >>> traced = torch.fx.symbolic_trace(lambda x: x + 1)
    >>> add = next(node for node in traced.graph.nodes if node.op == "call_function")
    >>> torch.fx.map_arg(add.args, lambda node: node.name)
    ('x', 1)
    """
    assert callable(fn), "torch.fx.map_arg(a, fn): fn must be a callable"
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


@compatibility(is_backward_compatible=True)
def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """a with fn(x) for everything that is no tuple, list, dictionary or slice, in containers too."""
    if isinstance(a, tuple):
        items = tuple(map_aggregate(x, fn) for x in a)
        return type(a)(*items) if _is_namedtuple(a) else items
    if isinstance(a, list):
        return immutable_list(map_aggregate(x, fn) for x in a)
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.fx.operator_schemas": "ArgsKwargsPair normalize_function normalize_module"})
