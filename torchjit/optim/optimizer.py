"""What all optimizers share: groups of parameters, state, and both as dictionaries."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

import torchjit as torch
from torchjit._advice import advised
from torchjit._pytorch_tensors import data_of, of_pytorch
from torchjit._tensor import Tensor


class _RequiredParameter:
    def __repr__(self) -> str:
        return "<required parameter>"


required: _RequiredParameter = _RequiredParameter()


def nonnegative(**numbers: Any) -> None:
    """Fails on a number below zero: the message has its name as users know it."""
    for name, value in numbers.items():
        if value is not required and not 0.0 <= value:
            shown = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value", "momentum": "momentum value", "momentum_decay": "momentum_decay value"}
            raise ValueError(f"Invalid {shown.get(name, name)}: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def are_numbers(group: dict[str, Any], *names: str) -> bool:
    """Whether options of a group are plain numbers."""
    return all(type(group[name]) in (int, float) for name in names)


def decayed(p: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient of a parameter with the group's weight_decay of the parameter added."""
    return grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] != 0 else grad


def at_places_of(grad: Tensor, values: Tensor) -> Tensor:
    """A sparse tensor with other values at the places of a sparse gradient, which is coalesced."""
    return torch._sparse_coo_tensor_unsafe(grad._indices(), values, grad.shape)._coalesced_(True)


class Optimizer:
    """Changes parameters by their gradients. Subclasses write update.

    params: tensors, or dictionaries with "params" and options that differ from the defaults. Parameters of PyTorch itself are changed where they lie,
    by the gradients that PyTorch gave them; the groups hold tensors over their memory.

    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([{"params": [w], "lr": 0.1}], lr=1.0)
    >>> isinstance(optimizer, torch.optim.Optimizer), optimizer.param_groups[0]["lr"]
    (True, 0.1)
    """

    takes_sparse = True
    """Whether update knows sparse gradients; refusal_of_sparse is what is said where it does not."""

    refusal_of_sparse: str | None = None

    by_parts = False
    """Whether update sees a complex parameter as its real and imaginary parts."""

    tensor_counts: tuple[str, ...] = ()
    """What update keeps as tensors of one number; files of older versions have numbers there."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor) or of_pytorch(params):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + data_of(params).type()
            )
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._of_pytorch: dict[int, tuple[Any, Tensor]] = {}  # by the ids of PyTorch's parameters: these, and the tensors that stand for them
        groups = list(params)
        if not groups:
            raise advised(ValueError("optimizer got an empty parameter list"))
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i > 0 else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over attributes. Options and counts that older versions did not have, or had as numbers, are made what they are now."""
        self.__dict__.update(state)
        self.__dict__.setdefault("defaults", {})
        self.__dict__.setdefault("_of_pytorch", {})
        for group in self.param_groups:
            for name, value in _LATER.items():
                if name in self.defaults:
                    group.setdefault(name, value)
        for kept in self.state.values():
            for name in self.tensor_counts:
                if isinstance(kept, dict) and isinstance(kept.get(name), (int, float)):
                    kept[name] = torch.tensor(float(kept[name]))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own. They must be leaves that no other group has."""
        if not isinstance(param_group, dict):
            raise AssertionError("param group must be a dict")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")
        params = param_group["params"] = [params] if isinstance(params, Tensor) or of_pytorch(params) else list(params)
        for i, p in enumerate(params):
            if not isinstance(p, Tensor) and not of_pytorch(p):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not self.defaults.get("differentiable") and not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
            params[i] = self._standing_for(p) if of_pytorch(p) else p
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _standing_for(self, theirs: Any) -> Tensor:
        """The tensor over the memory of a parameter of PyTorch's."""
        if id(theirs) not in self._of_pytorch:
            self._of_pytorch[id(theirs)] = theirs, data_of(theirs).requires_grad_(theirs.requires_grad)
        return self._of_pytorch[id(theirs)][1]

    def _take_gradients(self) -> None:
        """Gives the tensors that stand for PyTorch's parameters the gradients of these, over the same memory."""
        for theirs, ours in self._of_pytorch.values():
            ours.grad = data_of(theirs.grad)

    def state_dict(self) -> dict[str, Any]:
        """The state by the numbers of the parameters, and the groups."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[id(p)] for p in g["params"]]} for g in self.param_groups]
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave. The groups must have the same sizes."""
        loaded = deepcopy(state_dict)
        groups = loaded["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = {k: p for a, b in zip(groups, self.param_groups) for k, p in zip(a["params"], b["params"])}
        state: dict[Any, dict[str, Any]] = defaultdict(dict)
        for k, v in loaded["state"].items():
            state[params.get(k, k)] = _like(params[k], v) if k in params else v
        self.__setstate__({"state": state, "param_groups": [{**b, "params": a["params"]} for a, b in zip(self.param_groups, groups)]})

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Makes the gradients zero, or None."""
        self._take_gradients()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if set_to_none:
                        p.grad = None
                    else:
                        p.grad = p.grad.detach()
                        p.grad.zero_()
        if set_to_none:
            for theirs, _ in self._of_pytorch.values():
                theirs.grad = None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes the parameters once. closure, if given, computes the loss and the gradients first; its result is returned.

        With the option differentiable, gradients go through the step to those of the parameters and of their gradients.
        """
        if type(self).update is Optimizer.update:
            raise NotImplementedError
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._take_gradients()
        with torch.set_grad_enabled(self.defaults.get("differentiable", False)):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update_one(p, p.grad, group)
        return loss

    def _update_one(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """Changes one parameter, the other way round where group says maximize."""
        grad = -grad if group.get("maximize") else grad
        if self.by_parts and p.is_complex():
            self._update_by_parts(p, grad, group)
        else:
            if not self.takes_sparse and grad.is_sparse:
                raise RuntimeError(self.refusal_of_sparse or f"{type(self).__name__} does not support sparse gradients")
            self.update(p, grad, self.state[p], group)

    def _update_by_parts(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        """Changes real and imaginary parts as numbers of their own; the state holds complex numbers."""
        state, parts = self.state[p], torch.view_as_real(p)
        seen = {k: torch.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v for k, v in state.items()}
        self.update(parts, torch.view_as_real(grad.resolve_conj()), seen, group)
        state.update({k: torch.view_as_complex(v) if isinstance(v, Tensor) and v.shape == parts.shape else v for k, v in seen.items()})

    def update(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Changes one parameter."""
        raise NotImplementedError


# Options that groups of older versions lack.
_LATER: dict[str, Any] = {
    "amsgrad": False, "capturable": False, "centered": False, "differentiable": False, "foreach": None, "fused": False, "maximize": False,
    "momentum": 0, "nesterov": False,
}  # fmt: skip


def _like(p: Tensor, value: Any, key: str | None = None) -> Any:
    """What a loaded state holds, as the parameter's type; counts of steps stay as they are."""
    if isinstance(value, Tensor):
        return value.to(p.dtype) if p.is_floating_point() and key != "step" else value
    if isinstance(value, dict):
        return {k: _like(p, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_like(p, v) for v in value)
    return value


def parameters_of(groups: list[dict[str, Any]]) -> Iterator[Tensor]:
    for group in groups:
        yield from group["params"]
