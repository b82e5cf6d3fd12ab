"""torch.autograd.functional: Jacobians, Hessians and products with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor


def _as_tuple_nocheck(x: Any) -> tuple[Any, ...]:
    """What is a tuple or a list as a tuple, anything else as the only item of one."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Whether an argument of a function is a tuple, and a tuple of it. Raises TypeError where there are others than tensors.

    Without the names of the argument and the function it is _as_tuple_nocheck.
    """
    if arg_name is None and fn_name is None:
        return _as_tuple_nocheck(inp)
    is_tuple = isinstance(inp, tuple)
    items = inp if is_tuple else (inp,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            what = f"value at index {i} has type {type(item)}" if is_tuple else f"given {arg_name} has type {type(item)}"
            raise TypeError(f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but the {what}.")
    return is_tuple, items


def _tuple_postprocess(res: Any, to_unpack: Any) -> Any:
    """The only item of a tuple where to_unpack says False; with a tuple of such flags, of a tuple of tuples, from the outside in."""
    if not isinstance(to_unpack, tuple):
        return res if to_unpack else res[0]
    outer, inner = to_unpack
    items = res if inner else tuple(item[0] for item in res)
    return items if outer else items[0]


def _grad_preprocess(inputs: Any, create_graph: bool, need_graph: bool) -> tuple[Any, ...]:
    """Copies of the inputs, connected to them where the graph is kept; with need_graph gradients can be asked for."""

    def prepared(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return _grad_preprocess(x, create_graph, need_graph)
        if not (create_graph and x.requires_grad):
            return x.detach().requires_grad_(need_graph)
        return x.clone() if x.is_sparse else x.view_as(x)

    return tuple(prepared(x) for x in inputs)


def _grad_postprocess(inputs: Any, create_graph: bool) -> tuple[Any, ...]:
    """Tensors, or tuples of them, as results: detached where the graph is not kept."""
    if create_graph:
        return inputs
    return tuple(x.detach() if isinstance(x, Tensor) else _grad_postprocess(x, create_graph) for x in inputs)


def _validate_v(v: Any, other: Any, is_other_tuple: bool) -> None:
    """Raises RuntimeError where the vector v is not of the sizes of some tensors."""
    if len(v) != len(other):
        if is_other_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (item, x) in enumerate(zip(v, other)):
        if item.size() != x.size():
            entry = f"Entry {i} in v" if is_other_tuple else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {x.size()} but got {item.size()}.")


def _direction(v: Any, like: tuple[Any, ...], is_like_tuple: bool, where: str, what: str) -> tuple[Any, ...]:
    """The vector v, which is of the sizes of some tensors; ones where it is None and they are one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {what}.")
        return (torch.ones_like(like[0]),)
    _, items = _as_tuple(v, "v", where)
    _validate_v(items, like, is_like_tuple)
    return items


_ONE_RESULT = "the user-provided function returns a single Tensor with a single element"
_ONE_INPUT = "the input to the user-provided function is a single Tensor with a single element"
_STRICT = "This is not allowed in strict mode."
# What is wrong with a tensor that does not require gradients, by what it is.
_INDEPENDENT = {
    "hessian": f"The hessian of the user-provided function with respect to input {{i}} is independent of the input. {_STRICT} You should ensure that your "
    "function is thrice differentiable and that the hessian depends on the inputs.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is independent of the input. "
    f"{_STRICT} You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
    "function for example).",
    "grad_inputs": f"The gradient with respect to input {{i}} is independent of the inputs of the user-provided function. {_STRICT}",
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input "
    "when running in strict mode.",
}
# What is wrong with a missing gradient, by the stage of the computation.
_MISSING = {
    "back": f"The output of the user-provided function is independent of input {{i}}. {_STRICT}",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double backward trick to compute "
    f"forward mode gradients. {_STRICT}",
    "double_back": f"The jacobian of the user-provided function is independent of input {{i}}. {_STRICT}",
    "double_back_trick": f"The hessian of the user-provided function is independent of entry {{i}} in the grad_jacobian. {_STRICT[:-1]} as it prevents from using "
    "the double backward trick to replace forward mode AD.",
}


def _check_requires_grad(inputs: Any, input_type: str, strict: bool) -> None:
    """With strict, raises RuntimeError where a tensor is missing or requires no gradients; input_type says what the tensors are."""
    if not strict:
        return
    if input_type not in _INDEPENDENT:
        raise RuntimeError("Invalid input_type to _check_requires_grad")
    for i, x in enumerate(inputs):
        if x is None:
            raise RuntimeError(_MISSING["back"].format(i=i))
        if not x.requires_grad:
            raise RuntimeError(_INDEPENDENT[input_type].format(i=i))


def _call(func: Callable[..., Any], inputs: tuple[Any, ...], where: str, strict: bool) -> tuple[bool, tuple[Any, ...]]:
    is_tuple, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", where)
    _check_requires_grad(outputs, "outputs", strict)
    return is_tuple, outputs


def _autograd_grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, create_graph: bool = False, retain_graph: bool | None = None, is_grads_batched: bool = False
) -> tuple[Any, ...]:
    """The gradients of those outputs that have any, None where there is none."""
    outputs = tuple(outputs)
    pairs = [(o, g) for o, g in zip(outputs, grad_outputs or (None,) * len(outputs)) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return torch.autograd.grad(
        [o for o, _ in pairs], inputs, [g for _, g in pairs], retain_graph=retain_graph, create_graph=create_graph, allow_unused=True,
        is_grads_batched=is_grads_batched,
    )  # fmt: skip


def _fill_in_zeros(grads: Any, refs: Any, strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """Gradients with zeros for those that are missing, which strict forbids, as it does ones that require no gradients where the graph is kept."""
    if stage not in _MISSING:
        raise RuntimeError(f"Invalid stage argument '{stage}' to _fill_in_zeros")
    for i, g in enumerate(grads if strict else ()):
        if g is None:
            raise RuntimeError(_MISSING[stage].format(i=i))
        if create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {i}. {_STRICT[:-1]} when create_graph=True.")
    return tuple(torch.zeros_like(x) if g is None else g for g, x in zip(grads, refs))


def _construct_standard_basis_for(tensors: tuple[Any, ...], tensor_numels: tuple[int, ...]) -> tuple[Any, ...]:
    """For tensors of so many elements together the rows of an identity matrix: a tensor has those columns that are its elements."""
    assert len(tensors) == len(tensor_numels) and len(tensors) > 0
    total = sum(tensor_numels)
    chunks = tuple(t.new_zeros(total, n) for t, n in zip(tensors, tensor_numels))
    start = 0
    for chunk, n in zip(chunks, tensor_numels):
        chunk[start : start + n].fill_diagonal_(1)
        start += n
    return chunks


def _first_derivatives(result: Any, leaves: tuple[Any, ...], strict: bool, missing: bool) -> tuple[Any, ...]:
    """The gradients of one number, recorded; strict wants all to depend on the inputs, and missing ones to be told as such."""
    grads = _autograd_grad([result], leaves, None, True, True)
    if strict and not missing:
        grads = tuple(torch.zeros_like(x) if g is None else g for g, x in zip(grads, leaves))
    _check_requires_grad(grads, "jacobian", strict)
    return _fill_in_zeros(grads, leaves, False, False, "back")


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of v with its Jacobian at inputs; v may be left out for one number.

    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with torch.enable_grad():
        is_tuple, given = _as_tuple(inputs, "inputs", "vjp")
        leaves = _grad_preprocess(given, create_graph, True)
        out_tuple, outputs = _call(func, leaves, "vjp", strict)
        seeds = _direction(v, outputs, out_tuple, "vjp", _ONE_RESULT)
        grads = _fill_in_zeros(_autograd_grad(outputs, leaves, seeds, create_graph, True), leaves, strict, create_graph, "back")
    outputs = _grad_postprocess(outputs, create_graph)
    grads = _grad_postprocess(grads, create_graph)
    return outputs if out_tuple else outputs[0], grads if is_tuple else grads[0]


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """The results of func and the product of its Jacobian at inputs with v; v may be left out for one number.

    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with torch.enable_grad():
        is_tuple, given = _as_tuple(inputs, "inputs", "jvp")
        leaves = _grad_preprocess(given, create_graph, True)
        seeds = _direction(v, given, is_tuple, "jvp", _ONE_INPUT)
        out_tuple, outputs = _call(func, leaves, "jvp", strict)
        # The derivative of the product of a vector u with the Jacobian, by u.
        u = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        first = _autograd_grad(outputs, leaves, u, True, True)
        if strict:
            _fill_in_zeros(first, leaves, True, False, "back")
        made = _fill_in_zeros(
            _autograd_grad(_fill_in_zeros(first, leaves, False, False, "back"), u, seeds, create_graph, True), outputs, False, create_graph, "back_trick"
        )
        for i in range(len(leaves)):
            if strict and create_graph and not any(g.requires_grad for g in made):
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when create_graph=True."
                )
    outputs = _grad_postprocess(outputs, create_graph)
    made = _grad_postprocess(made, create_graph)
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
        return _jacfwd(func, inputs, strict, vectorize)
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    with torch.enable_grad():
        is_tuple, given = _as_tuple(inputs, "inputs", "jacobian")
        leaves = _grad_preprocess(given, create_graph, True)
        out_tuple, outputs = _call(func, leaves, "jacobian", strict)
        rows = []
        for i, output in enumerate(outputs):
            columns: list[list[Any]] = [[] for _ in leaves]
            flat = output.reshape(-1)
            for k in range(flat.numel()):
                grads = _autograd_grad([flat[k]], leaves, None, create_graph, True)
                if strict and None in grads:
                    raise RuntimeError(f"Output {i} of the user-provided function is independent of input {grads.index(None)}. {_STRICT}")
                filled = _grad_postprocess(_fill_in_zeros(grads, leaves, strict, create_graph, "back"), create_graph)
                for column, g in zip(columns, filled):
                    column.append(g)
            made = tuple(
                (torch.stack(column) if column else torch.zeros(0)).view(output.size() + x.size())
                for column, x in zip(columns, leaves)
            )
            rows.append(made if is_tuple else made[0])
    return tuple(rows) if out_tuple else rows[0]


def _jacfwd(func: Callable[..., Any], inputs: Any, strict: bool = False, vectorize: bool = False) -> Any:
    """The Jacobian by a tangent for each element of the inputs."""
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
            'Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    from torchjit.autograd import forward_ad

    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.")
    is_tuple, given = _as_tuple(inputs, "inputs", "jacobian")
    blocks = []  # of an input: the moved results for each of its elements
    for i, x in enumerate(given):
        moved: list[Any] = []
        for k in range(x.numel()):
            tangent = torch.zeros(x.numel(), dtype=x.dtype)
            tangent[k] = 1
            with forward_ad.dual_level():
                args = [*given[:i], forward_ad.make_dual(x.detach(), tangent.view_as(x)), *given[i + 1 :]]
                out_tuple, outputs = _as_tuple(func(*args), "outputs of the user-provided function", "jacobian")
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
    is_tuple, given = _as_tuple(inputs, "inputs", "hessian")
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
        is_tuple, given = _as_tuple(inputs, "inputs", where)
        leaves = _grad_preprocess(given, create_graph, True)
        seeds = _direction(v, leaves, is_tuple, where, _ONE_INPUT)
        result = _scalar(func, leaves, where, strict)
        first = _first_derivatives(result, leaves, strict, True)
        made = _fill_in_zeros(_autograd_grad(first, leaves, seeds, create_graph, True), leaves, strict, create_graph, "double_back")
    made = _grad_postprocess(made, create_graph)
    return _grad_postprocess((result,), create_graph)[0], made if is_tuple else made[0]
