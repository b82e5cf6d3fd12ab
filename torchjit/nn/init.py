"""First values for parameters."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from torchjit import Tensor, empty, linalg, randperm
from torchjit.autograd.grad_mode import no_grad
from torchjit.overrides import handle_torch_function, has_torch_function_unary


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which a nonlinearity asks for larger weights.

    >>> nn.init.calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity in (
        "linear",
        "sigmoid",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
    ):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs a weight connects."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = 1
    for n in tensor.shape[2:]:
        receptive *= n
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


_calculate_fan_in_and_fan_out = _fans


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The number of inputs ("fan_in") or outputs ("fan_out") of what a weight belongs to."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _fans(tensor)[modes.index(mode.lower())]


# These four are operators where they are compiled.


def _no_grad_uniform_(tensor: Tensor, a: float, b: float) -> Tensor:
    with no_grad():
        return tensor.uniform_(a, b)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float) -> Tensor:
    with no_grad():
        return tensor.normal_(mean, std)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    with no_grad():
        return tensor.zero_()


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fills a tensor with numbers between a and b.

    Nothing is recorded for gradients.

    >>> w = torch.empty(100)
    >>> nn.init.uniform_(w, -1.0, 1.0).abs().max() <= 1
    tensor(True)
    """
    if has_torch_function_unary(tensor):
        return handle_torch_function(uniform_, (tensor,), tensor=tensor, a=a, b=b)
    return _no_grad_uniform_(tensor, a, b)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fills a tensor with normal numbers of a mean and a deviation.

    Nothing is recorded for gradients.

    >>> w = torch.empty(2, 3)
    >>> nn.init.normal_(w, mean=0.0, std=0.1).shape
    torch.Size([2, 3])
    """
    if has_torch_function_unary(tensor):
        return handle_torch_function(normal_, (tensor,), tensor=tensor, mean=mean, std=std)
    return _no_grad_normal_(tensor, mean, std)


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Normal numbers cut to [a, b], by inverting the cumulative distribution.

    >>> w = nn.init.trunc_normal_(torch.empty(100), std=1.0, a=-2.0, b=2.0)
    >>> w.abs().max() <= 2
    tensor(True)
    """
    return _no_grad_trunc_normal_(tensor, mean, std, a, b)


def _no_grad_trunc_normal_(tensor: Tensor, mean: float, std: float, a: float, b: float) -> Tensor:
    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=3
        )
    with no_grad():
        low, high = below((a - mean) / std), below((b - mean) / std)
        tensor.uniform_(2 * low - 1, 2 * high - 1)
        tensor.erfinv_()
        tensor.mul_(std * math.sqrt(2.0))
        tensor.add_(mean)
        return tensor.clamp_(min=a, max=b)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills a tensor with one number.

    Nothing is recorded for gradients.

    >>> w = torch.empty(2)
    >>> nn.init.constant_(w, 0.5)
    tensor([0.5000, 0.5000])
    """
    if has_torch_function_unary(tensor):
        return handle_torch_function(constant_, (tensor,), tensor=tensor, val=val)
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills a tensor with ones.

    Nothing is recorded for gradients.

    >>> w = torch.empty(2)
    >>> nn.init.ones_(w)
    tensor([1., 1.])
    """
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills a tensor with zeros.

    Nothing is recorded for gradients.

    >>> w = torch.empty(2)
    >>> nn.init.zeros_(w)
    tensor([0., 0.])
    """
    return _no_grad_zero_(tensor)


def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with the identity.

    Raises ValueError for tensors of other than two dimensions. Nothing is recorded for gradients.

    >>> w = torch.empty(2, 2)
    >>> nn.init.eye_(w)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        for i in range(min(tensor.shape)):
            tensor[i, i] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fills a tensor with numbers of a symmetric interval, whose width keeps variances forth and back through linear layers (Glorot and Bengio).

    Raises ValueError for tensors of less than two dimensions, whose fans are not known. Nothing is recorded for gradients.

    >>> w = torch.empty(64, 64)
    >>> nn.init.xavier_uniform_(w).abs().max() <= (6 / 128) ** 0.5
    tensor(True)
    """
    fan_in, fan_out = _fans(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fills a tensor with normal numbers, whose deviation keeps variances forth and back through linear layers (Glorot and Bengio).

    Raises ValueError for tensors of less than two dimensions, whose fans are not known. Nothing is recorded for gradients.

    >>> w = torch.empty(64, 64)
    >>> nn.init.xavier_normal_(w, gain=nn.init.calculate_gain("tanh")).shape
    torch.Size([64, 64])
    """
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)))


def _fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fills a tensor with numbers of a symmetric interval, whose width keeps variances through layers with a nonlinearity (He and others).

    Raises ValueError for tensors of less than two dimensions, whose fans are not known. Nothing is recorded for gradients.

    >>> w = torch.empty(64, 64)
    >>> nn.init.kaiming_uniform_(w).abs().max() <= 0.3062
    tensor(True)
    """
    if has_torch_function_unary(tensor):
        return handle_torch_function(kaiming_uniform_, (tensor,), tensor=tensor, a=a, mode=mode, nonlinearity=nonlinearity)
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fills a tensor with normal numbers, whose deviation keeps variances through layers with a nonlinearity (He and others): gain over the root of fan_in

    or fan_out.
    Raises ValueError for tensors of less than two dimensions, whose fans are not known. Nothing is recorded for gradients.

    >>> w = torch.empty(64, 64)
    >>> nn.init.kaiming_normal_(w, nonlinearity="relu").shape
    torch.Size([64, 64])
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """Rows, or columns, that are orthogonal.

    >>> w = nn.init.orthogonal_(torch.empty(3, 3))
    >>> torch.allclose(w @ w.T, torch.eye(3), atol=1e-5)
    True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows = tensor.shape[0]
    cols = tensor.numel() // rows
    flat = empty([rows, cols]).normal_(0, 1)
    if rows < cols:
        flat = flat.t()
    q, r = linalg.qr(flat)
    q = q * r.diag().sign()
    if rows < cols:
        q = q.t()
    with no_grad():
        return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution that passes on its input.

    >>> w = torch.empty(2, 2, 3)
    >>> nn.init.dirac_(w)[0]
    tensor([[0., 1., 0.],
            [0., 0., 0.]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    centre = [n // 2 for n in tensor.shape[2:]]
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for i in range(min(per_group, tensor.shape[1])):
                tensor[tuple([g * per_group + i, i, *centre])] = 1
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01) -> Tensor:
    """Normal numbers, of which a part of every column is zero.

    >>> w = nn.init.sparse_(torch.empty(10, 4), sparsity=0.3)
    >>> (w == 0).sum(0)
    tensor([3, 3, 3, 3])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = int(math.ceil(sparsity * rows))
    with no_grad():
        tensor.normal_(0, std)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def _make_deprecate(meth: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function under its former name, without the underscore, which warns."""
    name = meth.__name__.removesuffix("_")

    @functools.wraps(meth)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"nn.init.{name} is now deprecated in favor of nn.init.{name}_.", stacklevel=2)
        return meth(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"The former name of {name}_."
    return call


uniform: Callable[..., Tensor] = _make_deprecate(uniform_)
normal: Callable[..., Tensor] = _make_deprecate(normal_)
constant: Callable[..., Tensor] = _make_deprecate(constant_)
eye: Callable[..., Tensor] = _make_deprecate(eye_)
dirac: Callable[..., Tensor] = _make_deprecate(dirac_)
xavier_uniform: Callable[..., Tensor] = _make_deprecate(xavier_uniform_)
xavier_normal: Callable[..., Tensor] = _make_deprecate(xavier_normal_)
kaiming_uniform: Callable[..., Tensor] = _make_deprecate(kaiming_uniform_)
kaiming_normal: Callable[..., Tensor] = _make_deprecate(kaiming_normal_)
orthogonal: Callable[..., Tensor] = _make_deprecate(orthogonal_)
sparse: Callable[..., Tensor] = _make_deprecate(sparse_)
