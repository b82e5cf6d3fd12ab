"""torch.utils._pytree: nested containers as a list of leaves and a description."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple


class NodeDef(NamedTuple):
    """How containers of one type are taken apart and put together."""

    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[list[Any], Any], Any]


SUPPORTED_NODES: dict[Any, NodeDef] = {}


def _register_pytree_node(typ: Any, flatten_fn: Any, unflatten_fn: Any) -> None:
    """Makes a type one of containers. flatten_fn gives (children, context), unflatten_fn(children, context) the container."""
    SUPPORTED_NODES[typ] = NodeDef(flatten_fn, unflatten_fn)


_register_pytree_node(dict, lambda d: (list(d.values()), list(d)), lambda v, keys: dict(zip(keys, v, strict=True)))
_register_pytree_node(list, lambda d: (d, None), lambda v, _: list(v))
_register_pytree_node(tuple, lambda d: (list(d), None), lambda v, _: tuple(v))
_register_pytree_node(namedtuple, lambda d: (list(d), type(d)), lambda v, cls: cls(*v))
_register_pytree_node(OrderedDict, lambda d: (list(d.values()), list(d)), lambda v, keys: OrderedDict(zip(keys, v, strict=True)))


def _is_namedtuple_instance(pytree: Any) -> bool:
    kind = type(pytree)
    named = isinstance(pytree, tuple) and isinstance(getattr(kind, "_fields", None), tuple) and kind.__bases__ == (tuple,)
    return named and kind.__module__ != "torch.return_types"


def _get_node_type(pytree: Any) -> Any:
    if _is_namedtuple_instance(pytree):
        return namedtuple
    kind = type(pytree)
    if kind.__module__ == "torch.return_types" and kind not in SUPPORTED_NODES:
        # The class of an operator's named results is a container of its own.
        _register_pytree_node(kind, lambda d: (list(d), None), lambda v, _: kind(*v))
    return kind


def _is_leaf(pytree: Any) -> bool:
    return _get_node_type(pytree) not in SUPPORTED_NODES


class TreeSpec:
    """What a nested container is without its leaves."""

    def __init__(self, typ: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = typ, context, children_specs
        self.num_leaves: int = sum(spec.num_leaves for spec in children_specs)

    def __repr__(self, indent: int = 0) -> str:
        children = ", ".join(repr(c) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def __eq__(self, other: object) -> bool:
        theirs = (other.type, other.context, other.children_specs)  # type: ignore[attr-defined]
        return (self.type, self.context, self.children_specs) == theirs

    __hash__ = None  # type: ignore[assignment]


class LeafSpec(TreeSpec):
    """A leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])
        self.num_leaves = 1

    def __repr__(self, indent: int = 0) -> str:
        return "*"


def tree_flatten(pytree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and what holds them."""
    if _is_leaf(pytree):
        return [pytree], LeafSpec()
    kind = _get_node_type(pytree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(pytree)
    leaves: list[Any] = []
    specs = []
    for child in children:
        found, spec = tree_flatten(child)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(values: list[Any], spec: TreeSpec) -> Any:
    """The container with other leaves. Raises ValueError for another number of them."""
    if not isinstance(spec, TreeSpec):
        raise ValueError(
            f"tree_unflatten(values, spec): Expected `spec` to be instance of TreeSpec but got item of type {type(spec)}."
        )
    if len(values) != spec.num_leaves:
        raise ValueError(
            f"tree_unflatten(values, spec): `values` has length {len(values)} but the spec refers to a pytree that holds "
            f"{spec.num_leaves} items ({spec})."
        )
    if isinstance(spec, LeafSpec):
        return values[0]
    children, at = [], 0
    for child in spec.children_specs:
        children.append(tree_unflatten(values[at : at + child.num_leaves], child))
        at += child.num_leaves
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_map(fn: Any, pytree: Any) -> Any:
    """The container with fn(leaf) for every leaf."""
    leaves, spec = tree_flatten(pytree)
    return tree_unflatten([fn(x) for x in leaves], spec)


def map_only(ty: Any) -> Any:
    """Makes a function leave everything alone that is not of a type."""
    return lambda fn: lambda x: fn(x) if isinstance(x, ty) else x


def tree_map_only(ty: Any, fn: Any, pytree: Any) -> Any:
    """tree_map for the leaves of a type."""
    return tree_map(map_only(ty)(fn), pytree)


def tree_all(pred: Any, pytree: Any) -> bool:
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_flatten(pytree)[0]))


def tree_any(pred: Any, pytree: Any) -> bool:
    """Whether pred holds for a leaf."""
    return any(map(pred, tree_flatten(pytree)[0]))


def tree_all_only(ty: Any, pred: Any, pytree: Any) -> bool:
    """Whether pred holds for all leaves of a type."""
    return all(pred(x) for x in tree_flatten(pytree)[0] if isinstance(x, ty))


def tree_any_only(ty: Any, pred: Any, pytree: Any) -> bool:
    """Whether pred holds for a leaf of a type."""
    return any(pred(x) for x in tree_flatten(pytree)[0] if isinstance(x, ty))


def _broadcast_to_and_flatten(pytree: Any, spec: TreeSpec) -> list[Any] | None:
    """The leaves of pytree, each as often as the spec has leaves in its place; None where they do not fit."""
    if _is_leaf(pytree):
        return [pytree] * spec.num_leaves
    if isinstance(spec, LeafSpec) or _get_node_type(pytree) != spec.type:
        return None
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(pytree)
    if len(children) != len(spec.children_specs) or context != spec.context:
        return None
    result: list[Any] = []
    for child, child_spec in zip(children, spec.children_specs, strict=True):
        flat = _broadcast_to_and_flatten(child, child_spec)
        if flat is None:
            return None
        result += flat
    return result
