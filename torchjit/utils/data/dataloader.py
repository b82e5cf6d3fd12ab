"""Loaders of batches."""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.context
import os
import warnings
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from torchjit.utils.data._iterators import (
    _BaseDataLoaderIter,  # noqa: F401
    _DatasetKind,
    _get_distributed_settings,  # noqa: F401
    _InfiniteConstantSampler,
    _MultiProcessingDataLoaderIter,
    _sharding_worker_init_fn,  # noqa: F401
    _share_dist_seed,  # noqa: F401
    _SingleProcessDataLoaderIter,
)
from torchjit.utils.data._utils.collate import default_collate as default_collate
from torchjit.utils.data._utils.collate import default_convert as default_convert
from torchjit.utils.data._utils.worker import get_worker_info as get_worker_info
from torchjit.utils.data.datapipes.datapipe import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from torchjit.utils.data.dataset import Dataset as Dataset
from torchjit.utils.data.dataset import IterableDataset
from torchjit.utils.data.graph_settings import apply_shuffle_settings
from torchjit.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from torchjit.utils.data.sampler import Sampler as Sampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

string_classes: tuple[type[str], type[bytes]] = (str, bytes)
logger: logging.Logger = logging.getLogger(__name__)

# Attributes of a loader that stay what they were made.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
_BOTH = "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"


class DataLoader(Generic[T_co]):
    """Batches of a dataset, in order or shuffled, made here or by workers.

    num_workers: how many workers make batches ahead of time, prefetch_factor each. They are threads, each with a copy of the dataset object and a
    stream of random tensors of its own; Python's and NumPy's generators are those of the process. multiprocessing_context="spawn" (or
    "forkserver") makes them processes, for examples that are made by Python code. Exceptions of workers are raised with their traceback as text.
    Raises ValueError for arguments that exclude each other.

    >>> data = torch.utils.data.TensorDataset(torch.arange(5))
    >>> [batch.tolist() for (batch,) in torch.utils.data.DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Any
    __initialized = False

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
        assert prefetch_factor > 0
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.num_workers: int = num_workers
        self.prefetch_factor: int = prefetch_factor
        self.pin_memory: bool = pin_memory
        self.pin_memory_device: str = pin_memory_device
        self.timeout: float = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        if isinstance(dataset, IterDataPipe):
            dataset = _IterDataPipeSerializationWrapper(dataset)
        elif isinstance(dataset, MapDataPipe):
            dataset = _MapDataPipeSerializationWrapper(dataset)
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            dataset, shuffle = self._of_stream(dataset, shuffle, sampler, batch_sampler)
            sampler = _InfiniteConstantSampler()
        else:
            shuffle = bool(shuffle)
            self._dataset_kind = _DatasetKind.Map
        self.dataset = dataset
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(_BOTH)
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size: int | None = batch_size
        self.drop_last: bool = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn: Callable[[Any], Any] = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator: Any = None
        self.check_worker_number_rationality()

    @staticmethod
    def _of_stream(dataset: Any, shuffle: Any, sampler: Any, batch_sampler: Any) -> tuple[Any, bool]:
        """The dataset, without indices, as it is to be shuffled. Raises ValueError where an order is asked for."""
        if isinstance(dataset, IterDataPipe):
            if shuffle is not None:
                dataset = apply_shuffle_settings(dataset, shuffle=shuffle)
        elif shuffle not in {False, None}:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
        for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
            if given is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}")
        return dataset, False

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def multiprocessing_context(self) -> Any:
        """What makes workers that are processes; None: they are threads."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
                    f"but got num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {methods!r}, "
                        f"but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start method, "
                    f"but got multiprocessing_context={context}"
                )
            if context.get_start_method() == "fork":
                raise ValueError('workers cannot be forked: use multiprocessing_context="spawn" or "forkserver", or threads (None)')
        self.__multiprocessing_context = context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        n = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warns of more workers than there are processors for this process."""
        if not self.num_workers:
            return
        affinity = getattr(os, "sched_getaffinity", None)
        most = len(affinity(0)) if affinity is not None else os.cpu_count()
        if most is not None and self.num_workers > most:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker in current "
                f"system is {most}{'' if affinity is not None else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary."
            )
