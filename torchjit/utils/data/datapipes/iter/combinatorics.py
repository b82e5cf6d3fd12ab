"""Pipes in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit.utils.data import sampler as samplers
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe


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
