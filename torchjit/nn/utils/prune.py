"""torch.nn.utils.prune: parts of parameters that are held at zero by masks."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import torchjit as torch


class BasePruningMethod(ABC):
    """A way to choose what is pruned. A hook of the module computes the parameter NAME from NAME_orig and NAME_mask."""

    _tensor_name: str
    PRUNING_TYPE: str

    @property
    def name(self) -> str:
        return self._tensor_name

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for a tensor: ones and zeros of its shape. default_mask is what was pruned before."""

    def apply_mask(self, module: Any) -> Any:
        """The pruned parameter."""
        assert self._tensor_name is not None, f"Module {module} has to be pruned"
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes a parameter, in addition to what has been pruned of it. Returns the method, which is a hook of the module.

        importance_scores, of the parameter's shape, are looked at in place of its values.
        """
        method = _with_former(module, name, cls(*args, **kwargs))
        former = method is not None and isinstance(method, PruningContainer)
        original = getattr(module, name)
        scores = importance_scores if importance_scores is not None else original
        if importance_scores is not None:
            assert importance_scores.shape == original.shape, (
                f"importance_scores should have the same shape as parameter                 {name} of {module}"
            )
        if not former:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = torch.ones_like(original)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=torch.contiguous_format)
        try:
            mask = method.compute_mask(scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not former:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned copy of a tensor."""
        if default_mask is None:
            default_mask = torch.ones_like(t)
        return t * self.compute_mask(importance_scores if importance_scores is not None else t, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Makes the pruned parameter one parameter again. What was pruned stays zero."""
        assert self._tensor_name is not None, f"Module {module} has to be pruned            before pruning can be removed"
        weight = self.apply_mask(module)
        name = self._tensor_name
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _with_former(module: Any, name: str, method: BasePruningMethod) -> BasePruningMethod:
    """The method together with those that prune the parameter already, whose hook is taken away."""
    found = [
        (k, hook) for k, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]
    assert len(found) <= 1, f"Avoid adding multiple pruning hooks to the                same tensor {name} of module {module}. Use a PruningContainer."
    method._tensor_name = name
    if not found:
        return method
    key, former = found[0]
    del module._forward_pre_hooks[key]
    if isinstance(former, PruningContainer):
        former.add_pruning_method(method)
        return former
    container = PruningContainer(former)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Methods that prune one parameter after each other, each what the others left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            methods = args[0] if len(args) == 1 else args
            for method in methods:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Adds a method. Raises TypeError for anything else, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and getattr(self, "_tensor_name", method._tensor_name) != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named '{}' to PruningContainer {}.".format(self._tensor_name, self)
                + f" Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)  # type: ignore[operator]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of the last method for what is left, over that of the others."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            at: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()  # type: ignore[attr-defined]
            keep = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            at = [slice(None)] * t.dim()
            at[dim] = keep
            at = tuple(at)
        elif method.PRUNING_TYPE == "global":
            at = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        new_mask = mask.clone()
        new_mask[at] = method.compute_mask(t[at], default_mask=mask[at]).to(dtype=mask.dtype)
        return new_mask


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the parameter one with a mask."""

    PRUNING_TYPE: str = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: amount of them, a count or a part of all."""

    PRUNING_TYPE: str = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count != 0:
            chosen = torch.topk(torch.rand_like(t).view(-1), k=count)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements nearest to zero: amount of them, a count or a part of all."""

    PRUNING_TYPE: str = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count != 0:
            chosen = torch.topk(torch.abs(t).view(-1), k=count, largest=False)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _channel_mask(t: Any, dim: int, pruned: Any) -> Any:
    mask = torch.ones_like(t)
    at: list[Any] = [slice(None)] * t.dim()
    at[dim] = pruned
    mask[tuple(at)] = 0
    return mask


class RandomStructured(BasePruningMethod):
    """Prunes channels along dim at random: amount of them, a count or a part of all."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim: int = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        if count == 0:
            return default_mask
        chosen = torch.topk(torch.rand(t.shape[self.dim]), k=t.shape[self.dim] - count).indices
        keep = torch.zeros(t.shape[self.dim], dtype=torch.bool)
        keep[chosen] = True
        return _channel_mask(t, self.dim, ~keep).to(dtype=default_mask.dtype) * default_mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the channels along dim whose n-norm is smallest: amount of them, a count or a part of all."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim: int = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        norms = _compute_norm(t, self.n, self.dim)
        chosen = torch.topk(norms, k=size - count, largest=True).indices
        keep = torch.zeros(size, dtype=torch.bool)
        keep[chosen] = True
        return _channel_mask(t, self.dim, ~keep).to(dtype=default_mask.dtype) * default_mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask has zeros for."""

    PRUNING_TYPE: str = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        assert default_mask.shape == self.mask.shape
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Gives a parameter a mask of ones. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prunes elements at random. Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prunes the elements nearest to zero. Returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prunes channels along dim at random. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prunes the channels along dim whose n-norm is smallest. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prunes what a mask has zeros for. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prunes several parameters, pairs of a module and a name, as if they were one.

    Raises TypeError for no list of pairs, or a method that is not for single elements.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    scores = importance_scores or {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores is not a dict")
    relevant = torch.nn.utils.parameters_to_vector([scores.get((m, n), getattr(m, n)) for m, n in parameters])
    default_mask = torch.nn.utils.parameters_to_vector([getattr(m, n + "_mask", torch.ones_like(getattr(m, n))) for m, n in parameters])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}'
        )
    final = container.compute_mask(relevant, default_mask)
    at = 0
    for module, name in parameters:
        parameter = getattr(module, name)
        n = parameter.numel()
        custom_from_mask(module, name, mask=final[at : at + n].view(parameter.shape))
        at += n


def remove(module: Any, name: str) -> Any:
    """Makes a pruned parameter one parameter again. Returns the module. Raises ValueError where it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module, or of one in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and int(amount) < 0) or (not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raises ValueError for a number of more than there are."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many of tensor_size are pruned."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _count(amount: Any, size: int) -> int:
    """How many of size are pruned. Raises ValueError for more than there are."""
    _validate_pruning_amount(amount, size)
    return _compute_nparams_toprune(amount, size)


def _compute_norm(t: Any, n: Any, dim: int) -> Any:
    """The norms of the channels along a dimension."""
    return torch.norm(t, p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])


def _validate_structured_pruning(t: Any) -> None:
    if t.dim() <= 1:
        raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims")


def _validate_pruning_dim(t: Any, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip
