"""Operators that compiled programs may compute by others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import Tensor

# By the texts of their schemas.
decomposition_table: dict[str, Any] = {}
function_name_set: set[str] = set()


def check_decomposition_has_type_annotations(f: Callable[..., Any]) -> None:
    """Raises AssertionError unless the parameters and the result of a function are annotated."""
    signature = inspect.signature(f)
    for name, parameter in signature.parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty, f"No signature on param {name} for function {f.__name__}"
    assert signature.return_annotation is not inspect.Signature.empty, f"No return annotation for function {f.__name__}"


def register_decomposition(aten_op: Any, registry: dict[str, Any] | None = None) -> Callable[[Any], Any]:
    """Makes a function the decomposition of an overload of an operator: it is compiled and kept under the text of the schema."""

    def register(f: Any) -> Any:
        assert isinstance(aten_op, torch._ops.OpOverload)
        assert f.__name__ not in function_name_set, f"Duplicated function name {f.__name__}"
        check_decomposition_has_type_annotations(f)
        function_name_set.add(f.__name__)
        (decomposition_table if registry is None else registry)[str(aten_op._schema)] = torch.jit.script(f)
        return f

    return register


@register_decomposition(torch.ops.aten.var.correction)
def var_decomposition(input: Tensor, dim: list[int] | None = None, correction: int | None = None, keepdim: bool = False) -> Tensor:
    """The variance, by its definition."""
    if dim is None:
        dim_i: list[int] = []
        dim = dim_i
    if len(dim) == 0:
        n = input.numel()
    else:
        n = 1
        for d in dim:
            n *= input.shape[d]
    mean = input.mean(dim, True)
    squares = (input - mean) * (input - mean)
    total = squares.sum(dim, keepdim)
    if correction is not None:
        n = n - correction
    return total / n


@register_decomposition(torch.ops.aten.var.default)
def var(input: Tensor, unbiased: bool = True) -> Tensor:
    """The variance of all elements, by its definition."""
    if unbiased:
        correction = 1
    else:
        correction = 0
    return var_decomposition(input, correction=correction)
