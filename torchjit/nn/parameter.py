"""Parameters and buffers: tensors that belong to modules. Uninitialized ones get their shape later."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit._override import _disabled_torch_function_impl
from torchjit._pytorch_tensors import data_of
from torchjit._tensor import Tensor

_PARAMETER_HANDLE = 1


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Has tensors of other classes that were made parameters be instances of Parameter."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a parameter of the module it is assigned to.

    One of a class with __torch_dispatch__ stays of that class.

    >>> nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__: Any = _disabled_torch_function_impl

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = Tensor()
        data = data_of(data)
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        if _native.tensor_dispatches(data):
            return _of_dispatching(data, requires_grad)
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made = _native.TensorBase.__new__(cls, data)
        if _native.is_tracing():
            made._is_traced_as(data.detach())
        _native.tensor_set_requires_grad(made, requires_grad)
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()


def _of_dispatching(data: Any, requires_grad: bool) -> Any:
    """A parameter that stays an instance of a class that runs operators."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of the same type, "
            f"but return type {type(made).__name__} was found instead. To use the type as a Parameter, please correct the detach() semantics defined "
            "by its __torch_dispatch__() implementation."
        )
    made._is_param = True
    return made


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to; persistent: it is in the module's state_dict.

    >>> m = nn.Module()
    >>> m.mean = nn.Buffer(torch.zeros(2))
    >>> list(m.state_dict())
    ['mean']
    """

    __torch_function__: Any = _disabled_torch_function_impl
    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        data = Tensor() if data is None else data
        made = _native.TensorBase.__new__(cls, data)
        _native.tensor_set_requires_grad(made, data.requires_grad)
        made.persistent = persistent
        return made


_SHAPELESS = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying "
    "to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing "
    "their attributes."
)


def _refusing(name: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {name}. This error happens when you are using a `LazyModule` or "
            "explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )

    refuse.__name__ = name
    return refuse


class UninitializedTensorMixin:
    """What tensors without a shape share: materialize gives them one; until then they are not computed with."""

    cls_to_become: Any = Tensor
    data: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Becomes a parameter, or tensor, of arbitrary numbers with the shape. dtype is by default what was asked for first."""
        from torchjit import empty

        wanted = dtype if dtype is not None else self.data.dtype
        self.data = empty(list(shape), device=device, dtype=wanted)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(_SHAPELESS)

    def size(self, dim: Any = None) -> Any:
        raise RuntimeError(_SHAPELESS)

    def share_memory_(self) -> Any:
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling `module.share_memory()`.")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(requires_grad=self.requires_grad, dtype=self.data.dtype)  # type: ignore[attr-defined, call-arg]
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild_uninitialized, (type(self), self.requires_grad, self.data.dtype)  # type: ignore[attr-defined]


for _name in ("add", "sub", "mul", "truediv", "matmul", "neg", "pow", "eq", "ne", "lt", "gt", "getitem", "iter", "len"):
    setattr(UninitializedTensorMixin, f"__{_name}__", _refusing(f"Tensor.__{_name}__"))


def _rebuild_uninitialized(cls: Any, requires_grad: bool, dtype: Any) -> Any:
    return cls(requires_grad=requires_grad, dtype=dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[metaclass, misc]
    """A parameter whose shape is not known yet. materialize makes it a Parameter.

    >>> p = nn.UninitializedParameter()
    >>> p.materialize((2, 3))
    >>> p.shape
    torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        from torchjit import empty

        return Parameter.__new__(cls, empty([0], device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet. materialize makes it a Tensor.

    >>> b = nn.UninitializedBuffer()
    >>> b.materialize((2, 3))
    >>> b.shape
    torch.Size([2, 3])
    """

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        from torchjit import empty

        made = _native.TensorBase.__new__(cls, empty([0], device=device, dtype=dtype))
        return made.requires_grad_(requires_grad)


def is_lazy(param: Any) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


_native.register_handle_class(_PARAMETER_HANDLE, Parameter)
