"""Descriptions of containers as texts: JSON, and what a person reads."""

from __future__ import annotations

import json
from typing import Any

from torchjit.utils._pytree import (
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
    LeafSpec,
    TreeSpec,
    tree_unflatten,
)

__all__ = ["treespec_dumps", "treespec_loads", "treespec_pprint"]

PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A description as JSON: [protocol, {"type", "context", "children_spec"}].

    Raises NotImplementedError for containers without a name for texts, TypeError for what is no description.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}."
        )
    _known(PROTOCOL if protocol is None else protocol)
    return json.dumps([PROTOCOL, _form(treespec)])


def _known(protocol: Any) -> None:
    if protocol != PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{PROTOCOL}]")


def _form(spec: TreeSpec) -> dict[str, Any]:
    if isinstance(spec, LeafSpec):
        return {"type": None, "context": None, "children_spec": []}
    how = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if how is None or how.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call with a `serialized_type_name` kwarg."
        )
    context = spec.context if how.to_dumpable is None else how.to_dumpable(spec.context)
    if how.to_dumpable is None:
        try:
            text = json.dumps(context)
        except TypeError as e:
            raise TypeError(
                f"Unable to serialize context. Please make the context json dump-able, or register a custom serializer using _register_pytree_node. ({e})"
            ) from None
    else:
        text = json.dumps(context)
    return {"type": how.name, "context": text, "children_spec": [_form(c) for c in spec.children_specs]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The description that treespec_dumps wrote. Raises ValueError and NotImplementedError for what it did not write."""
    protocol, form = json.loads(serialized)
    _known(protocol)
    return _read(form)


def _read(form: dict[str, Any]) -> TreeSpec:
    if form["type"] is None and form["context"] is None and not form["children_spec"]:
        return LeafSpec()
    if form["type"] not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {form['type']} in pytree is not registered.")
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE[form["type"]]
    how = SUPPORTED_SERIALIZED_TYPES[kind]
    context = json.loads(form["context"])
    return TreeSpec(kind, context if how.from_dumpable is None else how.from_dumpable(context), [_read(c) for c in form["children_spec"]])


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The containers with "*" for each leaf."""
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))
