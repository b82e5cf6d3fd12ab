"""Optimizers as functions of lists: of parameters, of their gradients and of the tensors that the optimizer's state holds for each.

All change the parameters and the states in place. `foreach` chooses nothing: there is one implementation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import torchjit as torch
from torchjit.optim.adam import Adam, AdamW, NAdam, RAdam
from torchjit.optim.adaptive import Adadelta, Adagrad, Adamax, RMSprop, Rprop
from torchjit.optim.optimizer import Optimizer
from torchjit.optim.sgd import ASGD, SGD
from torchjit.optim.sparse_adam import sparse_adam as sparse_adam

Tensors = list[torch.Tensor]


def _run(
    cls: type[Optimizer], params: Tensors, grads: Tensors, states: Mapping[str, list[Any]], group: dict[str, Any],
) -> None:  # fmt: skip
    """Changes parameters as the optimizers of a class do, with the states by their names."""
    optimizer = object.__new__(cls)
    optimizer.state = {}
    for i, (p, grad) in enumerate(zip(params, grads, strict=True)):
        state = optimizer.state[p] = {name: values[i] for name, values in states.items() if values}
        optimizer._update_one(p, grad, group)
        for name, values in states.items():
            if values:
                values[i] = state[name]


def _check_steps(state_steps: list[Any]) -> None:
    if not all(isinstance(t, torch.Tensor) for t in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")


def adadelta(
    params: Tensors, grads: Tensors, square_avgs: Tensors, acc_deltas: Tensors, foreach: bool | None = None, *, lr: float, rho: float, eps: float,
    weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Adadelta."""
    states: dict[str, list[Any]] = {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": [0] * len(params)}
    _run(Adadelta, params, grads, states, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})


def adagrad(
    params: Tensors, grads: Tensors, state_sums: Tensors, state_steps: Tensors, has_sparse_grad: bool | None = None, foreach: bool | None = None,
    *, lr: float, weight_decay: float, lr_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Adagrad."""
    _check_steps(state_steps)
    group = {"lr": lr, "weight_decay": weight_decay, "lr_decay": lr_decay, "eps": eps, "maximize": maximize}
    _run(Adagrad, params, grads, {"sum": state_sums, "step": state_steps}, group)


def adam(
    params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, max_exp_avg_sqs: Tensors, state_steps: Tensors,
    foreach: bool | None = None, capturable: bool = False, differentiable: bool = False, fused: bool = False, grad_scale: Any = None,
    found_inf: Any = None, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Adam. Raises RuntimeError for fused: there is no device for it."""
    _check_steps(state_steps)
    if fused:
        raise RuntimeError("FusedAdam requires all the params to be CUDA, floating point")
    states: dict[str, list[Any]] = {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "max_exp_avg_sq": max_exp_avg_sqs}
    group = {"amsgrad": amsgrad, "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
    _run(Adam, params, grads, states, {**group, "capturable": capturable})


def adamw(
    params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, max_exp_avg_sqs: Tensors, state_steps: Tensors,
    foreach: bool | None = None, capturable: bool = False, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float,
    eps: float, maximize: bool,
) -> None:  # fmt: skip
    """AdamW."""
    _check_steps(state_steps)
    states: dict[str, list[Any]] = {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "max_exp_avg_sq": max_exp_avg_sqs}
    group = {"amsgrad": amsgrad, "betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
    _run(AdamW, params, grads, states, {**group, "capturable": capturable})


def adamax(
    params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_infs: Tensors, state_steps: Tensors, foreach: bool | None = None,
    maximize: bool = False, *, eps: float, beta1: float, beta2: float, lr: float, weight_decay: float,
) -> None:  # fmt: skip
    """Adamax."""
    _check_steps(state_steps)
    group = {"betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
    _run(Adamax, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_inf": exp_infs}, group)


def asgd(
    params: Tensors, grads: Tensors, axs: Tensors, mus: Tensors, etas: Tensors, state_steps: Tensors, foreach: bool | None = None,
    maximize: bool = False, *, lambd: float, lr: float, t0: float, alpha: float, weight_decay: float,
) -> None:  # fmt: skip
    """ASGD."""
    _check_steps(state_steps)
    group = {"lambd": lambd, "lr": lr, "t0": t0, "alpha": alpha, "weight_decay": weight_decay, "maximize": maximize}
    _run(ASGD, params, grads, {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}, group)


def nadam(
    params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, mu_products: Tensors, state_steps: Tensors,
    foreach: bool | None = None, *, beta1: float, beta2: float, lr: float, weight_decay: float, momentum_decay: float, eps: float,
) -> None:  # fmt: skip
    """NAdam."""
    _check_steps(state_steps)
    if not all(isinstance(t, torch.Tensor) for t in mu_products):
        raise RuntimeError("API has changed, `mu_products` argument must contain a list of singleton tensors")
    states: dict[str, list[Any]] = {"step": state_steps, "mu_product": mu_products, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    group = {"betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "momentum_decay": momentum_decay, "eps": eps}
    _run(NAdam, params, grads, states, group)


def radam(
    params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, state_steps: Tensors, foreach: bool | None = None, *, beta1: float,
    beta2: float, lr: float, weight_decay: float, eps: float,
) -> None:  # fmt: skip
    """RAdam."""
    _check_steps(state_steps)
    group = {"betas": (beta1, beta2), "lr": lr, "weight_decay": weight_decay, "eps": eps}
    _run(RAdam, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}, group)


def rmsprop(
    params: Tensors, grads: Tensors, square_avgs: Tensors, grad_avgs: Tensors, momentum_buffer_list: Tensors, foreach: bool | None = None,
    maximize: bool = False, differentiable: bool = False, *, lr: float, alpha: float, eps: float, weight_decay: float, momentum: float,
    centered: bool,
) -> None:  # fmt: skip
    """RMSprop."""
    states: dict[str, list[Any]] = {"square_avg": square_avgs, "grad_avg": grad_avgs, "momentum_buffer": momentum_buffer_list, "step": [0] * len(params)}
    group = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered}
    _run(RMSprop, params, grads, states, {**group, "maximize": maximize})


def rprop(
    params: Tensors, grads: Tensors, prevs: Tensors, step_sizes: Tensors, foreach: bool | None = None, maximize: bool = False, *,
    step_size_min: float, step_size_max: float, etaminus: float, etaplus: float,
) -> None:  # fmt: skip
    """Rprop."""
    states: dict[str, list[Any]] = {"prev": prevs, "step_size": step_sizes, "step": [0] * len(params)}
    group = {"step_sizes": (step_size_min, step_size_max), "etas": (etaminus, etaplus), "maximize": maximize}
    _run(Rprop, params, grads, states, group)


def sgd(
    params: Tensors, d_p_list: Tensors, momentum_buffer_list: list[torch.Tensor | None], has_sparse_grad: bool | None = None,
    foreach: bool | None = None, *, weight_decay: float, momentum: float, lr: float, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """SGD. None in momentum_buffer_list is replaced by the buffer that the first step makes."""
    group = {"weight_decay": weight_decay, "momentum": momentum, "lr": lr, "dampening": dampening, "nesterov": nesterov, "maximize": maximize}
    _run(SGD, params, d_p_list, {"momentum_buffer": momentum_buffer_list}, group)


def _form(kind: str, f: Callable[..., None]) -> Callable[..., None]:
    """A function under the name that PyTorch gives one of its implementations, which takes the options by their names."""

    def made(params: Tensors, grads: Tensors, *states: Any, **options: Any) -> None:
        f(params, grads, *states, **options)

    made.__name__ = made.__qualname__ = f"_{kind}_tensor_{f.__name__}"
    made.__doc__ = f.__doc__
    return made


# The modules of the optimizers have them.
for _f in (adadelta, adagrad, adam, adamax, adamw, asgd, nadam, radam, rmsprop, rprop, sgd):
    _module = sys.modules[f"torchjit.optim.{_f.__name__}"]
    for _made in (_f, _form("single", _f), _form("multi", _f)):
        setattr(_module, _made.__name__, _made)
