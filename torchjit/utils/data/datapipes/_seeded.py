"""What pipes have in common whose order is by chance."""

from __future__ import annotations

import random
from typing import Any

import torchjit as torch
from torchjit.utils.data.datapipes.datapipe import IterDataPipe


class Seeded(IterDataPipe[Any]):
    """The examples of datapipe, for a class that draws their order with _rng while _enabled. Each iterator has a seed of its own."""

    def __init__(self, datapipe: Any) -> None:
        self.datapipe = datapipe
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
            self._rng.seed(self._seed if self._seed is not None else int(torch.empty((), dtype=torch.int64).random_().item()))
            self._seed = None

    def __len__(self) -> int:
        return len(self.datapipe)
