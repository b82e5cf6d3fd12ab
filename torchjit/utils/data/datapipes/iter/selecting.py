"""Pipes that leave examples out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data.datapipes._functions import applied, check_picklable
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """The examples for which a function gives True; of batches those elements."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], drop_empty_batches: bool | None = None, input_col: Any = None) -> None:
        check_picklable(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        self.drop_empty_batches = True if drop_empty_batches is None else drop_empty_batches

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            keeps = applied(self.filter_fn, data, self.input_col)
            if not isinstance(keeps, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(keeps))
            if keeps:
                yield data
