"""Pipes of what is no pipe."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe


class IterableWrapperIterDataPipe(IterDataPipe[Any]):
    """The examples of an iterable, of which each iterator makes a copy if it can."""

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable = iterable
        self.deepcopy: bool = deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # it cannot be copied
                pass
        yield from source

    def __len__(self) -> int:
        return len(self.iterable)
