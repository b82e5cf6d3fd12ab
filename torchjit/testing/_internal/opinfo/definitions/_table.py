"""How the tables of operators are written: names, element types, and samples as functions of what makes a tensor of a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torchjit as torch
from torchjit.testing import make_tensor
from torchjit.testing._internal.opinfo.core import OpInfo, SampleInput

FLOAT = (torch.float32, torch.float64, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)
INT = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
BOOL = (torch.bool,)
FLOAT_COMPLEX = FLOAT + COMPLEX
NUMBER = INT + FLOAT
REAL = NUMBER + BOOL
ALL = REAL + COMPLEX
NUMBER_COMPLEX = NUMBER + COMPLEX
# What operators of linear algebra compute with.
LINALG = (torch.float32, torch.float64, *COMPLEX)
DOUBLE = (torch.float32, torch.float64)

Sample = Callable[["Maker"], SampleInput]


class Maker:
    """Makes the tensors of a sample: m(2, 3) is one of random numbers of the element type; m.like has other options of make_tensor."""

    def __init__(self, device: Any, dtype: Any, requires_grad: bool) -> None:
        self.device, self.dtype, self.requires_grad = device, dtype, requires_grad

    def __call__(self, *shape: int, **options: Any) -> Any:
        return make_tensor(shape, **{"device": self.device, "dtype": self.dtype, "requires_grad": self.requires_grad, **options})

    def positive(self, *shape: int) -> Any:
        """Numbers from 1 to 3."""
        return self(*shape, low=1, high=3)

    def plain(self, *shape: int) -> Any:
        """One that requires no gradient."""
        return self(*shape, requires_grad=False)

    def index(self, high: int, *shape: int) -> Any:
        """Whole numbers from 0 to one less than the limit."""
        return make_tensor(shape, device=self.device, dtype=torch.int64, low=0, high=high)

    def distinct(self, high: int, *shape: int) -> Any:
        """Whole numbers below the limit of which no two in a row are equal."""
        rows = [torch.randperm(high)[: shape[-1]] for _ in range(int(torch.Size(shape[:-1]).numel()))]
        return torch.stack(rows).reshape(shape).to(self.device)

    def mask(self, *shape: int) -> Any:
        """Truth values."""
        return make_tensor(shape, device=self.device, dtype=torch.bool)

    def regular(self, *shape: int) -> Any:
        """Matrices that have an inverse."""
        made = make_tensor(shape, device=self.device, dtype=self.dtype) * 0.1 + 2 * torch.eye(*shape[-2:], dtype=self.dtype, device=self.device)
        return made.requires_grad_(self.requires_grad)

    def definite(self, *shape: int) -> Any:
        """Hermitian matrices whose eigenvalues are positive."""
        made = self.regular(*shape).detach()
        return (made @ made.mH + torch.eye(shape[-1], dtype=self.dtype, device=self.device)).requires_grad_(self.requires_grad)

    def simplex(self, *shape: int) -> Any:
        """Positive numbers whose sum along the last dimension is one."""
        made = make_tensor(shape, device=self.device, dtype=self.dtype).softmax(-1)
        return made.requires_grad_(self.requires_grad)


def samples(*makers: Sample) -> Any:
    """A function that makes samples of an operator, one of each maker."""

    def made(op: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
        maker = Maker(device, dtype, requires_grad)
        for one in makers:
            yield one(maker)

    return made


def op(name: str, types: Any, *makers: Sample, cls: Any = OpInfo, **facts: Any) -> Any:
    """The description of an operator with samples; nn.functional.x has no methods and no out."""
    if name.startswith(("nn.functional.", "linalg.", "fft.", "special.")):
        facts = {"method_variant": None, "inplace_variant": None, "operator_variant": None, "inplace_operator_variant": None, **facts}
    if name.startswith("nn.functional."):
        facts = {"supports_out": False, **facts}
    return cls(name, dtypes=types, sample_inputs_func=samples(*makers) if makers else None, **facts)
