"""Bars that show how far long work is: on a terminal, where tqdm is installed; nothing otherwise."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LARGE = 1 << 28  # bytes from which on writing a file shows a bar
MANY = 2000  # items from which on going over them does


def _tqdm() -> Any:
    """The class of bars, None where none is to be shown."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    return tqdm


@contextlib.contextmanager
def of_bytes(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to be called with the number of bytes that are done and of all; None where no bar is shown. The bar appears for many bytes."""
    bars: list[Any] = []
    tqdm = _tqdm()

    def told(done: int, total: int) -> None:
        if total < LARGE:
            return
        if not bars:
            bars.append(tqdm(total=total, desc=what, unit="B", unit_scale=True, unit_divisor=1024))
        bars[0].update(done - bars[0].n)

    try:
        yield told if tqdm else None
    finally:
        for bar in bars:
            bar.close()


@contextlib.contextmanager
def of_parts(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function to be called with the number of bytes of each further part of a total. The bar appears for many bytes."""
    done = 0
    with of_bytes(what) as told:

        def more(count: int) -> None:
            nonlocal done
            done += count
            if told:
                told(done, total)

        yield more


def nothing(count: int) -> None:
    """What is told of parts where no bar is wanted."""


def over(items: Iterable[Any], what: str) -> Iterable[Any]:
    """The items; a bar is shown while many are gone over."""
    tqdm = _tqdm()
    if tqdm is None:
        return items
    items = list(items)
    return tqdm(items, desc=what) if len(items) >= MANY else items
