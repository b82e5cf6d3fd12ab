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
    returns tuples: of the results outside, of the inputs inside.
    """
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

    def first(*leaves: Any) -> Any:
        result = _scalar(func, leaves, "hessian")
        grads = _filled(_grad([result], leaves, None, True, strict), leaves)
        return grads if is_tuple else grads[0]

    return jacobian(first, inputs, create_graph=create_graph, strict=strict)


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
