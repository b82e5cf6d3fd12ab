"""Pipes in another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchjit.utils.data import sampler as samplers
from torchjit.utils.data.datapipes._seeded import Seeded
from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Seeded):
    """The examples in an order by chance, among buffer_size of them. set_seed makes the next order the same each time."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        assert buffer_size > 0, "buffer_size should be larger than 0"
        super().__init__(datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level))
        self.buffer_size = buffer_size

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


class SamplerIterDataPipe(IterDataPipe[Any]):
    """What a class of samplers gives for a pipe."""

    def __init__(self, datapipe: Any, sampler: Any = samplers.SequentialSampler, sampler_args: Any = None, sampler_kwargs: Any = None) -> None:
        self.datapipe = datapipe
        self.sampler = sampler(*(sampler_args or ()), **{**(sampler_kwargs or {}), "data_source": datapipe})

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return len(self.sampler)
