"""Lists and dictionaries that refuse to be changed: arguments of nodes, whose users are counted."""

from __future__ import annotations

from typing import Any, NoReturn

from torchjit.utils._pytree import _register_pytree_node

__all__ = ["immutable_list", "immutable_dict"]

_help_mutation = """\
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:
    new_args = ... # copy and mutate args
    node.args = new_args
"""


def _no_mutation(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(f"'{type(self).__name__}' object does not support mutation. {_help_mutation}")


def _frozen(name: str, base: type, mutators: list[str]) -> Any:
    """A subclass of base whose mutating methods raise. It pickles as one over a plain base."""

    def reduce(self: Any) -> Any:
        return type(self), (base(self),)

    body: dict[str, Any] = {"__reduce__": reduce, "__module__": __name__, **dict.fromkeys(mutators, _no_mutation)}
    return type("immutable_" + name, (base,), body)


immutable_list = _frozen(
    "list", list, ["__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove"]
)  # fmt: skip
immutable_dict = _frozen("dict", dict, ["__delitem__", "__setitem__", "clear", "pop", "popitem", "update"])

_register_pytree_node(immutable_list, lambda d: (d, None), lambda v, _: immutable_list(v))
_register_pytree_node(
    immutable_dict, lambda d: (list(d.values()), list(d)), lambda v, keys: immutable_dict(zip(keys, v, strict=True))
)
