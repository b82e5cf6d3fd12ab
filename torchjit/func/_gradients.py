"""grad, vjp, jvp and what is made of them: functions of functions, each of which calls its function in a level."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor
from torchjit.autograd.grad_mode import enable_grad
from torchjit.func._levels import GradLevel
from torchjit.func._vmap import check_randomness, vmap
from torchjit.utils._pytree import tree_flatten, tree_map, tree_unflatten

# ---- arguments ----


def _argnums_of(argnums: Any, count: int) -> tuple[int, ...]:
    """The numbers of the arguments that are meant, from the front. Raises RuntimeError where they do not fit."""
    if not isinstance(argnums, (int, tuple)) or isinstance(argnums, tuple) and not all(isinstance(n, int) for n in argnums):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for n in numbers:
        if not -count <= n < count:
            raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    found = tuple(n % count for n in numbers)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return found


def _chosen(args: tuple[Any, ...], argnums: Any) -> Any:
    """The arguments that are meant: one, or a tuple of them."""
    numbers = _argnums_of(argnums, len(args))
    return args[numbers[0]] if isinstance(argnums, int) else tuple(args[n] for n in numbers)


def _with_chosen(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """The arguments with others in the place of those that are meant."""
    items = list(args)
    for n, x in zip(_argnums_of(argnums, len(args)), (new,) if isinstance(argnums, int) else new, strict=True):
        items[n] = x
    return tuple(items)


@contextmanager
def _recording(level: GradLevel) -> Iterator[None]:
    """A context in the level, which records."""
    with level, enable_grad():
        yield


def _lifted(level: GradLevel, tree: Any) -> Any:
    """Arguments with tensors of the level in the place of tensors."""
    return tree_map(lambda x: level.wrap(x) if isinstance(x, Tensor) else x, tree)


def _differentiable(level: GradLevel, tree: Any) -> Any:
    """Arguments as tensors of the level that require gradients."""

    def one(x: Any) -> Any:
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        return Tensor.requires_grad_(level.wrap(x))

    return tree_map(one, tree)


def _outside(level: GradLevel, tree: Any) -> Any:
    """Results without the level."""
    return tree_map(level.unwrap, tree)


def _aux_outside(level: GradLevel, tree: Any) -> Any:
    """What a function gives beside its result, which are tensors."""
    for x in tree_flatten(tree)[0]:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return _outside(level, tree)


def _two(output: Any, where: str) -> tuple[Any, Any]:
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output[0], output[1]


def _gradients(outputs: list[Any], inputs: list[Any], directions: list[Any] | None, keep: bool = False, record: bool = False) -> list[Any]:
    """The gradients of tensors, None where there is none."""
    some = [(o, None if directions is None else directions[i]) for i, o in enumerate(outputs) if isinstance(o, Tensor) and o.requires_grad]
    if not some or not inputs:
        return [None] * len(inputs)
    return list(
        torch.autograd.grad([o for o, _ in some], inputs, None if directions is None else [d for _, d in some], retain_graph=keep or record,
                            create_graph=record, allow_unused=True)
    )  # fmt: skip


def _filled(found: list[Any], like: list[Any]) -> list[Any]:
    """Gradients with zeros in the place of those that are missing."""
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True)]


# ---- grad ----


def grad_and_value(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of func, and the value of func. See grad.

    With has_aux it gives (gradient, (value, aux)).

    >>> torch.func.grad_and_value(lambda x: (x**2).sum())(torch.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        level, where = GradLevel(), "grad_and_value(f)(*args)"
        numbers = _argnums_of(argnums, len(args))
        with _recording(level):
            args = tuple(_differentiable(level, x) if n in numbers else _lifted(level, x) for n, x in enumerate(args))
            chosen, spec = tree_flatten(_chosen(args, argnums))
            output, aux = func(*args, **_lifted(level, kwargs)), None
            if has_aux:
                output, aux = _two(output, where)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{where}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"{where}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or "
                    "jacrev APIs instead?"
                )
            if output.is_complex():
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
            found = tree_unflatten(_filled(_gradients([output], chosen, None), chosen), spec)
            if has_aux:
                aux = _aux_outside(level, aux)
        made, value = _outside(level, found), level.unwrap(output)
        return (made, (value, aux)) if has_aux else (made, value)

    return wrapper


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of func, which gives a tensor without dimensions.

    argnums says which arguments the gradient is of: a number, then it is that of the argument, or a tuple of numbers, then it is a tuple. The
    arguments are tensors of floating point or complex numbers, or nested tuples, lists and dictionaries of them. With has_aux func gives
    (value, aux), and the function (gradient, aux). Calls nest: grad(grad(f)).

    Raises RuntimeError where func gives something else or argnums do not fit, and ValueError where an argument is no tensor.

    >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
    tensor(1.)
    >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        made, value = both(*args, **kwargs)
        return (made, value[1]) if has_aux else made

    return wrapper


# ---- vjp ----


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func's result for arguments, and a function of vectors like the result that gives their products with the Jacobian, a tuple with one for
    each argument. With has_aux func gives (result, aux), and so (result, function, aux) are given.

    Raises RuntimeError where func gives something else than tensors, and in the function where vectors do not fit.

    >>> y, pull = torch.func.vjp(torch.square, torch.tensor([1.0, 2.0]))
    >>> pull(torch.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    return vjp_of(func, primals, None, has_aux)


def vjp_of(func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool) -> Any:
    """vjp for some of the arguments, all where argnums is None."""
    level = GradLevel()
    numbers = range(len(args)) if argnums is None else _argnums_of(argnums, len(args))
    with _recording(level):
        args = tuple(_differentiable(level, x) if n in numbers else _lifted(level, x) for n, x in enumerate(args))
        inputs, in_spec = tree_flatten(args if argnums is None else _chosen(args, argnums))
        output, aux = func(*args), None
        if has_aux:
            output, aux = _two(output, "vjp(f, *primals)")
            aux = _aux_outside(level, aux)
        outputs, out_spec = tree_flatten(output)
        _check_tensors(outputs, "vjp(f, *primals): expected f(*primals)")

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        directions, spec = tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {spec}, primal output: {out_spec}"
            )
        with _recording(level):
            found = _filled(_gradients(outputs, inputs, [level.wrap(d) for d in directions], keep=retain_graph), inputs)
        return tree_unflatten(_outside(level, found), in_spec)

    result = _outside(level, output)
    return (result, pull, aux) if has_aux else (result, pull)


def _check_tensors(outputs: list[Any], where: str) -> None:
    for x in outputs:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"{where} to return only tensors, got unsupported type {type(x)}")


# ---- jvp ----


class _Pushed:
    """A function at a point, and its derivative there along any direction.

    The derivative is that of the gradient: the gradient g(u) of a result along u is linear in u, and the derivative of <g(u), t> for u is what
    moves when the arguments move along t.
    """

    def __init__(self, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, where: str) -> None:
        self.level = level = GradLevel()
        self.aux = None
        with _recording(level):
            args = _differentiable(level, primals)
            inputs, _ = tree_flatten(args)
            output = func(*args)
            if has_aux:
                output, aux = _two(output, where)
                self.aux = _aux_outside(level, aux)
            self.outputs, self.spec = tree_flatten(output)
            _check_tensors(self.outputs, f"{where}: expected f(*primals)")
            self.along = [Tensor.requires_grad_(level.wrap(torch.zeros_like(o))) if o.requires_grad else None for o in self.outputs]
            found = _gradients(self.outputs, inputs, self.along, record=True)
        self.gradients = found
        self.result = _outside(level, output)

    def push(self, tangents: list[Any]) -> Any:
        """What the results move by when the arguments move along tangents."""
        level = self.level
        along = [u for u in self.along if u is not None]
        with _recording(level):
            some = [(g, t) for g, t in zip(self.gradients, tangents, strict=True) if g is not None]
            found = iter(_gradients([g for g, _ in some], along, [level.wrap(t) for _, t in some], keep=True))
            made = [torch.zeros_like(o) if u is None or (m := next(found)) is None else m for o, u in zip(self.outputs, self.along, strict=True)]
        return tree_unflatten(_outside(level, made), self.spec)


def _check_tangents(primals: list[Any], tangents: list[Any]) -> None:
    for x, t in zip(primals, tangents, strict=True):
        if x.shape != t.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size "
                f"{list(x.shape)} while the given forward gradient is of size {list(t.shape)}."
            )


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """func's result for the arguments primals, a tuple, and what it moves by when they move along tangents, which are like them.

    With has_aux func gives (result, aux), and (result, product, aux) are given. strict has no effect. Raises RuntimeError where tangents are not
    like primals and where func gives something else than tensors.

    >>> torch.func.jvp(torch.square, (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.5]),))
    (tensor([1., 4.]), tensor([2., 2.]))
    """
    where = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{where}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    flat_tangents, tangent_spec = tree_flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(
            f"{where}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, tangents also "
            f"must be. Got primals with structure {spec} and tangents with structure {tangent_spec}"
        )
    for name, items in (("primals", flat), ("tangents", flat_tangents)):
        if not items:
            raise RuntimeError(f"{where}: Expected {name} to contain at least one Tensor.")
        for x in items:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{where}: Expected {name} to only contain Tensors, got {type(x)}")
    _check_tangents(flat, flat_tangents)
    pushed = _Pushed(func, primals, has_aux, where)
    moved = pushed.push(flat_tangents)
    return (pushed.result, moved, pushed.aux) if has_aux else (pushed.result, moved)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """func's result for arguments, and a function of tangents like them that gives what the result moves by. func is called once.

    Raises RuntimeError in the function where tangents are not like the arguments.

    >>> y, push = torch.func.linearize(torch.square, torch.tensor([1.0, 2.0]))
    >>> push(torch.tensor([1.0, 10.0]))
    tensor([ 2., 40.])
    """
    pushed = _Pushed(func, primals, False, "linearize(f, *primals)")
    flat, spec = tree_flatten(primals)

    def push(*tangents: Any) -> Any:
        found, tangent_spec = tree_flatten(tangents)
        if tangent_spec != spec:
            raise RuntimeError(f"Expected the tangents {tangent_spec} to have the same argspec as the primals {spec}")
        for x, t in zip(flat, found, strict=True):
            if x.shape != t.shape or x.dtype != t.dtype or x.device != t.device:
                raise RuntimeError(f"Expected a tangent of shape {x.shape}, type {x.dtype} and device {x.device}, got {t.shape}, {t.dtype}, {t.device}")
        return pushed.push(found)

    return pushed.result, push


# ---- Jacobians ----


def _basis(like: list[Any]) -> list[Any]:
    """For tensors of n elements together the rows of the identity matrix of size n, as n tensors like each of them, stacked."""
    total, start, made = sum(x.numel() for x in like), 0, []
    for x in like:
        rows = torch.eye(total, dtype=x.dtype, device=x.device)
        made.append(rows.narrow(1, start, x.numel()).reshape([total, *x.shape]))
        start += x.numel()
    return made


def _check_chunk(chunk_size: int | None, where: str) -> None:
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"{where}: `chunk_size` should be greater than 0.")


def jacrev(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A function that gives the Jacobian of func, computed by a gradient for each element of the results, of chunk_size elements at a time.

    The Jacobian of a result for an argument has the sizes of the result, then those of the argument. Where results or arguments are nested, or
    argnums is a tuple, the Jacobian is nested as the results are, and each of its leaves as the arguments are. With has_aux func gives
    (result, aux), and the function (Jacobian, aux). Raises as vjp does, and ValueError where chunk_size is not above 0.

    >>> torch.func.jacrev(torch.square)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _check_chunk(chunk_size, "jacrev")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        _argnums_of(numbers, len(args))
        output, pull, *aux = vjp_of(func, args, argnums, has_aux)
        outputs, out_spec = tree_flatten(output)
        inputs, in_spec = tree_flatten(_chosen(args, argnums))
        basis = _basis(outputs)

        def gradients(*rows: Any) -> tuple[Any, ...]:
            return tuple(tree_flatten(pull(tree_unflatten(list(rows), out_spec)))[0])

        if basis[0].shape[0] == 0:
            found = [torch.zeros_like(x).unsqueeze(0)[:0] for x in inputs]
        else:
            found = vmap(gradients, chunk_size=chunk_size)(*basis)
        made, start = [], 0
        for o in outputs:
            part = [g.narrow(0, start, o.numel()).reshape([*o.shape, *x.shape]) for g, x in zip(found, inputs, strict=True)]
            made.append(tree_unflatten(part, in_spec))
            start += o.numel()
        result = tree_unflatten(made, out_spec)
        return (result, aux[0]) if has_aux else result

    return wrapper


def jacfwd(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable[..., Any]:
    """A function that gives the Jacobian of func, computed by a direction for each element of the arguments.

    Its form is that of jacrev. func is called inside vmap: randomness says what random operators do there. Raises as jvp and vmap do.

    >>> torch.func.jacfwd(torch.square)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        check_randomness(randomness)
        chosen = _chosen(args, argnums)
        inputs, in_spec = tree_flatten(chosen)
        basis = _basis(inputs)
        seen: list[Any] = []

        def push(*directions: Any) -> tuple[Any, ...]:
            def of_chosen(*flat: Any) -> Any:
                return func(*_with_chosen(args, argnums, tree_unflatten(list(flat), in_spec)))

            output, moved, *aux = jvp(of_chosen, tuple(inputs), directions, has_aux=has_aux)
            seen[:] = [output, *aux]
            return tuple(tree_flatten(moved)[0])

        columns = vmap(push, randomness=randomness)(*basis)
        output = seen[0]
        outputs, out_spec = tree_flatten(output)
        made = []
        for moved in columns:
            start, part = 0, []
            for x in inputs:
                column = moved.narrow(0, start, x.numel()).movedim(0, -1)
                part.append(column.reshape([*column.shape[:-1], *x.shape]))
                start += x.numel()
            made.append(tree_unflatten(part, in_spec))
        result = tree_unflatten(made, out_spec)
        if not has_aux:
            return result
        return result, seen[1]

    return wrapper


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of func: jacfwd(jacrev(func, argnums), argnums).

    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
