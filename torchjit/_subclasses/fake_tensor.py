"""Tensors without elements that say they are on a device: operators give what they would give but for the elements."""

from __future__ import annotations

import weakref
from typing import Any

import torchjit as torch
from torchjit._dispatch_classes import _DisableTorchDispatch
from torchjit._override import _disabled_torch_function_impl
from torchjit.utils._python_dispatch import TorchDispatchMode
from torchjit.utils._pytree import tree_flatten, tree_map

aten = torch.ops.aten


class _AboutOperator(RuntimeError):
    """An operator cannot be run on tensors without elements."""

    def __init__(self, func: Any) -> None:
        super().__init__(str(func))
        self.func = func


class DynamicOutputShapeException(_AboutOperator):
    """The shape of an operator's result depends on elements."""


class DataDependentOutputException(_AboutOperator):
    """The result of an operator is an element."""


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor cannot be made one without elements."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_DYNAMIC = frozenset((
    "aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::_unique", "aten::unique_consecutive", "aten::unique_dim",
    "aten::repeat_interleave.Tensor", "aten::nonzero_numpy", "aten::argwhere",
))  # fmt: skip
_OF_ELEMENTS = frozenset(("aten::_local_scalar_dense", "aten::item", "aten::equal", "aten::is_nonzero", "aten::allclose"))


def _name(func: Any) -> str:
    schema = func._schema
    return schema.name + (f".{schema.overload_name}" if schema.overload_name else "")


class FakeTensor(torch.Tensor):
    """A tensor of a FakeTensorMode: a shape, a type, strides and a device, and no elements."""

    fake_device: Any
    fake_mode: FakeTensorMode
    constant: Any = None
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls: Any, fake_mode: FakeTensorMode, elem: Any, device: Any, constant: Any = None) -> FakeTensor:
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.shape, elem.stride(), elem.storage_offset(), dtype=elem.dtype, device=torch.device(device), requires_grad=elem.requires_grad
        )
        made.fake_device, made.fake_mode, made.constant = torch.device(device), fake_mode, constant
        return made

    def __init__(self, fake_mode: FakeTensorMode, elem: Any, device: Any, constant: Any = None) -> None:
        pass

    @staticmethod
    def from_tensor(t: Any, fake_mode: FakeTensorMode) -> FakeTensor:
        """The tensor of a mode that is like another one."""
        return fake_mode.from_tensor(t)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        dtype = "" if self.dtype is torch.get_default_dtype() else f", dtype={self.dtype}"
        return f"FakeTensor(FakeTensor(..., device='meta', size={tuple(self.shape)}{dtype}), {self.fake_device})"

    def __deepcopy__(self, memo: Any) -> Any:
        return memo.setdefault(id(self), self.fake_mode.from_tensor(self.detach()))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Runs an operator in the mode of the tensors. Raises AssertionError where these are of several."""
        modes = {id(x.fake_mode): x.fake_mode for x in tree_flatten((args, kwargs or {}))[0] if isinstance(x, FakeTensor)}
        assert len(modes) == 1, "Mixing fake modes NYI"
        (mode,) = modes.values()
        return mode.run(func, args, kwargs or {})


class FakeTensorConverter:
    """Remembers which tensors without elements stand for which tensors."""

    def __call__(self, fake_mode: FakeTensorMode, t: Any, device: Any = None) -> FakeTensor:
        """The tensor of a mode for another: with device, for one on meta."""
        return self.from_real_tensor(fake_mode, t) if device is None else self.from_meta_and_device(fake_mode, t, device)

    def from_real_tensor(self, fake_mode: FakeTensorMode, t: Any) -> FakeTensor:
        """The tensor that is like t, the same one each time. Raises UnsupportedFakeTensorException for quantized tensors."""
        key = _Identity(t)
        if _known(t, fake_mode) is not None:
            return _known(t, fake_mode)
        if t.is_quantized:
            raise UnsupportedFakeTensorException("quantized nyi in meta tensors")
        made = FakeTensor(fake_mode, t, t.device)
        if isinstance(t, torch.nn.Parameter):
            made._is_param = True  # type: ignore[attr-defined]
        _memo.setdefault(key, {})[id(fake_mode)] = (weakref.ref(fake_mode), made)
        weakref.finalize(t, _memo.pop, key, None)
        return made

    def from_meta_and_device(self, fake_mode: FakeTensorMode, t: Any, device: Any) -> FakeTensor:
        """The tensor that is like one on meta, and on a device."""
        return FakeTensor(fake_mode, t, device)


class _Identity:
    """A tensor as a key: by what it is, not by its elements."""

    def __init__(self, t: Any) -> None:
        self.number = id(t)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.number == other.number


_memo: dict[_Identity, dict[int, Any]] = {}


def _known(t: Any, mode: Any) -> Any:
    found = _memo.get(_Identity(t), {}).get(id(mode))
    return found[1] if found is not None and found[0]() is mode else None


class FakeTensorMode(TorchDispatchMode):
    """A context in which functions make tensors without elements, and operators run on such.

    Operators whose results depend on elements raise DynamicOutputShapeException or DataDependentOutputException. Tensors with elements are
    refused: from_tensor gives what stands for them. With allow_meta tensors may be on the device meta.
    """

    def __init__(self, *, allow_fallback_kernels: bool = True, allow_meta: bool = False, throw_on_data_dependent_ops: bool = True) -> None:
        self.allow_fallback_kernels: bool = allow_fallback_kernels
        self.allow_meta: bool = allow_meta
        self.throw_on_data_dependent_ops = throw_on_data_dependent_ops
        self.fake_tensor_converter: FakeTensorConverter = FakeTensorConverter()

    def from_tensor(self, tensor: Any, shape_env: Any = None) -> FakeTensor:
        """The tensor of this mode that is like another one."""
        if isinstance(tensor, FakeTensor):
            return tensor
        return self.fake_tensor_converter.from_real_tensor(self, tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operator gives, without elements."""
        given = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        if func._schema.name == "aten::lift_fresh" and not isinstance(args[0], FakeTensor):
            return self.from_tensor(args[0])
        if any(type(x) is torch.Tensor and x.dim() == 0 for x in given):  # numbers that are tensors
            lift = lambda x: self.from_tensor(x) if type(x) is torch.Tensor and x.dim() == 0 else x  # noqa: E731
            args, kwargs, given = tree_map(lift, args), tree_map(lift, kwargs), [lift(x) for x in given]
        self._check(func, args, kwargs, given)
        device = kwargs.get("device")
        if device is not None:
            device = torch.device(device)
            assert device.type != "meta" or self.allow_meta
            kwargs = {**kwargs, "device": torch.device("meta")}
        if device is None:
            device = given[0].fake_device if given else torch.device("cpu")  # type: ignore[attr-defined]
        if not given and "device" not in kwargs:
            kwargs = {**kwargs, "device": torch.device("meta")}
        guard = _DisableTorchDispatch()
        try:
            result = func(*args, **kwargs)
        finally:
            del guard
        return tree_map(lambda x: self._wrapped(x, device) if isinstance(x, torch.Tensor) else x, result)

    def _check(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[Any]) -> None:
        name = _name(func)
        if any(not isinstance(x, FakeTensor) for x in given):
            raise Exception(
                "Invoking operators with non-Fake Tensor inputs in FakeTensorMode is not yet supported. Please convert all Tensors to FakeTensors first. "
                f"Found in {func}(*{args}, **{kwargs})"
            )
        if name in _DYNAMIC or name.partition(".")[0] in ("aten::index", "aten::index_put", "aten::index_put_") and _has_mask(args) and "put" not in name:
            raise DynamicOutputShapeException(func)
        if name in _OF_ELEMENTS:
            raise DataDependentOutputException(func)

    def _wrapped(self, x: Any, device: Any) -> Any:
        return x if isinstance(x, FakeTensor) else FakeTensor(self, x, device)


def _has_mask(args: tuple[Any, ...]) -> bool:
    return any(isinstance(x, torch.Tensor) and x.dtype in (torch.bool, torch.uint8) for x in args[1])

