"""Modules as functions of their parameters: functional_call, stack_module_state, replace_all_batch_norm_modules_."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchjit as torch
from torchjit.nn.modules.module import Module
from torchjit.nn.utils.stateless import _reparametrize_module


def _members(module: Module) -> dict[str, Any]:
    """The parameters and buffers by their names; one with two names has both."""
    found: dict[str, Any] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for members in (part._parameters, part._buffers):
            found.update({f"{prefix}.{name}" if prefix else name: x for name, x in members.items() if x is not None})
    return found


def _with_tied(given: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """The tensors that are given, also under the other names of the parameters that they replace."""
    names: dict[int, list[str]] = {}
    for name, x in members.items():
        names.setdefault(id(x), []).append(name)
    made = dict(given)
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if any(v is not values[0] for v in values[1:]):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(name for name in tied if name in given)}, which are tied. Consider using tie_weights=False"
            )
        if values:
            made.update(dict.fromkeys(tied, values[0]))
    return made


def functional_call(
    module: Module, parameter_and_buffer_dicts: dict[str, Any] | Sequence[dict[str, Any]], args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with other tensors in the place of the parameters and buffers that a dict, or several, names.

    args that are no tuple are the one argument. tie_weights: a tensor replaces a parameter under all the names that it has in the module.
    strict: the names are all those of the module and no others, else RuntimeError. Raises ValueError where a name is in two dicts.

    >>> layer = torch.nn.Linear(2, 1)
    >>> torch.func.functional_call(layer, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, (torch.tensor([1.0, 2.0]),))
    tensor([3.])
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        given = dicts
    elif isinstance(dicts, (list, tuple)):
        for d in dicts:
            if not isinstance(d, dict):
                raise ValueError(f"Expected all elements of parameter_and_buffer_dicts to be dictionaries, but found {type(d)}")
        names = [name for d in dicts for name in d]
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {name: x for d in dicts for name, x in d.items()}
    else:
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}")
    if hasattr(module, "_c"):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    members = _members(module)
    tensors = _with_tied(given, members) if tie_weights else dict(given)
    if strict:
        missing, unexpected = [name for name in members if name not in tensors], [name for name in given if name not in members]
        if missing or unexpected:
            lines = [f"{what} key(s): {', '.join(map(repr, sorted(keys)))}." for what, keys in (("Unexpected", unexpected), ("Missing", missing)) if keys]
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(lines))
    with _reparametrize_module(module, tensors):
        return module(*(() if args is None else args if isinstance(args, tuple) else (args,)), **(kwargs or {}))


def _stacked(tensors: list[Any], leaf: bool) -> Any:
    if not leaf:
        return torch.stack(tensors)
    requires_grad = tensors[0].requires_grad
    if any(x.requires_grad != requires_grad for x in tensors):
        raise RuntimeError("Expected stacked parameters to all have the same requires_grad. Got mixed values")
    return torch.stack(tensors).detach().requires_grad_(requires_grad)


def check_alike(models: Sequence[Module], where: str) -> None:
    """Raises RuntimeError where there are no models, or they are of several classes or modes."""
    if not models:
        raise RuntimeError(f"{where}: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(f"{where}: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError(f"{where}: Expected all models to be of the same class.")


def stack_module_state(models: Sequence[Module] | Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of models of one class, each stacked under its name: what vmap calls functional_call with for all of them.

    Raises RuntimeError where there are no models, or they are of several classes or modes.

    >>> params, buffers = torch.func.stack_module_state([torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)])
    >>> params["weight"].shape
    torch.Size([2, 1, 2])
    """
    models = list(models)
    check_alike(models, "stack_module_state")
    params = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {name: _stacked([p[name] for p in params], True) for name in params[0]},
        {name: _stacked([b[name] for b in buffers], False) for name in buffers[0]},
    )


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Has every batch norm of a module keep no running statistics, in place, and returns the module: vmap cannot write them for each sample."""
    from torchjit.nn.modules.batchnorm import _BatchNorm

    for part in root.modules():
        if isinstance(part, _BatchNorm):
            part.running_mean = part.running_var = part.num_batches_tracked = None
            part.track_running_stats = False
    return root
