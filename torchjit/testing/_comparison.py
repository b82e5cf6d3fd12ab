"""assert_close: tensors, numbers and containers of them are equal up to a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torchjit as torch

_TOLERANCES = {
    torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5), torch.complex128: (1e-7, 1e-7),
}  # fmt: skip
_NUMBER_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


def _tolerances(dtypes: list[Any], rtol: float | None, atol: float | None) -> tuple[float, float]:
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    if rtol is not None and atol is not None:
        return rtol, atol
    found = [_TOLERANCES.get(d, (0.0, 0.0)) for d in dtypes]
    return max(f[0] for f in found), max(f[1] for f in found)


class _Comparison:
    """One comparison: its options, and the place in nested containers for messages."""

    def __init__(
        self, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool], msg: Any
    ) -> None:
        self.rtol, self.atol, self.equal_nan, self.checks, self.msg = rtol, atol, equal_nan, checks, msg

    def fail(self, text: str, place: tuple[Any, ...]) -> None:
        if place:
            text += f"\n\nThe failure occurred for item {''.join(f'[{p!r}]' for p in place)}"
        if callable(self.msg):
            text = self.msg(text)
        raise AssertionError(self.msg if isinstance(self.msg, str) else text)

    def compare(self, actual: Any, expected: Any, place: tuple[Any, ...] = ()) -> None:
        if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
            self.tensors(actual, expected, place)
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"None mismatch: {actual if expected is None else expected} is not None", place)
        elif isinstance(actual, bool) and isinstance(expected, bool):
            if actual is not expected:
                self.fail(f"Booleans mismatch: {actual} is not {expected}", place)
        elif isinstance(actual, (int, float, complex)) and isinstance(expected, (int, float, complex)):
            self.numbers(actual, expected, place)
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            self.mappings(actual, expected, place)
        elif _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                self.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place)
            for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
                self.compare(a, e, (*place, i))
        else:
            raise TypeError(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
            )

    def mappings(self, actual: Mapping[Any, Any], expected: Mapping[Any, Any], place: tuple[Any, ...]) -> None:
        missing, extra = sorted(set(expected) - set(actual)), sorted(set(actual) - set(expected))
        if missing or extra:
            self.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {extra}",
                place,
            )
        for key in actual:
            self.compare(actual[key], expected[key], (*place, key))

    def numbers(self, actual: Any, expected: Any, place: tuple[Any, ...]) -> None:
        if self.checks["dtype"] and type(actual) is not type(expected):
            self.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", place)
        dtypes = [_NUMBER_DTYPES[type(actual)], _NUMBER_DTYPES[type(expected)]]
        rtol, atol = _tolerances(dtypes, self.rtol, self.atol)
        difference = abs(actual - expected)
        close = actual == expected or difference <= atol + rtol * abs(expected) and math.isfinite(difference)
        if close or self.equal_nan and actual != actual and expected != expected:
            return
        relative = difference / abs(expected) if expected else math.inf
        self.fail(_scalars_text(difference, relative, rtol, atol), place)

    def tensors(self, actual: Any, expected: Any, place: tuple[Any, ...]) -> None:
        self.attributes(actual, expected, place)
        rtol, atol = _tolerances([actual.dtype, expected.dtype], self.rtol, self.atol)
        dtype = torch.promote_types(actual.dtype, expected.dtype)
        a, e = actual.detach().to(dtype), expected.detach().to(dtype)
        close = torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if bool(close.all()):
            return
        wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
        a, e = a.to(wide), e.to(wide)
        absolute = (a - e).abs()
        relative = absolute / e.abs()
        if a.dim() == 0:
            self.fail(_scalars_text(absolute.item(), relative.item(), rtol, atol), place)
        absolute, relative = absolute.masked_fill(close, 0), relative.masked_fill(close, 0)
        wrong = int((~close).sum())
        close_or_equal = "equal" if rtol == atol == 0 else "close"
        lines = [f"Tensor-likes are not {close_or_equal}!\n",
                 f"Mismatched elements: {wrong} / {a.numel()} ({wrong / a.numel():.1%})"]  # fmt: skip
        for name, difference, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
            at = int(difference.flatten().argmax())
            text = f"Greatest {name} difference: {difference.flatten()[at].item()} at index {_index(at, a.shape)}"
            lines.append(text + ("" if rtol == atol == 0 else f" (up to {allowed} allowed)"))
        self.fail("\n".join(lines), place)

    def attributes(self, actual: Any, expected: Any, place: tuple[Any, ...]) -> None:
        compared = [("shape", actual.shape, expected.shape)]
        for name in ("layout", "device", "dtype"):
            if self.checks[name]:
                compared.append((name, getattr(actual, name), getattr(expected, name)))
        if self.checks["stride"]:
            compared.append(("stride()", actual.stride(), expected.stride()))
        for name, a, e in compared:
            if a != e:
                self.fail(f"The values for attribute '{name}' do not match: {a} != {e}.", place)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes))


def _index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        flat, i = divmod(flat, size)
        index.insert(0, i)
    return tuple(index)


def _scalars_text(difference: Any, relative: Any, rtol: float, atol: float) -> str:
    if rtol == atol == 0:
        return f"Scalars are not equal!\n\nAbsolute difference: {difference}\nRelative difference: {relative}"
    return (
        f"Scalars are not close!\n\nAbsolute difference: {difference} (up to {atol} allowed)\n"
        f"Relative difference: {relative} (up to {rtol} allowed)"
    )


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Fails with an AssertionError where actual and expected differ by more than atol + rtol * |expected|.

    Without rtol and atol they follow from the element types. Tensors must agree in shape and, unless switched off,
    in device, dtype and layout. Sequences and mappings are compared element by element.
    """
    if not allow_subclasses and type(actual) is not type(expected):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}
    _Comparison(rtol, atol, equal_nan, checks, msg).compare(actual, expected)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """assert_close for anything that tensors are made of, without a look at devices and dtypes."""
    actual = actual if isinstance(actual, torch.Tensor) else torch.tensor(actual)
    expected = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected, dtype=actual.dtype)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
        msg=msg or None,
    )  # fmt: skip
