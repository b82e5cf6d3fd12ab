"""Parameters that are functions of others."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit.nn.modules.container import ModuleDict, ModuleList
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter

_cache: dict[tuple[int, str], Any] = {}
_caching = 0


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Each parametrized tensor is computed once inside."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions that make a tensor from `original`, first one first."""

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with torch.no_grad(), contextlib.suppress(NotImplementedError):
                    value = module.right_inverse(value)
        if isinstance(original, Parameter):
            self.original = original if value is original else Parameter(value.detach(), original.requires_grad)
        else:
            self.register_buffer("original", value)

    def right_inverse(self, value: Any) -> None:
        """Sets the original so that the functions give value."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            self.original.copy_(value)

    def forward(self) -> Any:
        x = self.original
        for module in self:
            x = module(x)
        return x


def type_before_parametrizations(module: Any) -> type:
    """The class of a module, that which it had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module, or a tensor of it, is parametrized."""
    lists = getattr(module, "parametrizations", None)
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """Has module.tensor_name computed by parametrization(original) each time it is read."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        listed = module.parametrizations[tensor_name]
        if hasattr(parametrization, "right_inverse"):
            with torch.no_grad():
                listed.original.copy_(parametrization.right_inverse(listed.original))
        listed.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    listed = ParametrizationList([parametrization], original, unsafe=unsafe)
    made = listed()
    for what in () if unsafe else ("dtype", "shape"):
        if (before := getattr(original, what)) != (now := getattr(made, what)):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {before}\nparametrized {what}: {now}"
            )
    module._parameters.pop(tensor_name, None)
    module._buffers.pop(tensor_name, None)
    if not is_parametrized(module):
        base = type(module)
        members = {"__module__": base.__module__, "__getstate__": _no_state, "__deepcopy__": _copied}
        module.__class__ = type("Parametrized" + base.__name__, (base,), members)
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = listed
    setattr(type(module), tensor_name, _parametrized(tensor_name))
    return module


def _no_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    made = memo[id(self)] = type(self).__new__(type(self))
    made.__dict__ = copy.deepcopy(self.__dict__, memo)
    return made


def _parametrized(name: str) -> property:
    def read(self: Any) -> Any:
        if not _caching:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    return property(read, lambda self, value: self.parametrizations[name].right_inverse(value))


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Makes the tensor an ordinary one again, with its present value or its original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    original = listed.original
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name).detach().clone()
        original = Parameter(value, original.requires_grad) if isinstance(original, Parameter) else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__mro__[1]
    return module
