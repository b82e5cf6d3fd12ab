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
            what = f"value at index {i} has type {type(item)}" if is_tuple else f"given {name} has type {type(item)}"
            raise TypeError(f"The {name} given to {where} must be either a Tensor or a tuple of Tensors but the {what}.")
    return is_tuple, items


def _leaves(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Copies of the inputs that gradients are asked for, connected to them where the graph is kept."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)


def _direction(v: Any, like: tuple[Any, ...], where: str, what: str) -> tuple[Any, ...]:
    """The vector v, which is of the sizes of some tensors; ones where it is None and they are one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {what}.")
        return (torch.ones_like(like[0]),)
    is_tuple, items = _tuple(v, "v", where)
    if len(items) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(items)}.")
    for i, (item, x) in enumerate(zip(items, like)):
        if item.size() != x.size():
            entry = f"Entry {i} in v" if is_tuple else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {x.size()} but got {item.size()}.")
    return items


_ONE_RESULT = "the user-provided function returns a single Tensor with a single element"
_ONE_INPUT = "the input to the user-provided function is a single Tensor with a single element"


def _call(func: Callable[..., Any], inputs: tuple[Any, ...], where: str, strict: bool) -> tuple[bool, tuple[Any, ...]]:
    is_tuple, outputs = _tuple(func(*inputs), "outputs of the user-provided function", where)
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
                "manner from the input when running in strict mode."
            )
    return is_tuple, outputs


def _done(x: Any, create_graph: bool) -> Any:
    return x if create_graph else x.detach()


def _grad(outputs: Any, inputs: Any, seeds: Any, create_graph: bool) -> tuple[Any, ...]:
    """The gradients, None where there is none."""
    outputs = tuple(outputs)
    pairs = [(o, g) for o, g in zip(outputs, seeds or (None,) * len(outputs)) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return torch.autograd.grad(
        [o for o, _ in pairs], inputs, [g for _, g in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True
    )


def _filled(
    grads: Any, inputs: Any, strict: bool = False, create_graph: bool = False, what: str = "The output of the user-provided function"
) -> tuple[Any, ...]:
    """Gradients with zeros for those that are missing, which strict forbids."""
    for i, g in enumerate(grads):
        if strict and g is None:
            raise RuntimeError(f"{what} is independent of input {i}. This is not allowed in strict mode.")
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when create_graph=True."
            )
    return tuple(torch.zeros_like(x) if g is None else g for g, x in zip(grads, inputs))


def _first_derivatives(result: Any, leaves: tuple[Any, ...], strict: bool, missing: bool) -> tuple[Any, ...]:
    """The gradients of one number, recorded; strict wants all to depend on the inputs, and missing ones to be told as such."""
    grads = _grad([result], leaves, None, True)
    for i, g in enumerate(grads):
        if strict and g is None and missing:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.")
        if strict and (g is None or not g.requires_grad):
            raise RuntimeError(
                f"While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is independent of "
                "the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the "
                "jacobian depends on the inputs (this would be violated by a linear function for example)."
            )
    return _filled(grads, leaves)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of v with its Jacobian at inputs; v may be left out for one number.

    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with torch.enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vjp")
        leaves = _leaves(given, create_graph)
        out_tuple, outputs = _call(func, leaves, "vjp", strict)
        seeds = _direction(v, outputs, "vjp", _ONE_RESULT)
        grads = _filled(_grad(outputs, leaves, seeds, create_graph), leaves, strict, create_graph)
    outputs = tuple(_done(o, create_graph) for o in outputs)
    grads = tuple(_done(g, create_graph) for g in grads)
    return outputs if out_tuple else outputs[0], grads if is_tuple else grads[0]


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of its Jacobian at inputs with v; v may be left out for one number.

    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with torch.enable_grad():
        _, given = _tuple(inputs, "inputs", "jvp")
        leaves = _leaves(given, create_graph)
        seeds = _direction(v, given, "jvp", _ONE_INPUT)
        out_tuple, outputs = _call(func, leaves, "jvp", strict)
        # The derivative of the product of a vector u with the Jacobian, by u.
        u = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        first = _grad(outputs, leaves, u, True)
        if strict:
            _filled(first, leaves, True)
        made = _filled(_grad(_filled(first, leaves), u, seeds, create_graph), outputs)
        for i in range(len(leaves)):
            if strict and create_graph and not any(g.requires_grad for g in made):
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when create_graph=True."
                )
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

    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
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
        out_tuple, outputs = _call(func, leaves, "jacobian", strict)
        rows = []
        for i, output in enumerate(outputs):
            columns: list[list[Any]] = [[] for _ in leaves]
            flat = output.reshape(-1)
            for k in range(flat.numel()):
                grads = _grad([flat[k]], leaves, None, create_graph)
                what = f"Output {i} of the user-provided function"
                for column, g in zip(columns, _filled(grads, leaves, strict, create_graph, what)):
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
    """The second derivatives of a function with one number as result, as jacobian gives first ones.

    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    is_tuple, given = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    forward = outer_jacobian_strategy == "forward-mode"

    def first(*leaves: Any) -> Any:
        if forward:
            leaves = tuple(x if x.requires_grad else x.requires_grad_() for x in leaves)
        grads = _first_derivatives(_scalar(func, leaves, "hessian", strict), leaves, strict, False)
        return grads if is_tuple else grads[0]

    return jacobian(
        first, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )


def _scalar(func: Callable[..., Any], leaves: Any, where: str, strict: bool) -> Any:
    out_tuple, outputs = _call(func, leaves, where, strict)
    if out_tuple:
        raise RuntimeError(f"The function given to {where} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {where} should contain a single element")
    return outputs[0].reshape(())


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The result of func and the product of v with its Hessian at inputs.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    (tensor(9.), tensor([6., 0.]))
    """
    return _second_product(func, inputs, v, create_graph, strict, "vhp")


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The result of func and the product of its Hessian, which is symmetric, with v.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    (tensor(9.), tensor([6., 0.]))
    """
    return _second_product(func, inputs, v, create_graph, strict, "hvp")


def _second_product(func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool, where: str) -> tuple[Any, Any]:
    with torch.enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", where)
        leaves = _leaves(given, create_graph)
        seeds = _direction(v, leaves, where, _ONE_INPUT)
        result = _scalar(func, leaves, where, strict)
        first = _first_derivatives(result, leaves, strict, True)
        made = _filled(_grad(first, leaves, seeds, create_graph), leaves, strict, create_graph)
    made = tuple(_done(g, create_graph) for g in made)
    return _done(result, create_graph), made if is_tuple else made[0]
