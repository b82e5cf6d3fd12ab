"""Functions that make tensors from Python data."""

from __future__ import annotations

import warnings
from typing import Any

from torchjit import _host, _native, _settings
from torchjit._tensor import Tensor, _plain
from torchjit._types import Size, dtype, dtypes


def tensor(
    data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False, names: Any = None
) -> Tensor:
    """A new tensor with a copy of the data: numbers, nested lists, an array or a tensor. names are those of its dimensions.

    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    tensor([[1., 2.],
            [3., 4.]], requires_grad=True)
    """
    if names is not None:
        return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory).rename_(*names)
    if type(data) in _PLAIN and device is None and not requires_grad and not pin_memory:
        plain = _native.tensor_from_plain(data, dtype)
        if plain is not None:
            return lifted(plain) if recorders else plain
    made = copied("torch.tensor", data, dtype, device, requires_grad and not pin_memory)
    if pin_memory:
        return made.pin_memory().requires_grad_(requires_grad)
    return lifted(made) if recorders and not requires_grad else made


recorders: list[Any] = []  # modes that record which tensors a program makes of Python's data, of all threads


def lifted(made: Tensor) -> Tensor:
    """A tensor that was made of Python's data, for a mode that records: the copy of a constant, which the program may write."""
    from torchjit import ops
    from torchjit._dispatch_modes import mode_stack

    modes = mode_stack()
    return ops.aten.lift_fresh_copy.default(made) if modes and modes[-1] in recorders else made


def copied(name: str, data: Any, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of the data, for a function of that name that the program called."""
    if _native.is_tracing():
        warn_of_constant(name)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.clone().detach() or "
            f"sourceTensor.clone().detach().requires_grad_(True), rather than {name}(sourceTensor).",
            stacklevel=3,
        )
        if _native.tensor_dispatches(data):
            made = data.detach().clone() if dtype is None else data.detach().to(dtype, copy=True)
            return made.requires_grad_(requires_grad)
    if _native.is_tracing():
        return _traced(name, data, dtype, requires_grad)
    made = _from(data, dtype)
    if made is data or not _owns(data):
        if type(made) is not Tensor:
            made = made.as_subclass(Tensor)
        made = made.detach().clone()
    if device is not None:
        made = made.to(device)
    if requires_grad:
        _require_grad(made)
    return made


_PLAIN = frozenset((list, tuple, float, int, bool))


def _require_grad(made: Tensor) -> None:
    if not (made.is_floating_point() or made.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made.requires_grad_(True)


def warn_of_constant(name: str) -> None:
    """Warns that what a function makes is a constant in the trace that is being recorded."""
    _host.trace_warn_text(
        f"{name} results are registered as constants in the trace. You can safely ignore this warning if you use this function "
        "to create tensors out of constant variables that would be the same every time you call this function. In any other "
        "case, this might cause the trace to be incorrect."
    )


def _traced(name: str, data: Any, dtype: dtype | None, requires_grad: bool = False) -> Tensor:
    """A tensor of data in a trace: a constant."""
    as_tensor = name == "torch.as_tensor"
    if type(data).__name__ == "ndarray":
        data = _lifted(data)
    elif isinstance(data, Tensor) and not as_tensor:
        data = data.detach()
    if isinstance(data, Tensor):
        made = data.to(data.device, dtype or data.dtype, copy=not as_tensor)
        return made if as_tensor else made.detach()
    if _native.export_active():
        _observe(data)
    made = _from(data, dtype)
    if not _native.export_active():
        _warn_of_elements(data, bool if made.dtype is dtypes["bool"] else float if made.is_floating_point() else int)
    made = _native.trace_constant(made, not as_tensor)
    if requires_grad:
        _require_grad(made)
    return made


def _lifted(array: Any) -> Tensor:
    """A tensor over the memory of a NumPy array, in a trace."""
    lifted: Tensor = _native.operator("aten::lift_fresh")(_native.tensor_from_buffer(array))
    return lifted


def _warn_of_elements(data: Any, number: type) -> None:
    """Warns of each tensor in nested lists that its element becomes a constant of a type of numbers."""
    if isinstance(data, (list, tuple)) and not isinstance(data, Size):
        for item in data:
            _warn_of_elements(item, number)
    elif isinstance(data, Tensor) and data.dim() == 0 and not data.is_complex():
        number(data)


def _observe(data: Any) -> None:
    """Notes that a constant is made of the elements of the tensors in nested lists."""
    if isinstance(data, (list, tuple)):
        for item in data:
            _observe(item)
    elif isinstance(data, Tensor):
        _native.trace_observe(data, "Converting a tensor to an element of another")


def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """The data as a tensor, without a copy where that is possible.

    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x, torch.as_tensor([1, 2])
    (True, tensor([1, 2]))
    """
    if _native.is_tracing():
        warn_of_constant("torch.as_tensor")
        return _traced("torch.as_tensor", data, dtype)
    made = _from(data, dtype)
    if recorders and not isinstance(data, Tensor):
        made = lifted(made)
    return made if device is None else made.to(device)


def from_numpy(array: Any) -> Tensor:
    """A tensor over the memory of a NumPy array.

    >>> import numpy
    >>> array = numpy.zeros(2)
    >>> x = torch.from_numpy(array)
    >>> array[0] = 5
    >>> x
    tensor([5., 0.], dtype=torch.float64)
    """
    if type(array).__name__ != "ndarray":
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if _native.is_tracing():
        warn_of_constant("torch.from_numpy")
        return _lifted(array)
    if not array.flags.writeable:
        warn_of_reading("NumPy array", "This means writing to this tensor will result in undefined behavior. You may want to copy the array")
    return _native.tensor_from_buffer(array)


def warn_of_reading(what: str, so: str) -> None:
    """Warns once of a tensor over memory that nothing may be written to."""
    if what in _warned and not _settings.is_warn_always_enabled():
        return
    _warned.add(what)
    warnings.warn(
        f"The given {what} is not writable, and PyTorch does not support non-writable tensors. {so} to protect its data "
        "or make it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program.",
        stacklevel=3,
    )


_warned: set[str] = set()


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's tensor, or of a DLPack capsule.

    >>> x = torch.ones(2)
    >>> y = torch.from_dlpack(x)
    >>> y.data_ptr() == x.data_ptr()
    True
    """
    capsule = ext_tensor.__dlpack__() if hasattr(ext_tensor, "__dlpack__") else ext_tensor
    return _native.tensor_from_dlpack(capsule)


def _owns(data: Any) -> bool:
    """Whether a tensor of the data has memory of its own."""
    return not isinstance(data, Tensor) and not _is_array(data)


def _is_array(data: Any) -> bool:
    return type(data).__name__ in ("ndarray", "memoryview", "array")


def _from(data: Any, dtype: dtype | None) -> Tensor:
    if isinstance(data, Tensor):
        made = data
    elif _is_array(data):
        made = _native.tensor_from_buffer(data)
    elif isinstance(data, (dict, set, frozenset)):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    else:
        return _native.tensor_from_data(_plain(data), dtype)
    return made if dtype is None else made.to(dtype)


def _rebuild_quantized(cls: type, integers: Tensor, scheme: Any, *parameters: Any) -> Tensor:
    """What pickle calls to make a quantized tensor again."""
    import torchjit as torch

    if scheme is torch.per_tensor_affine:
        made = torch._make_per_tensor_quantized_tensor(integers, *parameters)
    else:
        made = torch._make_per_channel_quantized_tensor(integers, *parameters)
    return made if cls is Tensor else _native.TensorBase.__new__(cls, made)


def _rebuild(cls: type, data: bytes, dtype: dtype, shape: tuple[int, ...], requires_grad: bool) -> Tensor:
    """What pickle calls to make a tensor again."""
    made = _native.tensor_from_buffer(bytearray(data)).view(dtype).reshape(shape)
    if cls is not Tensor:
        made = _native.TensorBase.__new__(cls, made)
    return made.requires_grad_(requires_grad)
