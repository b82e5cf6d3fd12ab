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


class immutable_list(list[Any]):  # noqa: N801
    """A list whose mutating methods raise. It pickles as one over a plain list."""

    def __reduce__(self) -> Any:
        return type(self), (list(self),)


class immutable_dict(dict[Any, Any]):  # noqa: N801
    """A dict whose mutating methods raise. It pickles as one over a plain dict."""

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


for _name in ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove"):
    setattr(immutable_list, _name, _no_mutation)
for _name in ("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(immutable_dict, _name, _no_mutation)

_register_pytree_node(immutable_list, lambda d: (d, None), lambda v, _: immutable_list(v))
_register_pytree_node(
    immutable_dict, lambda d: (list(d.values()), list(d)), lambda v, keys: immutable_dict(zip(keys, v, strict=True))
)
