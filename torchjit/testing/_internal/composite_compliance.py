"""Whether operators that are made of others do the same with tensors that a class or a mode sees: those that take elements without asking do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing._internal.common_subclass import WrapperTensor
from torchjit.utils._python_dispatch import TorchDispatchMode
from torchjit.utils._pytree import tree_flatten, tree_map, tree_unflatten


class _Wrapped(WrapperTensor):
    """A tensor that shows another one: all operators are called with that."""

    @classmethod
    def get_wrapper_properties(cls, tensor: Any, requires_grad: bool = False) -> tuple[Any, dict[str, Any]]:
        return tensor, {"requires_grad": requires_grad}

    def __init__(self, tensor: Any, requires_grad: bool = False) -> None:
        vars(self)["tensor"] = tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = tree_map(unwrap, (args, kwargs or {}))
        made = func(*given[0], **given[1])
        if func._schema.is_mutable:
            return args[0]
        return tree_map(wrap, made)


def wrap(x: Any) -> Any:
    """A tensor as one of the class."""
    if isinstance(x, torch.Tensor) and not isinstance(x, _Wrapped):
        return _Wrapped(x.detach(), x.requires_grad)
    return x


def unwrap(x: Any) -> Any:
    """The tensor that one of the class shows."""
    return vars(x)["tensor"] if isinstance(x, _Wrapped) else x


def is_tensorlist(x: Any) -> bool:
    """Whether an object is a list of tensors."""
    return isinstance(x, (list, tuple)) and bool(x) and all(isinstance(y, torch.Tensor) for y in x)


def generate_subclass_choices(flat_args: Any) -> Iterator[list[Any]]:
    """The arguments with each set of the tensors among them as tensors of the class."""
    places = [i for i, x in enumerate(flat_args) if isinstance(x, torch.Tensor)]
    for chosen in itertools.product((False, True), repeat=len(places)):
        which = {i for i, on in zip(places, chosen, strict=True) if on}
        yield [wrap(x) if i in which else x for i, x in enumerate(flat_args)]


class _Passing(TorchDispatchMode):
    """A mode that calls operators as they are."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def check_with_mode(op: Any, args: Any, kwargs: Any, assert_equal_fn: Callable[[Any, Any], None]) -> None:
    """Fails unless an operator gives under a mode what it gives without one."""
    expected = op(*args, **kwargs)
    with _Passing():
        found = op(*args, **kwargs)
    assert_equal_fn(found, expected)


def check_all_permutations(op: Any, args: Any, kwargs: Any, assert_equal_fn: Callable[[Any, Any], None]) -> None:
    """Fails unless an operator gives the same for each set of tensors of the class among its arguments."""
    expected = op(*args, **kwargs)
    flat, spec = tree_flatten((tuple(args), kwargs))
    for choice in generate_subclass_choices(flat):
        given, named = tree_unflatten(choice, spec)
        assert_equal_fn(tree_map(unwrap, op(*given, **named)), expected)


def _gradients(op: Any, flat: list[Any], spec: Any, gradcheck_wrapper: Any) -> list[Any]:
    given, named = tree_unflatten(flat, spec)
    made = gradcheck_wrapper(op, *given, **named) if gradcheck_wrapper else op(*given, **named)
    outputs = [t for t in tree_flatten(made)[0] if isinstance(t, torch.Tensor) and t.requires_grad]
    inputs = [t for t in flat if isinstance(t, torch.Tensor) and t.requires_grad]
    return list(torch.autograd.grad(outputs, inputs, [torch.ones_like(t) for t in outputs], allow_unused=True)) if outputs and inputs else []


def check_backward_formula(op: Any, args: Any, kwargs: Any, output_process_fn_grad: Any = None, gradcheck_wrapper: Any = None, assert_equal_fn: Any = None) -> None:
    """Fails unless the gradients of an operator are the same for tensors of the class."""
    processed = op if output_process_fn_grad is None else lambda *given, **named: output_process_fn_grad(op(*given, **named))
    flat, spec = tree_flatten((tuple(args), kwargs))
    expected = _gradients(processed, flat, spec, gradcheck_wrapper)
    for choice in generate_subclass_choices(flat):
        found = _gradients(processed, [x if not isinstance(x, _Wrapped) else wrap(unwrap(x)).requires_grad_(x.requires_grad) for x in choice], spec, gradcheck_wrapper)
        for a, b in zip(found, expected, strict=True):
            assert_equal_fn(unwrap(a), b)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "Tensor",
    "torchjit.utils._mode_utils": "all_same_mode no_dispatch",
})  # fmt: skip
