"""torch.signal.windows: factors for the samples of a signal that let it begin and end softly.

Each function takes the number of samples M and gives so many numbers, of float32 or float64. sym=True gives a window that is the same from
both ends, sym=False one period of what is repeated, the first M of the M + 1 numbers of the symmetric one. They raise ValueError where M is
negative, for other types and layouts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser", "nuttall"]


def _checked(name: str, M: int, dtype: Any, layout: Any) -> Any:  # noqa: N803
    """The type of a window's numbers. Raises ValueError where an argument does not fit."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not torch.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    kind = torch.get_default_dtype() if dtype is None else dtype
    if kind not in (torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
    return kind


def _places(M: int, dtype: Any, device: Any) -> Tensor:  # noqa: N803
    """0, 1, ..., M - 1."""
    return torch.arange(M, dtype=dtype, device=device)


def _ready(made: Tensor, requires_grad: bool) -> Tensor:
    return made.requires_grad_(requires_grad)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # noqa: N803  # fmt: skip
    """exp(-|n - center| / tau) for each sample n; center is the middle where it is None, as it is to be for symmetric windows.

    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    kind = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M - 1 if sym or M == 1 else M) / 2 if center is None else center
    return _ready((-(_places(M, kind, device) - middle).abs() / tau).exp(), requires_grad)


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Half a period of a sine.

    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    kind = _checked("cosine", M, dtype, layout)
    count = M if sym or M == 1 else M + 1
    return _ready(((_places(M, kind, device) + 0.5) * (math.pi / max(count, 1))).sin(), requires_grad)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """The bell curve of a standard deviation, in samples, around the middle.

    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    kind = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = (M - 1 if sym or M == 1 else M) / 2
    return _ready((-0.5 * ((_places(M, kind, device) - middle) / std) ** 2).exp(), requires_grad)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Kaiser's window: a Bessel function of an arc; the greater beta, the narrower it is.

    >>> torch.signal.windows.kaiser(3, beta=3.0)
    tensor([0.2049, 1.0000, 0.2049])
    """
    kind = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M == 1:
        return _ready(torch.ones(1, dtype=kind, device=device), requires_grad)
    middle = max(M - 1 if sym else M, 1) / 2
    arc = (1 - ((_places(M, kind, device) - middle) / middle) ** 2).clamp(min=0).sqrt()
    return _ready(torch.i0(beta * arc) / torch.i0(torch.tensor(float(beta), dtype=kind, device=device)), requires_grad)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """The sum of cosines of 0, 1, 2, ... periods with the factors a, with alternating signs. Raises TypeError and ValueError where a is not
    some numbers.

    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    kind = _checked("general_cosine", M, dtype, layout)
    if M == 0:
        return _ready(torch.empty(0, dtype=kind, device=device), requires_grad)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    factors = list(a)
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    if M == 1:
        return _ready(torch.ones(1, dtype=kind, device=device), requires_grad)
    angles = _places(M, kind, device) * (2 * math.pi / (M - 1 if sym else M))
    made = torch.zeros(M, dtype=kind, device=device)
    for i, factor in enumerate(factors):
        made = made + (-1) ** i * factor * (i * angles).cos()
    return _ready(made, requires_grad)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """general_cosine with the factors alpha and 1 - alpha.

    >>> torch.signal.windows.general_hamming(3, alpha=0.6)
    tensor([0.2000, 1.0000, 0.2000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Hamming's window: general_hamming with alpha=0.54.

    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Hann's window: general_hamming with alpha=0.5.

    >>> torch.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Blackman's window: general_cosine with the factors 0.42, 0.5 and 0.08.

    >>> torch.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    _checked("blackman", M, dtype, layout)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """Nuttall's window of four cosines.

    >>> torch.signal.windows.nuttall(5)[1:4]
    tensor([0.2270, 1.0000, 0.2270])
    """
    factors = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=factors, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = torch.strided, device: Any = None, requires_grad: bool = False
) -> Tensor:  # noqa: N803
    """A triangle from 0 to 1 and back.

    >>> torch.signal.windows.bartlett(3)
    tensor([0., 1., 0.])
    """
    kind = _checked("bartlett", M, dtype, layout)
    if M == 1:
        return _ready(torch.ones(1, dtype=kind, device=device), requires_grad)
    return _ready(1 - (_places(M, kind, device) * (2 / max(M - 1 if sym else M, 1)) - 1).abs(), requires_grad)
