"""functorch, the package that torch.func was before it was part of torch: its transforms, and modules as functions of their parameters."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torchjit as torch
from torchjit.func import functional_call
from torchjit.func import grad as grad
from torchjit.func import grad_and_value as grad_and_value
from torchjit.func import hessian as hessian
from torchjit.func import jacfwd as jacfwd
from torchjit.func import jacrev as jacrev
from torchjit.func import jvp as jvp
from torchjit.func import vjp as vjp
from torchjit.func import vmap as vmap
from torchjit.func._modules import check_alike
from torchjit.nn.modules.module import Module


class FunctionalModule(Module):
    """A module as a function of its parameters, buffers and arguments."""

    def __init__(self, model: Module, names: tuple[str, ...], buffers: tuple[str, ...] | None) -> None:
        super().__init__()
        self.__dict__["stateless_model"] = model  # it is no part: its parameters are arguments
        self.param_names, self.buffer_names = names, buffers

    def forward(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip(self.param_names, params, strict=True))
        if self.buffer_names is not None:
            buffers, *rest = args
            state.update(zip(self.buffer_names, buffers, strict=True))
            args = tuple(rest)
        return functional_call(self.stateless_model, state, args, kwargs)


def _state(model: Module, disable_autograd_tracking: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    params = {name: p.detach() if disable_autograd_tracking else p for name, p in model.named_parameters()}
    return params, dict(model.named_buffers())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function of parameters and the arguments of a module, and the module's parameters. Raises RuntimeError where it has buffers.

    >>> f, params = torch.functorch.make_functional(torch.nn.Linear(2, 1))
    >>> f(params, torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """
    params, buffers = _state(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    return FunctionalModule(copy.deepcopy(model), tuple(params), None), tuple(params.values())


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """A function of parameters, buffers and the arguments of a module, and the module's parameters and buffers."""
    params, buffers = _state(model, disable_autograd_tracking)
    return FunctionalModule(copy.deepcopy(model), tuple(params), tuple(buffers)), tuple(params.values()), tuple(buffers.values())


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """A function of parameters, buffers and arguments, and the parameters and buffers of models of one class, each stacked.

    Raises RuntimeError where there are no models, or they are of several classes or modes.
    """
    check_alike(models, "combine_state_for_ensemble")
    functions, params, buffers = zip(*(make_functional_with_buffers(m) for m in models))
    return functions[0], tuple(torch.stack(p) for p in zip(*params)), tuple(torch.stack(b) for b in zip(*buffers))
