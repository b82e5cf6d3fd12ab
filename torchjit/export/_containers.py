"""Containers of inputs and outputs: their descriptions as JSON, and dataclasses as containers."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

from torchjit.utils import _pytree as pytree

_BUILTIN: dict[str, Any] = {"dict": dict, "list": list, "tuple": tuple, "OrderedDict": OrderedDict}


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Makes instances of a dataclass containers of their fields: inputs and outputs of exported programs.

    serialized_type_name is what archives call the class, its qualified name if None. Fields that are None stay out.
    Raises AssertionError for what is no dataclass, ValueError where the class is one of containers already.
    """
    assert dataclasses.is_dataclass(cls), f"Only dataclasses can be registered with this function: {cls}"
    names = [f.name for f in dataclasses.fields(cls)]

    def flatten(x: Any) -> tuple[list[Any], Any]:
        given = [n for n in names if getattr(x, n) is not None]
        return [getattr(x, n) for n in given], [given, [n for n in names if n not in given]]

    def unflatten(values: list[Any], context: Any) -> Any:
        given, missing = context
        return cls(**dict(zip(given, values, strict=True)), **dict.fromkeys(missing))

    def with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Any]:
        children, context = flatten(x)
        return [(pytree.MappingKey(n), child) for n, child in zip(context[0], children, strict=True)], context

    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    pytree.register_pytree_node(cls, flatten, unflatten, serialized_type_name=name, flatten_with_keys_fn=with_keys)


def write_spec(spec: Any) -> Any:
    """A description of containers as lists, texts and numbers. Raises NotImplementedError for containers that archives cannot hold."""
    if isinstance(spec, pytree.LeafSpec):
        return None
    children = [write_spec(c) for c in spec.children_specs]
    if spec.type is namedtuple:
        return {"type": "namedtuple", "name": spec.context.__name__, "fields": list(spec.context._fields), "children": children}
    for name, kind in _BUILTIN.items():
        if kind is spec.type:
            return {"type": name, "context": spec.context, "children": children}
    how = pytree.SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if how is None or how.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. A dataclass is registered with torch.export.register_dataclass, another "
            "class with torch.utils._pytree.register_pytree_node, which takes a serialized_type_name."
        )
    return {"type": how.name, "context": spec.context if how.to_dumpable is None else how.to_dumpable(spec.context), "children": children}


def read_spec(form: Any) -> Any:
    """The description that write_spec wrote. Raises ValueError for classes that are not registered, and for what is no description."""
    if form is None:
        return pytree.LeafSpec()
    if not isinstance(form, dict) or not isinstance(form.get("children"), list):
        raise ValueError("the description of a container cannot be read")
    children = [read_spec(c) for c in form["children"]]
    name, context = form.get("type"), form.get("context")
    if name == "namedtuple":
        return pytree.TreeSpec(namedtuple, _named_tuple(form["name"], form["fields"]), children)
    if name in _BUILTIN:
        return pytree.TreeSpec(_BUILTIN[name], context, children)
    kind = pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(str(name))
    if kind is None:
        raise ValueError(f"the class {name!r} is not known: register it with torch.export.register_dataclass before the program is loaded")
    from_dumpable = pytree.SUPPORTED_SERIALIZED_TYPES[kind].from_dumpable
    return pytree.TreeSpec(kind, context if from_dumpable is None else from_dumpable(context), children)


def _named_tuple(name: str, fields: list[str]) -> Any:
    """The class of named tuples of that name: one that the program has, if it has one."""
    for cls in tuple.__subclasses__():
        if cls.__name__ == name and list(getattr(cls, "_fields", ())) == fields:
            return cls
    return namedtuple(name, fields)  # noqa: PYI024
