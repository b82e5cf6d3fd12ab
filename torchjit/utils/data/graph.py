"""The graph of a data pipe: the pipes that it reads, by their ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]


def _found_in(x: Any, depth: int = 0) -> Iterator[Any]:
    """The data pipes among attributes, to any depth of containers and of what splits a pipe."""
    if isinstance(x, (IterDataPipe, MapDataPipe)):
        yield x
    elif isinstance(x, (list, tuple, set)):
        for item in x:
            yield from _found_in(item)
    elif isinstance(x, dict):
        for item in x.values():
            yield from _found_in(item)
    elif hasattr(x, "main_datapipe"):
        yield from _found_in(x.main_datapipe)


def traverse_dps(datapipe: Any) -> dict[int, tuple[Any, Any]]:
    """A pipe by its id, with the graph of those that it reads."""
    sources: dict[int, tuple[Any, Any]] = {}
    for x in vars(datapipe).values():
        for inner in _found_in(x):
            if inner is not datapipe:
                sources.update(traverse_dps(inner))
    return {id(datapipe): (datapipe, sources)}


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> dict[int, tuple[Any, Any]]:
    """traverse_dps."""
    return traverse_dps(datapipe)
