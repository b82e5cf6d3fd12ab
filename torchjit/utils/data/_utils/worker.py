"""Workers: threads of this process, or processes that are spawned."""

from __future__ import annotations

import copy
import dataclasses
import os
import queue
import random
import threading
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._utils import ExceptionWrapper
from torchjit.utils.data._utils import HAS_NUMPY, MP_STATUS_CHECK_INTERVAL, signal_handling

_worker_info: Any = None  # of a process that is a worker
_of_thread = threading.local()


class ManagerWatchdog:
    """Knows whether the process that started this one still lives."""

    def __init__(self) -> None:
        self.manager_pid = os.getppid()
        self.manager_dead = False

    def is_alive(self) -> bool:
        if not self.manager_dead:
            self.manager_dead = os.getppid() != self.manager_pid
        return not self.manager_dead


class WorkerInfo:
    """Which worker runs: its id, num_workers, its seed and its dataset. It cannot be changed."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    __initialized = False

    def __init__(self, **kwargs: Any) -> None:
        vars(self).update(kwargs)
        self.__keys = tuple(kwargs)
        self.__initialized = True

    def __setattr__(self, key: str, val: Any) -> None:
        if self.__initialized:
            raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")
        super().__setattr__(key, val)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={getattr(self, k)}' for k in self.__keys)})"


def get_worker_info() -> WorkerInfo | None:
    """The worker that runs the caller, None outside of workers.

    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return getattr(_of_thread, "info", _worker_info)


@dataclasses.dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """A worker has no more examples."""

    worker_id: int


@dataclasses.dataclass(frozen=True)
class _ResumeIteration:
    """A worker that stays begins another pass, with a seed for data pipes."""

    seed: int | None = None


def _generate_state(base_seed: int, worker_id: int) -> Any:
    """Four words that NumPy's generator of a worker starts from."""
    import numpy

    return numpy.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


def own_copy(dataset: Any) -> Any:
    """What a worker that is a thread may change: data pipes with all that they read, of other datasets the object itself.

    What cannot be copied is shared.
    """
    from torchjit.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        return copy.deepcopy(dataset)
    cls = type(dataset)
    try:
        if not hasattr(dataset, "__dict__") or any(vars(c).get("__slots__") for c in cls.__mro__):
            return copy.copy(dataset)
        made = object.__new__(cls)  # no method of the dataset is called
    except TypeError:
        return dataset
    vars(made).update(vars(dataset))
    return made


def _thread_loop(dataset_kind: Any, dataset: Any, *rest: Any) -> None:
    """_worker_loop in a thread of this process, which has random numbers of its own."""
    _native.own_random_stream(0)
    _of_thread.in_thread = True
    try:
        _worker_loop(dataset_kind, own_copy(dataset), *rest)
    finally:
        _native.drop_random_stream()


def _begin(info: WorkerInfo, base_seed: int) -> None:
    """Seeds what a worker draws from. Python's and NumPy's own generators belong to the process, so that a thread leaves them alone."""
    global _worker_info
    if getattr(_of_thread, "in_thread", False):
        _of_thread.info = info
    else:
        signal_handling._set_worker_signal_handlers()
        torch.set_num_threads(1)
        random.seed(info.seed)
        if HAS_NUMPY:
            import numpy

            numpy.random.seed(_generate_state(base_seed, info.id))
        _worker_info = info
    torch.manual_seed(info.seed)


def _worker_loop(
    dataset_kind: Any, dataset: Any, index_queue: Any, data_queue: Any, done_event: Any, auto_collation: bool, collate_fn: Any, drop_last: bool,
    base_seed: int, init_fn: Any, worker_id: int, num_workers: int, persistent_workers: bool, shared_seed: int | None,
) -> None:  # fmt: skip
    """Puts (number, batch) for each (number, indices) that it gets, until it gets None. An exception goes as an ExceptionWrapper, the end of an
    iterable dataset as an _IterableDatasetStopIteration; a _ResumeIteration begins another pass and is sent back."""
    from torchjit.utils.data.dataloader import _DatasetKind

    where = f"in DataLoader worker process {worker_id}"
    _begin(WorkerInfo(id=worker_id, num_workers=num_workers, seed=base_seed + worker_id, dataset=dataset), base_seed)
    failed: ExceptionWrapper | None = None

    def started(seed: int | None, first: bool) -> Any:
        nonlocal failed
        try:
            begun = _seeded(dataset, seed)
            if first and init_fn is not None:
                init_fn(worker_id)
            return _DatasetKind.create_fetcher(dataset_kind, begun, auto_collation, collate_fn, drop_last)
        except Exception:
            failed = ExceptionWrapper(where=where)

    fetcher = started(shared_seed, True)
    ended = False
    watchdog = ManagerWatchdog()
    while watchdog.is_alive():
        try:
            task = index_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Empty:
            continue
        if task is None:
            break
        if isinstance(task, _ResumeIteration):
            data_queue.put((task, None))
            ended = False
            fetcher = fetcher and started(task.seed, False)
            continue
        if done_event.is_set() or ended:
            continue
        number, indices = task
        if failed is not None:
            data: Any = failed
        else:
            try:
                data = fetcher.fetch(indices)
            except Exception as e:
                ended = isinstance(e, StopIteration) and dataset_kind == _DatasetKind.Iterable
                data = _IterableDatasetStopIteration(worker_id) if ended else ExceptionWrapper(where=where)
        data_queue.put((number, data))
        del data, task, indices
    if done_event.is_set() and hasattr(data_queue, "cancel_join_thread"):
        data_queue.cancel_join_thread()
        data_queue.close()


def _seeded(dataset: Any, shared_seed: int | None) -> Any:
    """A data pipe whose parts have seeds that all workers agree on."""
    if shared_seed is None:
        return dataset
    from torchjit.utils.data.graph_settings import apply_random_seed

    generator = torch.Generator()
    generator.manual_seed(shared_seed)
    return apply_random_seed(dataset, generator)


class Thread(threading.Thread):
    """A worker that is a thread: operators run without the interpreter's lock, so that they run beside each other. It has what a process has."""

    pid = os.getpid()
    exitcode = None

    def terminate(self) -> None:
        """Threads end by themselves when they are told that the work is done."""


class Threads:
    """The context of workers that are threads: what `multiprocessing` has for processes."""

    Queue: Any = staticmethod(queue.Queue)
    Event = staticmethod(threading.Event)

    @staticmethod
    def Process(target: Any, args: tuple[Any, ...]) -> Thread:  # noqa: N802
        return Thread(target=_thread_loop if target is _worker_loop else target, args=args, daemon=True)
