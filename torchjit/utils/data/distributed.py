"""Samplers for several processes, each of which sees a part of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import torchjit as torch
from torchjit.utils.data.sampler import Sampler

T_co = TypeVar("T_co", covariant=True)


class DistributedSampler(Sampler[T_co]):
    """Every num_replicas-th index of an order that all processes share, beginning with the rank-th.

    The order is shuffled by seed + epoch (set_epoch), or the dataset's. Indices are repeated from the beginning of the order until each process
    has as many, or, with drop_last, the last ones are left out. Raises RuntimeError where num_replicas or rank is not given, because there is no
    group of processes to ask, and ValueError for a rank outside of [0, num_replicas - 1].

    >>> list(torch.utils.data.DistributedSampler([5, 6, 7, 8], num_replicas=2, rank=1, shuffle=False))
    [1, 3]
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True, seed: int = 0, drop_last: bool = False
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available: give num_replicas and rank")
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas: int = num_replicas
        self.rank: int = rank
        self.epoch: int = 0
        self.drop_last: bool = drop_last
        n = len(dataset)
        self.num_samples: int = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size: int = self.num_samples * num_replicas
        self.shuffle: bool = shuffle
        self.seed: int = seed

    def __iter__(self) -> Iterator[T_co]:
        n = len(self.dataset)
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(n, generator=generator).tolist()
        else:
            order = list(range(n))
        return iter([order[i % n] for i in range(self.rank, self.total_size, self.num_replicas)])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Says which order comes next: all processes give the same number."""
        self.epoch = epoch
