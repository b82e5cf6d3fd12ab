"""Workers: threads of this process, or processes that are spawned."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

_info = threading.local()


class WorkerInfo:
    """Which worker runs: its id, how many there are, its seed and its dataset."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id, self.num_workers, self.seed, self.dataset = id, num_workers, seed, dataset

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


def get_worker_info() -> WorkerInfo | None:
    """The worker that runs the caller, None in the main thread."""
    return getattr(_info, "current", None)


class Failure:
    """An exception on its way from a worker."""

    def __init__(self, error: BaseException, worker: int) -> None:
        self.error, self.worker = error, worker


class End:
    """A worker has no more batches."""


def work(
    fetch: Callable[[Any], Any], stream: Callable[[], Iterator[Any]] | None, tasks: Any, results: Any, info: WorkerInfo, init: Any
) -> None:
    """The loop of a worker: fetches the batches of its tasks, or of its part of an iterable dataset."""
    _info.current = info
    try:
        if init is not None:
            init(info.id)
        batches = stream() if stream is not None else None
    except BaseException as e:
        results.put((None, Failure(e, info.id)))
        return
    while True:
        task = tasks.get()
        if task is None:
            return
        number, indices = task
        try:
            if batches is None:
                result = fetch(indices)
            else:
                result = next(batches, End)
                result = End() if result is End else result
        except BaseException as e:
            result = Failure(e, info.id)
        results.put((number, result))
        if isinstance(result, (End, Failure)):
            return


class Thread:
    """A worker that is a thread: operators run without the interpreter's lock, so that they run beside each other."""

    def __init__(self, target: Any, args: tuple[Any, ...]) -> None:
        self.thread = threading.Thread(target=target, args=args, daemon=True)
        self.thread.start()

    def is_alive(self) -> bool:
        return self.thread.is_alive()

    def join(self) -> None:
        self.thread.join(1)

    @staticmethod
    def make_queue() -> Any:
        return queue.Queue()


class Process:
    """A worker that is a process of its own."""

    def __init__(self, target: Any, args: tuple[Any, ...], context: Any) -> None:
        self.process = context.Process(target=target, args=args, daemon=True)
        self.process.start()

    def is_alive(self) -> bool:
        return self.process.is_alive()

    def join(self) -> None:
        self.process.join(1)
        if self.process.is_alive():
            self.process.terminate()
