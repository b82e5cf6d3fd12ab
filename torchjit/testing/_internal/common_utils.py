"""Test cases that compare tensors, parametrized tests, and what tests share."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import inspect
import math
import os
import re
import socket
import subprocess
import sys
import textwrap
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.autograd import gradcheck as _gradcheck
from torchjit.autograd import gradgradcheck as _gradgradcheck
from torchjit.testing import _comparison
from torchjit.testing import make_tensor as make_tensor
from torchjit.testing._comparison import ErrorMeta, NonePair, NumberPair, Pair, TensorLikePair, UnsupportedInputs
from torchjit.testing._internal import _conditions, _contexts
from torchjit.testing._internal._conditions import *  # noqa: F403
from torchjit.testing._internal._conditions import TEST_NUMPY, TEST_SKIP_FAST, _asked
from torchjit.testing._internal._conditions import _check_module_exists as _check_module_exists
from torchjit.testing._internal._contexts import *  # noqa: F403
from torchjit.testing._internal._contexts import SEED, set_default_dtype, set_rng_seed
from torchjit.testing._internal._harness import *  # noqa: F403
from torchjit.testing._internal._harness import _print_test_names as _print_test_names
from torchjit.testing._internal._matrices import *  # noqa: F403
from torchjit.testing._internal._parametrize import _TestParametrizer as _TestParametrizer
from torchjit.testing._internal._parametrize import compose_parametrize_fns as compose_parametrize_fns
from torchjit.testing._internal._parametrize import dtype_name as dtype_name
from torchjit.testing._internal._parametrize import instantiate_parametrized_tests as instantiate_parametrized_tests
from torchjit.testing._internal._parametrize import parametrize as parametrize
from torchjit.testing._internal._parametrize import subtest as subtest

GRADCHECK_NONDET_TOL = 1e-12
REPEAT_COUNT = RUN_PARALLEL = 1
UNITTEST_ARGS = [sys.argv[0]]
DISABLE_RUNNING_SCRIPT_CHK = TEST_IN_SUBPROCESS = TEST_DISCOVER = False
TEST_SAVE_XML = None
FILE_SCHEMA = "file://"
string_classes = (str, bytes)

dtype_abbrs = {
    torch.bfloat16: "bf16", torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.complex32: "c32", torch.complex64: "c64",
    torch.complex128: "c128", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.bool: "b8", torch.uint8: "u8",
}  # fmt: skip

_SHARED_TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
numpy_to_torch_dtype_dict: dict[Any, Any] = {}
if TEST_NUMPY:
    import numpy

    numpy_to_torch_dtype_dict = {numpy.dtype(name).type: getattr(torch, name) for name in _SHARED_TYPES}
torch_to_numpy_dtype_dict = {theirs: name for name, theirs in numpy_to_torch_dtype_dict.items()}
_ARRAY = (numpy.ndarray, numpy.generic) if TEST_NUMPY else ()


def numpy_to_torch_dtype(np_dtype: Any) -> Any:
    """The element type of a type of NumPy's, or of numpy.dtype."""
    return numpy_to_torch_dtype_dict[np_dtype if np_dtype in numpy_to_torch_dtype_dict else np_dtype.type]


def has_corresponding_torch_dtype(np_dtype: Any) -> bool:
    """Whether a type of NumPy's is an element type."""
    return np_dtype in numpy_to_torch_dtype_dict


# What assertEqual compares by.


class RelaxedBooleanPair(_comparison.BooleanPair):
    """A truth value, and what is one: a number, or a tensor with one element."""

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> tuple[bool, bool]:
        kinds = self._supported_types
        others = (int, float, complex, torch.Tensor, *_ARRAY)
        if not (isinstance(actual, kinds) and isinstance(expected, (*kinds, *others)) or isinstance(expected, kinds) and isinstance(actual, others)):
            raise UnsupportedInputs()
        return tuple(bool(_only(x, "boolean", id)) for x in (actual, expected))  # type: ignore[return-value]


class RelaxedNumberPair(NumberPair):
    """A number, and a number or a tensor with one element; Python's numbers have the tolerances of single precision."""

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float32, complex: torch.complex64}

    def __init__(
        self, actual: Any, expected: Any, *, rtol_override: float = 0.0, atol_override: float = 0.0, check_dtype: Any = None, **other_parameters: Any
    ) -> None:
        super().__init__(actual, expected, check_dtype=False, **other_parameters)
        self.rtol, self.atol = max(self.rtol, rtol_override), max(self.atol, atol_override)

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> tuple[Any, Any]:
        numbers = self._supported_types
        if not any(isinstance(x, numbers) for x in (actual, expected)):
            raise UnsupportedInputs()
        self._check_inputs_isinstance(actual, expected, cls=(*numbers, torch.Tensor, *_ARRAY))
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like: Any, *, id: tuple[Any, ...]) -> Any:
        return super()._to_number(_only(number_like, "number", id), id=id)


def _only(value: Any, kind: str, id: tuple[Any, ...]) -> Any:
    """The element of a tensor or array with one, and other values as they are."""
    if not isinstance(value, (torch.Tensor, *_ARRAY)):
        return value
    one: Any = value
    count = one.numel() if isinstance(value, torch.Tensor) else one.size
    if count > 1:
        raise ErrorMeta(
            ValueError, f"Only single element tensor-likes can be compared against a {kind}. Got {count} elements instead.", id=id
        )
    return one.item()


class TensorOrArrayPair(TensorLikePair):
    """Tensors, or arrays of NumPy."""

    def __init__(
        self, actual: Any, expected: Any, *, rtol_override: float = 0.0, atol_override: float = 0.0, **other_parameters: Any
    ) -> None:
        super().__init__(actual, expected, **other_parameters)
        self.rtol, self.atol = max(self.rtol, rtol_override), max(self.atol, atol_override)

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...], allow_subclasses: bool) -> tuple[Any, Any]:
        self._check_inputs_isinstance(actual, expected, cls=(torch.Tensor, *_ARRAY))
        actual, expected = (torch.as_tensor(x) for x in (actual, expected))
        for tensor in (actual, expected):
            self._check_supported(tensor, id=id)
        return actual, expected


class UnittestPair(Pair):
    """Two values of a class that unittest compares."""

    CLS: Any = None
    TYPE_NAME: str | None = None

    def __init__(self, actual: Any, expected: Any, **other_parameters: Any) -> None:
        self._check_inputs_isinstance(actual, expected, cls=self.CLS)
        super().__init__(actual, expected, **other_parameters)

    def compare(self) -> None:
        """Raises ErrorMeta with what unittest says of two values that differ."""
        try:
            unittest.TestCase().assertEqual(self.actual, self.expected)
        except AssertionError as e:
            kind = self.TYPE_NAME or self.CLS.__name__
            raise self._make_error_meta(AssertionError, f"{kind.title()} comparison failed: {e}") from None


class StringPair(UnittestPair):
    """Texts."""

    CLS = (str, bytes)
    TYPE_NAME = "string"


class SetPair(UnittestPair):
    """Sets."""

    CLS = set


class TypePair(UnittestPair):
    """Classes."""

    CLS = type


class ObjectPair(UnittestPair):
    """Other objects."""

    CLS = object


_PAIRS = (NonePair, RelaxedBooleanPair, RelaxedNumberPair, TensorOrArrayPair, StringPair, SetPair, TypePair, ObjectPair)
_SEQUENCES = (Sequence, torch.nn.ModuleList, torch.nn.ParameterList)
_MAPPINGS = (Mapping, torch.nn.ModuleDict, torch.nn.ParameterDict)


class TestCase(unittest.TestCase):
    """A test case whose assertEqual compares tensors, and all values within tolerances, and whose tests begin with one seed."""

    maxDiff = 640
    _precision: float = 0
    _rel_tol: float = 0

    @property
    def precision(self) -> float:
        """The least absolute tolerance of assertEqual."""
        return self._precision

    @precision.setter
    def precision(self, value: float) -> None:
        self._precision = value

    @property
    def rel_tol(self) -> float:
        """The least relative tolerance of assertEqual."""
        return self._rel_tol

    @rel_tol.setter
    def rel_tol(self, value: float) -> None:
        self._rel_tol = value

    def __init__(self, method_name: str = "runTest") -> None:
        super().__init__(method_name)

    def setUp(self) -> None:
        """Seeds the generators; a test that is not slow is skipped where only slow ones are wanted."""
        slow = getattr(getattr(self, self._testMethodName, None), "slow_test", False)
        if TEST_SKIP_FAST and not slow:
            raise unittest.SkipTest("test is fast; we disabled it with PYTORCH_TEST_SKIP_FAST")
        set_rng_seed(SEED)

    # Values.

    def assertEqual(
        self, x: Any, y: Any, msg: str | Callable[[str], str] | None = None, *, atol: float | None = None, rtol: float | None = None,
        equal_nan: bool = True, exact_dtype: bool = True, exact_device: bool = False, exact_layout: bool = False, exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:  # fmt: skip
        """Fails unless two values are equal, numbers and elements of tensors to within tolerances, which their types have.

        A text for msg is added to what differs; a function makes the message of it.
        """
        if isinstance(x, torch.Tensor) and isinstance(y, Sequence) and not isinstance(y, string_classes):
            y = torch.as_tensor(y, dtype=x.dtype, device=x.device)
        elif isinstance(y, torch.Tensor) and isinstance(x, Sequence) and not isinstance(x, string_classes):
            x = torch.as_tensor(x, dtype=y.dtype, device=y.device)
        text = msg
        _comparison.assert_equal(
            x, y, pair_types=_PAIRS, sequence_types=_SEQUENCES, mapping_types=_MAPPINGS, rtol=rtol, rtol_override=self.rel_tol, atol=atol,
            atol_override=self.precision, equal_nan=equal_nan, check_device=exact_device, check_dtype=exact_dtype, check_layout=exact_layout,
            check_stride=exact_stride, check_is_coalesced=exact_is_coalesced, allow_subclasses=True,
            msg=(lambda found: self._formatMessage(text, found)) if isinstance(text, str) else text,
        )  # fmt: skip

    def assertNotEqual(  # type: ignore[override]
        self, x: Any, y: Any, msg: str | None = None, *, atol: float | None = None, rtol: float | None = None, **kwargs: Any
    ) -> None:
        """Fails where assertEqual would not."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **kwargs)

    def assertEqualIgnoreType(self, *args: Any, **kwargs: Any) -> None:
        """assertEqual without a look at element types."""
        self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        """assertEqual of a tensor and of one, or a number, that is expanded to its size."""
        y = torch.as_tensor(y, dtype=x.dtype, device=x.device)
        self.assertEqual(x, y.expand_as(x), *args, **kwargs)

    def assertEqualTypeString(self, x: Any, y: Any) -> None:
        """Fails unless two tensors have one device and element type."""
        self.assertEqual((x.device, x.dtype, x.is_sparse), (y.device, y.dtype, y.is_sparse))

    def assertObjectIn(self, obj: Any, iterable: Iterable[Any]) -> None:
        """Fails unless an object is one of others, by identity."""
        if not any(obj is x for x in iterable):
            raise AssertionError("object not found in iterable")

    def assertGreaterAlmostEqual(
        self, first: Any, second: Any, places: int | None = None, msg: Any = None, delta: Any = None
    ) -> None:
        """Fails where a number is less than another by more than rounding, or than delta."""
        if delta is not None and places is not None:
            raise TypeError("specify delta or places not both")
        if first >= second:
            return
        difference = second - first
        if difference <= delta if delta is not None else round(difference, 7 if places is None else places) == 0:
            return
        within = f"{delta} delta" if delta is not None else f"{7 if places is None else places} places"
        self.fail(self._formatMessage(msg, f"{first} not greater than or equal to {second} within {within}"))

    # Warnings.

    def assertNotWarn(self, callable: Callable[..., Any], msg: str = "") -> None:
        """Fails where a call warns."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with _contexts.set_warn_always_context(True):
                callable()
        self.assertTrue(len(caught) == 0, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: type[Warning], regex: Any = "") -> Iterator[None]:
        """A context that must warn, also when it has warned before, with a message that the pattern matches."""
        pattern = re.compile(regex)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with _contexts.set_warn_always_context(True):
                yield
        if not caught:
            self.fail("no warning caught")
        found = [w.message for w in caught]
        self.assertTrue(any(isinstance(m, category) and pattern.match(str(m)) for m in found), f"{pattern}, {found}")

    # Recorded texts.

    def assertExpectedInline(self, actual: str, expect: str, skip: int = 0) -> None:
        """Fails unless a text is what is expected, which may be indented."""
        expect = textwrap.dedent(expect) if "\n" in expect else expect
        if actual != expect:
            difference = "".join(
                line + "\n" for line in difflib.ndiff(expect.splitlines(), actual.splitlines()) if not line.startswith("?")
            )
            raise self.failureException(f"{expect!r} != {actual!r}\n{difference}")

    def assertExpectedRaisesInline(
        self, exc_type: Any, callable: Callable[..., Any], expect: str, *args: Any, **kwargs: Any
    ) -> None:
        """Fails unless a call raises an exception with an expected text."""
        self.assertExpectedInline(self._raised(exc_type, callable, args, kwargs), expect)

    def assertExpected(self, s: str, subname: str | None = None) -> None:
        """Fails unless a text is what a file beside the test holds, expect/CLASS.TEST[-SUBNAME].expect.

        With EXPECTTEST_ACCEPT=1 in the environment, or --accept behind the program, the file is written.
        """
        if not isinstance(s, str):
            raise TypeError("assertExpected is strings only")
        module = sys.modules[type(self).__module__]
        test = self.id().removeprefix(type(self).__module__ + ".")
        name, shown = (f"{test}-{subname}", f"{test} ({subname})") if subname else (test, test)
        path = os.path.join(os.path.dirname(os.path.realpath(str(module.__file__))), "expect", f"{name}.expect")
        s = s.rstrip("\n") + "\n"
        if _accepting():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(s)
            return
        if not os.path.exists(path):
            raise RuntimeError(
                f"I got this output for {shown}:\n\n{s}\nThere is no {path}: run python {module.__file__} {self.id()} --accept to write it"
            )
        with open(path) as file:
            self.assertMultiLineEqual(file.read(), s)

    def assertExpectedStripMangled(self, s: str, subname: str | None = None) -> None:
        """assertExpected of a text without the numbers of names that are taken twice."""
        self.assertExpected(re.sub(r"__torch__[^ ]+", "", s), subname)

    def assertExpectedRaises(self, exc_type: Any, callable: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """assertExpected of the text of the exception that a call raises; subname may name the file."""
        subname = kwargs.pop("subname", None)
        self.assertExpected(self._raised(exc_type, callable, args, kwargs), subname)

    def _raised(self, exc_type: Any, callable: Callable[..., Any], args: Any, kwargs: Any) -> str:
        try:
            callable(*args, **kwargs)
        except exc_type as e:
            return str(e)
        raise self.failureException(f"Did not raise {exc_type}")

    # NumPy, samples and processes.

    def compare_with_numpy(
        self, torch_fn: Any, np_fn: Any, tensor_like: Any, device: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        """Fails unless a function gives for a tensor what one of NumPy gives for its elements."""
        if isinstance(tensor_like, torch.Tensor):
            t, a = tensor_like, tensor_like.detach().cpu()
            array = (a.float() if a.dtype is torch.bfloat16 else a).numpy()
        else:
            t = torch.tensor(tensor_like, device=device, dtype=dtype)
            array = numpy.array(tensor_like, dtype=torch_to_numpy_dtype_dict[dtype] if dtype else None)
        found, expected = torch_fn(t), np_fn(array)
        if isinstance(expected, (numpy.ndarray, numpy.generic)):
            expected = torch.from_numpy(numpy.array(expected))
        if kwargs.get("exact_dtype", True):
            self.assertEqual(expected, found, **{"exact_device": False, **kwargs})
        else:
            self.assertEqual(expected, found.to(expected.dtype), **kwargs)

    def compare_with_reference(self, torch_fn: Any, ref_fn: Any, sample_input: Any, **kwargs: Any) -> None:
        """Fails unless a function gives for a sample what one of NumPy gives."""
        found = torch_fn(sample_input.input, *sample_input.args, **sample_input.kwargs)
        arrays = sample_input.numpy()
        expected = ref_fn(arrays.input, *arrays.args, **arrays.kwargs)
        self.assertEqual(torch.from_numpy(numpy.array(expected)), found, exact_device=False, **kwargs)

    @staticmethod
    def run_process_no_exception(code: str, env: Any = None) -> tuple[bytes, bytes]:
        """What a program of Python prints, and what it prints as errors. Raises RuntimeError where it fails."""
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout, done.stderr


def _accepting() -> bool:
    return _asked("EXPECTTEST_ACCEPT") or "--accept" in sys.argv


def run_tests(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program, as unittest.main does.

    Options: --seed, --accept (records what assertExpected compares with), --repeat, and unittest's own.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    options, remaining = parser.parse_known_args(sys.argv[1:] if argv is None else list(argv)[1:])
    _contexts.SEED = options.seed
    set_rng_seed(options.seed)
    for _ in range(options.repeat - 1):
        if not unittest.main(exit=False, argv=[sys.argv[0], *remaining]).result.wasSuccessful():
            sys.exit(1)
    unittest.main(argv=[sys.argv[0], *remaining])


# Values.


def is_iterable(obj: Any) -> bool:
    """Whether one can iterate over an object."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def is_iterable_of_tensors(iterable: Any, include_empty: bool = False) -> bool:
    """Whether an object is an iterable of tensors, with include_empty also one without items."""
    if isinstance(iterable, torch.Tensor) or not is_iterable(iterable):
        return False
    items = list(iterable)
    return all(isinstance(x, torch.Tensor) for x in items) if items else include_empty


def get_tensors_from(args: Iterable[Any], kwargs: Mapping[Any, Any]) -> set[Any]:
    """The tensors of arguments."""
    return {x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)}


def clone_input_helper(input: Any) -> Any:
    """A clone of a tensor, or of those in a sequence; other values as they are."""
    if isinstance(input, torch.Tensor):
        return torch.clone(input)
    return tuple(map(clone_input_helper, input)) if isinstance(input, Sequence) else input


def iter_indices(tensor: Any) -> Iterator[Any]:
    """The indices of the elements of a tensor: integers of one with one dimension."""
    if tensor.dim() == 0:
        return iter(range(0))
    if tensor.dim() == 1:
        return iter(range(tensor.size(0)))
    return iter(tuple(index) for index in torch.ones(tensor.size()).nonzero().tolist())


def noncontiguous_like(t: Any) -> Any:
    """A tensor that equals one and is not contiguous, if it has several elements."""
    if not t.is_contiguous():
        return t
    spread = torch.empty((*t.shape, 2), dtype=t.dtype, device=t.device)
    spread.fill_(math.nan if t.is_floating_point() or t.is_complex() else 0)
    spread[..., 0] = t.detach()
    return spread[..., 0].requires_grad_(t.requires_grad)


def bytes_to_scalar(byte_list: Sequence[int], dtype: Any, device: Any) -> Any:
    """The tensor with one element whose bytes are given."""
    assert dtype != torch.complex32
    return torch.frombuffer(bytearray(byte_list), dtype=dtype).reshape(()).to(device)


def chunk_list(lst: Sequence[Any], nchunks: int) -> list[Any]:
    """The items of a list in so many lists, in turn."""
    return [lst[i::nchunks] for i in range(nchunks)]


def first_sample(self: unittest.TestCase, samples: Iterable[Any]) -> Any:
    """The first of samples; without any the test is skipped."""
    for sample in samples:
        return sample
    raise unittest.SkipTest("Skipped! Need at least 1 sample input")


def remove_device_and_dtype_suffixes(test_name: str) -> str:
    """The name of a test without the device and the element type that instantiate_device_type_tests added."""
    from torchjit.testing._dtypes import get_all_dtypes
    from torchjit.testing._internal.common_device_type import get_device_type_test_bases

    devices = {base.device_type for base in get_device_type_test_bases()}
    types = {dtype_name(dtype) for dtype in get_all_dtypes()}
    parts = test_name.split("_")
    if parts[-1] in types and parts[-2] in devices:
        return "_".join(parts[:-2])
    return "_".join(parts[:-1]) if parts[-1] in devices else test_name


def get_function_arglist(func: Any) -> list[str]:
    """The names of the parameters of a function."""
    return inspect.getfullargspec(func).args


def find_free_port() -> int:
    """The number of a port that nothing uses."""
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return int(listener.getsockname()[1])


def shell(command: Sequence[str], cwd: Any = None, env: Any = None, stdout: Any = None, stderr: Any = None) -> int:
    """The exit status of a command."""
    return subprocess.run(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr).returncode


def prof_callable(callable: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call, which runs by the profiling executor with profile_and_replay."""
    if not kwargs.pop("profile_and_replay", False):
        return callable(*args, **kwargs)
    with _contexts.enable_profiling_mode_for_profiling_tests():
        callable(*args, **kwargs)
        return callable(*args, **kwargs)


def prof_func_call(*args: Any, **kwargs: Any) -> Any:
    """prof_callable of a compiled function."""
    return prof_callable(torch._C.ScriptFunction.__call__, *args, **kwargs)


def prof_meth_call(*args: Any, **kwargs: Any) -> Any:
    """prof_callable of a method of a compiled module."""
    return prof_callable(torch._C.ScriptMethod.__call__, *args, **kwargs)


# Gradients: sequences of inputs are checked as torch.autograd checks them.


def gradcheck(fn: Any, inputs: Any, **kwargs: Any) -> bool:
    """torch.autograd.gradcheck, fast unless PYTORCH_TEST_WITH_SLOW_GRADCHECK=1."""
    kwargs.setdefault("fast_mode", not _conditions.is_slow_gradcheck_env())
    return _gradcheck(fn, inputs, **kwargs)


def gradgradcheck(fn: Any, inputs: Any, grad_outputs: Any = None, **kwargs: Any) -> bool:
    """torch.autograd.gradgradcheck, fast unless PYTORCH_TEST_WITH_SLOW_GRADCHECK=1."""
    kwargs.setdefault("fast_mode", not _conditions.is_slow_gradcheck_env())
    return _gradgradcheck(fn, inputs, grad_outputs, **kwargs)


def _assertGradAndGradgradChecks(test_case: unittest.TestCase, apply_fn: Any, inputs: Any, **kwargs: Any) -> None:
    """Fails unless first and second gradients are those of differences."""
    test_case.assertTrue(gradcheck(apply_fn, inputs, **kwargs))
    test_case.assertTrue(gradgradcheck(apply_fn, inputs, **kwargs))


# Checks of the functions that make tensors.


def do_test_dtypes(self: Any, dtypes: Iterable[Any], layout: Any, device: Any) -> None:
    """Fails unless zeros of each element type have this type, the layout and the device."""
    for dtype in dtypes:
        if dtype != torch.float16:
            out = torch.zeros((2, 3), dtype=dtype, layout=layout, device=device)
            self.assertIs(dtype, out.dtype)
            self.assertIs(layout, out.layout)
            self.assertEqual(device, out.device)


def do_test_empty_full(self: Any, dtypes: Iterable[Any], layout: Any, device: Any) -> None:
    """Fails unless empty, full and their kin make tensors of each element type, also by default."""
    shape = torch.Size([2, 3])
    for dtype in dtypes:
        for out in (torch.empty(shape, dtype=dtype, layout=layout, device=device), torch.empty_like(torch.zeros(shape, dtype=dtype))):
            self.assertEqual((shape, dtype), (out.shape, out.dtype))
        full = torch.full(shape, 5, dtype=dtype, layout=layout, device=device)
        self.assertEqual(full, torch.full_like(torch.zeros(shape, dtype=dtype), 5))
        if dtype.is_floating_point:
            with set_default_dtype(dtype):
                self.assertIs(dtype, torch.empty(shape, layout=layout, device=device).dtype)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "ScriptDict ScriptList Tensor",
    "torchjit._utils_internal": "get_writable_path",
    "torchjit.nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "torchjit.onnx.utils": "register_custom_op_symbolic unregister_custom_op_symbolic",
    "torchjit.testing._comparison": "BooleanPair assert_equal",
    "torchjit.testing._legacy": "get_all_dtypes",
    "torchjit.utils._mode_utils": "no_dispatch",
})  # fmt: skip
