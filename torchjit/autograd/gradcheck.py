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
    """Whether the gradients of func at inputs (float64 or complex128 tensors) agree with central differences of step eps.

    Each gradient must lie within atol + rtol*|difference|. The real and the imaginary part of a complex result are functions of
    their own; the gradient by a complex input is the derivative by its real part plus i times that by its imaginary part. The
    fast mode checks everything too. A sparse input, for which check_sparse_nnz must be set, is changed where it has values. Raises
    GradcheckError, or returns False where raise_exception is off.

    >>> w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, w)
    True
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(inputs)
    try:
        if not check_sparse_nnz and any(isinstance(x, Tensor) and x.layout.name != "strided" for x in inputs):
            raise GradcheckError("gradcheck expects all tensor inputs are dense when check_sparse_nnz is set to False.")
        outputs = _outputs(func, inputs)
        if any(o.layout.name != "strided" for o in outputs):
            raise ValueError("Sparse output is not supported at gradcheck yet. Please call to_dense() on the output of fn for gradcheck.")
        if not [o for o in outputs if o.requires_grad]:
            _check_constant(func, inputs, outputs, eps)
        for number, output in enumerate(outputs):
            if output.requires_grad:
                for part in _parts(output):
                    _check_output(func, inputs, number, part, (eps, atol, rtol, nondet_tol), check_forward_ad, check_backward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if isinstance(x, Tensor) and x.requires_grad and x.element_size() < (16 if x.is_complex() else 8):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )


def _outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    """The results that can have a gradient."""
    found = func(*inputs)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    return [o for o in found if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]


def _parts(output: Any) -> tuple[tuple[str, complex], ...]:
    """What messages say before a mismatch and the seed of a gradient, for each real function that an output is."""
    if not output.is_complex():
        return (("", 1),)
    return tuple((f"While considering the {p} part of complex outputs only, ", seed) for p, seed in (("imaginary", 1j), ("real", 1)))


def _part(output: Any, seed: complex) -> Any:
    if not output.is_complex():
        return output
    return output.imag if seed == 1j else output.real


def _leaves(inputs: tuple[Any, ...]) -> list[tuple[int, Any]]:
    return [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


def _check_constant(func: Any, inputs: Any, outputs: list[Any], eps: float) -> None:
    """Results that record nothing must not depend on the inputs."""
    for number in range(len(outputs)):
        for _, x in _leaves(inputs):
            for _, seed in _parts(outputs[number]):
                if _differences(func, inputs, number, seed, x, eps).abs().gt(eps).any():
                    raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_output(func: Any, inputs: Any, number: int, part: tuple[str, complex], bounds: Any, forward: bool, backward: bool) -> None:
    eps, atol, rtol, nondet_tol = bounds
    prefix, seed = part
    numerical = [_differences(func, inputs, number, seed, x, eps) for _, x in _leaves(inputs)]
    if forward:
        _compare(inputs, number, numerical, _forward(func, inputs, number, seed), prefix + "Jacobian computed with forward mode", atol, rtol)
    if not backward:
        return
    # The differences write the inputs, so that each output needs a graph of its own.
    analytical = _gradients(_outputs(func, inputs)[number], seed, inputs)
    _compare(inputs, number, numerical, analytical, prefix + "Jacobian", atol, rtol)
    again = _gradients(_outputs(func, inputs)[number], seed, inputs)
    if any((a - b).abs().gt(nondet_tol).any() for a, b in zip(analytical, again)):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
            f"values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {nondet_tol}."
        )


def _compare(inputs: Any, number: int, numerical: Any, analytical: Any, text: str, atol: float, rtol: float) -> None:
    torch: Any = importlib.import_module("torchjit")
    for (i, _), n, a in zip(_leaves(inputs), numerical, analytical):
        if not torch.allclose(a, n.to(a.dtype), rtol, atol):
            raise GradcheckError(f"{text} mismatch for output {number} with respect to input {i},\nnumerical:{n}\nanalytical:{a}\n")


def _gradients(output: Any, seed: complex, inputs: Any) -> list[Any]:
    """The Jacobians of a part of an output, (elements of the input, elements of the output)."""
    torch: Any = importlib.import_module("torchjit")
    leaves = _leaves(inputs)
    columns: list[list[Any]] = [[] for _ in leaves]
    for k in range(output.numel()):
        given = torch.zeros(output.numel(), dtype=output.dtype)
        given[k] = seed
        grads = torch.autograd.grad(output, [x for _, x in leaves], given.view(output.shape), retain_graph=True, allow_unused=True)
        for column, g, (_, x) in zip(columns, grads, leaves):
            column.append((torch.zeros_like(x.detach()) if g is None else g.detach()).to_dense())
    return [
        torch.stack([c.reshape(-1) for c in column], 1) if column else torch.zeros(x.numel(), 0, dtype=x.dtype)
        for column, (_, x) in zip(columns, leaves)
    ]


def _forward(func: Any, inputs: Any, number: int, seed: complex) -> list[Any]:
    """The Jacobians by forward mode: a row for each element of an input."""
    torch: Any = importlib.import_module("torchjit")
    forward_ad: Any = importlib.import_module("torchjit.autograd.forward_ad")
    found = []
    for i, x in _leaves(inputs):
        rows = []
        for index in range(x.numel()):
            row: Any = 0
            for unit in (1, 1j) if x.is_complex() else (1,):
                tangent = torch.zeros(x.numel(), dtype=x.dtype)
                tangent[index] = unit
                with forward_ad.dual_level():
                    dual = forward_ad.make_dual(x.detach(), tangent.view(x.shape))
                    given = [*inputs[:i], dual, *inputs[i + 1 :]]
                    output = _outputs(func, tuple(given))[number]
                    moved = forward_ad.unpack_dual(output).tangent
                    moved = torch.zeros_like(output) if moved is None else moved
                    row = row + unit * _part(moved, seed).detach().reshape(-1).clone()
            rows.append(row)
        found.append(torch.stack(rows) if rows else torch.zeros(0, 0, dtype=x.dtype))
    return found


def _differences(func: Any, inputs: Any, number: int, seed: complex, x: Any, eps: float) -> Any:
    """The rows of central differences of a part of an output, one for each element of x."""
    torch: Any = importlib.import_module("torchjit")
    rows = []
    data, places = _elements(x.detach())
    with torch.no_grad():
        for index in range(x.numel()):
            at = places.get(index) if places is not None else _unravel(index, data.shape)
            if at is None:
                rows.append(torch.zeros_like(_part(_outputs(func, inputs)[number].detach(), seed)).reshape(-1))
                continue
            old = data[at].clone()
            row: Any = 0
            for unit in (1, 1j) if x.is_complex() else (1,):
                sides = []
                for step in (eps, -eps):
                    data[at] = old + step * unit
                    with torch.enable_grad():
                        sides.append(_part(_outputs(func, inputs)[number].detach(), seed).clone())
                row = row + unit * ((sides[0] - sides[1]) / (2 * eps)).reshape(-1)
            data[at] = old
            rows.append(row)
    return torch.stack(rows) if rows else torch.zeros(0, 0, dtype=x.dtype)


def _elements(x: Any) -> tuple[Any, dict[int, tuple[int, ...]] | None]:
    """What of x can be changed: x itself, or the values of a sparse tensor, with their indices by the numbers of the elements."""
    if x.layout.name == "strided":
        return x, None
    torch: Any = importlib.import_module("torchjit")
    sparse: Any = importlib.import_module("torchjit._sparse")
    values = x._values() if x.is_sparse else x.values()
    kind, parts = sparse.parts_of(x)
    numbers = torch.arange(1, values.numel() + 1).view(values.shape)
    found = sparse.of_parts(kind, (*parts[:-2], numbers, parts[-1])).to_dense().reshape(-1).tolist()
    places = {index: _unravel(k - 1, values.shape) for index, k in enumerate(found) if k}
    if len(places) != values.numel():
        raise ValueError("gradcheck expects sparse inputs that are coalesced")
    return values, places


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
    """Whether the second derivatives of func agree with differences of its first ones. See gradcheck.

    >>> w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, w)
    True
    """
    torch: Any = importlib.import_module("torchjit")

    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        with torch.random.fork_rng():
            grads = [torch.randn_like(o).detach().requires_grad_() for o in _outputs(func, inputs) if o.requires_grad]
    else:
        grads = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    n = len(grads)

    def first(*args: Any) -> Any:
        given, seeds = args[:-n], args[-n:]
        leaves = [x for i, x in enumerate(given) if isinstance(inputs[i], Tensor) and inputs[i].requires_grad]
        leaves = [x if x.requires_grad else x.requires_grad_() for x in leaves]
        outputs = [o for o in _outputs(func, given) if o.requires_grad]
        made = torch.autograd.grad(outputs, leaves, seeds, create_graph=True, allow_unused=True)
        return tuple(g for g in made if g is not None)

    return gradcheck(
        first, inputs + tuple(grads), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
    )


# ---- the pieces that suites use themselves ----


def _iter_tensors(x: Any, only_requiring_grad: bool = False) -> Any:
    """The tensors in nested sequences, or those of them that require a gradient."""
    if isinstance(x, Tensor):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from _iter_tensors(item, only_requiring_grad)


def _as_tuple(x: Any) -> tuple[Any, ...]:
    """Results as a tuple."""
    if isinstance(x, (list, tuple)):
        return tuple(x)
    return (x,)


def _is_float_or_complex_tensor(obj: Any) -> bool:
    """Whether an object is a tensor that can have a gradient."""
    return isinstance(obj, Tensor) and (obj.is_floating_point() or obj.is_complex())


def _get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, outputs: Any = None, target: Any = None, eps: float = 1e-3, is_forward_ad: bool = False
) -> list[tuple[Any, ...]]:
    """For each input that requires a gradient the matrices of central differences, one for each result.

    Raises NotImplementedError for complex inputs.
    """
    count = len([o for o in _as_tuple(fn(*inputs) if outputs is None else outputs) if _is_float_or_complex_tensor(o)])
    wanted = inputs if target is None else target
    found = []
    for x in _iter_tensors(wanted, only_requiring_grad=True):
        if x.is_complex():
            raise NotImplementedError("differences by complex inputs: gradcheck compares them")
        found.append(tuple(_jacobian(fn, inputs, number, x, eps) for number in range(count)))
    return found


def _jacobian(fn: Any, inputs: Any, number: int, x: Any, eps: float) -> Any:
    """The differences of one result, a row for each element of x."""
    return _differences(fn, inputs, number, 1, x, eps)


def get_numerical_jacobian(fn: Callable[[Any], Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0) -> tuple[Any, ...]:
    """For each input the matrix of central differences of the first result. Kept for old programs, with a warning."""
    warnings.warn(
        "get_numerical_jacobian was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be removed in a "
        "future version of PyTorch. If you have a specific use for this or feature request for this to be a stable API, please file us an issue.",
        stacklevel=2,
    )
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values of grad_out != 1.0.")

    def of_one(*args: Any) -> Any:
        return fn(args)

    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return tuple(group[0] for group in _get_numerical_jacobian(of_one, given, None, target, eps))


def get_analytical_jacobian(inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0) -> tuple[Any, bool, bool, bool]:
    """For each input the matrix of the gradients of an output; whether a second time gives the same, and whether sizes and types of gradients are those of
    the inputs. Kept for old programs, with a warning."""
    import torchjit as torch

    warnings.warn(
        "get_analytical_jacobian was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be removed in a "
        "future version of PyTorch. If you have a specific use for this or feature request for this to be a stable API, please file us an issue.",
        stacklevel=2,
    )
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_analytical_jacobian no longer supports values of grad_out != 1.0.")
    if output.is_complex():
        raise ValueError("Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return complex outputs.")
    wanted = list(_iter_tensors(inputs, True))

    def rows() -> list[list[Any]]:
        seeds = torch.eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *output.shape)
        return [list(torch.autograd.grad(output, wanted, seed, retain_graph=True, allow_unused=True)) for seed in seeds]

    first, second = rows(), rows()
    jacobians = [torch.zeros(x.numel(), output.numel(), dtype=x.dtype) for x in wanted]
    same = sizes = types = True
    for column, (found, again) in enumerate(zip(first, second, strict=True)):
        for x, jacobian, g, h in zip(wanted, jacobians, found, again, strict=True):
            if g is None or h is None:
                continue
            same = same and bool((g - h).abs().max() <= nondet_tol)
            types = types and g.dtype == x.dtype
            if g.size() != x.size():
                sizes = False
            else:
                jacobian[:, column] = g.reshape(-1)
    return tuple(jacobians), same, sizes, types
