"""Parameters that are functions of others."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit import Tensor
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


def _register_parameter_or_buffer(module: Any, name: str, X: Any) -> None:  # noqa: N803
    """Gives a module a tensor: a parameter as such, another one as a buffer."""
    if isinstance(X, Parameter):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, Tensor)


class ParametrizationList(ModuleList):
    """The functions that make a tensor from `original`, first one first. Where the inverse of the first function gives several tensors, these are
    `original0`, `original1`, ..., which that function is called with."""

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        with torch.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        value = module.right_inverse(value)
        if not isinstance(value, Tensor) and not _is_sequence(value):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(value).__name__}")
        self.is_tensor: bool = isinstance(value, Tensor)
        self.ntensors: int = 1 if self.is_tensor else len(value)
        if self.is_tensor:
            if original.dtype != value.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {value.dtype}"
                )
            if value is not original and isinstance(original, Parameter):
                value = Parameter(value.detach(), original.requires_grad)
            _register_parameter_or_buffer(self, "original", value)
        else:
            self._register_several(value, original)
        if not unsafe:
            _check_result(original, self())

    def _register_several(self, values: Any, original: Any) -> None:
        for i, x in enumerate(values):
            if not isinstance(x, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(x).__name__}."
                )
            if isinstance(original, Parameter):
                x = Parameter(x.detach(), original.requires_grad)
            _register_parameter_or_buffer(self, f"original{i}", x)

    def right_inverse(self, value: Any) -> None:
        """Sets the original, or the originals, so that the functions give value."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype {self.original.dtype}"
                    )
                self.original.set_(value)
                return
            if not _is_sequence(value):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of lenght {len(value)}."
                )
            for i, x in enumerate(value):
                original = getattr(self, f"original{i}")
                if not isinstance(x, Tensor):
                    raise ValueError(f"`right_inverse` must return a sequence of tensors. Got element {i} of type {type(x).__name__}")
                if original.dtype != x.dtype:
                    raise ValueError(
                        f"Tensor {i} returned by `right_inverse` has dtype {x.dtype} while `original{i}` has dtype {original.dtype}"
                    )
                original.set_(x)

    def forward(self) -> Tensor:
        if torch.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        first, *others = self
        x = first(self.original) if self.is_tensor else first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in others:
            x = module(x)
        return x


def _check_result(original: Any, made: Any) -> None:
    """Fails where a parametrization makes what cannot stand for the tensor."""
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what in ("dtype", "shape"):
        if (before := getattr(original, what)) != (now := getattr(made, what)):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {before}\nparametrized {what}: {now}"
            )


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
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    listed = ParametrizationList([parametrization], original, unsafe=unsafe)
    module._parameters.pop(tensor_name, None)
    module._buffers.pop(tensor_name, None)
    if not is_parametrized(module):
        base = type(module)
        members = {"__module__": __name__, "__getstate__": _no_state, "__deepcopy__": _copied}
        module.__class__ = type("Parametrized" + base.__name__, (base,), members)
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = listed
    setattr(type(module), tensor_name, _parametrized(tensor_name))
    return module


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    """Fails where a parametrization of a tensor that has one makes, or asks for, another kind of tensor."""
    present = getattr(module, name)
    made = parametrization(present)
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(made, what) != getattr(present, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {getattr(present, what)}\nparametrization(module.{name}).{what}: {getattr(made, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        given = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(given, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(given).__name__}")
    for what in ("dtype", "shape"):
        if getattr(given, what) != getattr(present, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {getattr(present, what)}\nreturned {what}: {getattr(given, what)}"
            )


def _no_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    made = memo[id(self)] = type(self).__new__(type(self))  # type: ignore[call-overload]
    made.__dict__ = copy.deepcopy(self.__dict__, memo)
    return made


def _parametrized(name: str) -> property:
    """The property of a parametrized tensor. Compiled modules have it too; reading it there raises RuntimeError, as in PyTorch."""

    def read(self) -> torch.Tensor:
        if torch.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        if not _caching:
            return self.parametrizations[name]()
        if torch.jit.is_tracing():
            raise RuntimeError("Cannot trace a model while caching parametrizations.")
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self, value: torch.Tensor) -> None:
        if torch.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        self.parametrizations[name].right_inverse(value)

    made = property(read, write)
    made.fget.is_compiled = True  # type: ignore[union-attr]
    return made


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Makes the tensor an ordinary one again, with its present value or its original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if not listed.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    original = listed.original if listed.is_tensor else listed.original0
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name).detach().clone()
        original = Parameter(value, original.requires_grad) if isinstance(original, Parameter) else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__mro__[1]
    return module


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Gives a module the parametrizations of another one, of all its tensors or of one, with the same originals; returns the module."""
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        listed = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _register_parameter_or_buffer(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in listed:
            register_parametrization(to_module, name, parametrization, unsafe=listed.unsafe)
        made = to_module.parametrizations[name]
        for original in ["original"] if listed.is_tensor else [f"original{i}" for i in range(listed.ntensors)]:
            setattr(made, original, getattr(listed, original))
    return to_module
