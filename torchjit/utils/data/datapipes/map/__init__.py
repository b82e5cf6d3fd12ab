"""Data pipes of examples by key."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from torchjit._submodules import provide
from torchjit.utils.data.datapipes._seeded import Seeded
from torchjit.utils.data.datapipes.datapipe import DataChunk, MapDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe[Any]):
    """The items of a sequence or of a dict, of which the pipe keeps a copy if it can."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        if deepcopy:
            try:
                sequence = copy.deepcopy(sequence)
            except TypeError:  # it cannot be copied
                pass
        self.sequence = sequence

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def default_fn(data: Any) -> Any:
    """What it is given."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Any]):
    """What a function gives for each example."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any] = default_fn) -> None:
        _check_unpickable_fn(fn)
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe[Any]):
    """Lists of batch_size examples, the last one shorter or left out."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index: int) -> Any:
        n, first = len(self.datapipe), index * self.batch_size
        last = min(first + self.batch_size, n)
        if first >= n or self.drop_last and last - first < self.batch_size:
            raise IndexError(f"Index {index} is out of bound.")
        return self.wrapper_class([self.datapipe[i] for i in range(first, last)])

    def __len__(self) -> int:
        n = len(self.datapipe)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _check_pipes(datapipes: tuple[Any, ...]) -> None:
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(p, MapDataPipe) for p in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe[Any]):
    """The examples of pipes one behind the other, by numbers."""

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes(datapipes)
        self.datapipes = datapipes

    def __getitem__(self, index: int) -> Any:
        first = 0
        for p in self.datapipes:
            if index - first < len(p):
                return p[index - first]
            first += len(p)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe[Any]):
    """Tuples of an example of each pipe."""

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes(datapipes)
        self.datapipes = datapipes

    def __getitem__(self, index: Any) -> Any:
        items = []
        for p in self.datapipes:
            try:
                items.append(p[index])
            except IndexError as e:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {p}.") from e
        return tuple(items)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


class ShufflerIterDataPipe(Seeded):
    """The examples of a pipe one after the other in an order by chance. set_seed makes the next order the same each time."""

    def __init__(self, datapipe: Any, *, indices: Any = None) -> None:
        super().__init__(datapipe)
        self.indices: Sequence[Any] = list(range(len(datapipe))) if indices is None else indices

    def __iter__(self) -> Iterator[Any]:
        order = reversed(self._rng.sample(self.indices, len(self.indices))) if self._enabled else self.indices
        for i in order:
            yield self.datapipe[i]


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)

Batcher: TypeAlias = BatcherMapDataPipe
Concater: TypeAlias = ConcaterMapDataPipe
Mapper: TypeAlias = MapperMapDataPipe
SequenceWrapper: TypeAlias = SequenceWrapperMapDataPipe
Shuffler: TypeAlias = ShufflerIterDataPipe
Zipper: TypeAlias = ZipperMapDataPipe


provide(
    __name__,
    {
        "callable": "MapperMapDataPipe default_fn",
        "combinatorics": "ShufflerIterDataPipe",
        "combining": "ConcaterMapDataPipe ZipperMapDataPipe",
        "grouping": "BatcherMapDataPipe",
        "utils": "SequenceWrapperMapDataPipe",
    },
)
