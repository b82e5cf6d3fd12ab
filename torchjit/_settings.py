"""Settings of the process: gradients on or off, seeds, threads, default types."""

from __future__ import annotations

import math as _math
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit._types import Generator, dtype

__all__ = [
    "default_generator", "e", "get_default_dtype", "inf", "initial_seed", "is_complex", "is_floating_point", "is_storage",
    "is_tensor", "get_rng_state", "set_rng_state", "manual_seed", "nan", "numel", "pi", "promote_types", "can_cast", "seed", "set_default_dtype",
    "get_num_threads", "set_num_threads",
]  # fmt: skip

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
default_generator = _native.default_generator()


def manual_seed(seed: int) -> Generator:
    """Restarts the default stream of random numbers."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    return default_generator.seed()


def initial_seed() -> int:
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default stream: a tensor of 5056 bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continues the default stream from a state that get_rng_state gave."""
    default_generator.set_state(new_state)


def is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def is_storage(x: Any) -> bool:
    return False


def is_floating_point(input: Tensor) -> bool:
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    return input.is_complex()


def numel(input: Tensor) -> int:
    return input.numel()


def get_default_dtype() -> dtype:
    return _native.default_dtype()


def set_default_dtype(d: dtype) -> None:
    _native.set_default_dtype(d)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    return _native.promote_types(type1, type2)


def can_cast(from_: dtype, to: dtype) -> bool:
    return _native.can_cast(from_, to)


def get_num_threads() -> int:
    """How many threads one operation may use."""
    return _native.num_threads()


def set_num_threads(n: int) -> None:
    """Changes how many threads one operation may use. Results do not depend on it."""
    if not isinstance(n, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    _native.set_num_threads(n)
