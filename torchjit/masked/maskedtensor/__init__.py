"""MaskedTensor: a tensor with a mask of the elements that count."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _native, masked
from torchjit._submodules import provide

Tensor = torch.Tensor

# Operators on elements. The result has the mask of the arguments, which must agree.
_KINDS = _native.operators_with("masked")
UNARY_NAMES = [name for name, kind in _KINDS.items() if kind == "unary"]
BINARY_NAMES = [name for name, kind in _KINDS.items() if kind == "binary"]
_NORMALIZING = {"softmin", *(name for name, kind in _KINDS.items() if kind == "normalization")}
_ELEMENTWISE = {name + end for name in (*UNARY_NAMES, *BINARY_NAMES) for end in ("", "_")}
_ELEMENTWISE |= {f"__{name}__" for name in "rtruediv rdiv rpow rfloordiv rmod and or xor rand ror rxor invert lshift rshift".split()}

# Operators that move elements: data and mask go the same way.
_MOVING = set(
    """
    getitem select transpose split chunk t slice index index_select expand view reshape cat stack unsqueeze squeeze permute unbind flatten
    repeat narrow movedim swapaxes contiguous clone
""".split()
)

# Operators that change the elements' type or make others in their place.
_KEEPING = set("to float double half int long short bool type ones_like zeros_like detach".split())
_IN_PLACE = set("requires_grad_ copy_".split())

REDUCE_NAMES = "sum mean amin amax argmin argmax prod all norm var std".split()
_TYPES = (
    torch.float16, torch.float32, torch.float64, torch.bool, torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip


class _Counting(torch.autograd.Function):
    """The data of a masked tensor. No gradient goes to what does not count, not even NaN."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> Tensor:
        ctx.save_for_backward(mask)
        return data.view_as(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (mask,) = ctx.saved_tensors
        return torch.where(mask, grad, torch.zeros_like(grad)), None


_Plain: Any = Tensor  # whose attributes are taken of the class


class MaskedTensor(Tensor):
    """Data, and where it counts. Operators on elements work on all data and keep the mask; reductions leave out what does not count, and their
    results count where anything did; moving elements moves both. Raises TypeError for operators that have no such meaning, and ValueError where
    two masks differ.
    """

    _masked_mask: Tensor

    @staticmethod
    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
        if is_masked_tensor(data) or not isinstance(data, Tensor):
            raise TypeError("data must be a Tensor")
        if is_masked_tensor(mask) or not isinstance(mask, Tensor):
            raise TypeError("mask must be a Tensor")
        _check(data, mask)
        made = Tensor._make_subclass(cls, data.detach().clone(), requires_grad)
        made._masked_mask = mask.clone()
        return made

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        pass

    @staticmethod
    def _from_values(data: Tensor, mask: Tensor) -> MaskedTensor:
        """A masked tensor of tensors that no longer change, through which gradients go to the data."""
        _check(data, mask)
        return _made(_Counting.apply(data, mask), mask)

    def get_data(self) -> Tensor:
        """The data, with what does not count."""
        return _data(self)

    def get_mask(self) -> Tensor:
        """Where the data counts."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """The data with a number in the place of what does not count."""
        data = _data(self)
        return torch.where(self._masked_mask, data, torch.as_tensor(value, dtype=data.dtype))

    def is_sparse_coo(self) -> bool:
        return False

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        return False

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return False

    @property
    def T(self) -> Any:  # noqa: N802
        return self.permute(*reversed(range(self.dim())))

    @property
    def mT(self) -> Any:  # noqa: N802
        return self.transpose(-2, -1)

    @property  # type: ignore[misc]
    def data(self) -> Any:
        return self.detach()

    @property
    def grad(self) -> Any:
        """The gradient, with the same mask."""
        with torch._C.DisableTorchFunction():
            found = _Plain.grad.__get__(self)
        return None if found is None else _made(found, self._masked_mask)

    @grad.setter
    def grad(self, value: Any) -> None:
        with torch._C.DisableTorchFunction():
            _Plain.grad.__set__(self, _data(value) if is_masked_tensor(value) else value)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        with torch.no_grad():
            data, mask = _data(self), self._masked_mask
            if data.dim() == 0:
                return f"MaskedTensor({_element(data.item()) if mask else '--'}, {bool(mask)})"
            return "MaskedTensor(\n" + _text(data.tolist(), mask.tolist(), 2) + "\n)"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").removeprefix("tensor_")
        if name in _ELEMENTWISE:
            return _of_elements(func, args, kwargs, in_place=name.endswith("_") and not name.startswith("_"))
        if name in _MOVING:
            return _both(func, args, kwargs)
        if name in _IN_PLACE:
            with torch._C.DisableTorchFunction():
                func(args[0], *_plain(args[1:]), **_plain(kwargs))
            return args[0]
        if name in _KEEPING:
            return _same_mask(args[0], func(*_plain(args), **_plain(kwargs)))
        if name in REDUCE_NAMES:
            return _reduced(name, *args, **kwargs)
        if name in _NORMALIZING:
            kwargs = {k: v for k, v in kwargs.items() if k in ("dim", "dtype")}
            return _same_mask(args[0], getattr(masked, name)(_data(args[0]), *args[1:], mask=args[0]._masked_mask, **kwargs))
        if name == "where":
            return _chosen(*args, **kwargs)
        if name.startswith("__") or name in _PROPERTIES:
            with torch._C.DisableTorchFunction():
                return func(*args, **kwargs)
        raise TypeError(f"no implementation found for 'torch._ops.aten.{name}' on types that implement __torch_dispatch__: [{cls}]")


# What asks about a tensor as a whole, or about gradients.
_PROPERTIES = set(
    """
    backward dim size stride numel nelement element_size is_floating_point is_complex is_contiguous item retain_grad register_hook
    storage_offset
""".split()
)


def is_masked_tensor(a: Any) -> bool:
    """Whether an object is a MaskedTensor."""
    return isinstance(a, MaskedTensor)


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor of copies: a leaf. Raises TypeError for masks that hold no bools and for complex data, ValueError where shapes differ."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """A masked tensor of tensors: gradients go to the data. Raises as masked_tensor."""
    return MaskedTensor._from_values(data, mask)


def _check(data: Tensor, mask: Tensor) -> None:
    """Fails for data and masks that do not go together."""
    if data.layout != mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if mask.dtype != torch.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _TYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")


def _made(data: Tensor, mask: Tensor) -> MaskedTensor:
    made = data.as_subclass(MaskedTensor)
    made._masked_mask = mask
    return made


def _data(a: MaskedTensor) -> Tensor:
    """The data as a plain tensor, through which gradients go."""
    with torch._C.DisableTorchFunction():
        return a.as_subclass(Tensor)


def _plain(x: Any) -> Any:
    """Arguments with the data of masked tensors in their place."""
    if isinstance(x, MaskedTensor):
        return _data(x)
    if isinstance(x, (list, tuple)):
        return type(x)(_plain(y) for y in x)
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    return x


def _masks(x: Any) -> Any:
    """Arguments with the masks of masked tensors in their place; those of plain ones are all true."""
    if isinstance(x, MaskedTensor):
        return x._masked_mask
    if isinstance(x, (list, tuple)):
        counted = any(map(is_masked_tensor, x))
        return type(x)(torch.ones_like(y, dtype=torch.bool) if counted and type(y) is Tensor else _masks(y) for y in x)
    return x


def _same_mask(a: MaskedTensor, data: Any) -> Any:
    return _made(data, a._masked_mask) if isinstance(data, Tensor) else data


def _of_elements(func: Any, args: Any, kwargs: Any, in_place: bool) -> Any:
    given = [x for x in args if isinstance(x, MaskedTensor)]
    mask = given[0]._masked_mask
    if not all(torch.equal(x._masked_mask, mask) for x in given[1:]):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    if in_place:
        with torch._C.DisableTorchFunction():
            func(*_plain(args), **kwargs)
        return args[0]
    data = func(*_plain(args), **kwargs)
    return _made(data, mask if data.shape == mask.shape else torch.broadcast_to(mask, data.shape))


def _both(func: Any, args: Any, kwargs: Any) -> Any:
    data, mask = func(*_plain(args), **kwargs), func(*map(_masks, args), **kwargs)
    if isinstance(data, Tensor):
        return _made(data, mask)
    return type(data)(_made(d, m) for d, m in zip(data, mask, strict=True))


def _reduced(name: str, a: MaskedTensor, dim: Any = None, keepdim: bool = False, dtype: Any = None, **others: Any) -> MaskedTensor:
    """A reduction of what counts; the result counts where any of it did."""
    data, mask = _data(a), a._masked_mask
    options = {"keepdim": keepdim, **others}
    if "p" in options:
        options["ord"] = options.pop("p")
    if name == "all":
        taken = torch.where(mask, data.bool(), True)
        found = taken.all() if dim is None else taken.all(dim, keepdim)
    else:
        if dtype is not None:
            options["dtype"] = dtype
        found = getattr(masked, name)(data, dim=dim, mask=mask, **options)
    if dim is None or dim == ():
        return _made(found, mask.any().expand(found.shape))
    dims = sorted({d % max(data.dim(), 1) for d in ((dim,) if isinstance(dim, int) else dim)}, reverse=True)
    for d in dims:
        mask = mask.any(d, keepdim)
    return _made(found, mask)


def _chosen(condition: Any, x: Any, y: Any) -> MaskedTensor:
    if not is_masked_tensor(x) or not is_masked_tensor(y):
        raise ValueError("__torch_function__: where expects two MaskedTensors: x and y")
    mask = torch.where(_plain(condition), x._masked_mask, y._masked_mask)
    return MaskedTensor._from_values(torch.where(_plain(condition), _data(x), _data(y)), mask)


def _element(x: Any) -> str:
    return f"{x:8.4f}" if isinstance(x, float) else str(x)


def _text(data: Any, mask: Any, indent: int) -> str:
    """Nested lists, a row on each line."""
    lead = " " * indent
    if not isinstance(mask[0] if mask else True, list):
        return f"{lead}[{', '.join(_element(x) if shown else '      --' for x, shown in zip(data, mask, strict=True))}]"
    rows = ",\n".join(_text(d, m, indent + 2) for d, m in zip(data, mask, strict=True))
    return f"{lead}[\n{rows}\n{lead}]"


MaskedTensor.__module__ = __name__ + ".core"
def _masks_match(a: Any, b: Any) -> bool:
    """Whether the masks of two are the same; one that is no masked tensor has any."""
    return not (is_masked_tensor(a) and is_masked_tensor(b)) or bool(torch.equal(a.get_mask(), b.get_mask()))


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether two tensors are equal, or nearly so where exact is false."""
    if exact or a.dtype == torch.bool:
        return bool((a.dim() == b.dim()) and torch.eq(a, b).all())
    return bool((a.dim() == b.dim()) and torch.allclose(a, b, rtol=rtol, atol=atol))


provide(__name__, {"core": "MaskedTensor is_masked_tensor _masks_match _tensors_match", "creation": "as_masked_tensor masked_tensor"})
