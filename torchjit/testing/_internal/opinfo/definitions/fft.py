"""Fourier transforms."""

from __future__ import annotations

from typing import Any

from torchjit.testing._internal.opinfo.core import SampleInput, SpectralFuncInfo, SpectralFuncType
from torchjit.testing._internal.opinfo.definitions._table import ALL, DOUBLE, LINALG, op

_RANKS = {"": SpectralFuncType.OneD, "2": SpectralFuncType.TwoD, "n": SpectralFuncType.ND}
_NO_METHODS: dict[str, Any] = {"method_variant": None, "inplace_variant": None, "operator_variant": None, "inplace_operator_variant": None}

spectral_funcs: list[SpectralFuncInfo] = [
    SpectralFuncInfo(f"fft.{name}{end}", ndimensional=rank, dtypes=DOUBLE if name in ("rfft", "ihfft") else LINALG, **_NO_METHODS)
    for name in ("fft", "hfft", "rfft", "ifft", "ihfft", "irfft")
    for end, rank in _RANKS.items()
]

op_db: list[Any] = [
    *spectral_funcs,
    *(op(f"fft.{name}", ALL, lambda m: SampleInput(m(3, 4)), lambda m: SampleInput(m(3, 4), 1), supports_out=False, supports_forward_ad=True) for name in ("fftshift", "ifftshift")),
]  # fmt: skip
