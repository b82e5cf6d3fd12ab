"""DataLoader2: a DataLoader whose batches are pipes where the data set is one."""

from __future__ import annotations

import copy
import queue
import threading
from collections.abc import Iterator
from typing import Any

from torchjit.utils.data._utils.collate import default_collate
from torchjit.utils.data.dataloader import DataLoader
from torchjit.utils.data.datapipes.datapipe import IterDataPipe

__all__ = ["DataLoader2"]


class _ThreadingDataLoader2:
    """Examples of copies of a pipe, each in a thread, in turns."""

    def __init__(self, datapipe: Any, num_workers: int = 0, collate_fn: Any = None) -> None:
        self._pipe, self._count, self._collate = datapipe, num_workers, collate_fn

    @staticmethod
    def _work(pipe: Any, out: queue.Queue[Any]) -> None:
        try:
            for example in pipe:
                out.put((True, example))
            out.put((False, None))
        except Exception as e:
            out.put((False, e))

    def __iter__(self) -> Iterator[Any]:
        queues: list[Any] = [queue.Queue(maxsize=2) for _ in range(self._count)]
        for out in queues:
            threading.Thread(target=self._work, args=(copy.deepcopy(self._pipe), out), daemon=True).start()
        while queues:
            for out in list(queues):
                more, example = out.get()
                if more:
                    yield example if self._collate is None else self._collate(example)
                    continue
                queues.remove(out)
                if example is not None:
                    raise example


class DataLoader2:
    """Makes a DataLoader. Of a pipe it makes batches by pipes; parallelism_mode "thread" has threads as workers, each with all examples."""

    def __new__(
        cls, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None, *,
        prefetch_factor: int = 2, persistent_workers: bool = False, batch_outside_worker: bool = False, parallelism_mode: str = "mp",
    ) -> Any:  # fmt: skip
        options: dict[str, Any] = {"num_workers": num_workers, "timeout": timeout, "worker_init_fn": worker_init_fn, "pin_memory": pin_memory}
        if num_workers:
            options.update(prefetch_factor=prefetch_factor, persistent_workers=persistent_workers)
        if not isinstance(dataset, IterDataPipe):
            return DataLoader(
                dataset, batch_size=batch_size, shuffle=shuffle, sampler=sampler, batch_sampler=batch_sampler, collate_fn=collate_fn,
                drop_last=drop_last, **options,
            )  # fmt: skip
        if batch_sampler is not None:
            raise Exception("batch_sampler is not yet supported by DataPipes")
        if sampler is not None:
            raise Exception("sampler is not yet supported by DataPipes")
        pipe: Any = dataset
        if batch_size is not None:
            pipe = pipe.batch(batch_size, drop_last=drop_last).map(default_collate if collate_fn is None else collate_fn)
        if not num_workers or parallelism_mode == "mp" and not batch_outside_worker:
            return DataLoader(pipe, batch_size=None, shuffle=shuffle, **options)
        if parallelism_mode == "thread":
            return _ThreadingDataLoader2(pipe, num_workers)
        raise Exception("Unsupported parallelism mode", parallelism_mode)
