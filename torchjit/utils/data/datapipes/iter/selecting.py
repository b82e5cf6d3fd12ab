"""Pipes that leave examples out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data.datapipes._functions import applied
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.utils.common import _check_unpickable_fn, validate_input_col


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """The examples for which a function gives True; of batches those elements."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], drop_empty_batches: bool | None = None, input_col: Any = None) -> None:
        _check_unpickable_fn(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        validate_input_col(filter_fn, input_col)
        self.drop_empty_batches = True if drop_empty_batches is None else drop_empty_batches

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            keeps = applied(self.filter_fn, data, self.input_col)
            if not isinstance(keeps, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(keeps))
            if keeps:
                yield data
