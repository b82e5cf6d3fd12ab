"""Pipes of batches and groups, and of the examples in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.utils.common import _check_unpickable_fn


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe[Any]):
    """Lists of batch_size examples, the last one shorter or left out."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for x in self.datapipe:
            batch.append(x)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        n = len(self.datapipe)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """The examples of batches, and of batches in these to a depth; -1 is any."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, level: int) -> Iterator[Any]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_batch = isinstance(element, (list, DataChunk))
        if level == 0 or level == -1 and not is_batch:
            yield element
        elif not is_batch:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            for item in element:
                yield from self._dive(item, level if level == -1 else level - 1)


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Lists of the examples for which a function gives the same, of group_size at most; what does not fit into the buffer is given early."""

    def __init__(
        self, datapipe: Any, group_key_fn: Callable[..., Any], *, buffer_size: int = 10000, group_size: int | None = None,
        guaranteed_group_size: int | None = None, drop_remaining: bool = False,
    ) -> None:  # fmt: skip
        _check_unpickable_fn(group_key_fn)
        if guaranteed_group_size is None and group_size is not None:
            guaranteed_group_size = group_size if group_size > 0 and buffer_size > group_size else None
        if guaranteed_group_size is not None:
            assert group_size is not None and 0 < guaranteed_group_size <= group_size
        self.datapipe, self.group_key_fn, self.max_buffer_size, self.group_size = datapipe, group_key_fn, buffer_size, group_size
        self.guaranteed_group_size, self.drop_remaining, self.wrapper_class = guaranteed_group_size, drop_remaining, DataChunk

    def _evict(self, groups: dict[Any, list[Any]]) -> tuple[Any, int]:
        """Takes the largest group away, and gives it where it may be given, with its size."""
        key = max(groups, key=lambda k: len(groups[k]))
        group = groups.pop(key)
        if self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        keeps = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        return (group if keeps else None), len(group)

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = defaultdict(list)
        held = 0
        for x in self.datapipe:
            key = self.group_key_fn(x)
            groups[key].append(x)
            held += 1
            if self.group_size is not None and len(groups[key]) == self.group_size:
                held -= self.group_size
                yield self.wrapper_class(groups.pop(key))
            if held == self.max_buffer_size:
                group, n = self._evict(groups)
                held -= n
                if group is not None:
                    yield self.wrapper_class(group)
        for key in list(groups):
            yield self.wrapper_class(groups.pop(key))


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe[Any]):
    """Every n-th example, from one on: those of one of n workers."""

    def __init__(self, source_datapipe: Any) -> None:
        self.source_datapipe, self.num_of_instances, self.instance_id = source_datapipe, 1, 0

    def is_shardable(self) -> bool:
        """Whether apply_sharding may be called."""
        return True

    def apply_sharding(self, num_of_instances: int, instance_id: int) -> None:
        """Sets the number of workers, and which of them this is."""
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self) -> Iterator[Any]:
        for i, x in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield x

    def __len__(self) -> int:
        n = len(self.source_datapipe)
        return n // self.num_of_instances + (1 if self.instance_id < n % self.num_of_instances else 0)
