"""Passes over the batches of loaders."""

from __future__ import annotations

import functools
import itertools
import queue
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit._utils import ExceptionWrapper
from torchjit.utils.data import _utils
from torchjit.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from torchjit.utils.data._utils.worker import Threads, _IterableDatasetStopIteration, _ResumeIteration, get_worker_info
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from torchjit.utils.data.graph_settings import apply_random_seed, apply_sharding
from torchjit.utils.data.sampler import Sampler


class _DatasetKind:
    """Whether examples are asked for by index or come one after the other."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """What makes the batches of a dataset of a kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """None for ever: what examples without indices are asked for."""

    def __init__(self) -> None:
        super().__init__(None)

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _get_distributed_settings() -> tuple[int, int]:
    """How many processes work together, and which of them this is."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size(), distributed.get_rank()
    return 1, 0


def _sharding_worker_init_fn(worker_init_fn: Any, world_size: int, rank_id: int, worker_id: int) -> None:
    """Has the data pipe of a worker give the examples that are its own, then calls a function."""
    info: Any = get_worker_info()
    apply_sharding(info.dataset, info.num_workers * world_size, worker_id * world_size + rank_id)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)


def _share_dist_seed(generator: Any, pg: Any) -> int:
    """A seed for data pipes."""
    return _drawn_seed(generator)


def _drawn_seed(generator: Any) -> int:
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


class _BaseDataLoaderIter:
    """A pass over the batches of a loader."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._shared_seed: int | None = None
        self._pg = None
        if isinstance(self._dataset, IterDataPipe):
            self._share_seed(loader)
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._world_size, self._rank = _get_distributed_settings()
        self._prefetch_factor = loader.prefetch_factor
        if loader.pin_memory_device and not loader.pin_memory:
            warnings.warn(
                "pin memory device is set and pin_memory flag is not used then device pinned memory won't be used"
                "please set pin_memory to true, if you need to use the device pin memory"
            )
        self._pin_memory = loader.pin_memory and torch.cuda.is_available()
        self._pin_memory_device = loader.pin_memory_device or None
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = _drawn_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"

    def _share_seed(self, loader: Any) -> None:
        """Draws the seed of a data pipe's parts."""
        self._shared_seed = _share_dist_seed(loader.generator, self._pg)
        generator = torch.Generator()
        generator.manual_seed(self._shared_seed)
        self._dataset = apply_random_seed(self._dataset, generator)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begins a pass."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        if isinstance(self._dataset, IterDataPipe):
            self._share_seed(loader)

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        with torch.autograd.profiler.record_function(self._profile_name):
            data = self._next_data()
            if self._pin_memory:
                data = _utils.pin_memory.pin_memory(data, self._pin_memory_device)
            self._num_yielded += 1
            if self._IterableDataset_len_called is not None and self._num_yielded > self._IterableDataset_len_called:
                self._warn_of_length()
            return data

    def _warn_of_length(self) -> None:
        """Warns of more examples than there should be."""
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._IterableDataset_len_called} (when accessing "
            f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at each "
                "worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(text)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass whose batches are made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        assert self._timeout == 0
        assert self._num_workers == 0
        if isinstance(self._dataset, (IterDataPipe, MapDataPipe)):
            apply_sharding(self._dataset, self._world_size, self._rank)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A pass whose batches workers make ahead of time. They come in the order of the sampler: those that come too early wait in _task_info.

    _task_info has (worker,) for a batch that was asked for, by its number, and (worker, batch) once it has come.
    """

    _shutdown = True  # until there are workers

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        assert self._num_workers > 0
        assert self._prefetch_factor > 0
        threads = loader.multiprocessing_context is None
        context: Any = Threads if threads else loader.multiprocessing_context
        self._worker_init_fn = loader.worker_init_fn
        if isinstance(self._dataset, (IterDataPipe, MapDataPipe)):
            self._worker_init_fn = functools.partial(_sharding_worker_init_fn, self._worker_init_fn, self._world_size, self._rank)
        self._worker_result_queue = context.Queue()
        self._worker_pids_set = False
        self._shutdown = False
        self._workers_done_event = context.Event()
        self._index_queues: list[Any] = []
        self._workers: list[Any] = []
        for i in range(self._num_workers):
            index_queue = context.Queue()
            args = (
                self._dataset_kind, self._dataset, index_queue, self._worker_result_queue, self._workers_done_event, self._auto_collation,
                self._collate_fn, self._drop_last, self._base_seed, self._worker_init_fn, i, self._num_workers, self._persistent_workers,
                self._shared_seed,
            )  # fmt: skip
            worker = context.Process(target=_utils.worker._worker_loop, args=args)
            worker.daemon = True
            worker.start()
            self._index_queues.append(index_queue)
            self._workers.append(worker)
        self._data_queue = self._worker_result_queue
        if not threads:
            _utils.signal_handling._set_worker_pids(id(self), tuple(w.pid for w in self._workers))
            _utils.signal_handling._set_SIGCHLD_handler()
            self._worker_pids_set = True
        self._reset(loader, first_iter=True)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._send_idx = 0  # the number of the next batch to ask for
        self._rcvd_idx = 0  # and of the next one to give
        self._task_info: dict[int, tuple[Any, ...]] = {}
        self._tasks_outstanding = 0
        self._workers_status = [True] * self._num_workers
        self._worker_queue_idx_cycle = itertools.cycle(range(self._num_workers))
        if not first_iter:
            for q in self._index_queues:
                q.put(_ResumeIteration(self._shared_seed))
            resumed = 0
            while resumed < self._num_workers:  # batches of the last pass come before
                resumed += isinstance(self._get_data()[0], _ResumeIteration)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _try_get_data(self, timeout: float = _utils.MP_STATUS_CHECK_INTERVAL) -> tuple[bool, Any]:
        """Whether something came from a worker in time, and what. Raises RuntimeError where a worker has ended that should not have."""
        try:
            return True, self._data_queue.get(timeout=timeout)
        except queue.Empty:
            failed = []
            for i, w in enumerate(self._workers):
                if self._workers_status[i] and not w.is_alive():
                    failed.append(w)
                    self._mark_worker_as_unavailable(i)
            if failed:
                pids = ", ".join(str(w.pid) for w in failed)
                raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from None
            return False, None

    def _get_data(self) -> Any:
        """What comes next from the workers."""
        if self._timeout > 0:
            success, data = self._try_get_data(self._timeout)
            if not success:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            return data
        while True:
            success, data = self._try_get_data()
            if success:
                return data

    def _next_data(self) -> Any:
        while True:
            # Batches of workers that had no more examples are skipped.
            while self._rcvd_idx < self._send_idx:
                info = self._task_info[self._rcvd_idx]
                if len(info) == 2 or self._workers_status[info[0]]:
                    break
                del self._task_info[self._rcvd_idx]
                self._rcvd_idx += 1
            else:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(info) == 2:
                return self._process_data(self._task_info.pop(self._rcvd_idx)[1])
            assert not self._shutdown and self._tasks_outstanding > 0
            number, data = self._get_data()
            self._tasks_outstanding -= 1
            if self._dataset_kind == _DatasetKind.Iterable and isinstance(data, _IterableDatasetStopIteration):
                if self._persistent_workers:
                    self._workers_status[data.worker_id] = False
                else:
                    self._mark_worker_as_unavailable(data.worker_id)
                self._try_put_index()
            elif number != self._rcvd_idx:
                self._task_info[number] += (data,)
            else:
                del self._task_info[number]
                return self._process_data(data)

    def _try_put_index(self) -> None:
        """Asks the next worker that has examples for another batch, if there are indices left."""
        assert self._tasks_outstanding < self._prefetch_factor * self._num_workers
        try:
            index = self._next_index()
        except StopIteration:
            return
        for _ in range(self._num_workers):
            i = next(self._worker_queue_idx_cycle)
            if self._workers_status[i]:
                break
        else:
            return
        self._index_queues[i].put((self._send_idx, index))
        self._task_info[self._send_idx] = (i,)
        self._tasks_outstanding += 1
        self._send_idx += 1

    def _process_data(self, data: Any) -> Any:
        """The next batch, for which another one is asked for; or the exception that came in its place."""
        self._rcvd_idx += 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _mark_worker_as_unavailable(self, worker_id: int, shutdown: bool = False) -> None:
        """Tells a worker that it has no more to do."""
        assert self._workers_status[worker_id] or (self._persistent_workers and shutdown)
        self._index_queues[worker_id].put(None)
        self._workers_status[worker_id] = False
        assert self._workers_done_event.is_set() == shutdown

    def _shutdown_workers(self) -> None:
        """Ends all workers."""
        if _utils is None or _utils.python_exit_status is True or _utils.python_exit_status is None or self._shutdown:
            return
        self._shutdown = True
        try:
            self._workers_done_event.set()
            for i in range(len(self._workers)):
                if self._persistent_workers or self._workers_status[i]:
                    self._mark_worker_as_unavailable(i, shutdown=True)
            for w in self._workers:
                if w is not threading.current_thread():
                    w.join(timeout=_utils.MP_STATUS_CHECK_INTERVAL)
            for q in self._index_queues:
                if hasattr(q, "cancel_join_thread"):
                    q.cancel_join_thread()
                    q.close()
        finally:
            if self._worker_pids_set:
                _utils.signal_handling._remove_worker_pids(id(self))
                self._worker_pids_set = False
            for w in self._workers:
                self._clean_up_worker(w)

    @staticmethod
    def _clean_up_worker(w: Any) -> None:
        if w.is_alive() and w is not threading.current_thread():
            w.terminate()

    def __del__(self) -> None:
        self._shutdown_workers()
