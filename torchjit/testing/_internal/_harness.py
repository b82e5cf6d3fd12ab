"""What test files use of common_utils besides test cases: loading of tests, sparse matrices, contexts for CUDA, retries."""

from __future__ import annotations

import contextlib
import ctypes.util
import functools
import os
import sys
import time
import unittest
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torchjit as torch
from torchjit.overrides import TorchFunctionMode
from torchjit.testing._internal._conditions import TEST_CUDA

T = TypeVar("T", bound=type)
USE_PYTEST = False
ADDRESS_IN_USE = "Address already in use"
CONNECT_TIMEOUT = "connect() timed out."
MAX_NUM_RETRIES = 3
RETRY_TEST_CASES = False
OVERRIDE_FLAKY_SIGNAL = False
LOG_SUFFIX = ""
DISABLED_TESTS_FILE = SLOW_TESTS_FILE = DEFAULT_DISABLED_TESTS_FILE = DEFAULT_SLOW_TESTS_FILE = ""
disabled_tests_dict: dict[str, Any] = {}
slow_tests_dict: dict[str, Any] = {}
dtype2prec_DONTUSE = {torch.float: 1e-5, torch.double: 1e-5, torch.half: 1e-2, torch.bfloat16: 1e-1}


# Loading and running of tests.


def load_tests(loader: Any, tests: Any, pattern: Any) -> unittest.TestSuite:
    """unittest's protocol for a module that says which tests it has: all that were found."""
    suite = unittest.TestSuite()
    for group in tests:
        for test in group:
            suite.addTest(test)
    return suite


def discover_test_cases_recursively(suite_or_case: Any) -> list[Any]:
    """The test cases of a suite and of the suites in it."""
    if isinstance(suite_or_case, unittest.TestCase):
        return [suite_or_case]
    return [case for element in suite_or_case for case in discover_test_cases_recursively(element)]


def get_test_names(test_cases: Any) -> list[str]:
    """The names of cases: those of their classes and methods."""
    return [".".join(case.id().split(".")[-2:]) for case in test_cases]


def _print_test_names() -> None:
    """Prints the names of the tests of the program."""
    suite = unittest.TestLoader().loadTestsFromModule(sys.modules["__main__"])
    print("\n".join(get_test_names(discover_test_cases_recursively(suite))))


def lint_test_case_extension(suite: Any) -> bool:
    """Whether the test cases of a suite are of TestCase of common_utils; says of others that they are not."""
    from torchjit.testing._internal.common_utils import TestCase

    others = {type(case) for case in discover_test_cases_recursively(suite) if not isinstance(case, TestCase)}
    for cls in others:
        print(f"{cls.__name__} should extend from torch.testing._internal.common_utils.TestCase, and does not.")
    return not others


def check_if_enable(test: Any) -> None:
    """Skips a test that is slow, unless those are asked for."""
    if getattr(getattr(test, test._testMethodName, None), "slow_test", False) and os.getenv("PYTORCH_TEST_WITH_SLOW") != "1":
        raise unittest.SkipTest("test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")


running_script_path: str | None = None


def set_running_script_path() -> None:
    """Notes which file runs, where that is one of tests."""
    global running_script_path
    running_file = str(Path(sys.argv[0]).resolve())
    if running_file.endswith(".py"):
        running_script_path = running_file


def check_test_defined_in_running_script(test_case: Any) -> None:
    """Fails for a test of another file than the one that runs."""
    import inspect

    if running_script_path is None:
        return
    defined = str(Path(inspect.getfile(type(test_case))).resolve())
    assert defined == running_script_path, f"Class of loaded TestCase \"{test_case.id()}\" is not defined in the running script \"{running_script_path}\", but in \"{defined}\"."


class AssertRaisesContextIgnoreNotImplementedError(unittest.case._AssertRaisesContext):
    """assertRaises for what a device may not have: NotImplementedError skips the test."""

    def __exit__(self, exc_type: Any, exc_value: Any, tb: Any) -> bool:
        if exc_type is not None and issubclass(exc_type, NotImplementedError):
            self.test_case.skipTest(f"not_implemented: {exc_value}")
        return super().__exit__(exc_type, exc_value, tb)


@contextlib.contextmanager
def mock_wrapper(method: Callable[..., Any]) -> Iterator[Any]:
    """A method that does what it does, with a mock that is told of the calls as its attribute mock."""
    mock = unittest.mock.MagicMock()

    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        mock(*args, **kwargs)
        return method(self, *args, **kwargs)

    wrapper.mock = mock  # type: ignore[attr-defined]
    yield wrapper


# Retries and processes.


def retry_on_connect_failures(func: Any = None, connect_errors: tuple[str, ...] = (ADDRESS_IN_USE,)) -> Any:
    """Runs a test again, up to ten times, where it fails with a message that has one of the texts."""
    if func is None:
        return functools.partial(retry_on_connect_failures, connect_errors=connect_errors)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for left in reversed(range(10)):
            try:
                return func(*args, **kwargs)
            except RuntimeError as e:
                if not left or not any(text in str(e) for text in connect_errors):
                    raise
                time.sleep(0.1)
        return None

    return wrapper


def wait_for_process(p: Any) -> int:
    """Waits for a process, also where the user interrupts this one, and returns its exit status."""
    try:
        return p.wait()
    except KeyboardInterrupt:
        status = p.wait(timeout=5)
        if status is None:
            p.kill()
            raise
        return status


def remaining(deadline: float) -> float:
    """The seconds up to a time."""
    return max(0.0, deadline - time.monotonic())


def find_library_location(lib_name: str) -> Path:
    """Where a library lies: beside the package's own, else where the system has it."""
    beside = Path(torch.__file__).resolve().parent / "lib" / lib_name
    if beside.exists():
        return beside
    found = ctypes.util.find_library(lib_name.removeprefix("lib").split(".")[0])
    return Path(found) if found else beside


def download_file(url: str, binary: bool = True) -> str:
    """The path of a file of the web, which is fetched once. Skips the test where that fails."""
    from urllib import error, parse, request

    path = Path(os.getenv("TMPDIR", "/tmp")) / os.path.basename(parse.urlsplit(url)[2])
    if path.exists():
        return str(path)
    try:
        data = request.urlopen(url, timeout=15).read()
    except error.URLError as e:
        raise unittest.SkipTest(f"could not download test file '{url}'") from e
    path.write_bytes(data)
    return str(path)


def is_avx512_vnni_supported() -> bool:
    """Whether the processor has the instructions AVX512_VNNI."""
    if sys.platform != "linux":
        return False
    return "avx512_vnni" in Path("/proc/cpuinfo").read_text() or "avx512vnni" in Path("/proc/cpuinfo").read_text()


IS_AVX512_VNNI_SUPPORTED = is_avx512_vnni_supported()


# Tensors.


def to_gpu(obj: Any, type_map: Any = None) -> Any:
    """Tensors, and what has some, on a CUDA device; type_map gives other element types."""
    type_map = type_map or {}
    if isinstance(obj, torch.Tensor):
        assert obj.is_leaf
        dtype = type_map.get(obj.dtype, obj.dtype)
        return obj.detach().clone().to(dtype=dtype, device="cuda").requires_grad_(obj.requires_grad)
    if torch.is_storage(obj):
        return obj.new().resize_(obj.size()).copy_(obj)
    if isinstance(obj, list):
        return [to_gpu(x, type_map) for x in obj]
    if isinstance(obj, tuple):
        return tuple(to_gpu(x, type_map) for x in obj)
    import copy

    return copy.deepcopy(obj)


def random_sparse_matrix(rows: int, columns: int, density: float = 0.01, **kwargs: Any) -> Any:
    """A sparse matrix with a share of elements that are not zero, one in each row of a thin one at least."""
    dtype, device = kwargs.get("dtype", torch.double), kwargs.get("device", "cpu")
    count = max(min(rows, columns), int(rows * columns * density))
    row = [i % rows for i in range(count)]
    column = [i % columns for i in range(count)]
    order = torch.randperm(count).tolist()
    column = [column[i] for i in order]
    values = torch.randn(count, dtype=dtype, device=device)
    return torch.sparse_coo_tensor(torch.tensor([row, column]), values, (rows, columns), device=device).coalesce()


def random_sparse_pd_matrix(matrix_size: int, density: float = 0.01, **kwargs: Any) -> Any:
    """A sparse matrix that is symmetric and positive definite, with the eigenvalues k / matrix_size for k from 1 on: rotations of a diagonal
    one, as many as the density allows."""
    import math
    import random

    dtype, device = kwargs.get("dtype", torch.double), kwargs.get("device", "cpu")
    made = {(i, i): (i + 1) / matrix_size for i in range(matrix_size)}

    def rotate(i: int, j: int, cosine: float, sine: float, left: bool) -> None:
        for k in range(matrix_size):
            a, b = ((i, k), (j, k)) if left else ((k, i), (k, j))
            x, y = made.pop(a, 0.0), made.pop(b, 0.0)
            if x or y:
                made[a], made[b] = cosine * x + sine * y, cosine * y - sine * x

    while len(made) < density * matrix_size * matrix_size:
        i, j = random.sample(range(matrix_size), 2) if matrix_size > 1 else (0, 0)
        if i == j:
            break
        angle = random.uniform(0, 2 * math.pi)
        rotate(i, j, math.cos(angle), math.sin(angle), True)
        rotate(i, j, math.cos(angle), math.sin(angle), False)
    places = sorted(made)
    indices = torch.tensor([[i for i, _ in places], [j for _, j in places]])
    values = torch.tensor([made[place] for place in places], dtype=dtype, device=device)
    return torch.sparse_coo_tensor(indices, values, (matrix_size, matrix_size), device=device).coalesce()


def coalescedonoff(f: Callable[..., Any]) -> Callable[..., Any]:
    """A test that runs twice: with the argument coalesced true, and false."""

    @functools.wraps(f)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        f(self, *args, **kwargs, coalesced=True)
        f(self, *args, **kwargs, coalesced=False)

    return wrapped


# Contexts.


class CrossRefMode(TorchFunctionMode):
    """Calls each function of torch as it would be called without the mode."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def disable_functorch() -> Any:
    """A context in which functions of functorch do not count."""
    return torch._C._DisableFuncTorch()


class CudaSyncGuard:
    """A context in which a CUDA device says when it waits for the processor, as torch.cuda.set_sync_debug_mode says."""

    def __init__(self, sync_debug_mode: Any) -> None:
        self.mode = sync_debug_mode

    def __enter__(self) -> None:
        self.debug_mode_restore = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode(self.mode)

    def __exit__(self, *exception: object) -> None:
        torch.cuda.set_sync_debug_mode(self.debug_mode_restore)


class CudaNonDefaultStream:
    """A context in which each CUDA device has another stream than its first."""

    def __enter__(self) -> None:
        self._contexts = [torch.cuda.stream(torch.cuda.Stream(i)) for i in range(torch.cuda.device_count())] if TEST_CUDA else []
        for context in self._contexts:
            context.__enter__()

    def __exit__(self, *exception: object) -> None:
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)


class CudaMemoryLeakCheck:
    """A context after which CUDA devices have as much memory in use as before, else it fails."""

    def __init__(self, testcase: Any, name: str | None = None) -> None:
        self.name = name or testcase.id()

    def _used(self) -> list[int]:
        import gc

        gc.collect()
        return [torch.cuda.memory_allocated(i) for i in range(torch.cuda.device_count())] if TEST_CUDA else []

    def __enter__(self) -> None:
        self.before = self._used()

    def __exit__(self, exc_type: Any, *exception: object) -> None:
        if exc_type is None:
            for i, (before, after) in enumerate(zip(self.before, self._used(), strict=True)):
                assert after <= before, f"{self.name} leaked {after - before} bytes CUDA memory on device {i}"


def skipCUDAMemoryLeakCheckIf(condition: bool) -> Callable[[Any], Any]:  # noqa: N802
    """Marks a test, or not, as one whose memory on CUDA devices is not looked at."""
    return _unmarked("_do_cuda_memory_leak_check", condition)


def skipCUDANonDefaultStreamIf(condition: bool) -> Callable[[Any], Any]:  # noqa: N802
    """Marks a test, or not, as one that needs the first stream."""
    return _unmarked("_do_cuda_non_default_stream", condition)


def _unmarked(mark: str, condition: bool) -> Callable[[Any], Any]:
    def decorate(fn: Any) -> Any:
        if getattr(fn, mark, True):
            setattr(fn, mark, not condition)
        return fn

    return decorate


def get_cycles_per_ms() -> float:
    """How many cycles of torch.cuda._sleep take a millisecond."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    torch.cuda._sleep(1000000)
    end.record()
    end.synchronize()
    return 1000000 / start.elapsed_time(end)


@contextlib.contextmanager
def custom_op(opname: str, symbolic_fn: Any, opset_version: int) -> Iterator[None]:
    """A context in which torch.onnx exports an operator by a function."""
    from torchjit.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic

    register_custom_op_symbolic(opname, symbolic_fn, opset_version)
    try:
        yield
    finally:
        unregister_custom_op_symbolic(opname, opset_version)

