"""The class Tensor."""

from __future__ import annotations

import builtins
import numbers
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torchjit import _dispatch_classes, _host, _namedtensor_internals, _native
from torchjit._types import _LAYOUTS, Size, device, dtype, dtype_of_class, dtypes, layout, preserve_format, qschemes

_TENSOR_HANDLE = 0


if TYPE_CHECKING:
    from torchjit._operator_methods import OperatorMethods as _TensorBase  # a stub that pybind/stub.py makes
else:

    class _TensorBase(_native.TensorBase):
        """Has the operators that are methods."""

        __slots__ = ()

    for _name, _f in _native.operator_methods().items():
        if not hasattr(_native.TensorBase, _name):
            setattr(_TensorBase, _name, _f)


class _TensorMeta(type):
    """The class of the classes of tensors."""


_TensorMeta.__module__ = "torch._C"


class Tensor(_TensorBase, metaclass=_TensorMeta):
    """An n-dimensional array of elements of one type.

    The operators that are methods in PyTorch are methods: `x.relu()` calls aten::relu.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape, x.dtype, (x @ x).sum()
    (torch.Size([2, 2]), torch.float32, tensor(54.))
    """

    def __new__(cls, *args: Any, device: Any = None) -> Tensor:
        if _native.is_tracing():
            from torchjit._creation import warn_of_constant

            warn_of_constant("torch.Tensor")
        if len(args) == 1 and isinstance(args[0], Tensor):
            made = _native.TensorBase.__new__(cls, args[0])
            if _native.is_tracing():
                made._is_traced_as(_native.operator("aten::alias")(args[0]))
            return made
        if len(args) == 1 and hasattr(args[0], "_bytes"):  # a storage
            return Tensor.empty_of([0]).set_(args[0])
        if len(args) == 1 and not isinstance(args[0], (int, Size)):
            made = _native.tensor_from_data(_plain(args[0]), _native.default_dtype())
            return _native.trace_constant(made, False) if _native.is_tracing() else made
        size = args[0] if len(args) == 1 and isinstance(args[0], Size) else args or (0,)
        return Tensor.empty_of(list(size))

    def _is_traced_as(self, other: Tensor) -> None:
        """Makes this tensor the value that another one is in the trace that is being recorded."""
        from torchjit import _C

        _C._set_value_trace(self, _C._get_value_trace(other))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        from torchjit._override import prepare_subclass

        prepare_subclass(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """What becomes of a function that is called with an instance of a subclass: it is called, and its tensors are instances too."""
        from torchjit._override import default_torch_function

        return default_torch_function(cls, func, types, args, kwargs)

    __torch_dispatch__: Any = _dispatch_classes._disabled_torch_dispatch_impl

    @staticmethod
    def empty_of(size: list[int]) -> Tensor:
        """A tensor of arbitrary numbers of the default type."""
        return _native.operator("aten::empty")(size)

    # Their operators take the tensor later than first.

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """The elements where condition holds, those of other elsewhere. See torch.where."""
        return _native.operator("aten::where")(condition, self, other)

    def polygamma(self, n: int) -> Tensor:
        """The n-th derivative of the digamma function. See torch.polygamma."""
        return _native.operator("aten::polygamma")(n, self)

    def norm(self, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        """The norm of vectors or matrices. See torch.norm."""
        from torchjit._functions import norm

        return norm(self, p, dim, keepdim, dtype=dtype)

    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """The indices of the elements that are not zero. See torch.nonzero."""
        from torchjit._functions import nonzero

        return nonzero(self, as_tuple=as_tuple)

    def unique(self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
        """The distinct elements. See torch.unique."""
        from torchjit.functional import unique

        return unique(self, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)

    def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
        """The elements but those equal to the one before. See torch.unique_consecutive."""
        from torchjit.functional import unique_consecutive

        return unique_consecutive(self, return_inverse=return_inverse, return_counts=return_counts, dim=dim)

    def stft(self, *args: Any, **kwargs: Any) -> Any:
        """The Fourier transforms of windows of a signal. See torch.stft."""
        from torchjit.functional import stft

        return stft(self, *args, **kwargs)

    # What the tensor is.

    # TensorBase reads sizes, type and elements without a call into the library; where it cannot, it calls the methods
    # with an underscore.
    _shape = _native.tensor_shape
    _dtype = _native.tensor_dtype
    _device = _native.tensor_device
    _numel = _native.tensor_numel
    _item = _native.tensor_item
    _tolist = _native.tensor_tolist
    _requires_grad = _native.tensor_requires_grad

    def _set_requires_grad(self, on: Any) -> None:
        if not isinstance(on, builtins.bool):
            raise RuntimeError("requires_grad must be a bool")
        _native.tensor_set_requires_grad(self, on)

    if TYPE_CHECKING:  # what the properties below are
        _version: builtins.int
        is_cuda: builtins.bool
        is_mkldnn: builtins.bool
        is_xpu: builtins.bool
        is_ipu: builtins.bool
        is_mps: builtins.bool
        is_ort: builtins.bool
        is_vulkan: builtins.bool
        is_nested: builtins.bool
        is_sparse: builtins.bool
        is_sparse_csr: builtins.bool
        is_cpu: builtins.bool
        is_meta: builtins.bool
        is_quantized: builtins.bool
        names: Any
        itemsize: builtins.int
        grad: Tensor | None
        is_leaf: builtins.bool
        output_nr: builtins.int
        _base: Tensor | None
        retains_grad: builtins.bool

        def storage_offset(self) -> builtins.int: ...
        def data_ptr(self) -> builtins.int: ...

    else:
        _version = property(_native.tensor_version, doc="How often the elements were written in place.")
        stride = _native.tensor_stride
        storage_offset = _native.tensor_offset
        data_ptr = _native.tensor_data_ptr
        is_cuda = property(lambda self: self.device.type == "cuda", doc="Whether the elements are in the memory of a CUDA device.")
        is_xpu = is_ipu = is_mps = is_ort = is_vulkan = is_nested = property(lambda self: False)
        is_mkldnn = property(lambda self: _native.tensor_layout(self) == 3, doc="Whether the layout is torch._mkldnn.")
        is_sparse = property(lambda self: _native.tensor_layout(self) == 1, doc="Whether the layout is torch.sparse_coo.")
        is_sparse_csr = property(lambda self: _native.tensor_layout(self) == 2, doc="Whether the layout is torch.sparse_csr.")
        names = property(
            _native.tensor_names, lambda self, names: _namedtensor_internals.set_names(self, names), doc="The names of the dimensions, None for one without."
        )
        is_cpu = property(lambda self: self.device.type == "cpu", doc="Whether the elements are in the memory of the CPU.")
        is_meta = property(lambda self: self.device.type == "meta", doc="Whether there are no elements.")
        is_quantized = property(lambda self: self.dtype.name.startswith(("q", "quint")), doc="Whether the elements are integers with a scale.")

    name = None

    def _size(self, dim: Any = None) -> Any:
        if isinstance(dim, str):
            dim = _native.tensor_named_dim(self, dim)
        return self.shape if dim is None else _native.tensor_size(self, dim)

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        return _native.tensor_is_contiguous(self, 0 if memory_format is None else memory_format.code)

    def element_size(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.dtype.itemsize

    if not TYPE_CHECKING:
        itemsize = property(element_size)

    @property
    def layout(self) -> layout:
        """How the elements are arranged: torch.strided, or a sparse layout."""
        return _LAYOUTS[_native.tensor_layout(self)]

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    def has_names(self) -> bool:
        """Whether a dimension has a name."""
        return _native.tensor_has_names(self)

    def refine_names(self, *names: Any) -> Tensor:
        """The tensor with names for dimensions that have none; `...` stands for dimensions that stay as they are.

        >>> torch.zeros(2, 3).refine_names("N", "C").names
        ('N', 'C')
        """
        return _native.operator("aten::refine_names")(self, _namedtensor_internals.filled(names, self.names, "refine_names"))

    def align_to(self, *names: Any) -> Tensor:
        """The dimensions in an order, by their names; `...` stands for those that are not named. New ones are of length 1."""
        return _namedtensor_internals.align_to(self, names)

    def rename(self, *names: Any, **rename_map: Any) -> Tensor:
        """The tensor with other names of its dimensions: x.rename("N", "C"), x.rename(N="batch") or, without any, x.rename(None)."""
        return _namedtensor_internals.update_names(self, names, rename_map, inplace=False)

    def rename_(self, *names: Any, **rename_map: Any) -> Tensor:
        """Tensor.rename of the tensor itself."""
        return _namedtensor_internals.update_names(self, names, rename_map, inplace=True)

    def unflatten(self, dim: Any, sizes: Any) -> Tensor:
        """The tensor with a dimension in the shape of sizes; pairs of names and sizes name the new dimensions. See torch.Tensor.flatten.

        >>> torch.arange(6).unflatten(0, (2, 3)).shape
        torch.Size([2, 3])
        """
        return _namedtensor_internals.unflatten(self, dim, sizes)

    def _update_names(self, names: Any, inplace: bool) -> Tensor:
        return _native.operator("aten::rename_" if inplace else "aten::rename")(self, names)

    def qscheme(self) -> Any:
        """How a quantized tensor's integers are read. Raises RuntimeError where the tensor is not quantized."""
        return qschemes[("per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams")[_native.tensor_qscheme(self)]]

    def to_sparse_coo(self) -> Tensor:
        """The elements that are not zero, in the layout torch.sparse_coo. See Tensor.to_sparse."""
        return self.to_sparse()

    def is_shared(self) -> builtins.bool:
        """Whether other processes see the memory: they do not."""
        if self.layout.name != "strided":
            self.storage()
        return False

    def share_memory_(self) -> Tensor:
        """Raises RuntimeError: memory is not shared between processes in this version."""
        raise RuntimeError("torchjit does not share memory between processes: send tensors by pickle")

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: builtins.bool = False, **options: Any) -> Any:
        """The elements of a tensor as an instance of a subclass of Tensor, which nothing has made."""
        return _dispatch_classes._make_subclass(cls, data, require_grad, **options)

    @staticmethod
    def _make_wrapper_subclass(cls: Any, size: Any, *args: Any, **options: Any) -> Any:
        """A tensor of a class with __torch_dispatch__ that has a shape, but no elements."""
        return _dispatch_classes._make_wrapper_subclass(cls, size, *args, **options)

    def as_subclass(self, cls: builtins.type) -> Any:
        """The same tensor as an instance of a subclass of Tensor."""
        if not (isinstance(cls, builtins.type) and issubclass(cls, Tensor)):
            raise TypeError("as_subclass(): argument 'cls' (position 1) must be a subclass of Tensor")
        from torchjit._override import as_subclass

        return as_subclass(self, cls)

    def _numbers(self, method: str) -> Any:
        if self.requires_grad:
            name = f"{method}_()"
            raise RuntimeError(f"Can't call {name} on Variable that requires grad. Use var.detach().{name} instead.")
        return self.rename(None).reshape(-1).tolist() if self.has_names() else self.reshape(-1).tolist()

    def apply_(self, callable: Any) -> Tensor:
        """Replaces every element by callable(element). For the CPU, and slow."""
        values = [callable(x) for x in self._numbers("apply")]
        return self.copy_(_native.tensor_from_data(values, self.dtype).reshape(self.shape))

    def map_(self, tensor: Tensor, callable: Any) -> Tensor:
        """Replaces every element by callable(element, element of tensor), where tensor is expanded to the shape."""
        others = (tensor.rename(None) if tensor.has_names() else tensor).expand(self.shape).reshape(-1).tolist()
        values = [callable(x, y) for x, y in zip(self._numbers("map"), others, strict=True)]
        return self.copy_(_native.tensor_from_data(values, self.dtype).reshape(self.shape))

    def map2_(self, x: Tensor, y: Tensor, callable: Any) -> Tensor:
        """map_ with two further tensors."""
        first, second = (t.expand(self.shape).reshape(-1).tolist() for t in (x, y))
        values = [callable(*z) for z in zip(self._numbers("map2"), first, second, strict=True)]
        return self.copy_(_native.tensor_from_data(values, self.dtype).reshape(self.shape))

    def new(self, *args: Any, device: Any = None) -> Tensor:
        """A tensor of the same element type: of a size, or with given data."""
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].to(self.dtype)
        if len(args) == 1 and hasattr(args[0], "_bytes"):  # a storage
            return _native.operator("aten::empty")([0], dtype=self.dtype).set_(args[0])
        if len(args) == 1 and not isinstance(args[0], (builtins.int, Size)):
            if self.layout.name != "strided":
                raise TypeError(
                    "SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse via to_sparse."
                )
            return _native.tensor_from_data(_plain(args[0]), self.dtype)
        size = args[0] if len(args) == 1 and isinstance(args[0], Size) else args or (0,)
        return _native.operator("aten::empty")(list(size), dtype=self.dtype, layout=self.layout)

    def eig(self, eigenvectors: builtins.bool = False) -> Any:
        """Raises RuntimeError: torch.linalg.eig has taken its place; so with the next ones."""
        from torchjit._removed import eig

        return eig()

    def lstsq(self, other: Tensor) -> Any:
        from torchjit._removed import lstsq

        return lstsq()

    def solve(self, other: Tensor) -> Any:
        from torchjit._removed import solve

        return solve()

    def matrix_rank(self, tol: Any = None, symmetric: builtins.bool = False) -> Any:
        from torchjit._removed import matrix_rank

        return matrix_rank()

    def lu(self, pivot: builtins.bool = True, get_infos: builtins.bool = False) -> Any:
        """The LU factors and the rows that were exchanged. See torch.lu."""
        from torchjit.functional import lu

        return lu(self, pivot=pivot, get_infos=get_infos)

    def reinforce(self, reward: Any) -> None:
        """Raises RuntimeError, as it does in PyTorch since 0.4."""
        raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead.")

    def cuda(self, device: Any = None, non_blocking: builtins.bool = False, memory_format: Any = preserve_format) -> Tensor:
        """The elements on a CUDA device, the current one where none is given. Raises AssertionError where there is none, with a note of what was looked for."""
        return self.to(_cuda_device(device), non_blocking=non_blocking, memory_format=memory_format)

    def record_stream(self, stream: Any) -> None:
        """Says that a stream uses the tensor, other than the one it was made on: its memory is used again once that stream is done with what it was given until then."""
        _native.cuda_record_stream(self, stream.cuda_stream)

    def xpu(self, device: Any = None, non_blocking: builtins.bool = False, memory_format: Any = preserve_format) -> Tensor:
        """Raises RuntimeError: this version runs on the CPU alone. So does ipu."""
        raise RuntimeError("PyTorch is not linked with support for xpu devices")

    def ipu(self, device: Any = None, non_blocking: builtins.bool = False, memory_format: Any = preserve_format) -> Tensor:
        raise RuntimeError("PyTorch is not linked with support for ipu devices")

    def get_device(self) -> int:
        """The number of the device, -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's class (`torch.FloatTensor`), or the tensor as one of another class or element type.

        Raises ValueError for a class or a name that is of no tensors, TypeError for what is neither.
        """
        if dtype is None:
            if self.is_quantized:
                return f"torch.quantized.{_QUANTIZED_CLASSES[self.dtype.name]}"
            return f"torch.{'' if self.layout.name == 'strided' else 'sparse.'}{_TENSOR_CLASSES[self.dtype.name]}"
        device = self.device
        if not isinstance(dtype, _ElementType):
            device, dtype = _of_class(dtype, device)
        if _native.is_tracing():
            return _native.trace_to(self, device, dtype, False, False, None)
        return self.to(dtype) if device is self.device or device == self.device else self.to(device, dtype)

    def _length(self) -> builtins.int:
        if _native.is_tracing():
            if self.dim() == 0:
                raise TypeError("len() of a 0-d tensor")
            _host.trace_warn_text(
                "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
                "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect results."
            )
            return self.shape[0].__index__()
        return _native.tensor_length(self)

    def __bool__(self) -> bool:
        return _native.tensor_truth(self)

    def __int__(self) -> int:
        return int(_real(_native.tensor_number(self, "integer"), "int64_t"))

    def __float__(self) -> float:
        return float(_real(_native.tensor_number(self, "float"), "double"))

    def __complex__(self) -> complex:
        return complex(_native.tensor_number(self, "complex"))

    def __index__(self) -> int:
        try:
            x = _native.tensor_number(self, "index")
        except ValueError:  # of more elements
            x = None
        if not isinstance(x, int):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(x)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if _native.tensor_wraps(self):
            return f"{builtins.type(self).__name__}(..., size={tuple(self.shape)}, dtype={self.dtype})"
        text = _native.tensor_text(self)
        if not hasattr(self, "_takes_over"):
            return text
        prefix = builtins.type(self).__name__ + "("
        return prefix + text[len("tensor(") :].replace("\n" + " " * len("tensor("), "\n" + " " * len(prefix))

    def __format__(self, spec: str) -> str:
        if self.dim() == 0:
            number = self.item()
            return format(float(number) if isinstance(number, Tensor) else number, spec)  # an export has a tensor for it, and refuses the text
        return object.__format__(self, spec)

    def __iter__(self) -> Iterator[Tensor]:
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        if _native.is_tracing():
            _host.trace_warn_text(
                "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape won't "
                "change the number of iterations executed (and might lead to errors or silently give incorrect results)."
            )
        return iter(self.unbind(0))

    def __contains__(self, x: Any) -> bool:
        if not isinstance(x, (Tensor, numbers.Number)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {builtins.type(x)}.")
        return bool(_native.operator("aten::eq")(self, x).any())

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.dim() else self

    # Arithmetic and indices, whose types are in the stub.

    if not TYPE_CHECKING:
        __getitem__ = _native.tensor_getitem
        __setitem__ = _native.tensor_setitem
        __add__ = _native.operand("aten::add", "__add__")
        __radd__ = _native.operand("aten::add", "__radd__")
        __sub__ = _native.operand("aten::sub", "__sub__")
        __rsub__ = _native.operand("aten::rsub", "__rsub__")
        __mul__ = _native.operand("aten::mul", "__mul__")
        __rmul__ = _native.operand("aten::mul", "__rmul__")
        __truediv__ = _native.operand("aten::div", "__truediv__")
        __div__ = _native.operand("aten::div", "__div__")
        __mod__ = _native.operand("aten::remainder", "__mod__")
        __pow__ = _native.operand("aten::pow", "__pow__")
        __matmul__ = _native.operand("aten::matmul", "__matmul__")
        __and__ = _native.operand("aten::__and__", "__and__")
        __or__ = _native.operand("aten::__or__", "__or__")
        __xor__ = _native.operand("aten::__xor__", "__xor__")
        __lshift__ = _native.operand("aten::__lshift__", "__lshift__")
        __rshift__ = _native.operand("aten::__rshift__", "__rshift__")
        __floordiv__ = _native.operand("aten::floor_divide", "__floordiv__")
        __eq__ = _native.operand("aten::eq", "__eq__")
        __ne__ = _native.operand("aten::ne", "__ne__")
        __lt__ = _native.operand("aten::lt", "__lt__")
        __le__ = _native.operand("aten::le", "__le__")
        __gt__ = _native.operand("aten::gt", "__gt__")
        __ge__ = _native.operand("aten::ge", "__ge__")
        __iadd__ = _native.operand("aten::add_", "__iadd__")
        __isub__ = _native.operand("aten::sub_", "__isub__")
        __imul__ = _native.operand("aten::mul_", "__imul__")
        __itruediv__ = _native.operand("aten::div_", "__itruediv__")
        __ifloordiv__ = _native.operand("aten::floor_divide_", "__ifloordiv__")
        __imod__ = _native.operand("aten::remainder_", "__imod__")
        __ipow__ = _native.operand("aten::pow_", "__ipow__")
        __iand__ = _native.operand("aten::__iand__", "__iand__")
        __ior__ = _native.operand("aten::__ior__", "__ior__")
        __ixor__ = _native.operand("aten::__ixor__", "__ixor__")
        __ilshift__ = _native.operand("aten::__ilshift__", "__ilshift__")
        __irshift__ = _native.operand("aten::__irshift__", "__irshift__")
        __neg__ = _native.operand("aten::neg", "__neg__")
        __abs__ = _native.operand("aten::abs", "__abs__")
        __invert__ = _native.operand("aten::bitwise_not", "__invert__")

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __pos__(self) -> Tensor:
        if self.dtype.name == "bool":
            raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
        return _native.operator("aten::positive")(self) if _native.is_tracing() else self

    def __rtruediv__(self, other: Any) -> Tensor:
        try:
            return self.reciprocal() * other
        except TypeError:
            return NotImplemented

    __rdiv__ = __rtruediv__

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _native.operator("aten::floor_divide")(other, self) if isinstance(other, numbers.Number) else NotImplemented

    def __rand__(self, other: Any) -> Tensor:
        return _reflected("aten::bitwise_and", other, self)

    def __ror__(self, other: Any) -> Tensor:
        return _reflected("aten::bitwise_or", other, self)

    def __rxor__(self, other: Any) -> Tensor:
        return _reflected("aten::bitwise_xor", other, self)

    def __rlshift__(self, other: Any) -> Tensor:
        return _reflected("aten::bitwise_left_shift", other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return _reflected("aten::bitwise_right_shift", other, self)

    def __rpow__(self, other: Any) -> Tensor:
        if _native.is_tracing():
            from torchjit._creation import tensor
            from torchjit._settings import _dtype_of_code

            wanted = _dtype_of_code[_native.operator("aten::result_type")(other, self)]
            return Tensor.__pow__(tensor(other, dtype=wanted), self)
        return _reflected("aten::pow", other, self)

    def __rmod__(self, other: Any) -> Tensor:
        return _reflected("aten::remainder", other, self)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _reflected("aten::matmul", other, self)

    # Views that are written as attributes.

    @property
    def T(self) -> Tensor:
        return _native.operator("aten::numpy_T")(self)

    @property
    def mT(self) -> Tensor:
        return _native.operator("aten::mT")(self)

    @property
    def H(self) -> Tensor:
        return _native.operator("aten::matrix_H")(self)

    @property
    def mH(self) -> Tensor:
        return _native.operator("aten::mH")(self)

    @property
    def real(self) -> Tensor:
        return _native.operator("aten::real")(self)

    @property
    def imag(self) -> Tensor:
        return _native.operator("aten::imag")(self)

    # Conversion.

    def _to(self, *args: Any, **kwargs: Any) -> Tensor:
        options = _to_options(*args, **kwargs)
        if _native.is_tracing():
            copy, memory_format = options["copy"], options.get("memory_format")
            return _native.trace_to(self, options["device"], options["dtype"], options["non_blocking"], copy, memory_format)
        if options["dtype"] is None:
            options["dtype"] = self.dtype
        if _native.tensor_wraps(self) and options["device"] not in (None, self.device):
            return _native.operator("aten::_to_copy")(self, dtype=options["dtype"], device=options["device"])
        return _native.operator("aten::to")(self, **options)

    def _convert(self, dtype: Any, *args: Any, memory_format: Any = preserve_format, **unknown: Any) -> Tensor:
        """x.half() and its kin with arguments: there is the memory format, by name."""
        if args or unknown:
            what = f"takes 0 positional arguments but {len(args)} was given" if args else f"got an unexpected keyword argument '{next(iter(unknown))}'"
            raise TypeError(f"{_CONVERSIONS.get(dtype.name, dtype.name)}() {what}")
        return self.to(dtype, memory_format=memory_format)

    def cpu(self, *, memory_format: Any = preserve_format) -> Tensor:
        if _native.is_tracing() or self.device.type != "cpu":
            return self.to("cpu")
        return self

    def numpy(self, *, force: builtins.bool = False) -> Any:
        import numpy

        if _native.tensor_dispatches(self):
            raise RuntimeError(".numpy() is not supported for tensor subclasses.")
        if _native.tensor_layout(self):
            raise TypeError(f"can't convert {_LAYOUT_NAMES[self.layout.name]} layout tensor to numpy. Use Tensor.dense() first.")
        if self.is_meta:
            raise TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
        x = self.detach() if force or not _native.grad_enabled() else self
        if force:
            x = x.resolve_conj().resolve_neg()
        return numpy.asarray(memoryview(x)) if x.dim() else numpy.ndarray((), _numpy_dtype(x.dtype), memoryview(x))

    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any:
        a = self.numpy()
        if dtype is not None:
            a = a.astype(dtype, copy=bool(copy))
        elif copy:
            a = a.copy()
        return a

    # NumPy's scalars leave arithmetic with tensors to the tensors, and its functions give tensors for tensors.
    __array_priority__ = 1000

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: builtins.bool = False) -> Tensor:
        from torchjit._creation import from_numpy

        return from_numpy(array.astype("uint8") if array.dtype == "bool" else array)

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        if self.requires_grad:
            raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
        return _native.to_dlpack(self)

    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]:
        return (1, 0)

    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: builtins.bool = False
    ) -> Tensor:
        from torchjit._creation import copied

        return copied("tensor.new_tensor", data, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment")
        if id(self) not in memo and _native.tensor_dispatches(self):
            return _dispatch_classes.copied(self, memo)
        if id(self) not in memo:
            x = self.detach().clone()
            if type(self) is not Tensor:
                x = _native.TensorBase.__new__(type(self), x)
            x.requires_grad_(self.requires_grad)
            x.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_backward_hooks"})
            memo[id(self)] = x
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        from torchjit._creation import _rebuild, _rebuild_quantized

        _namedtensor_internals.check_serializing_named_tensor(self)
        if _native.is_tracing():
            _native.trace_observe(self, "Saving a tensor")
        if _native.tensor_wraps(self):
            return _dispatch_classes.rebuild_wrapper_subclass, (
                type(self), self.dtype, tuple(self.shape), self.stride(), self.storage_offset(), None, self.device, self.requires_grad,
                _dispatch_classes.state_of(self),
            )  # fmt: skip
        if _native.tensor_layout(self):
            from torchjit._sparse import parts_of, rebuild

            return rebuild, (type(self), *parts_of(self), self.layout.name == "sparse_coo" and self.is_coalesced(), self.requires_grad)
        if self.is_quantized:
            scheme = self.qscheme()
            if repr(scheme) == "torch.per_tensor_affine":
                return _rebuild_quantized, (type(self), self.int_repr(), scheme, self.q_scale(), self.q_zero_point())
            channels = self.q_per_channel_scales(), self.q_per_channel_zero_points(), self.q_per_channel_axis()
            return _rebuild_quantized, (type(self), self.int_repr(), scheme, *channels)
        return _rebuild, (
            type(self),
            self.detach().contiguous().reshape(-1).view(dtypes["uint8"]).numpy().tobytes(),
            self.dtype,
            tuple(self.shape),
            self.requires_grad,
        )

    def storage(self) -> Any:
        """The memory that the tensor shows. See torch.storage."""
        from torchjit.storage import storage_of

        if _native.export_active():
            _native.trace_observe(self, "Reading the memory of a tensor")
        if _native.tensor_wraps(self):
            raise NotImplementedError("python bindings to nullptr storage (e.g., from torch.Tensor._make_wrapper_subclass) are currently unsafe and thus disabled: the tensor has no memory")
        return storage_of(self)

    def untyped_storage(self) -> Any:
        return self.storage().untyped()

    _storage = untyped_storage

    def storage_type(self) -> Any:
        """The class torch.FloatStorage, or its like, of the elements."""
        return self.storage()._get_legacy_storage_class()

    def set_(self, source: Any = None, storage_offset: builtins.int = 0, size: Any = None, stride: Any = None) -> Tensor:
        """Has the tensor show the memory of another or of a storage, or none.

        Of a storage it shows the elements from an offset on, all of them where no size is given; with a size it grows where it is too short.
        Raises RuntimeError for a storage of other elements.
        """
        if isinstance(source, Tensor) or source is None:
            if source is not None and (size is not None or storage_offset):
                source = source.as_strided(size, stride or _native.operator("aten::empty")(list(size), device="meta").stride(), storage_offset)
            return _native.operator("aten::set_")(self, _native.operator("aten::empty")([0], dtype=self.dtype) if source is None else source)
        from torchjit.storage import _StorageBase, part_of

        if not isinstance(source, _StorageBase):
            raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor or Storage, not {type(source).__name__}")
        return _native.operator("aten::set_")(self, part_of(source, self.dtype, storage_offset, size, stride))

    # Gradients.

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        if requires_grad and not (self.is_floating_point() or self.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        _native.tensor_set_requires_grad(self, requires_grad)
        return self

    if not TYPE_CHECKING:
        grad = property(_native.tensor_grad, _native.tensor_set_grad, lambda self: _native.tensor_set_grad(self, None), doc="The gradient of a leaf, or None.")
        is_leaf = property(_native.tensor_is_leaf, doc="Whether no recorded operation made the tensor.")

    @property
    def grad_fn(self) -> Any:
        """What made the tensor, None for a leaf."""
        from torchjit.autograd.graph import _named

        return _named(_native.tensor_grad_fn(self))

    if not TYPE_CHECKING:
        output_nr = property(_native.tensor_output_number, doc="Which output of grad_fn the tensor is.")
        _grad = grad
        _grad_fn = property(lambda self: self.grad_fn, doc="What made the tensor, None for a leaf.")
        _base = property(_native.tensor_base, doc="The tensor whose memory a view shows, None where this is no view.")
    _backward_hooks: Any = None

    _python_dispatch = False  # whether a subclass sees the operators below autograd
    _has_symbolic_sizes_strides = False

    @property
    def _cdata(self) -> builtins.int:
        """A number that this tensor has as long as it lives."""
        return id(self)

    def _fix_weakref(self) -> None:
        """Nothing: weak references to tensors are Python's."""

    @property
    def volatile(self) -> builtins.bool:
        """False, with a warning: tensors have no such mark any more."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
        return False

    @volatile.setter
    def volatile(self, value: Any) -> None:
        warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)

    def _is_view(self) -> builtins.bool:
        return self._base is not None

    if not TYPE_CHECKING:
        retains_grad = property(_native.tensor_retains_grad, doc="Whether retain_grad was called for this tensor, which is no leaf.")

    def retain_grad(self) -> None:
        """Keeps the gradient in grad though this is no leaf."""
        _native.tensor_retain_grad(self)

    def register_hook(self, hook: Any) -> Any:
        """Has hook(grad) called when the gradient has been computed; what it returns, if not None, takes its place.

        Returns a handle whose remove() ends that.
        """
        from torchjit.nn.modules._hooks import RemovableHandle, TensorHooks

        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._backward_hooks is None:
            self._backward_hooks = OrderedDict()
            _native.tensor_register_hook(self, TensorHooks(self._backward_hooks))
        handle = RemovableHandle(self._backward_hooks)
        self._backward_hooks[handle.id] = hook
        return handle

    def backward(self, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False, inputs: Any = None) -> None:
        from torchjit.autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @property
    def data(self) -> Tensor:
        made = self.detach()
        _native.tensor_count_apart(made)
        return made

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {builtins.type(value).__name__}")
        _native.tensor_set_data(self, value)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


def _real(number: Any, kind: str) -> Any:
    """A number that is to be of a real type of C++'s. Raises RuntimeError for one with an imaginary part."""
    if not isinstance(number, complex):
        return number
    if number.imag:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return number.real


def _reflected(operator: str, other: Any, self: Any) -> Any:
    """An operator of Python whose left operand is no tensor; what is no operand is tried otherwise."""
    try:
        return _native.operator(operator)(other, self)
    except TypeError:
        return NotImplemented


def _cuda_device(number: Any) -> device:
    """The CUDA device of a number or name, the current one for None. Raises AssertionError where there is none."""
    _native.cuda_check()
    if number is None:
        return device("cuda", _native.cuda_current_device())
    found = device(number)
    if found.type != "cuda":
        raise ValueError(f"Invalid device, must be cuda device, but got {found}")
    return found


def _wrap(dim: int, ndim: int) -> int:
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim % limit


def _to_options(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of Tensor.to, whose positional ones go by their types."""
    options: dict[str, Any] = {"dtype": None, "device": None, "non_blocking": False, "copy": False}
    options.update(kwargs)
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        options["dtype"], options["device"] = other.dtype, other.device
    if rest and (rest[0] is None or isinstance(rest[0], (str, device, int)) and not isinstance(rest[0], bool)):
        options["device"] = rest.pop(0)
    if rest and (rest[0] is None or isinstance(rest[0], dtype) or isinstance(rest[0], type)):
        options["dtype"] = rest.pop(0)
    for name in ("non_blocking", "copy"):
        if rest:
            options[name] = rest.pop(0)
    if isinstance(options["dtype"], type):
        options["dtype"] = dtype_of_class.get(options["dtype"], options["dtype"])
    if rest or (options["dtype"] is not None and not isinstance(options["dtype"], dtype)):
        raise TypeError(
            "to() received an invalid combination of arguments - got ("
            + ", ".join(type(a).__name__ for a in args)
            + ")"
        )
    if isinstance(options["device"], (str, int)):
        options["device"] = device(options["device"])
    return options


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The arguments of Module.to: device, dtype, non_blocking and memory format, None for what is not given. Raises RuntimeError for copy."""
    memory_format = kwargs.pop("memory_format", None)
    if "copy" in kwargs or len(args) > 3:
        raise RuntimeError(".to() does not accept copy argument")
    options = _to_options(*args, **kwargs)
    return options["device"], options["dtype"], options["non_blocking"], memory_format


def _numpy_dtype(d: dtype) -> Any:
    import numpy

    return numpy.dtype(d.name)


def _plain(data: Any) -> Any:
    """Data with arrays and other sequences turned into what the library reads."""
    if isinstance(data, (list, tuple)):
        return [_plain(x) for x in data] if any(not isinstance(x, (int, float, complex)) for x in data) else data
    if isinstance(data, (Tensor, str)) or not hasattr(data, "__len__") and not hasattr(data, "tolist"):
        return data
    if hasattr(data, "tolist") and type(data).__module__ != "numpy":
        return data.tolist()
    if not getattr(data, "shape", True):
        return data.item() if type(data).__name__ == "ndarray" else data  # numpy's scalars keep their type
    return [_plain(data[i]) for i in range(len(data))]


_QUANTIZED_CLASSES: dict[str, str] = {"quint8": "QUInt8Tensor", "qint8": "QInt8Tensor", "qint32": "QInt32Tensor", "quint4x2": "QUInt4x2Tensor", "quint2x4": "QUInt2x4Tensor"}
_TENSOR_CLASSES = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor",
    "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor", "int32": "IntTensor", "int64": "LongTensor",
    "bool": "BoolTensor", "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor",
}  # fmt: skip
_LAYOUT_NAMES = {
    "strided": "Strided", "sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc", "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc", "_mkldnn": "Mkldnn",
}  # fmt: skip
_CONVERSIONS = {
    "uint8": "byte", "int8": "char", "int16": "short", "int32": "int", "int64": "long", "float16": "half", "float32": "float", "float64": "double",
    "complex32": "chalf", "complex64": "cfloat", "complex128": "cdouble",
}  # fmt: skip
_DTYPES_BY_CLASS = {cls: dtypes[name] for name, cls in _TENSOR_CLASSES.items()}
_ElementType = dtype


def _of_class(of: Any, here: device) -> tuple[device, dtype]:
    """The device and the element type of a class of tensors, or of its name, for a tensor that is somewhere. Raises ValueError for another."""
    if not isinstance(of, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = of if isinstance(of, str) else f"{of.__module__}.{of.__name__}".removeprefix("builtins.").replace("torchjit", "torch", 1)
    module, _, last = name.rpartition(".")
    if name == "torch.Tensor":
        return here, _native.default_dtype()
    if module not in ("torch", "torch.sparse", "torch.cuda", "torch.cuda.sparse") or last not in _DTYPES_BY_CLASS:
        raise ValueError(f"invalid type: '{name}'")
    kind = "cuda" if ".cuda" in module else "cpu"
    return here if here.type in (kind, "meta") else device(kind), _DTYPES_BY_CLASS[last]

Tensor.__module__ = "torchjit"
_native.register_handle_class(_TENSOR_HANDLE, Tensor)

# What the operators of Python's syntax are called when a class takes them over.
for _name in (
    "add", "sub", "mul", "div", "remainder", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "add_", "sub_", "mul_", "div_", "remainder_",
):  # fmt: skip
    _symbol = {"div": "truediv", "remainder": "mod", "div_": "itruediv", "remainder_": "imod"}.get(_name, "i" + _name[:-1] if _name.endswith("_") else _name)
    vars(Tensor)[f"__{_symbol}__"]._public = getattr(Tensor, _name)
for _name in ("add", "mul", "div"):
    vars(Tensor)["__div__" if _name == "div" else f"__r{_name}__"]._public = getattr(Tensor, _name)
# Python tries the other operand where no class takes these over.
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "div", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift", "floordiv", "eq", "ne", "lt", "le", "gt", "ge"):
    vars(Tensor)[f"__{_name}__"]._is_syntax = True
_data = _native.operator("aten::data")
_native.set_to_operator(_native.operator("aten::to"))
