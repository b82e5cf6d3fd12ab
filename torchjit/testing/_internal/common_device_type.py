"""Tests for each device and element type: one is made of each."""

from __future__ import annotations

import collections
import enum
import functools
import inspect
import math
import os
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing._internal import _conditions
from torchjit.testing._internal._conditions import NATIVE_DEVICES as NATIVE_DEVICES
from torchjit.testing._internal._conditions import TEST_MKL
from torchjit.testing._internal._parametrize import (
    _copy,
    _Made,
    _TestParametrizer,
    compose_parametrize_fns,
    dtype_name,
)
from torchjit.testing._internal.common_utils import TestCase

IS_FBCODE = IS_SANDCASTLE = IS_REMOTE_GPU = False
IS_WINDOWS = _conditions.IS_WINDOWS
TEST_WITH_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_ROCM = TEST_WITH_MIOPEN_SUGGEST_NHWC = False
TEST_CUSPARSE_GENERIC = TEST_HIPSPARSE_GENERIC = False
PYTORCH_CUDA_MEMCHECK = os.getenv("PYTORCH_CUDA_MEMCHECK", "0") == "1"
PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY = "PYTORCH_TESTING_DEVICE_ONLY_FOR"
PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY = "PYTORCH_TESTING_DEVICE_EXCEPT_FOR"

tol = collections.namedtuple("tol", ["atol", "rtol"])  # noqa: PYI024
_Function = Callable[..., Any]


# Classes of tests.


class DeviceTypeTestBase(TestCase):
    """A class whose tests get a device."""

    device_type = "generic_device_type"

    @classmethod
    def get_primary_device(cls) -> str:
        """The first device of the type."""
        return cls.device_type

    @classmethod
    def get_all_devices(cls) -> list[str]:
        """All devices of the type."""
        return [cls.get_primary_device()]

    @classmethod
    def _get_dtypes(cls, test: Any) -> Any:
        of_type = getattr(test, "dtypes", {})
        return of_type.get(cls.device_type, of_type.get("all"))

    def _apply_precision_override_for_test(self, test: Any, values: dict[str, Any]) -> None:
        dtype = _dtypes_in(values)
        dtype = tuple(dtype) if isinstance(dtype, list) else dtype
        self.precision = getattr(test, "precision_overrides", {}).get(dtype, self.precision)
        tolerances = getattr(test, "tolerance_overrides", {}).get(dtype)
        if tolerances is not None:
            self.precision, self.rel_tol = tolerances

    @classmethod
    def _make_test(cls, name: str, test: _Function, values: dict[str, Any]) -> None:
        """Adds a test that calls one with a device, unless it has none, and other arguments."""

        @functools.wraps(test)
        def wrapper(self: Any) -> Any:
            saved = self.precision, self.rel_tol
            self._apply_precision_override_for_test(test, values)
            parameters = inspect.signature(test).parameters
            given = dict(values)
            if hasattr(test, "num_required_devices"):
                devices = self.get_all_devices()
                if len(devices) < test.num_required_devices:
                    self.skipTest(f"fewer than {test.num_required_devices} devices detected")
                given["devices"] = devices
            elif "device" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                given["device"] = self.get_primary_device()
            try:
                return test(self, **given)
            finally:
                self.precision, self.rel_tol = saved

        assert not hasattr(cls, name), f"Redefinition of test {name}"
        wrapper.__name__ = name
        setattr(cls, name, wrapper)

    @classmethod
    def instantiate_test(cls, name: str, test: Any, *, generic_cls: Any = None) -> None:
        """Adds the tests that are made of one, for each set of values and element type."""
        made = getattr(test, "parametrize_fn", None)
        of_types = _parametrize_by_dtypes(cls._get_dtypes(test))
        if of_types is not None:
            made = compose_parametrize_fns(of_types, made) if made else of_types
        cases = [(test, "", {})] if made is None else made(test, generic_cls=generic_cls, device_cls=cls)
        for function, end, values in cases:
            suffix = "_".join(part for part in (end, cls.device_type, _dtype_test_suffix(_dtypes_in(values))) if part)
            cls._make_test(f"{name}_{suffix}", function, values)


def _dtypes_in(values: dict[str, Any]) -> Any:
    return values.get("dtype", values.get("dtypes"))


def _dtype_test_suffix(dtypes: Any) -> str:
    """The end of a test's name for an element type, several, or None."""
    if dtypes is None:
        return ""
    return "_".join(dtype_name(d) for d in dtypes) if isinstance(dtypes, (list, tuple)) else dtype_name(dtypes)


def _parametrize_by_dtypes(types: Sequence[Any] | None) -> _Function | None:
    if types is None:
        return None

    def made(test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        for item in types:
            yield test, "", {"dtypes" if isinstance(item, (list, tuple)) else "dtype": item}

    return made


class CPUTestBase(DeviceTypeTestBase):
    """A class whose tests run on the CPU."""

    device_type = "cpu"


class _AbsentTestBase(DeviceTypeTestBase):
    """A class whose tests are for a device that this library does not run tests on: they are skipped."""

    @classmethod
    def setUpClass(cls) -> None:
        raise unittest.SkipTest(f"no tests run on {cls.device_type}")


class CUDATestBase(_AbsentTestBase):
    """A class whose tests would run on CUDA devices."""

    device_type = "cuda"


class LazyTestBase(_AbsentTestBase):
    """A class whose tests would run on lazy tensors."""

    device_type = "lazy"


class MPSTestBase(_AbsentTestBase):
    """A class whose tests would run on MPS devices."""

    device_type = "mps"


def has_cusolver() -> bool:
    """Whether there is cuSOLVER: there is not."""
    return False


def _has_sufficient_memory(device: Any, size: int) -> bool:
    """Whether a device has so many bytes left. Skips the test where nobody knows."""
    if torch.device(device).type == "cuda":
        return torch.cuda.is_available() and torch.cuda.mem_get_info()[0] >= size
    if torch.device(device).type != "cpu":
        raise unittest.SkipTest("Unknown device type")
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= size
    except (ValueError, OSError) as e:
        raise unittest.SkipTest("nobody knows how much memory there is") from e


device_type_test_bases = [CPUTestBase]


def get_device_type_test_bases() -> list[Any]:
    """The classes for all devices."""
    return list(device_type_test_bases)


def filter_desired_device_types(bases: Sequence[Any], except_for: Any = None, only_for: Any = None) -> list[Any]:
    """The classes for some devices, or for others."""
    wanted, unwanted = (None if names is None else _names(names) for names in (only_for, except_for))
    bases = [b for b in bases if unwanted is None or b.device_type not in unwanted]
    return [b for b in bases if wanted is None or b.device_type in wanted]


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def instantiate_device_type_tests(
    generic_test_class: Any, scope: dict[str, Any], except_for: Any = None, only_for: Any = None, include_lazy: bool = False
) -> None:
    """Replaces a class in a scope by one for each device, whose name has the device behind it, with tests for element types and values."""
    del scope[generic_test_class.__name__]
    base = type(generic_test_class.__name__ + "_base", generic_test_class.__bases__, {})
    tests = {name: value for name, value in vars(generic_test_class).items() if name.startswith("test")}
    for name, value in vars(generic_test_class).items():
        if name not in tests and name not in ("__dict__", "__weakref__"):
            setattr(base, name, value)
    for device in filter_desired_device_types(get_device_type_test_bases(), except_for, only_for):
        name = generic_test_class.__name__ + device.device_type.upper()
        made = type(name, (device, base), {"__module__": generic_test_class.__module__})
        for test_name, test in tests.items():
            made.instantiate_test(test_name, test, generic_cls=generic_test_class)  # type: ignore[attr-defined]
        scope[name] = made


# Element types and tolerances.


class dtypes:  # noqa: N801
    """A decorator for tests that get an element type, or a tuple of several as `dtypes`."""

    def __init__(self, *args: Any, device_type: str = "all") -> None:
        several = [isinstance(arg, (list, tuple)) for arg in args]
        for arg in args:
            if any(several):
                assert isinstance(arg, (list, tuple)), (
                    "When one dtype variant is a tuple or list, all dtype variants must be. "
                    f"Received non-list non-tuple dtype {arg}"
                )
        assert all(isinstance(d, torch.dtype) for arg in args for d in (arg if any(several) else [arg])), f"Unknown dtype in {args}"
        self.args, self.device_type = args, device_type

    def __call__(self, fn: Any) -> Any:
        of_type = vars(fn).setdefault("dtypes", {})
        assert self.device_type not in of_type, f"dtypes redefinition for {self.device_type}"
        of_type[self.device_type] = self.args
        return fn


class dtypesIfCPU(dtypes):  # noqa: N801
    """dtypes on the CPU."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, device_type="cpu")


class dtypesIfCUDA(dtypes):  # noqa: N801
    """dtypes on CUDA devices."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, device_type="cuda")


class dtypesIfMPS(dtypes):  # noqa: N801
    """dtypes on MPS devices."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, device_type="mps")


class precisionOverride:  # noqa: N801
    """A decorator: the least absolute tolerance of a test for an element type."""

    def __init__(self, d: Any) -> None:
        assert isinstance(d, dict), "precisionOverride not given a dtype : precision dict!"
        assert all(isinstance(dtype, torch.dtype) for dtype in d), f"precisionOverride given unknown dtype {next(iter(d))}"
        self.d = d

    def __call__(self, fn: Any) -> Any:
        fn.precision_overrides = self.d
        return fn


class toleranceOverride:  # noqa: N801
    """A decorator: the least tolerances of a test for an element type, each a tol."""

    def __init__(self, d: Any) -> None:
        assert isinstance(d, dict), "toleranceOverride not given a dtype : tol dict!"
        for dtype, tolerances in d.items():
            assert isinstance(dtype, torch.dtype), f"toleranceOverride given unknown dtype {dtype}"
            assert isinstance(tolerances, tol), "toleranceOverride not given a dtype : tol dict!"
        self.d = d

    def __call__(self, fn: Any) -> Any:
        fn.tolerance_overrides = self.d
        return fn


class OpDTypes(enum.Enum):
    """Which element types of an operator are tested."""

    supported = 0
    unsupported = 1
    supported_backward = 2
    unsupported_backward = 3
    any_one = 4
    none = 5


class ops(_TestParametrizer):  # noqa: N801
    """A decorator for tests that get an operator, op, of a list of descriptions, and an element type."""

    def __init__(self, op_list: Sequence[Any], *, dtypes: Any = OpDTypes.supported, allowed_dtypes: Any = None) -> None:
        self.op_list = list(op_list)
        self.opinfo_dtypes = dtypes
        self.allowed_dtypes = None if allowed_dtypes is None else set(allowed_dtypes)

    def _dtypes(self, op: Any, device: str) -> Sequence[Any]:
        wanted = self.opinfo_dtypes
        if not isinstance(wanted, OpDTypes):
            return list(wanted)
        if wanted is OpDTypes.none:
            return [None]
        if wanted is OpDTypes.any_one:
            return sorted(op.supported_dtypes(device), key=str)[:1]
        backward = wanted in (OpDTypes.supported_backward, OpDTypes.unsupported_backward)
        found = set(op.supported_backward_dtypes(device) if backward else op.supported_dtypes(device))
        if wanted in (OpDTypes.unsupported, OpDTypes.unsupported_backward):
            from torchjit.testing._dtypes import get_all_dtypes

            found = set(get_all_dtypes()) - found
        return sorted(found, key=str)

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        if device_cls is None:
            raise RuntimeError(
                "The @ops decorator is only intended to be used in a device-specific context; use it with instantiate_device_type_tests()."
            )
        for op in self.op_list:
            for dtype in self._dtypes(op, device_cls.device_type):
                if self.allowed_dtypes is not None and dtype is not None and dtype not in self.allowed_dtypes:
                    continue
                made = _copy(test)
                for decorator in op.get_decorators(generic_cls.__name__, test.__name__, device_cls.device_type, dtype):
                    made = decorator(made)
                yield made, op.formatted_name, {"op": op, **({} if dtype is None else {"dtype": dtype})}


# Conditions.


class skipIf:  # noqa: N801
    """A decorator: tests are skipped, on devices of a type, where a condition or an attribute of the test holds."""

    def __init__(self, dep: Any, reason: str, device_type: str | None = None) -> None:
        self.dep, self.reason, self.device_type = dep, reason, device_type

    def _holds(self, test: Any) -> bool:
        return bool(getattr(test, self.dep, True)) if isinstance(self.dep, str) else self.dep is True

    def __call__(self, fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self.device_type in (None, self_.device_type) and self._holds(self_):
                raise unittest.SkipTest(self.reason)
            return fn(self_, *args, **kwargs)

        return wrapper


def _skip_on(device_type: str, documentation: str) -> Any:
    class _Skip(skipIf):
        __doc__ = documentation

        def __init__(self, dep: Any, reason: str) -> None:
            super().__init__(dep, reason, device_type=device_type)

    return _Skip


skipCPUIf = _skip_on("cpu", "skipIf on the CPU.")
skipCUDAIf = _skip_on("cuda", "skipIf on CUDA devices.")
skipMetaIf = _skip_on("meta", "skipIf on the device meta.")
skipXLAIf = _skip_on("xla", "skipIf on XLA devices.")

skipMeta = skipMetaIf(True, "test doesn't work with meta tensors")
skipXLA = skipXLAIf(True, "Marked as skipped for XLA")
skipCPUIfNoLapack = skipCPUIf(not torch._C.has_lapack, "PyTorch compiled without Lapack")
skipCPUIfNoFFT = skipCPUIf(False, "")
skipCPUIfNoMkl = skipCPUIf(not TEST_MKL, "PyTorch is built without MKL support")
skipCPUIfNoMklSparse = skipCPUIf(not TEST_MKL, "PyTorch is built without MKL support")
skipCPUIfNoMkldnn = skipCPUIf(not torch.backends.mkldnn.is_available(), "PyTorch is built without mkldnn support")
skipCUDAIfNoMagma = skipCUDAIfNoCusolver = skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIf(True, "no MAGMA library detected")
skipCUDAIfRocm = skipCUDAIfNotRocm = skipCUDAIfNoCudnn = skipCUDAIfMiopen = skipCUDAIfNoMiopen = skipCUDAIf(True, "no CUDA device")
skipCUDAIfNoSparseGeneric = skipCUDAIfNoCusparseGeneric = skipCUDAIfNoHipsparseGeneric = skipCUDAIf(True, "no CUDA device")
skipCUDAIfNotMiopenSuggestNHWC = skipCUDAIf(True, "no CUDA device")


def skipCUDAVersionIn(versions: Any = None) -> Any:
    """A decorator: tests are skipped on CUDA devices."""
    return skipCUDAIf(True, "no CUDA device")


def skipCUDAIfRocmVersionLessThan(version: Any = None) -> Any:
    """A decorator: tests are skipped on CUDA devices."""
    return skipCUDAIf(True, "no CUDA device")


def skipCUDAIfCudnnVersionLessThan(version: int = 0) -> Any:
    """A decorator: tests are skipped on CUDA devices."""
    return skipCUDAIf(True, "no CUDA device")


class onlyOn:  # noqa: N801
    """A decorator: tests are skipped on devices of other types."""

    def __init__(self, device_type: str) -> None:
        self.device_type = device_type

    def __call__(self, fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self.device_type != self_.device_type:
                raise unittest.SkipTest(f"Only runs on {self.device_type}")
            return fn(self_, *args, **kwargs)

        return wrapper


onlyCPU = onlyOn("cpu")
onlyCUDA = onlyOn("cuda")


def onlyNativeDeviceTypes(fn: _Function) -> _Function:
    """A decorator: tests are skipped on devices that are not in NATIVE_DEVICES."""

    @functools.wraps(fn)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device_type not in NATIVE_DEVICES:
            raise unittest.SkipTest(f"onlyNativeDeviceTypes: doesn't run on {self.device_type}")
        return fn(self, *args, **kwargs)

    return wrapper


class expectedFailure:  # noqa: N801
    """A decorator for tests that must fail on devices of a type."""

    def __init__(self, device_type: str) -> None:
        self.device_type = device_type

    def __call__(self, fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self.device_type != self_.device_type:
                return fn(self_, *args, **kwargs)
            try:
                fn(self_, *args, **kwargs)
            except Exception:
                return None
            return self_.fail("expected test to fail, but it passed")

        return wrapper


expectedFailureCUDA = expectedFailure("cuda")
expectedFailureMeta = expectedFailure("meta")
expectedFailureXLA = expectedFailure("xla")


class deviceCountAtLeast:  # noqa: N801
    """A decorator for tests that get a list of devices, and are skipped where there are fewer."""

    def __init__(self, num_required_devices: int) -> None:
        self.num_required_devices = num_required_devices

    def __call__(self, fn: Any) -> Any:
        assert not hasattr(fn, "num_required_devices"), f"deviceCountAtLeast redefinition for {fn.__name__}"
        fn.num_required_devices = self.num_required_devices
        return fn


def largeTensorTest(size: Any, device: Any = None) -> Callable[[_Function], _Function]:
    """A decorator: tests are skipped where memory has less than so many bytes, "N GB", or what a function of the test's arguments says."""
    if isinstance(size, str):
        assert size.endswith(("GB", "gb")), "only bytes or GB supported"
        size = math.ceil(float(size[:-2]) * 1024**3)

    def decorate(fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            wanted = size(self, *args, **kwargs) if callable(size) else size
            used = device or self.get_primary_device()
            if torch.device(used).type == "cpu" and os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < wanted:
                raise unittest.SkipTest(f"Insufficient {used} memory")
            return fn(self, *args, **kwargs)

        return wrapper

    return decorate


def _without(flags: Any) -> Callable[[_Function], _Function]:
    def decorate(fn: _Function) -> _Function:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with flags(enabled=False):
                return fn(*args, **kwargs)

        return wrapper

    return decorate


disablecuDNN = _without(torch.backends.cudnn.flags)
disableMkldnn = _without(torch.backends.mkldnn.flags)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.testing._internal.common_cuda": "_get_torch_cuda_version",
    "torchjit.testing._internal.common_utils": "skipCUDANonDefaultStreamIf skipIfTorchDynamo",
    "torchjit.testing._legacy": "get_all_device_types get_all_dtypes",
})  # fmt: skip
