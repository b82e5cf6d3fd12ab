"""The leaves of a container in the order of a description: what generated code of traced containers calls."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from torchjit.utils._pytree import LeafSpec, TreeSpec

FlattenFuncSpec = Callable[[Any, TreeSpec], list]

SUPPORTED_NODES: dict[Any, Any] = {}


def register_pytree_flatten_spec(typ: Any, flatten_fn_spec: FlattenFuncSpec) -> None:
    """Tells how containers of a type are taken apart after a description: flatten_fn_spec(container, spec) gives the children."""
    SUPPORTED_NODES[typ] = flatten_fn_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of pytree in the order of spec. Raises RuntimeError for a container of a type that nobody registered."""
    if isinstance(spec, LeafSpec):
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with"
            "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make"
            "sure that any custom pytrees have been registered before loading it."
        )
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    return [
        leaf
        for child, child_spec in zip(children, spec.children_specs)
        for leaf in tree_flatten_spec(child, child_spec)
    ]


def _dict_flatten_spec(d: dict[Any, Any], spec: TreeSpec) -> list[Any]:
    return [d[key] for key in spec.context]


def _sequence_flatten_spec(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[i] for i in range(len(spec.children_specs))]


register_pytree_flatten_spec(dict, _dict_flatten_spec)
for _kind in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_kind, _sequence_flatten_spec)
