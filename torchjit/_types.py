"""Element types, devices, shapes and the other small values that functions take."""

from __future__ import annotations

import functools
from typing import Any

from torchjit import _native

# Class numbers of tokens and handles; gojit/bind/abi/word.go and gojit/bind/abi/slots.go have the same numbers.
_DTYPE, _DEVICE, _LAYOUT, _MEMORY_FORMAT = range(4)
_GENERATOR_HANDLE, _PACKED_HANDLE = 2, 19


class dtype(_native.Token):
    """The type of a tensor's elements."""

    __slots__ = ("is_complex", "is_floating_point", "itemsize", "name")

    name: str
    itemsize: int
    is_floating_point: bool
    is_complex: bool

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> Any:
        return _dtype_named, (self.name,)

    @property
    def is_signed(self) -> bool:
        return self.name not in ("uint8", "bool", "quint8")


def _make_dtypes() -> dict[str, dtype]:
    made = {}
    for code, (name, itemsize, is_floating, is_complex) in enumerate(_native.dtype_names()):
        d = dtype(_DTYPE, code)
        d.name, d.itemsize, d.is_floating_point, d.is_complex = name, itemsize, is_floating, is_complex
        made[name] = d
    for alias, name in (
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("short", "int16"),
        ("int", "int32"),
        ("long", "int64"),
        ("cfloat", "complex64"),
        ("cdouble", "complex128"),
        ("chalf", "complex32"),
    ):
        made[alias] = made[name]
    return made


dtypes: dict[str, dtype] = _make_dtypes()

# The element types that classes of numbers stand for.
dtype_of_class: dict[Any, dtype] = {float: dtypes["float64"], int: dtypes["int64"], bool: dtypes["bool"]}


def _dtype_named(name: str) -> dtype:
    return dtypes[name]


class device(_native.Token):
    """Where a tensor lives: device("cpu"), device("cuda", 0), device(type="meta")."""

    def __new__(cls, type: Any = None, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if isinstance(type, int) and index is None:
            type = f"cuda:{type}"
        elif index is not None:
            if ":" in type:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            if index < 0:
                raise RuntimeError("Device index must not be negative")
            type = f"{type}:{index}"
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
        return _token(_DEVICE, _native.parse_device(type))

    @property
    def type(self) -> str:
        return _native.device_text(self.code).partition(":")[0]

    @property
    def index(self) -> int | None:
        number = _native.device_text(self.code).partition(":")[2]
        return int(number) if number else None

    def __str__(self) -> str:
        return _native.device_text(self.code)

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    def __reduce__(self) -> Any:
        return device, (str(self),)


def check_location(where: device) -> None:
    """Raises RuntimeError where tensors of a file are to be on a CUDA device and there is none."""
    if where.type == "cuda" and not _native.cuda_device_count():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only "
            "machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )


_devices: dict[int, device] = {}


def _token(class_number: int, code: int) -> Any:
    """Makes a token that the library has no object for: a device that is named for the first time."""
    if class_number != _DEVICE:
        raise SystemError(f"torchjit: no object for code {code} of token class {class_number}")
    made = _devices.get(code)
    if made is None:
        made = _devices[code] = _native.Token.__new__(device, class_number, code)
    return made


class layout(_native.Token):
    """How a tensor's elements are arranged: torch.strided, or a sparse layout such as torch.sparse_coo."""

    name: str

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> Any:
        return _named, (self.name,)


def _named(name: str) -> Any:
    return globals()[name]


class memory_format(_native.Token):
    """In which order a tensor's dimensions lie in memory."""

    name: str

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> Any:
        return _named, (self.name,)


class qscheme:
    """How the integers of a quantized tensor are read. Its values are torch.per_tensor_affine and its like."""

    def __init__(self, name: str, number: int) -> None:
        self._name = name
        self._number = number  # which programs have for it

    def __repr__(self) -> str:
        return "torch." + self._name

    def __reduce__(self) -> Any:
        return qscheme_named, (self._name,)


qschemes: dict[str, qscheme] = {
    name: qscheme(name, number)
    for number, name in enumerate(("per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams"))
}


def qscheme_named(name: str) -> qscheme:
    return qschemes[name]


def _layout(name: str, code: int) -> layout:
    made = layout(_LAYOUT, code)
    made.name = name
    return made


strided: layout = _layout("strided", 0)
sparse_coo: layout = _layout("sparse_coo", 1)
sparse_csr: layout = _layout("sparse_csr", 2)
_mkldnn: layout = _layout("_mkldnn", 3)
sparse_csc: layout = _layout("sparse_csc", 4)
sparse_bsr: layout = _layout("sparse_bsr", 5)
sparse_bsc: layout = _layout("sparse_bsc", 6)
_LAYOUTS = {kind.code: kind for kind in (strided, sparse_coo, sparse_csr, _mkldnn, sparse_csc, sparse_bsr, sparse_bsc)}
contiguous_format: memory_format = memory_format(_MEMORY_FORMAT, 0)
preserve_format: memory_format = memory_format(_MEMORY_FORMAT, 1)
channels_last: memory_format = memory_format(_MEMORY_FORMAT, 2)
channels_last_3d: memory_format = memory_format(_MEMORY_FORMAT, 3)
for _name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
    globals()[_name].name = _name


class Size(_native.SizeBase):
    """A tensor's shape.

    >>> torch.Size([2, 3]).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        n = 1
        for x in self:
            n *= x
        return n

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Generator(_native.Handle):
    """A stream of random numbers.

    >>> g = torch.Generator().manual_seed(3)
    >>> torch.rand(2, generator=g).shape, g.initial_seed()
    (torch.Size([2]), 3)
    """

    def __new__(cls, device: Any = "cpu") -> Generator:
        if device != "cpu":
            _native.parse_device(str(device))  # one that there may be
        return _native.new_generator()

    def manual_seed(self, seed: int) -> Generator:
        _native.generator_seed(self, _seed(seed))
        return self

    def seed(self) -> int:
        return _native.generator_seed_from_time(self)

    def initial_seed(self) -> int:
        return _native.generator_initial_seed(self) % (1 << 64)

    def get_state(self) -> Any:
        """The state as a tensor of 5056 bytes, in the layout of PyTorch's generators."""
        return _native.generator_state(self)

    def set_state(self, new_state: Any) -> Generator:
        """Continues from a state that get_state gave."""
        name = getattr(getattr(new_state, "dtype", None), "name", None)
        if name != "uint8":
            raise TypeError(f"RNG state must be a torch.ByteTensor, not {type(new_state).__name__}" + (f" of {name}" if name else ""))
        _native.generator_set_state(self, bytes(new_state.tolist()))
        return self

    def clone_state(self) -> Generator:
        """A generator of its own that goes on from the same state."""
        made = Generator()
        made.set_state(self.get_state())
        return made

    @property
    def device(self) -> device:
        return device("cpu")


def _seed(seed: int) -> int:
    """The seed as a signed 64-bit number; negative and large seeds wrap as PyTorch's do."""
    seed = int(seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise RuntimeError("Overflow when unpacking long")
    return seed - (1 << 64) if seed >= 1 << 63 else seed


def _type_of_limits(name: str, type: Any) -> dtype:
    found = dtype_of_class.get(type, type)
    if not isinstance(found, dtype):
        given = type.__class__.__name__
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {given}")
    return found


class iinfo:
    """The limits of an integer type.

    >>> torch.iinfo(torch.int8).min, torch.iinfo(torch.int8).max
    (-128, 127)
    """

    def __init__(self, type: dtype) -> None:
        type = _type_of_limits("iinfo", type)
        if type.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.is_floating_point or type.is_complex:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'")
        self.bits: int = type.itemsize * 8
        self.min: int = -(1 << self.bits - 1) if type.is_signed else 0
        self.max: int = (1 << self.bits - type.is_signed) - 1
        self.dtype: str = type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# Explicit mantissa bits and the largest exponent of the floating-point types.
_FLOAT_SHAPES = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}
_REAL_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


class finfo:
    """The limits of a floating-point type.

    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    def __init__(self, type: dtype | None = None) -> None:
        type = _native.default_dtype() if type is None else _type_of_limits("finfo", type)
        name = _REAL_PARTS.get(type.name, type.name)
        if name not in _FLOAT_SHAPES:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{type}'")
        mantissa, exponent = _FLOAT_SHAPES[name]
        self.bits: int = dtypes[name].itemsize * 8
        self.eps: float = 2.0**-mantissa
        self.max: float = (2 - self.eps) * 2.0**exponent
        self.min: float = -self.max
        self.smallest_normal: float
        self.tiny: float
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.resolution: float = 10.0 ** -int(mantissa * 0.30103)
        self.dtype = name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


# Packed classes and the operators that are their methods: the one that gives weight and bias back, and those that tell the geometry.
_PACKED_OPERATORS = {
    "__torch__.torch.classes.quantized.LinearPackedParamsBase": "quantized::linear_",
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase": "quantized::conv2d_",
    "__torch__.torch.classes.quantized.Conv3dPackedParamsBase": "quantized::conv3d_",
}


class PackedParameters(_native.Handle):
    """Packed parameters of quantized operators: weights in the form that the products use."""

    def _type(self) -> str:
        """The class, as programs name it."""
        return _native.packed_class(self)

    def __getattr__(self, name: str) -> Any:
        prefix = _PACKED_OPERATORS.get(self._type())
        found = None if prefix is None or name.startswith("_") else _native.operator(prefix + name)
        if found is None:
            raise AttributeError(f"'{self._type()}' object has no attribute '{name}'")
        return functools.partial(found, self)

    def __copy__(self) -> PackedParameters:
        return self

    def __deepcopy__(self, memo: Any) -> PackedParameters:
        return self

    def __getstate__(self) -> Any:
        """What the parameters are made of, in a tuple."""
        return (_native.packed_state(self),)

    def __reduce__(self) -> Any:
        from torchjit import _packed_pickles

        return _packed_pickles.of_archive, (_packed_pickles.archive_of(self),)

    def __repr__(self) -> str:
        return f"<torch.ScriptObject object of {self._type()} at {hex(id(self))}>"


_native.set_size_class(Size)
_native.register_handle_class(_PACKED_HANDLE, PackedParameters)
_native.set_token_factory(_token)
_native.register_handle_class(_GENERATOR_HANDLE, Generator)

for _cls in (Size, Generator, device, dtype, layout, memory_format, qscheme, iinfo, finfo):
    _cls.__module__ = "torchjit"
