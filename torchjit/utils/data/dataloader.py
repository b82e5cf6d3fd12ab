"""Loaders of batches."""

from __future__ import annotations

import copy
import multiprocessing
import queue
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import torchjit as torch
from torchjit.utils.data import sampler as samplers
from torchjit.utils.data._utils import collate, worker
from torchjit.utils.data.datapipes.datapipe import IterDataPipe
from torchjit.utils.data.dataset import IterableDataset
from torchjit.utils.data.graph_settings import apply_random_seed, apply_sharding, apply_shuffle_settings

T_co = TypeVar("T_co", covariant=True)


class _Fetch:
    """Makes a batch of the examples of some indices."""

    def __init__(self, dataset: Any, collate_fn: Any, batched: bool) -> None:
        self.dataset, self.collate_fn, self.batched = dataset, collate_fn, batched

    def __call__(self, indices: Any) -> Any:
        if not self.batched:
            return self.collate_fn(self.dataset[indices])
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(indices))
        return self.collate_fn([self.dataset[i] for i in indices])


class _Stream:
    """Makes the batches of an iterable dataset."""

    def __init__(self, dataset: Any, collate_fn: Any, batch_size: int | None, drop_last: bool) -> None:
        self.dataset, self.collate_fn, self.batch_size, self.drop_last = dataset, collate_fn, batch_size, drop_last

    def __call__(self) -> Iterator[Any]:
        if self.batch_size is None:
            for example in self.dataset:
                yield self.collate_fn(example)
            return
        batch: list[Any] = []
        for example in self.dataset:
            batch.append(example)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)


class DataLoader(Generic[T_co]):
    """Batches of a dataset, in order or shuffled, made here or by workers.

    num_workers: how many workers make batches ahead of time. They are threads; multiprocessing_context="spawn" (or
    "forkserver") makes them processes, for examples that are made by Python code.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Any = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int = 2,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor != 2:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing.")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.prefetch_factor = dataset, num_workers, prefetch_factor
        self.pin_memory, self.timeout, self.worker_init_fn = pin_memory, timeout, worker_init_fn
        self.multiprocessing_context, self.persistent_workers = multiprocessing_context, persistent_workers
        self._iterable = isinstance(dataset, IterableDataset)
        if isinstance(dataset, IterDataPipe):
            self.dataset = dataset = apply_shuffle_settings(dataset, shuffle=shuffle)
            shuffle = None
        if self._iterable:
            if shuffle not in (False, None):
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
            if sampler is not None or batch_sampler is not None:
                raise ValueError("DataLoader with IterableDataset: expected unspecified sampler and batch_sampler options")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not self._iterable:
            sampler = samplers.RandomSampler(dataset, generator=generator) if shuffle else samplers.SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not self._iterable:
            batch_sampler = samplers.BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler, self.generator = batch_size, drop_last, sampler, batch_sampler, generator
        batched = batch_sampler is not None or (self._iterable and batch_size is not None)
        self.collate_fn = collate_fn or (collate.default_collate if batched else collate.default_convert)
        self._fetch = _Fetch(dataset, self.collate_fn, batched)
        self._stream = _Stream(dataset, self.collate_fn, batch_size, drop_last) if self._iterable else None

    def __len__(self) -> int:
        if self._iterable:
            n = len(self.dataset)
            if self.batch_size is None:
                return n
            return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def __iter__(self) -> Iterator[Any]:
        options = {} if self.generator is None else {"generator": self.generator}
        if isinstance(self.dataset, IterDataPipe):
            shared = torch.Generator()
            shared.manual_seed(int(torch.empty((), dtype=torch.int64).random_(**options).item()))
            apply_random_seed(self.dataset, shared)
        seed = int(torch.empty((), dtype=torch.int64).random_(**options).item())
        if self.num_workers == 0:
            if self._stream is not None:
                return self._stream()
            return (self._fetch(indices) for indices in (self.batch_sampler if self.batch_sampler is not None else self.sampler))
        return _Workers(self, seed).batches()


class _Workers:
    """The workers of one pass over the data. Batches come in the order of the sampler."""

    def __init__(self, loader: DataLoader, seed: int) -> None:
        self.loader = loader
        context = loader.multiprocessing_context
        if isinstance(context, str):
            context = multiprocessing.get_context(context)
        if context is not None and context.get_start_method() == "fork":
            raise ValueError('workers cannot be forked: use multiprocessing_context="spawn" or "forkserver", or threads (None)')
        make_queue = worker.Thread.make_queue if context is None else context.Queue
        self.results = make_queue()
        self.tasks = [make_queue() for _ in range(loader.num_workers)]
        self.workers: list[Any] = []
        for i, tasks in enumerate(self.tasks):
            dataset, stream = loader.dataset, loader._stream
            if isinstance(dataset, IterDataPipe):
                dataset = apply_sharding(copy.deepcopy(dataset), loader.num_workers, i)
                stream = _Stream(dataset, loader.collate_fn, loader.batch_size, loader.drop_last)
            info = worker.WorkerInfo(i, loader.num_workers, seed + i, dataset)
            args = (loader._fetch, stream, tasks, self.results, info, loader.worker_init_fn)
            self.workers.append(worker.Thread(worker.work, args) if context is None else worker.Process(worker.work, args, context))

    def batches(self) -> Iterator[Any]:
        loader = self.loader
        n = loader.num_workers
        indices = iter(() if loader._stream else loader.batch_sampler if loader.batch_sampler is not None else loader.sampler)
        open_workers = set(range(n))
        waiting: dict[int, Any] = {}
        owner: dict[int, int] = {}
        sent = given = 0

        def send(i: int) -> None:
            nonlocal sent
            if i not in open_workers:
                return
            task = None if loader._stream else next(indices, worker.End)
            if task is worker.End:
                return
            owner[sent] = i
            self.tasks[i].put((sent, task))
            sent += 1

        try:
            for k in range(n * loader.prefetch_factor):
                send(k % n)
            while given < sent:
                while given not in waiting:
                    number, result = self._receive()
                    if isinstance(result, worker.Failure) and number is None:
                        raise result.error
                    waiting[number] = result
                result = waiting.pop(given)
                i = owner.pop(given)
                given += 1
                if isinstance(result, worker.Failure):
                    raise result.error
                if isinstance(result, worker.End):
                    open_workers.discard(i)
                    for number in [number for number, w in owner.items() if w == i]:
                        waiting.setdefault(number, worker.End())
                    continue
                send(i)
                yield result
        finally:
            for tasks in self.tasks:
                tasks.put(None)
            for w in self.workers:
                w.join()

    def _receive(self) -> Any:
        waited = 0.0
        while True:
            try:
                return self.results.get(timeout=1.0)
            except queue.Empty:
                waited += 1.0
                if self.loader.timeout and waited >= self.loader.timeout:
                    raise RuntimeError(f"DataLoader timed out after {self.loader.timeout} seconds") from None
                if not any(w.is_alive() for w in self.workers):
                    raise RuntimeError("DataLoader workers exited unexpectedly") from None
