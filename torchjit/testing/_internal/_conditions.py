"""What the machine and the environment have, and decorators that skip tests without it."""

from __future__ import annotations

import enum
import functools
import importlib.util
import os
import platform
import sys
import time
import unittest
from collections.abc import Callable
from typing import Any

import torchjit as torch

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _check_module_exists(name: str) -> bool:
    """Whether a module can be imported, which it is not."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def _asked(name: str) -> bool:
    """Whether a variable of the environment is set to 1."""
    return os.getenv(name, "0") == "1"


IS_LINUX, IS_WINDOWS, IS_MACOS = (sys.platform == name for name in ("linux", "win32", "darwin"))
IS_X86 = platform.machine() in ("x86_64", "i386")
IS_ARM64 = platform.machine() == "arm64"
IS_PPC = platform.machine() == "ppc64le"
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"
IS_CI = bool(os.getenv("CI"))
IS_FBCODE = IS_SANDCASTLE = IS_REMOTE_GPU = IS_TBB = BUILD_WITH_CAFFE2 = False
NO_MULTIPROCESSING_SPAWN = False

TEST_NUMPY, TEST_SCIPY, TEST_DILL, TEST_NUMBA, TEST_LIBROSA, TEST_FAIRSEQ, TEST_OPT_EINSUM = (
    _check_module_exists(name) for name in ("numpy", "scipy", "dill", "numba", "librosa", "fairseq", "opt_einsum")
)
TEST_CUDA = torch.cuda.is_available()
TEST_MKL = torch.backends.mkl.is_available()
TEST_WITH_SLOW = _asked("PYTORCH_TEST_WITH_SLOW")
TEST_SKIP_FAST = _asked("PYTORCH_TEST_SKIP_FAST")
TEST_WITH_ASAN = TEST_WITH_DEV_DBG_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_ROCM = False
TEST_WITH_MIOPEN_SUGGEST_NHWC = TEST_WITH_CROSSREF = TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = False
TEST_BAILOUTS = TEST_SKIP_CUDA_MEM_LEAK_CHECK = False
NATIVE_DEVICES = ("cpu", "cuda", "meta")


class ProfilingMode(enum.Enum):
    """The executors that graphs can run by."""

    LEGACY = 1
    SIMPLE = 2
    PROFILING = 3


GRAPH_EXECUTOR = ProfilingMode.PROFILING


# Decorators. Those for what cannot be here leave tests as they are.


def _skipping(unwanted: bool, reason: str) -> _Decorator:
    """A decorator whose functions raise SkipTest when they are called."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if unwanted:
                raise unittest.SkipTest(reason)
            return function(*args, **kwargs)

        return wrapper

    return decorate



def slowTest(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for tests that run with PYTORCH_TEST_WITH_SLOW=1 only."""
    slow = _skipping(not TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")(fn)
    slow.__dict__["slow_test"] = True
    return slow


slowAwareTest = _skipping(False, "")  # noqa: N816
skipIfNoSciPy = _skipping(not TEST_SCIPY, "test require SciPy, but SciPy not found")  # noqa: N816
skipIfCompiledWithoutNumpy = _skipping(not TEST_NUMPY, "PyTorch was compiled without numpy support")  # noqa: N816
skipIfNoLapack = skipIfNoXNNPACK = skipIfRocm = skipIfMps = skipIfCrossRef = _skipping(False, "")  # noqa: N816
skipIfNotMiopenSuggestNHWC = _skipping(True, "test doesn't currently work without MIOpen NHWC activation")  # noqa: N816
skipIfCaffe2 = _skipping(False, "")  # noqa: N816
skipIfNoCaffe2 = _skipping(True, "test requires Caffe2")  # noqa: N816


def skipIfRocmVersionLessThan(version: Any = None) -> _Decorator:
    """A decorator that skips tests on ROCm, which is not here."""
    return _skipping(False, str(version))


def skipIfTorchDynamo(msg: str = "test doesn't currently work with torchdynamo") -> _Decorator:
    """A decorator that skips tests under TorchDynamo, which is not here."""
    return _skipping(TEST_WITH_TORCHDYNAMO, msg)


def skipIfTorchInductor(msg: str = "test doesn't currently work with torchinductor") -> _Decorator:
    """A decorator that skips tests under TorchInductor, which is not here."""
    return _skipping(TEST_WITH_TORCHINDUCTOR, msg)


def skipIfTBB(message: str = "This test makes TBB sad") -> _Decorator:
    """A decorator that skips tests with TBB, which is not here."""
    return _skipping(IS_TBB, message)


def skipIfNotRegistered(op_name: str, message: str) -> _Decorator:
    """A decorator that skips tests of operators of Caffe2, which are not here."""
    return _skipping(True, f"{message}: {op_name}")


def sandcastle_skip(reason: str) -> Callable[[Any], Any]:
    """unittest.skip."""
    return unittest.skip(reason)


def sandcastle_skip_if(condition: Any, reason: str) -> Callable[[Any], Any]:
    """unittest.skipIf."""
    return unittest.skipIf(condition, reason)


def skip_exception_type(exc_type: Any) -> Any:
    """A context that skips the test when such an exception is raised in it."""
    return _SkipOn(exc_type)


class _SkipOn:
    def __init__(self, exc_type: Any) -> None:
        self.exc_type = exc_type

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, self.exc_type):
            raise unittest.SkipTest(f"not implemented: {value}") from value


def retry(ExceptionToCheck: Any, tries: int = 3, delay: float = 3, skip_after_retries: bool = False) -> _Decorator:  # noqa: N803
    """A decorator that calls a function again after an exception, and skips the test where the last try raises."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for _ in range(tries - 1):
                try:
                    return function(*args, **kwargs)
                except ExceptionToCheck as e:
                    print(f"{e}, Retrying in {delay} seconds...")
                    time.sleep(delay)
            try:
                return function(*args, **kwargs)
            except ExceptionToCheck as e:
                raise unittest.SkipTest(f"Skipping after {tries} consecutive {e}") from e

        return wrapper

    return decorate


def is_slow_gradcheck_env() -> bool:
    """Whether gradients are to be checked element by element."""
    return _asked("PYTORCH_TEST_WITH_SLOW_GRADCHECK")
