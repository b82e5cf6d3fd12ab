"""Pipes made of several, and several made of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.utils.common import _check_unpickable_fn


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
        _check_unpickable_fn(classifier_fn)
        return _Demultiplex(datapipe, num_instances, classifier_fn, drop_none, buffer_size).children
