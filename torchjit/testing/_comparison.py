"""assert_close and what it is made of: pairs of values, each of a class that knows how to compare them.

originate_pairs takes nested sequences and mappings apart; each class of pairs refuses the inputs that it is not for
(UnsupportedInputs), so that the first one that takes them compares them. A difference is an ErrorMeta, which becomes
the error when the place in the containers is known.
"""

from __future__ import annotations

import abc
import cmath
import collections.abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torchjit as torch
from torchjit._pytorch_tensors import data_of

_Identifier = str | Callable[[str], str] | None

_NARROW = (1.3e-6, 1e-5)
_DTYPE_PRECISIONS: dict[Any, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: _NARROW, torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5), torch.complex64: _NARROW, torch.complex128: (1e-7, 1e-7),
    **dict.fromkeys((torch.quint8, torch.qint8, torch.qint32), _NARROW),
}  # fmt: skip


def _numpy_types(*names: str) -> tuple[type, ...]:
    """Classes of NumPy where it is there."""
    try:
        import numpy
    except ImportError:
        return ()
    return tuple(getattr(numpy, name) for name in names)


NUMPY_AVAILABLE = bool(_numpy_types("bool_"))


class ErrorMeta(Exception):
    """A difference that has been found: the class of the error, its text, and the place in nested containers."""

    def __init__(self, type: type[Exception], msg: str, *, id: tuple[Any, ...] = ()) -> None:
        super().__init__("If you are a user and see this message during normal operation please report it.")
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg: _Identifier = None) -> Exception:
        """The error. msg is its text, or makes it of the text that there is."""
        if isinstance(msg, str):
            return self.type(msg)
        text = self.msg
        if self.id:
            text += f"\n\nThe failure occurred for item {''.join(str([part]) for part in self.id)}"
        return self.type(msg(text) if callable(msg) else text)


class UnsupportedInputs(Exception):  # noqa: N818
    """A class of pairs is not for the inputs."""


def default_tolerances(*inputs: Any) -> tuple[float, float]:
    """The relative and absolute tolerance for tensors or element types, the largest that one of them needs."""
    dtypes = [x.dtype if isinstance(x, torch.Tensor) else x for x in inputs]
    for dtype in dtypes:
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(dtype)} instead.")
    found = [_DTYPE_PRECISIONS.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(f[0] for f in found), max(f[1] for f in found)


def get_tolerances(*inputs: Any, rtol: float | None, atol: float | None, id: tuple[Any, ...] = ()) -> tuple[float, float]:
    """rtol and atol where they are given, else default_tolerances. Raises ErrorMeta where one is missing."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ErrorMeta(ValueError, f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.", id=id)
    if rtol is not None and atol is not None:
        return rtol, atol
    return default_tolerances(*inputs)


# ---- texts ----


def _make_mismatch_msg(
    *, default_identifier: str, identifier: _Identifier = None, extra: str | None = None, abs_diff: float, abs_diff_idx: Any = None, atol: float,
    rel_diff: float, rel_diff_idx: Any = None, rtol: float,
) -> str:  # fmt: skip
    """The text of a difference: what is not equal or close, and by how much."""
    equality = rtol == 0 and atol == 0

    def line(kind: str, difference: float, index: Any, allowed: float) -> str:
        at = "" if index is None else f" at index {index}"
        text = f"{kind} difference" if index is None else f"Greatest {kind.lower()} difference"
        return f"{text}: {difference}{at}" + ("" if equality else f" (up to {allowed} allowed)")

    name = default_identifier if identifier is None else identifier(default_identifier) if callable(identifier) else identifier
    lines = [f"{name} are not {'equal' if equality else 'close'}!\n", *([extra.strip()] if extra else [])]
    lines += [line("Absolute", abs_diff, abs_diff_idx, atol), line("Relative", rel_diff, rel_diff_idx, rtol)]
    return "\n".join(lines)


def make_scalar_mismatch_msg(actual: Any, expected: Any, *, rtol: float, atol: float, identifier: _Identifier = None) -> str:
    """The text of a difference between numbers."""
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    return _make_mismatch_msg(
        default_identifier="Scalars", identifier=identifier, abs_diff=difference, atol=atol, rel_diff=relative, rtol=rtol
    )


def make_tensor_mismatch_msg(actual: Any, expected: Any, mismatches: Any, *, rtol: float, atol: float, identifier: _Identifier = None) -> str:
    """The text of a difference between tensors; mismatches says which elements differ."""
    count, wrong = mismatches.numel(), int(mismatches.sum())
    dtype = torch.promote_types(actual.dtype, expected.dtype)
    wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    a, e = actual.flatten().to(wide), expected.flatten().to(wide)
    matches = ~mismatches.flatten()
    absolute = (a - e).abs()
    relative = (absolute / e.abs()).masked_fill(matches, 0)
    absolute = absolute.masked_fill(matches, 0)
    (abs_diff, abs_at), (rel_diff, rel_at) = ((d[i].item(), i) for d, i in ((d, int(d.argmax())) for d in (absolute, relative)))
    return _make_mismatch_msg(
        default_identifier="Tensor-likes", identifier=identifier, extra=f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
        abs_diff=abs_diff, abs_diff_idx=_index(abs_at, mismatches.shape), atol=atol, rel_diff=rel_diff, rel_diff_idx=_index(rel_at, mismatches.shape),
        rtol=rtol,
    )  # fmt: skip


def _index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        flat, i = divmod(flat, size)
        index.insert(0, i)
    return tuple(index)


# ---- pairs ----


class Pair(abc.ABC):
    """Two values that are compared, at a place in nested containers."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), **unknown_parameters: Any) -> None:
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _check_inputs_isinstance(*inputs: Any, cls: Any) -> None:
        """Raises UnsupportedInputs unless all inputs are of a class."""
        if not all(isinstance(x, cls) for x in inputs):
            raise UnsupportedInputs()

    def _make_error_meta(self, type: type[Exception], msg: str) -> ErrorMeta:
        return ErrorMeta(type, msg, id=self.id)

    @abc.abstractmethod
    def compare(self) -> None:
        """Raises ErrorMeta where the values differ."""

    def extra_repr(self) -> Sequence[Any]:
        """Names of attributes, or names with values, that repr shows too."""
        return []

    def __repr__(self) -> str:
        shown = [("id", self.id), ("actual", self.actual), ("expected", self.expected)]
        shown += [extra if isinstance(extra, tuple) else (extra, getattr(self, extra)) for extra in self.extra_repr()]
        return f"{type(self).__name__}(\n" + "".join(f"    {name}={value!s},\n" for name, value in shown) + ")"


class ObjectPair(Pair):
    """Any objects: they must be equal."""

    def compare(self) -> None:
        """Raises ErrorMeta unless == says that they are."""
        if self.actual != self.expected:
            raise self._make_error_meta(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """Two values one of which is None: both must be."""

    def __init__(self, actual: Any, expected: Any, **other_parameters: Any) -> None:
        if actual is not None and expected is not None:
            raise UnsupportedInputs()
        super().__init__(actual, expected, **other_parameters)

    def compare(self) -> None:
        """Raises ErrorMeta unless both are None."""
        if self.actual is not self.expected:
            raise self._make_error_meta(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two truth values."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple[Any, ...], **other_parameters: Any) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, **other_parameters)

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (bool, *_numpy_types("bool_"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> tuple[bool, bool]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_bool(actual, id=id), self._to_bool(expected, id=id)

    def _to_bool(self, bool_like: Any, *, id: tuple[Any, ...]) -> bool:
        if isinstance(bool_like, (bool, *_numpy_types("bool_"))):
            return bool(bool_like)
        raise ErrorMeta(TypeError, f"Unknown boolean type {type(bool_like)}.", id=id)

    def compare(self) -> None:
        """Raises ErrorMeta unless they are the same."""
        if self.actual is not self.expected:
            raise self._make_error_meta(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two numbers."""

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float64, complex: torch.complex128}
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(
        self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
        check_dtype: bool = False, **other_parameters: Any,
    ) -> None:  # fmt: skip
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        dtypes = [self._TYPE_TO_DTYPE[type(x)] for x in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*dtypes, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (*self._NUMBER_TYPES, *_numpy_types("number"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> tuple[Any, Any]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like: Any, *, id: tuple[Any, ...]) -> Any:
        numpy: Any = _numpy_types("number")
        if isinstance(number_like, numpy):
            return number_like.item()
        if isinstance(number_like, self._NUMBER_TYPES):
            return int(number_like) if isinstance(number_like, bool) else number_like
        raise ErrorMeta(TypeError, f"Unknown number type {type(number_like)}.", id=id)

    def compare(self) -> None:
        """Raises ErrorMeta where they are not close, or with check_dtype where their types differ."""
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            raise self._make_error_meta(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        if actual == expected or self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
            return
        difference = abs(actual - expected)
        if cmath.isfinite(difference) and difference <= self.atol + self.rtol * abs(expected):
            return
        raise self._make_error_meta(AssertionError, make_scalar_mismatch_msg(actual, expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self) -> Sequence[str]:
        """The tolerances and options."""
        return ("rtol", "atol", "equal_nan", "check_dtype")


# What the places in a compressed layout are told by.
_COMPRESSED = {
    **dict.fromkeys((torch.sparse_csr, torch.sparse_bsr), ("crow_indices", "col_indices")),
    **dict.fromkeys((torch.sparse_csc, torch.sparse_bsc), ("ccol_indices", "row_indices")),
}


class TensorLikePair(Pair):
    """Two tensors, or what tensors are made of."""

    def __init__(
        self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), allow_subclasses: bool = True, rtol: float | None = None,
        atol: float | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
        check_stride: bool = False, check_is_coalesced: bool = True, **other_parameters: Any,
    ) -> None:  # fmt: skip
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=self.id)
        self.equal_nan, self.check_device, self.check_dtype = equal_nan, check_device, check_dtype
        self.check_layout, self.check_stride, self.check_is_coalesced = check_layout, check_stride, check_is_coalesced

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...], allow_subclasses: bool) -> tuple[Any, Any]:
        actual, expected = data_of(actual), data_of(expected)
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or not allow_subclasses and type(actual) is not type(expected):
            raise UnsupportedInputs()
        actual, expected = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in (actual, expected):
            self._check_supported(tensor, id=id)
        return actual, expected

    def _to_tensor(self, tensor_like: Any) -> Any:
        if isinstance(tensor_like, torch.Tensor):
            return tensor_like
        try:
            return torch.as_tensor(tensor_like)
        except Exception:
            raise UnsupportedInputs() from None

    def _check_supported(self, tensor: Any, *, id: tuple[Any, ...]) -> None:
        if tensor.layout not in (torch.strided, torch.sparse_coo, *_COMPRESSED):
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def compare(self) -> None:
        """Raises ErrorMeta where they differ in shape, in an attribute that is checked, or in values."""
        self._compare_attributes(self.actual, self.expected)
        self._compare_values(*self._equalize_attributes(self.actual, self.expected))

    def _compare_attributes(self, actual: Any, expected: Any) -> None:
        def differ(name: str, a: Any, e: Any) -> None:
            if a != e:
                raise self._make_error_meta(AssertionError, f"The values for attribute '{name}' do not match: {a} != {e}.")

        differ("shape", actual.shape, expected.shape)
        differ("is_quantized", actual.is_quantized, expected.is_quantized)
        if actual.is_quantized:
            differ("qscheme()", actual.qscheme(), expected.qscheme())
        for name in ("layout", "device", "dtype"):
            if getattr(self, "check_" + name):
                differ(name, getattr(actual, name), getattr(expected, name))
        if self.check_is_coalesced and actual.is_sparse and expected.is_sparse:
            differ("is_coalesced()", actual.is_coalesced(), expected.is_coalesced())
        if self.check_stride and actual.layout is torch.strided:
            differ("stride()", actual.stride(), expected.stride())

    def _equalize_attributes(self, actual: Any, expected: Any) -> tuple[Any, Any]:
        """The tensors with one element type and layout."""
        if actual.dtype != expected.dtype:
            dtype = torch.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout is not expected.layout:
            return actual.to_dense(), expected.to_dense()
        if actual.is_sparse and actual.is_coalesced() != expected.is_coalesced():
            actual, expected = actual.coalesce(), expected.coalesce()
        return actual, expected

    def _compare_values(self, actual: Any, expected: Any) -> None:
        if actual.is_quantized:
            compare = self._compare_quantized_values
        elif actual.layout is torch.strided:
            compare = self._compare_regular_values_close
        else:
            compare = self._compare_sparse_values
        compare(actual.detach(), expected.detach(), rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan)

    def _compare_quantized_values(self, actual: Any, expected: Any, *, rtol: float, atol: float, equal_nan: bool) -> None:
        self._compare_regular_values_close(
            actual.dequantize(), expected.dequantize(), rtol=rtol, atol=atol, equal_nan=equal_nan,
            identifier=lambda default: f"Quantized {default.lower()}",
        )  # fmt: skip

    def _compare_sparse_values(self, actual: Any, expected: Any, *, rtol: float, atol: float, equal_nan: bool) -> None:
        """Compares the places and the values of tensors of one layout."""
        parts: tuple[str, ...]
        if actual.is_sparse:
            kind, parts, values = "COO", ("_indices",), "_values"
        else:
            kind, parts, values = actual.layout.name[len("sparse_") :].upper(), _COMPRESSED[actual.layout], "values"
        if actual._nnz() != expected._nnz():
            text = f"The number of specified values in sparse {kind} tensors does not match: {actual._nnz()} != {expected._nnz()}"
            raise self._make_error_meta(AssertionError, text)
        for part in parts:
            self._compare_regular_values_equal(getattr(actual, part)(), getattr(expected, part)(), identifier=f"Sparse {kind} {part.strip('_')}")
        self._compare_regular_values_close(
            getattr(actual, values)(), getattr(expected, values)(), rtol=rtol, atol=atol, equal_nan=equal_nan, identifier=f"Sparse {kind} values"
        )

    def _compare_regular_values_equal(self, actual: Any, expected: Any, *, equal_nan: bool = False, identifier: _Identifier = None) -> None:
        self._compare_regular_values_close(actual, expected, rtol=0, atol=0, equal_nan=equal_nan, identifier=identifier)

    def _compare_regular_values_close(
        self, actual: Any, expected: Any, *, rtol: float, atol: float, equal_nan: bool, identifier: _Identifier = None
    ) -> None:
        actual, expected = self._promote_for_comparison(actual, expected)
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if bool(matches.all()):
            return
        if actual.shape == torch.Size([]):
            text = make_scalar_mismatch_msg(actual.item(), expected.item(), rtol=rtol, atol=atol, identifier=identifier)
        else:
            text = make_tensor_mismatch_msg(actual, expected, ~matches, rtol=rtol, atol=atol, identifier=identifier)
        raise self._make_error_meta(AssertionError, text)

    def _promote_for_comparison(self, actual: Any, expected: Any) -> tuple[Any, Any]:
        """The tensors in a type in which truth values can be subtracted."""
        if actual.dtype == torch.bool and expected.dtype == torch.bool:
            return actual.to(torch.uint8), expected.to(torch.uint8)
        return actual, expected

    def extra_repr(self) -> Sequence[str]:
        """The tolerances and options."""
        return (
            "rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride", "check_is_coalesced",
        )  # fmt: skip


# ---- containers ----


def originate_pairs(
    actual: Any, expected: Any, *, pair_types: Sequence[type[Pair]], sequence_types: tuple[type, ...] = (collections.abc.Sequence,),
    mapping_types: tuple[type, ...] = (collections.abc.Mapping,), id: tuple[Any, ...] = (), **options: Any,
) -> list[Pair]:  # fmt: skip
    """The pairs of two values, or of the items of nested sequences and mappings. Raises ErrorMeta where these differ in length or keys."""

    def of_items(keys: Any) -> list[Pair]:
        pairs: list[Pair] = []
        for key in keys:
            pairs += originate_pairs(
                actual[key], expected[key], pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types, id=(*id, key), **options
            )
        return pairs

    if all(isinstance(x, sequence_types) and not isinstance(x, str) for x in (actual, expected)):
        if len(actual) != len(expected):
            raise ErrorMeta(AssertionError, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", id=id)
        return of_items(range(len(actual)))
    if all(isinstance(x, mapping_types) for x in (actual, expected)):
        _same_keys(actual, expected, id)
        return of_items(_in_order(actual))
    for pair_type in pair_types:
        try:
            return [pair_type(actual, expected, id=id, **options)]
        except UnsupportedInputs:
            continue
    raise ErrorMeta(TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", id=id)


def _in_order(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _same_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any], id: tuple[Any, ...]) -> None:
    missing, extra = set(expected) - set(actual), set(actual) - set(expected)
    if missing or extra:
        raise ErrorMeta(
            AssertionError, "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\nAdditional keys in the actual mapping: {sorted(extra)}", id=id,
        )  # fmt: skip


def assert_equal(
    actual: Any, expected: Any, *, pair_types: Sequence[type[Pair]] = (ObjectPair,), sequence_types: tuple[type, ...] = (collections.abc.Sequence,),
    mapping_types: tuple[type, ...] = (collections.abc.Mapping,), msg: _Identifier = None, **options: Any,
) -> None:  # fmt: skip
    """Fails with an AssertionError where a pair of items differs, as the first class of pairs that is for them says."""
    try:
        pairs = originate_pairs(actual, expected, pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types, **options)
    except ErrorMeta as found:
        raise found.to_error(msg) from None
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as found:
            raise found.to_error(msg) from None


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Fails with an AssertionError where actual and expected differ by more than atol + rtol * |expected|.

    Without rtol and atol they follow from the element types. Tensors must agree in shape and, unless switched off,
    in device, dtype and layout. Sequences and mappings are compared element by element.

    >>> torch.testing.assert_close(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    """
    assert_equal(
        actual, expected, pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair), allow_subclasses=allow_subclasses, rtol=rtol, atol=atol,
        equal_nan=equal_nan, check_device=check_device, check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride, msg=msg,
    )  # fmt: skip


# The relative and absolute bounds of assert_allclose by element types; those of others must be equal.
_OF_ALLCLOSE = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """assert_close for anything that tensors are made of, without a look at devices and dtypes."""
    actual, expected = data_of(actual), data_of(expected)
    actual = actual if isinstance(actual, torch.Tensor) else torch.tensor(actual)
    expected = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:  # not those of assert_close
        bounds = [_OF_ALLCLOSE.get(x.dtype.name, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = max(r for r, _ in bounds), max(a for _, a in bounds)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
        msg=msg or None,
    )  # fmt: skip
