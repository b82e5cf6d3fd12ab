"""Comparing gradients with finite differences."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from torchjit._tensor import Tensor


class GradcheckError(RuntimeError):
    """A gradient differs from the finite difference."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    check_sparse_nnz: bool = False,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Whether the gradients of func at inputs (float64 tensors) agree with central differences of step eps.

    Each gradient must lie within atol + rtol*|difference|. Raises GradcheckError, or returns False where
    raise_exception is off.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
            )
        for i, x in enumerate(inputs):
            if isinstance(x, Tensor) and x.requires_grad and x.element_size() < 8:
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                    "This check will likely fail if all the inputs are not of double precision floating point or complex.",
                    stacklevel=2,
                )
        for number in range(len(_outputs(func, inputs))):
            # The differences write the inputs, so that each output needs a graph of its own.
            _check_output(func, inputs, _outputs(func, inputs)[number], number, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    found = func(*inputs)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    return [o for o in found if isinstance(o, Tensor) and o.requires_grad]


def _check_output(func: Any, inputs: Any, output: Any, number: int, eps: float, atol: float, rtol: float) -> None:
    torch: Any = importlib.import_module("torchjit")

    leaves = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    columns: list[list[Any]] = [[] for _ in leaves]
    flat = output.reshape(-1)
    for k in range(flat.numel()):
        seed = torch.zeros_like(flat)
        seed[k] = 1
        seed = seed.view_as(output)
        grads = torch.autograd.grad(output, [x for _, x in leaves], seed, retain_graph=True, allow_unused=True)
        for column, g, (_, x) in zip(columns, grads, leaves):
            column.append(torch.zeros_like(x) if g is None else g.detach())
    for column, (i, x) in zip(columns, leaves):
        analytical = torch.stack([c.reshape(-1) for c in column], 1) if column else torch.zeros(x.numel(), 0)
        numerical = _differences(func, inputs, number, x, eps)
        if not torch.allclose(analytical, numerical.to(analytical.dtype), rtol, atol):
            raise GradcheckError(
                f"Jacobian mismatch for output {number} with respect to input {i},\n"
                f"numerical:{numerical}\nanalytical:{analytical}\n"
            )


def _differences(func: Any, inputs: Any, number: int, x: Any, eps: float) -> Any:
    """The rows of central differences, one for each element of x."""
    torch: Any = importlib.import_module("torchjit")

    rows = []
    data = x.detach()
    with torch.no_grad():
        for index in range(data.numel()):
            at = _unravel(index, data.shape)
            old = data[at].clone()
            sides = []
            for step in (eps, -eps):
                data[at] = old + step
                with torch.enable_grad():
                    sides.append(_outputs(func, inputs)[number].detach().clone())
            data[at] = old
            rows.append(((sides[0] - sides[1]) / (2 * eps)).reshape(-1))
    return torch.stack(rows) if rows else torch.zeros(0, 0)


def _unravel(index: int, shape: Any) -> tuple[int, ...]:
    at: list[int] = []
    for n in reversed(shape):
        at.insert(0, index % n)
        index //= n
    return tuple(at)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Whether the second derivatives of func agree with differences of its first ones. See gradcheck."""
    torch: Any = importlib.import_module("torchjit")

    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        with torch.random.fork_rng():
            grads = [torch.randn_like(o).detach().requires_grad_() for o in _outputs(func, inputs)]
    else:
        grads = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    n = len(grads)

    def first(*args: Any) -> Any:
        given, seeds = args[:-n], args[-n:]
        leaves = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
        made = torch.autograd.grad(_outputs(func, given), leaves, seeds, create_graph=True, allow_unused=True)
        return tuple(g for g in made if g is not None)

    return gradcheck(first, inputs + tuple(grads), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
