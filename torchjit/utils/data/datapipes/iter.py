"""Data pipes of examples one after the other."""

from __future__ import annotations

import copy
import os
import pathlib
import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from typing import Any

import torchjit as torch
from torchjit.utils.data import sampler as samplers
from torchjit.utils.data._utils.collate import default_collate
from torchjit.utils.data.datapipes._functions import applied, check_picklable
from torchjit.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker", "Grouper", "IterableWrapper", "Mapper",
    "Multiplexer", "Sampler", "ShardingFilter", "Shuffler", "UnBatcher", "Zipper",
]  # fmt: skip


class IterableWrapperIterDataPipe(IterDataPipe[Any]):
    """The examples of an iterable, of which each iterator makes a copy if it can."""

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

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


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """What a function gives for each example, or for columns of it; output_col is where that goes, by default where the first column was."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        check_picklable(fn)
        self.datapipe, self.fn, self.input_col = datapipe, fn, input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col

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
        check_picklable(group_key_fn)
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


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe[Any]):
    """The examples in an order by chance, among buffer_size of them. set_seed makes the next order the same each time."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        assert buffer_size > 0, "buffer_size should be larger than 0"
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size
        self._enabled, self._rng = True, random.Random()
        self._seed: int | None = None

    def set_shuffle(self, shuffle: bool = True) -> Any:
        """Switches the shuffling on or off, and gives the pipe."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Any:
        """Sets the seed of the next iterator, and gives the pipe."""
        self._seed = seed
        return self

    def reset(self) -> None:
        if self._enabled:
            seed = self._seed if self._seed is not None else int(torch.empty((), dtype=torch.int64).random_().item())
            self._rng.seed(seed)
            self._seed = None

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        buffer: list[Any] = []
        for x in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(x)
                continue
            i = self._rng.randint(0, len(buffer) - 1)
            given, buffer[i] = buffer[i], x
            yield given
        while buffer:
            yield buffer.pop(self._rng.randint(0, len(buffer) - 1))

    def __len__(self) -> int:
        return len(self.datapipe)


class SamplerIterDataPipe(IterDataPipe[Any]):
    """What a class of samplers gives for a pipe."""

    def __init__(self, datapipe: Any, sampler: Any = samplers.SequentialSampler, sampler_args: Any = None, sampler_kwargs: Any = None) -> None:
        self.datapipe = datapipe
        self.sampler = sampler(*(sampler_args or ()), **{**(sampler_kwargs or {}), "data_source": datapipe})

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return len(self.sampler)


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


def _check_pipes(datapipes: tuple[Any, ...], message: str) -> None:
    if not all(isinstance(p, IterDataPipe) for p in datapipes):
        raise TypeError(message)


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Any]):
    """The examples of pipes one behind the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        _check_pipes(datapipes, "Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for p in self.datapipes:
            yield from p

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[Any]):
    """Tuples of an example of each pipe, until one ends."""

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes(datapipes, "All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*[iter(p) for p in self.datapipes], strict=False)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Any]):
    """An example of each pipe in turn, until one ends."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for items in zip(*self.datapipes, strict=False):
            yield from items

    def __len__(self) -> int:
        return min(map(len, self.datapipes)) * len(self.datapipes)


# ---- one pipe as several ----


class _Split:
    """One pipe whose examples go to children. Each child has those that it has not given yet in a queue."""

    name: str

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int) -> None:
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        self.children = [_ChildDataPipe(self, i) for i in range(num_instances)]
        self.round = 0
        self.begin()

    def begin(self) -> None:
        """Begins to read the pipe anew: iterators of all children end."""
        self.round += 1
        self.queues: list[Any] = [deque() for _ in range(self.num_instances)]
        self.source: Any = None

    def read(self) -> Any:
        if self.source is None:
            self.source = iter(self.main_datapipe)
        return next(self.source)

    def fill(self, i: int) -> None:
        """Reads an example; StopIteration where there is none."""
        raise NotImplementedError


class _ChildDataPipe(IterDataPipe[Any]):
    """One of the pipes that another one is split into."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: _Split, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id
        self._round = 0

    def __iter__(self) -> Iterator[Any]:
        main = self.main_datapipe
        if self._round == main.round:
            main.begin()
        self._round = main.round
        return self._examples(main.round)

    def _examples(self, round: int) -> Iterator[Any]:
        main, i = self.main_datapipe, self.instance_id
        while True:
            if main.round != round:
                raise RuntimeError(
                    "This iterator has been invalidated, because a new iterator has been created from one of the ChildDataPipes of "
                    f"{main.name}(buffer_size={main.buffer_size}, num_instances={main.num_instances})."
                )
            while not main.queues[i]:
                try:
                    main.fill(i)
                except StopIteration:
                    return
            yield main.queues[i].popleft()

    def __len__(self) -> int:
        return len(self.main_datapipe.main_datapipe)


class _Fork(_Split):
    name = "_ForkerIterDataPipe"

    def fill(self, i: int) -> None:
        x = self.read()
        for k, queue in enumerate(self.queues):
            queue.append(x)
            if self.buffer_size >= 0 and k != i and len(queue) > self.buffer_size:
                raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")


class _Demultiplex(_Split):
    name = "_DemultiplexerIterDataPipe"

    def __init__(self, datapipe: Any, num_instances: int, classifier_fn: Callable[..., Any], drop_none: bool, buffer_size: int) -> None:
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        super().__init__(datapipe, num_instances, buffer_size)

    def fill(self, i: int) -> None:
        x = self.read()
        where = self.classifier_fn(x)
        if where is None and self.drop_none:
            return
        if where is None or where >= self.num_instances or where < 0:
            raise ValueError(f"Output of the classification fn should be between 0 and {self.num_instances - 1}. {where} is returned.")
        self.queues[where].append(x)
        if self.buffer_size >= 0 and where != i and sum(map(len, self.queues)) > self.buffer_size:
            raise BufferError(f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient.")


def _check_instances(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instaces` larger than 0, but {num_instances} is found")


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """Several pipes that each have all examples of one, which is read once; buffer_size is how far one may be ahead of another."""

    def __new__(cls, datapipe: Any, num_instances: int, buffer_size: int = 1000) -> Any:
        _check_instances(num_instances)
        return datapipe if num_instances == 1 else _Fork(datapipe, num_instances, buffer_size).children


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """Several pipes: a function tells for each example which one it goes to; None is left out with drop_none."""

    def __new__(cls, datapipe: Any, num_instances: int, classifier_fn: Callable[..., Any], drop_none: bool = False, buffer_size: int = 1000) -> Any:
        _check_instances(num_instances)
        check_picklable(classifier_fn)
        return _Demultiplex(datapipe, num_instances, classifier_fn, drop_none, buffer_size).children


# ---- files ----


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders, in order, whose names fit one of the masks."""

    def __init__(
        self, root: Any = ".", masks: Any = "", *, recursive: bool = False, abspath: bool = False, non_deterministic: bool = False, length: int = -1
    ) -> None:
        roots = [root] if isinstance(root, (str, os.PathLike)) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath, self.length = masks, recursive, abspath, length

    def __iter__(self) -> Iterator[str]:
        masks = [self.masks] if isinstance(self.masks, str) else self.masks
        for root in self.datapipe:
            base = os.path.abspath(root) if self.abspath else os.fspath(root)
            for folder, folders, files in os.walk(base):
                folders.sort()
                for name in sorted(files):
                    if not any(masks) or any(fnmatch(name, mask) for mask in masks):
                        yield os.path.join(folder, name)
                if not self.recursive:
                    break

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[Any]):
    """Paths with their open files, in a mode: "r", "t", "b", "rt" or "rb"."""

    def __init__(self, datapipe: Any, mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[Any]:
        mode = self.mode if self.mode.startswith("r") else "r" + self.mode
        for path in self.datapipe:
            if not isinstance(path, (str, pathlib.Path)):
                raise TypeError(f"Expected string type for pathname, but got {type(path)}")
            yield os.fspath(path), open(path, mode, encoding=self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


Batcher, Collator, Concater, Demultiplexer = BatcherIterDataPipe, CollatorIterDataPipe, ConcaterIterDataPipe, DemultiplexerIterDataPipe
FileLister, FileOpener, Filter, Forker, Grouper = FileListerIterDataPipe, FileOpenerIterDataPipe, FilterIterDataPipe, ForkerIterDataPipe, GrouperIterDataPipe
IterableWrapper, Mapper, Multiplexer, Sampler = IterableWrapperIterDataPipe, MapperIterDataPipe, MultiplexerIterDataPipe, SamplerIterDataPipe
ShardingFilter, Shuffler, UnBatcher, Zipper = ShardingFilterIterDataPipe, ShufflerIterDataPipe, UnBatcherIterDataPipe, ZipperIterDataPipe
