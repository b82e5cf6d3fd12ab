"""torch.autograd.functional: Jacobians, Hessians and products with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor


def _tuple(x: Any, name: str, where: str) -> tuple[bool, tuple[Any, ...]]:
    is_tuple = isinstance(x, tuple)
    items = x if is_tuple else (x,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            place = f"value at index {i} in the {name}" if is_tuple else f"{name}"
            raise TypeError(f"The {place} given to {where} must be either a Tensor or a tuple of Tensors but the given {name} has type {type(item)}.")
    return is_tuple, items


def _leaves(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Copies of the inputs that gradients are asked for, connected to them where the graph is kept."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)


def _call(func: Callable[..., Any], inputs: tuple[Any, ...], where: str) -> tuple[bool, tuple[Any, ...]]:
    return _tuple(func(*inputs), "outputs of the user-provided function", where)


def _done(x: Any, create_graph: bool) -> Any:
    return x if create_graph else x.detach()


def _grad(outputs: Any, inputs: Any, seeds: Any, create_graph: bool, strict: bool = False) -> tuple[Any, ...]:
    outputs = tuple(outputs)
    pairs = [(o, g) for o, g in zip(outputs, seeds or (None,) * len(outputs)) if o.requires_grad]
    if not pairs:
        if strict:
            raise RuntimeError("The output of the user-provided function is independent of the input. This is not allowed in strict mode.")
        return (None,) * len(inputs)
    made = torch.autograd.grad([o for o, _ in pairs], inputs, [g for _, g in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(g is None for g in made):
        raise RuntimeError("The output of the user-provided function is independent of an input. This is not allowed in strict mode.")
    return made


def _filled(grads: Any, inputs: Any) -> tuple[Any, ...]:
    return tuple(torch.zeros_like(x) if g is None else g for g, x in zip(grads, inputs))


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of v with its Jacobian at inputs; v may be left out for one number."""
    with torch.enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vjp")
        leaves = _leaves(given, create_graph)
        out_tuple, outputs = _call(func, leaves, "vjp")
        if v is None:
            if len(outputs) != 1 or outputs[0].numel() != 1:
                raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
            seeds: tuple[Any, ...] = (torch.ones_like(outputs[0]),)
        else:
            seeds = _tuple(v, "v", "vjp")[1]
        grads = _filled(_grad(outputs, leaves, seeds, create_graph, strict), leaves)
    outputs = tuple(_done(o, create_graph) for o in outputs)
    grads = tuple(_done(g, create_graph) for g in grads)
    return outputs if out_tuple else outputs[0], grads if is_tuple else grads[0]


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of its Jacobian at inputs with v; v may be left out for one number."""
    with torch.enable_grad():
        _, given = _tuple(inputs, "inputs", "jvp")
        leaves = _leaves(given, create_graph)
        if v is None:
            if len(given) != 1 or given[0].numel() != 1:
                raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.")
            seeds: tuple[Any, ...] = (torch.ones_like(given[0]),)
        else:
            seeds = _tuple(v, "v", "jvp")[1]
        out_tuple, outputs = _call(func, leaves, "jvp")
        # The derivative of the product of a vector u with the Jacobian, by u.
        u = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        products = _filled(_grad(outputs, leaves, u, True, strict), leaves)
        made = _filled(_grad([p for p in products], u, seeds, create_graph, strict), outputs)
    outputs = tuple(_done(o, create_graph) for o in outputs)
    made = tuple(_done(g, create_graph) for g in made)
    return (outputs, made) if out_tuple else (outputs[0], made[0])


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each element of func's results by each element of inputs.

    A tensor of the shape of the result followed by that of the input; tuples of them where func takes or
    returns tuples: of the results outside, of the inputs inside. The strategy is "reverse-mode" or, with vectorize,
    "forward-mode", which suits functions with more results than inputs.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
            '"forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). '
                'Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        if strict:
            raise RuntimeError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
                'Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        return _forward_jacobian(func, inputs, vectorize)
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with torch.enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "jacobian")
        leaves = _leaves(given, create_graph)
        out_tuple, outputs = _call(func, leaves, "jacobian")
        rows = []
        for output in outputs:
            columns: list[list[Any]] = [[] for _ in leaves]
            flat = output.reshape(-1)
            for k in range(flat.numel()):
                for column, g in zip(columns, _filled(_grad([flat[k]], leaves, None, create_graph, strict), leaves)):
                    column.append(_done(g, create_graph))
            made = tuple(
                (torch.stack(column) if column else torch.zeros(0)).view(output.size() + x.size())
                for column, x in zip(columns, leaves)
            )
            rows.append(made if is_tuple else made[0])
    return tuple(rows) if out_tuple else rows[0]


def _forward_jacobian(func: Callable[..., Any], inputs: Any, vectorize: bool) -> Any:
    """The Jacobian by a tangent for each element of the inputs."""
    from torchjit.autograd import forward_ad

    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.")
    is_tuple, given = _tuple(inputs, "inputs", "jacobian")
    blocks = []  # of an input: the moved results for each of its elements
    for i, x in enumerate(given):
        moved: list[Any] = []
        for k in range(x.numel()):
            tangent = torch.zeros(x.numel(), dtype=x.dtype)
            tangent[k] = 1
            with forward_ad.dual_level():
                args = [*given[:i], forward_ad.make_dual(x.detach(), tangent.view_as(x)), *given[i + 1 :]]
                out_tuple, outputs = _tuple(func(*args), "outputs of the user-provided function", "jacobian")
                pairs = [forward_ad.unpack_dual(o) for o in outputs]
                moved.append([torch.zeros_like(o) if v is None else v for o, v in pairs])
        blocks.append(moved)
    rows = []
    for n in range(len(blocks[0][0])):
        made = tuple(torch.stack([m[n] for m in moved], -1).view(moved[0][n].size() + x.size()) for moved, x in zip(blocks, given))
        rows.append(made if is_tuple else made[0])
    return tuple(rows) if out_tuple else rows[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one number as result, as jacobian gives first ones."""
    is_tuple, given = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    forward = outer_jacobian_strategy == "forward-mode"

    def first(*leaves: Any) -> Any:
        if forward:
            leaves = tuple(x if x.requires_grad else x.requires_grad_() for x in leaves)
        result = _scalar(func, leaves, "hessian")
        grads = _filled(_grad([result], leaves, None, True, strict), leaves)
        return grads if is_tuple else grads[0]

    return jacobian(
        first, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )


def _scalar(func: Callable[..., Any], leaves: Any, where: str) -> Any:
    out_tuple, outputs = _call(func, leaves, where)
    if out_tuple or outputs[0].numel() != 1:
        raise RuntimeError(f"The function given to {where} should return a single Tensor with a single element" if not out_tuple else f"The function given to {where} should return a single Tensor")
    return outputs[0].reshape(())


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The result of func and the product of v with its Hessian at inputs."""
    with torch.enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vhp")
        leaves = _leaves(given, create_graph)
        seeds = tuple(torch.ones_like(x) for x in leaves) if v is None else _tuple(v, "v", "vhp")[1]
        result = _scalar(func, leaves, "vhp")
        first = _filled(_grad([result], leaves, None, True, strict), leaves)
        made = _filled(_grad(first, leaves, seeds, create_graph, strict), leaves)
    made = tuple(_done(g, create_graph) for g in made)
    return _done(result, create_graph), made if is_tuple else made[0]


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The result of func and the product of its Hessian, which is symmetric, with v."""
    return vhp(func, inputs, v, create_graph, strict)
