"""Subclasses of Tensor for tests of what becomes of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.utils._pytree import tree_map


class WrapperTensor(torch.Tensor):
    """A tensor that shows another one, or the shape, element type and device of one, and has no elements of its own."""

    @staticmethod
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        like, options = cls.get_wrapper_properties(*args, **kwargs)
        size, strides = options.pop("size", like.size()), options.pop("strides", like.stride())
        for name in ("storage_offset", "dtype", "layout", "device", "requires_grad"):
            value = getattr(like, name)
            options.setdefault(name, value() if callable(value) else value)
        return torch.Tensor._make_wrapper_subclass(cls, size, strides=strides, **options)

    @classmethod
    def get_wrapper_properties(cls, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """The tensor whose properties the new one has, and those that it has of its own."""
        raise NotImplementedError("You need to implement get_wrapper_properties")

    def _validate_methods(self) -> None:
        for name in ("__new__", "__torch_function__"):
            if getattr(type(self), name) is not getattr(WrapperTensor, name):
                raise RuntimeError(f"Subclass '{type(self).__name__}' is overwriting {name} but this is not allowed as you would break WrapperTensor")

    def __repr__(self) -> str:  # type: ignore[override]
        return f"{type(self).__name__}()"


class NonWrapperTensor(torch.Tensor):
    """A tensor with elements of its own, and an attribute that results of operators have too."""

    extra_state: Any

    def __new__(cls, data: Any) -> Any:
        made: Any = torch.Tensor._make_subclass(cls, data)
        made.extra_state = {"last_func_called": None}
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, {} if kwargs is None else kwargs)
        if isinstance(result, cls):
            state = deepcopy(args[0].extra_state) if func is torch.Tensor.__deepcopy__ else {"last_func_called": func.__name__}
            result.extra_state = state
        return result

    def new_empty(self, shape: Any) -> Any:  # type: ignore[override]
        return type(self)(torch.empty(shape))


class DiagTensorBelow(WrapperTensor):
    """A matrix that keeps its diagonal alone."""

    handled_ops: dict[str, Any] = {"_local_scalar_dense": lambda func, x: func(x), "numpy": lambda func, x: func(x)}

    @classmethod
    def get_wrapper_properties(cls, diag: Any, requires_grad: bool = False) -> tuple[Any, dict[str, Any]]:
        assert diag.ndim == 1
        return diag, {"size": diag.size() + diag.size(), "strides": (diag.size(0), 1), "requires_grad": requires_grad}

    def __init__(self, diag: Any, requires_grad: bool = False) -> None:
        vars(self)["diag"] = diag

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in cls.handled_ops:
            return cls.handled_ops[name](func.overloadpacket, *args)
        whole = tree_map(lambda x: vars(x)["diag"].diag() if isinstance(x, DiagTensorBelow) else x, (args, kwargs or {}))
        return tree_map(lambda x: DiagTensorBelow(x.diag()) if isinstance(x, torch.Tensor) and x.dim() == 2 and x.equal(torch.diag(torch.diag(x))) else x,
                        func(*whole[0], **whole[1]))  # fmt: skip

    def __repr__(self) -> str:  # type: ignore[override]
        return f"{type(self).__name__}({vars(self)['diag']!r})"


class SparseTensor(WrapperTensor):
    """A tensor that keeps the places and the values of its elements."""

    @classmethod
    def get_wrapper_properties(cls, size: Any, values: Any, indices: Any, requires_grad: bool = False) -> tuple[Any, dict[str, Any]]:
        assert values.device == indices.device
        return values, {"size": size, "strides": torch.empty(size, device="meta").stride(), "requires_grad": requires_grad}

    def __init__(self, size: Any, values: Any, indices: Any, requires_grad: bool = False) -> None:
        vars(self).update(values=values, indices=indices)

    def __repr__(self) -> str:  # type: ignore[override]
        return f"{type(self).__name__}(values={self.values}, indices={self.indices})"

    def sparse_to_dense(self) -> Any:
        """The elements as a tensor of others' kind."""
        values, indices = vars(self)["values"], vars(self)["indices"]
        made = torch.zeros(self.size(), dtype=values.dtype, device=values.device)
        made[indices.unbind(1)] = values
        return made

    @staticmethod
    def from_dense(t: Any) -> Any:
        """The elements of a tensor that are not zero."""
        indices = t.nonzero()
        return SparseTensor(t.size(), t[indices.unbind(1)], indices)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        whole = tree_map(lambda x: x.sparse_to_dense() if isinstance(x, SparseTensor) else x, (args, kwargs or {}))
        return tree_map(lambda x: SparseTensor.from_dense(x) if isinstance(x, torch.Tensor) else x, func(*whole[0], **whole[1]))

    __torch_function__ = torch._C._disabled_torch_function_impl


class SubclassInfo:
    """A subclass of Tensor for tests: its name, how one is made of a shape, and what it can."""

    __slots__ = ["closed_under_ops", "create_fn", "name"]

    def __init__(self, name: str, create_fn: Any, closed_under_ops: bool = True) -> None:
        self.name, self.create_fn, self.closed_under_ops = name, create_fn, closed_under_ops


subclass_db = {
    torch.Tensor: SubclassInfo("base_tensor", create_fn=torch.randn),
    NonWrapperTensor: SubclassInfo("non_wrapper_tensor", create_fn=lambda shape: NonWrapperTensor(torch.randn(shape))),
    SparseTensor: SubclassInfo("sparse_tensor", create_fn=lambda shape: SparseTensor.from_dense(torch.randn(shape).relu())),
    DiagTensorBelow: SubclassInfo(
        "diag_tensor_below", create_fn=lambda shape: DiagTensorBelow(torch.randn(shape[0] if isinstance(shape, (tuple, list)) else shape)), closed_under_ops=False
    ),
}


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.testing._internal.logging_tensor": "LoggingTensor",
})  # fmt: skip
