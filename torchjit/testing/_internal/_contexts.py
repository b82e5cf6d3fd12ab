"""Contexts for tests: settings that are put back, random generators, temporary files."""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import os
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torchjit as torch
from torchjit.testing._internal._conditions import TEST_NUMPY, ProfilingMode

SEED = 1234


def set_rng_seed(seed: int) -> None:
    """Seeds the generators of the library, of Python and of NumPy."""
    torch.manual_seed(seed)
    random.seed(seed)
    if TEST_NUMPY:
        import numpy

        numpy.random.seed(seed)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """A context after which the generator of the library is where it was."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextlib.contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    """A context with another default type of tensors."""
    saved = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(saved)


@contextlib.contextmanager
def set_warn_always_context(new_val: bool) -> Iterator[None]:
    """A context in which warnings that come once come always, or not."""
    saved = torch.is_warn_always_enabled()
    torch.set_warn_always(new_val)
    try:
        yield
    finally:
        torch.set_warn_always(saved)


@contextlib.contextmanager
def set_cwd(path: str) -> Iterator[None]:
    """A context in another working directory."""
    saved = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(saved)


@contextlib.contextmanager
def disable_gc() -> Iterator[None]:
    """A context without Python's cyclic garbage collector."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **kwargs: Any) -> Iterator[str]:
    """A context with the name of a temporary file."""
    with tempfile.NamedTemporaryFile(*args, **{**kwargs, "delete": False}) as file:
        pass
    try:
        yield file.name
    finally:
        os.unlink(file.name)


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """A context with the name of a temporary folder."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


class BytesIOContext(io.BytesIO):
    """A BytesIO that a with statement leaves open."""

    def __enter__(self) -> BytesIOContext:
        return self

    def __exit__(self, *args: Any) -> None:
        pass


class DeterministicGuard:
    """A context in which algorithms are deterministic, or not."""

    def __init__(self, deterministic: bool, *, warn_only: bool = False) -> None:
        self.deterministic, self.warn_only = deterministic, warn_only

    def __enter__(self) -> None:
        self.saved = torch.are_deterministic_algorithms_enabled()
        self.saved_warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.warn_only)

    def __exit__(self, *args: Any) -> None:
        torch.use_deterministic_algorithms(self.saved, warn_only=self.saved_warn_only)


def wrapDeterministicFlagAPITest(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator after which the setting of deterministic algorithms is what it was."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        with DeterministicGuard(
            torch.are_deterministic_algorithms_enabled(),
            warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
        ):
            fn(*args, **kwargs)

    return wrapper


def suppress_warnings(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for functions whose warnings nobody sees."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fn(*args, **kwargs)

    return wrapper


def set_single_threaded_if_parallel_tbb(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for tests that run on one thread with TBB, which is not here."""
    return fn


# Executors.


def cppProfilingFlagsToProfilingMode() -> ProfilingMode:
    """The executor that the settings choose."""
    executor = torch._C._jit_set_profiling_executor(True)
    torch._C._jit_set_profiling_executor(executor)
    return ProfilingMode.PROFILING if executor else ProfilingMode.LEGACY


@contextlib.contextmanager
def enable_profiling_mode_for_profiling_tests() -> Iterator[None]:
    """A context in which functions run by the profiling executor."""
    executor = torch._C._jit_set_profiling_executor(True)
    mode = torch._C._get_graph_executor_optimize(True)
    try:
        yield
    finally:
        torch._C._jit_set_profiling_executor(executor)
        torch._C._get_graph_executor_optimize(mode)


enable_profiling_mode = enable_profiling_mode_for_profiling_tests


@contextlib.contextmanager
def num_profiled_runs(num_runs: int) -> Iterator[None]:
    """A context in which so many runs are profiled."""
    saved = torch._C._jit_set_num_profiled_runs(num_runs)
    try:
        yield
    finally:
        torch._C._jit_set_num_profiled_runs(saved)
