"""Going over what is in nested tuples, lists and dictionaries, under the names of torch.autograd.function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor


def _refuse(obj: Any, accepted: str | None) -> ValueError:
    from torchjit import typename

    hint = f". Accepted types: {accepted}, or lists/tuples of them" if accepted else ""
    return ValueError(f"Auto nesting doesn't know how to process an input object of type {typename(obj)}{hint}")


def _nested_map(condition: Callable[[Any], bool], fn: Callable[[Any], Any], condition_msg: str | None = None) -> Callable[[Any], Any]:
    """A function that calls fn with what meets a condition in nested containers and gives containers of the results.

    It raises ValueError for what is neither.
    """

    def mapped(obj: Any) -> Any:
        if condition(obj):
            return fn(obj)
        if obj is None:
            return None
        if isinstance(obj, (list, tuple)):
            items = (mapped(x) for x in obj)
            return type(obj)(*items) if hasattr(obj, "_fields") else type(obj)(items)
        if isinstance(obj, dict):
            return {key: mapped(obj[key]) for key in obj}
        raise _refuse(obj, condition_msg)

    return mapped


def _jit_unwrap_structured(obj: Any) -> Any:
    """What an object's _jit_unwrap gives, or the object."""
    return obj._jit_unwrap() if hasattr(obj, "_jit_unwrap") else obj


def _iter_filter(
    condition: Callable[[Any], bool], allow_unknown: bool = False, condition_msg: str | None = None, conversion: Callable[[Any], Any] | None = None
) -> Callable[[Any], Iterator[Any]]:
    """A function that goes over what meets a condition in nested containers.

    It raises ValueError for what is neither, unless allow_unknown: then it gives that too.
    """

    def found(obj: Any) -> Iterator[Any]:
        if conversion is not None:
            obj = conversion(obj)
        if condition(obj):
            yield obj
        elif obj is None:
            return
        elif isinstance(obj, (list, tuple)):
            for item in obj:
                yield from found(item)
        elif isinstance(obj, dict):
            for item in obj.values():
                yield from found(item)
        elif allow_unknown:
            yield obj
        else:
            raise _refuse(obj, condition_msg)

    return found


def _unflatten(input: Any, proto: Any) -> Any:
    """The items of a flat sequence in containers nested like those of proto."""

    def take(left: list[Any], like: Any) -> tuple[Any, list[Any]]:
        if hasattr(like, "_jit_wrap"):
            return like._jit_wrap(left)
        if not isinstance(like, (list, tuple)):
            return left[0], left[1:]
        items: list[Any] = []
        for part in like:
            if part is None:
                items.append(None)
                continue
            item, left = take(left, part)
            items.append(item)
        return type(like)(items), left

    return take(list(input), proto)[0]


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


_iter_jit_values = _iter_filter(
    lambda o: o is None or isinstance(o, _native.Handle) and type(o).__name__ == "Value", condition_msg="jit's Values or None"
)
_iter_tensors = _iter_filter(_is_tensor, condition_msg="Tensors", conversion=_jit_unwrap_structured)
_iter_tensors_permissive = _iter_filter(_is_tensor, allow_unknown=True, condition_msg="Tensors (permissive)")
_iter_None_tensors = _iter_filter(lambda o: o is None or _is_tensor(o), condition_msg="Tensors or None")
_map_tensor_data = _nested_map(_is_tensor, lambda o: o.data, condition_msg="Tensors")
