"""Sizes that may be given as one number."""

from collections.abc import Callable, Sequence
from typing import Any, Iterable, TypeVar, Union

_T = TypeVar("_T")


def to_tuple(x: Union[_T, Iterable[_T]], n: int) -> tuple[_T, ...]:
    """x, or n times x where it is one number."""
    return tuple(x) if isinstance(x, Iterable) else (x,) * n


def reversed_repeated(x: Sequence[_T], times: int) -> list[_T]:
    """The elements from the last to the first, each several times."""
    return [item for item in reversed(x) for _ in range(times)]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes n numbers of one, and a tuple of what is several already."""

    def parse(x: Any) -> tuple[Any, ...]:
        return to_tuple(x, n)

    parse.__name__ = parse.__qualname__ = name
    return parse


_single, _pair, _triple, _quadruple = _ntuple(1, "_single"), _ntuple(2, "_pair"), _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[_T], n: int) -> tuple[_T, ...]:
    return tuple(reversed_repeated(t, n))


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """out_size, with the last of defaults where it has None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :], strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes a prefix, such as that of a wrapper ("module."), off the names in a state."""
    for name in sorted(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
