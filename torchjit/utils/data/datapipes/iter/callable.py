"""Pipes of what functions give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data._utils.collate import default_collate
from torchjit.utils.data.datapipes._functions import applied
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.utils.common import _check_unpickable_fn, validate_input_col


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """What a function gives for each example, or for columns of it; output_col is where that goes, by default where the first column was."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        _check_unpickable_fn(fn)
        self.datapipe, self.fn, self.input_col = datapipe, fn, input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply(self, data: Any) -> Any:
        made = applied(self.fn, data, self.input_col)
        if self.input_col is None:
            return made
        is_tuple = isinstance(data, tuple)
        data = list(data) if is_tuple else data
        if self.output_col is None:
            if isinstance(self.input_col, (list, tuple)):
                data[self.input_col[0]] = made
                for i in sorted(self.input_col[1:], reverse=True):
                    del data[i]
            else:
                data[self.input_col] = made
        elif self.output_col == -1:
            data.append(made)
        else:
            data[self.output_col] = made
        return tuple(data) if is_tuple else data

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply(data)

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as tensors: what collate_fn gives for each."""

    def __init__(self, datapipe: Any, conversion: Any = default_collate, collate_fn: Callable[..., Any] | None = None) -> None:
        super().__init__(datapipe, fn=collate_fn or conversion)
