"""Modules that hold modules or parameters."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections import abc as container_abcs
from itertools import islice
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from torchjit._jit_internal import copy_to_script_wrapper as _copy_to_script_wrapper
from torchjit._tensor import Tensor
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter

# ruff: noqa: A002


def _position(index: Any, length: int) -> int:
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class Container(Module):
    """An old name of Module, with modules as keyword arguments."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that instead.",
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Calls its modules one after the other, each with the result of the one before.

    >>> m = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    >>> m(torch.rand(4, 3)).shape
    torch.Size([4, 2])
    """

    _modules: dict[str, Module]

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = (
            args[0].items()
            if len(args) == 1 and isinstance(args[0], OrderedDict)
            else ((str(i), m) for i, m in enumerate(args))
        )
        for name, module in named:
            self.add_module(name, module)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return next(islice(self._modules.values(), _position(idx, len(self)), None))

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, next(islice(self._modules.keys(), _position(idx, len(self)), None)), module)

    def __delitem__(self, idx: Any) -> None:
        for key in (
            list(self._modules)[idx] if isinstance(idx, slice) else [list(self._modules)[_position(idx, len(self))]]
        ):
            delattr(self, key)
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(self._modules.values()))

    def __len__(self) -> int:
        return len(self._modules)

    def __dir__(self) -> list[str]:
        return [k for k in super().__dir__() if not k.isdigit()]

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Sequential:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        for module in list(sequential):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Puts a module before that of an index. Raises AssertionError for anything but a module, IndexError beyond the end."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index + n if index < 0 else index, module)
        self._number(modules)
        return self

    def pop(self, key: int | slice) -> Module:
        """Takes a module out."""
        module = self[key]
        del self[key]
        return module

    def _number(self, modules: Iterable[Module]) -> None:
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(modules))

    def _checked(self, other: Any, operation: str) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"{operation} operator supports only objects of Sequential class, but {type(other)} is given.")
        return other

    def _times(self, other: int) -> list[Module]:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return list(self) * other

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *self._checked(other, "add"))

    def __iadd__(self, other: Any) -> Sequential:
        return self.extend(self._checked(other, "add"))

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._times(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._number(self._times(other))
        return self

    if TYPE_CHECKING:  # what a call gives, compiled code sees itself

        def forward(self, input: Any) -> Any: ...

    else:

        def forward(self, input):
            for module in self:
                input = module(input)
            return input


class ModuleList(Module):
    """A list of modules.

    >>> layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
    >>> len(layers), layers[0]
    (2, Linear(in_features=3, out_features=3, bias=True))
    >>> sum(p.numel() for p in layers.parameters())
    24
    """

    _modules: dict[str, Module]

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[str(_position(idx, len(self)))]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, str(_position(idx, len(self))), module)

    def __delitem__(self, idx: Any) -> None:
        for k in range(len(self))[idx] if isinstance(idx, slice) else [_position(idx, len(self))]:
            delattr(self, str(k))
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(self._modules.values()))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(modules))

    def append(self, module: Module) -> ModuleList:
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Module:
        module = self[key]
        del self[key]
        return module

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        if not isinstance(modules, container_abcs.Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        for i, module in enumerate(modules, len(self)):
            self.add_module(str(i), module)
        return self


class ModuleDict(Module):
    """A dictionary of modules.

    >>> layers = nn.ModuleDict({"in": nn.Linear(3, 5), "act": nn.ReLU()})
    >>> list(layers), layers["act"]
    (['in', 'act'], ReLU())
    """

    _modules: dict[str, Module]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        self._modules.clear()

    def pop(self, key: str) -> Module:
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        return self._modules.values()

    def update(self, modules: Any) -> None:
        if not isinstance(modules, container_abcs.Iterable):
            raise TypeError(f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules).__name__}")
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module


class ParameterList(Module):
    """A list of parameters.

    >>> weights = nn.ParameterList([torch.ones(2), torch.zeros(3)])
    >>> [p.numel() for p in weights], weights[0].requires_grad
    ([2, 3], True)
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return ParameterList([self[i] for i in range(len(self))[idx]])
        return getattr(self, str(_position(idx, len(self))))

    def __setitem__(self, idx: int, param: Any) -> None:
        self._put(_position(idx, len(self)), param)

    def _put(self, idx: int, param: Any) -> None:
        if isinstance(param, Tensor) and not isinstance(param, Parameter):
            param = Parameter(param)
        setattr(self, str(idx), param)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> ParameterList:
        return self.extend(parameters)

    def append(self, value: Any) -> ParameterList:
        self._size += 1
        self._put(self._size - 1, value)
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(i, p, str(p.dtype) if isinstance(p, Tensor) else "") for i, p in enumerate(self))



def _line(key: Any, item: Any, type_name: str) -> str:
    """A member of a list or dict of parameters, as it is printed."""
    if not isinstance(item, Tensor):
        return f"  ({key}): Object of type: {type(item).__name__}"
    kind = "Parameter" if isinstance(item, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_name} of size {'x'.join(str(n) for n in item.shape)}]"


class ParameterDict(Module):
    """A dictionary of parameters.

    >>> weights = nn.ParameterDict({"scale": torch.ones(2)})
    >>> weights["scale"]
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> ParameterDict:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """A dict of its own with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """What is under the key; the default is put there first where there is nothing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes out what is under the key."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Takes out the last key with what is under it."""
        key = next(reversed(self))
        return key, self.pop(key)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict with the default under every key."""
        return ParameterDict((key, default) for key in keys)

    def extra_repr(self) -> str:
        return "\n".join(_line(k, p, p.type() if isinstance(p, Tensor) else "") for k, p in self.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        return ((k, self[k]) for k in self._keys)

    def values(self) -> Iterable[Any]:
        return (self[k] for k in self._keys)

    def update(self, parameters: Any) -> None:
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value
