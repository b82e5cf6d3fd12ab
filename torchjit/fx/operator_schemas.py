"""Arguments of calls by the signatures of what is called."""

from __future__ import annotations

from typing import Any, NamedTuple


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call by position and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def check_for_mutable_operation(target: Any, args: Any, kwargs: Any) -> None:
    return None
