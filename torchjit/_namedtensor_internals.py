"""Names of dimensions as the methods of Tensor take them: with an ellipsis, or as a map from names to names."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from torchjit import _native


def warn_once() -> None:
    """Says that named tensors are experimental, once in a process as PyTorch does."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "Named tensors and all their associated APIs are an experimental feature and subject to change. "
            "Please do not use them for anything important until they are released as stable.",
            stacklevel=3,
        )


_warned = False


def set_names(tensor: Any, names: Any) -> None:
    """Sets the names of all dimensions, or removes them."""
    warn_once()
    if names is not None and not isinstance(names, (list, tuple)):
        raise RuntimeError("names must either be None or a tuple of dim names")
    _native.tensor_set_names(tensor, names)


def check_serializing_named_tensor(tensor: Any) -> None:
    """Fails for a tensor with names, which cannot be written."""
    if _native.tensor_has_names(tensor):
        raise RuntimeError(
            "NYI: Named tensors don't support serialization. Please drop names via `tensor = tensor.rename(None)` before serialization."
        )


def is_ellipsis(item: Any) -> bool:
    """Whether an item stands for several dimensions."""
    return item is ... or item == "..."


def single_ellipsis_index(names: Any, fn_name: str) -> int | None:
    """The place of the ellipsis among names, None where there is none."""
    places = [i for i, name in enumerate(names) if is_ellipsis(name)]
    if len(places) > 1:
        raise RuntimeError(
            f"{fn_name}: More than one Ellipsis ('...') found in names ({names}). This function supports up to one Ellipsis."
        )
    return places[0] if places else None


def filled(names: Any, old: Any, fn_name: str) -> list[Any]:
    """The names with those of the tensor in the place of the ellipsis."""
    warn_once()
    return list(resolve_ellipsis(names, old, fn_name))


def align_to(tensor: Any, names: Any) -> Any:
    """Tensor.align_to."""
    at = single_ellipsis_index(names, "align_to")
    align = _native.operator("aten::align_to")
    if at is None:
        return align(tensor, list(names))
    return align(tensor, [name for name in names if not is_ellipsis(name)], at)


def update_names(tensor: Any, names: Any, rename_map: Any, inplace: bool) -> Any:
    """Tensor.rename and Tensor.rename_."""
    method = namer_api_name(inplace)
    if names and rename_map:
        raise RuntimeError(
            f"{method}: This function takes either positional args or keyword args, but not both. "
            f"Use tensor.{method}(*names) to name dims and tensor.{method}(**rename_map) to rename dims."
        )
    if names == (None,):
        return tensor._update_names(None, inplace)
    if not rename_map:
        return tensor._update_names(filled(names, tensor.names, method), inplace)
    for name, new in rename_map.items():
        if name not in tensor.names:
            raise RuntimeError(
                f"{method}: Tried to rename dim '{name}' to dim {new} in Tensor[{tensor.names}] but dim '{name}' does not exist"
            )
    return tensor._update_names([rename_map.get(name, name) for name in tensor.names], inplace)


def unflatten(tensor: Any, dim: Any, sizes: Any) -> Any:
    """Tensor.unflatten: sizes alone, or pairs of names and sizes."""
    pairs = sizes.items() if isinstance(sizes, OrderedDict) else sizes
    if not isinstance(sizes, OrderedDict) and not (isinstance(sizes, (tuple, list)) and sizes and isinstance(sizes[0], (tuple, list))):
        return _native.operator("aten::unflatten")(tensor, dim, sizes)
    if not isinstance(dim, str):
        raise TypeError(f"unflatten(): argument 'dim' (position 1) must be name, not {type(dim).__name__}")
    names, lengths = zip(*pairs, strict=True)
    return _native.operator("aten::unflatten")(tensor, dim, list(lengths), list(names))


def resolve_ellipsis(names: Any, tensor_names: Any, fn_name: str) -> tuple[Any, ...]:
    """The names with those of a tensor in the place of the ellipsis."""
    at = single_ellipsis_index(names, fn_name)
    if at is None:
        return tuple(names)
    after = len(names) - at - 1
    return (*names[:at], *tensor_names[at : len(tensor_names) - after], *names[at + 1 :])


def namer_api_name(inplace: bool) -> str:
    """The name of the method that renames."""
    return "rename_" if inplace else "rename"


def build_dim_map(tensor: Any) -> OrderedDict[Any, Any]:
    """The names of a tensor, each by itself or, where there is none, by its place."""
    return OrderedDict((i if name is None else name, name) for i, name in enumerate(tensor.names))


def unzip_namedshape(namedshape: Any) -> Any:
    """The names and the lengths of pairs, or of a dictionary."""
    if isinstance(namedshape, OrderedDict):
        namedshape = namedshape.items()
    if not hasattr(namedshape, "__iter__") and not isinstance(namedshape, tuple):
        raise RuntimeError(f"Expected namedshape to be OrderedDict or iterable of tuples, got: {type(namedshape)}")
    if len(namedshape) == 0:
        raise RuntimeError("Expected namedshape to non-empty.")
    return zip(*namedshape, strict=True)
