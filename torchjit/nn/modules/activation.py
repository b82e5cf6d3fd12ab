"""Activations and attention."""

import warnings
from typing import Any, Optional, Tuple

import torchjit as torch
from torchjit import Tensor
from torchjit.nn import functional as F
from torchjit.nn.init import constant_, xavier_normal_, xavier_uniform_
from torchjit.nn.modules.linear import NonDynamicallyQuantizableLinear
from torchjit.nn.modules.module import Module
from torchjit.nn.parameter import Parameter
from torchjit.types import Device

# ruff: noqa: UP006, UP035, UP045, A002


class _InPlace(Module):
    __constants__ = ["inplace"]  # type: list[str]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """The larger of zero and the element.

    Takes integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.ReLU()(x)
    tensor([0.0000, 0.5000, 2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)


class SELU(_InPlace):
    """Scaled exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.SELU()(x)
    tensor([-1.1113,  0.5254,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """The element times its sigmoid.

    Takes floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.SiLU()(x)
    tensor([-0.2689,  0.3112,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """The element times the tanh of its softplus.

    Takes floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Mish()(x)
    tensor([-0.3034,  0.3752,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, inplace=self.inplace)


class Hardswish(_InPlace):
    """The element times its piecewise linear sigmoid.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Hardswish()(x)
    tensor([-0.3333,  0.2917,  1.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardsigmoid(_InPlace):
    """Piecewise linear sigmoid.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Hardsigmoid()(x)
    tensor([0.3333, 0.5833, 0.8333])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Threshold(Module):
    """The element where it is above a threshold, else a value.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Threshold(0.6, 20.0)(x)
    tensor([20., 20.,  2.])
    """

    __constants__ = ["threshold", "value", "inplace"]  # type: list[str]
    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, float(self.threshold), float(self.value), self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class RReLU(Module):
    """Leaky relu with a random slope while training.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.RReLU().eval()(x)
    tensor([-0.2292,  0.5000,  2.0000])
    """

    __constants__ = ["lower", "upper", "inplace"]  # type: list[str]
    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """The element cut to an interval.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Hardtanh()(x)
    tensor([-1.0000,  0.5000,  1.0000])
    """

    __constants__ = ["min_val", "max_val", "inplace"]  # type: list[str]
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: Optional[float] = None,
        max_value: Optional[float] = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for old, new in ((min_value, "min_val"), (max_value, "max_val")):
            if old is not None:
                warnings.warn(f"keyword argument {new}ue is deprecated and rename to {new}", stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        assert self.max_val > self.min_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, float(self.min_val), float(self.max_val), self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """The element cut to 0 ... 6.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.ReLU6()(x)
    tensor([0.0000, 0.5000, 2.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """Logistic function.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Sigmoid()(x)
    tensor([0.2689, 0.6225, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return torch.sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Tanh()(x)
    tensor([-0.7616,  0.4621,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        return torch.tanh(input)


class ELU(Module):
    """Exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.ELU()(x)
    tensor([-0.6321,  0.5000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]  # type: list[str]
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(Module):
    """Continuously differentiable exponential linear unit.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.CELU()(x)
    tensor([-0.6321,  0.5000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]  # type: list[str]
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """One half of the input times the sigmoid of the other.

    Takes floats and halves, of 1 or more dimensions. Gradients flow to the input. Raises RuntimeError for other numbers of dimensions and other
    types.

    >>> x = torch.tensor([[1.0, 2.0, 0.0, -1.0]])
    >>> nn.GLU()(x)
    tensor([[0.5000, 0.5379]])
    """

    __constants__ = ["dim"]  # type: list[str]
    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """The element times the normal distribution function of it.

    Takes bools, integers, floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.GELU()(x)
    tensor([-0.1587,  0.3457,  1.9545])
    """

    __constants__ = ["approximate"]  # type: list[str]
    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """The element where it is outside an interval, else zero.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Hardshrink()(x)
    tensor([-1.,  0.,  2.])
    """

    __constants__ = ["lambd"]  # type: list[str]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Module):
    """The element moved towards zero.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Softshrink()(x)
    tensor([-0.5000,  0.0000,  1.5000])
    """

    __constants__ = ["lambd"]  # type: list[str]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class LeakyReLU(Module):
    """The element, or a fraction of it where it is negative.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.LeakyReLU()(x)
    tensor([-0.0100,  0.5000,  2.0000])
    """

    __constants__ = ["inplace", "negative_slope"]  # type: list[str]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class LogSigmoid(Module):
    """Logarithm of the logistic function.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.LogSigmoid()(x)
    tensor([-1.3133, -0.4741, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """A smooth relu.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Softplus()(x)
    tensor([0.3133, 0.9741, 2.1269])
    """

    __constants__ = ["beta", "threshold"]  # type: list[str]
    beta: int
    threshold: int

    def __init__(self, beta: int = 1, threshold: int = 20) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """Leaky relu with a learned slope.

    Takes floats and halves, of any shape. Gradients flow to the input and the parameters. Raises RuntimeError for other types.

    >>> m = nn.PReLU()
    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> m(x)
    tensor([-0.2500,  0.5000,  2.0000], grad_fn=<PreluBackward0>)
    """

    __constants__ = ["num_parameters"]  # type: list[str]
    num_parameters: int

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_parameters = num_parameters
        self.weight: Parameter = Parameter(torch.empty([num_parameters], device=device, dtype=dtype).fill_(init))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """The element over one plus its absolute value.

    Takes bools, integers, floats, halves and complex numbers, of any shape. Gradients flow to the input.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Softsign()(x)
    tensor([-0.5000,  0.3333,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """The element less its tanh.

    Takes integers, floats, halves and complex numbers, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([-1.0, 0.5, 2.0])
    >>> nn.Tanhshrink()(x)
    tensor([-0.2384,  0.0379,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class _SoftmaxOf(Module):
    __constants__ = ["dim"]  # type: list[str]
    dim: Optional[int]

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_SoftmaxOf):
    """Softmax of the negated input.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> nn.Softmin(dim=-1)(x)
    tensor([[0.3315, 0.1220, 0.5465]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_SoftmaxOf):
    """Exponentials that sum to one along a dimension.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> nn.Softmax(dim=-1)(x)
    tensor([[0.2312, 0.6285, 0.1402]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_SoftmaxOf):
    """Logarithm of softmax.

    Takes floats and halves, of any shape. Gradients flow to the input. Raises RuntimeError for other types.

    >>> x = torch.tensor([[1.0, 2.0, 0.5]])
    >>> nn.LogSoftmax(dim=-1)(x)
    tensor([[-1.4644, -0.4644, -1.9644]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of planes.

    Takes floats and halves, of 3 or 4 dimensions. Gradients flow to the input. Raises AssertionError for other numbers of dimensions and
    RuntimeError for other types.

    >>> x = torch.zeros(1, 4, 2, 2)
    >>> nn.Softmax2d()(x)[0, :, 0, 0]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        assert input.dim() == 4 or input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input"
        return F.softmax(input, -3, _stacklevel=5)


class MultiheadAttention(Module):
    """Attention of several heads over projected queries, keys and values.

    Takes floats and halves, of 2 or 3 dimensions. Gradients flow to the input and the parameters. Raises AssertionError for other numbers of
    dimensions and RuntimeError for other types.

    >>> m = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = torch.rand(2, 5, 8)
    >>> out, weights = m(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
    """

    __constants__ = ["batch_first"]  # type: list[str]
    bias_k: Optional[torch.Tensor]
    bias_v: Optional[torch.Tensor]

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: Optional[int] = None, vdim: Optional[int] = None, batch_first: bool = False,
        device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options: Any = {"device": device, "dtype": dtype}
        self.embed_dim = embed_dim
        self.kdim: int = kdim if kdim is not None else embed_dim
        self.vdim: int = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim: int = embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim, "embed_dim must be divisible by num_heads"
        if not self._qkv_same_embed_dim:
            self.q_proj_weight: Parameter = Parameter(torch.empty([embed_dim, embed_dim], **options))
            self.k_proj_weight: Parameter = Parameter(torch.empty([embed_dim, self.kdim], **options))
            self.v_proj_weight: Parameter = Parameter(torch.empty([embed_dim, self.vdim], **options))
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight: Parameter = Parameter(torch.empty([3 * embed_dim, embed_dim], **options))
            self.register_parameter("q_proj_weight", None)
            self.register_parameter("k_proj_weight", None)
            self.register_parameter("v_proj_weight", None)
        if bias:
            self.in_proj_bias: Parameter = Parameter(torch.empty([3 * embed_dim], **options))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj: NonDynamicallyQuantizableLinear = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty([1, 1, embed_dim], **options))
            self.bias_v = Parameter(torch.empty([1, 1, embed_dim], **options))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        if self._qkv_same_embed_dim:
            xavier_uniform_(self.in_proj_weight)
        else:
            xavier_uniform_(self.q_proj_weight)
            xavier_uniform_(self.k_proj_weight)
            xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True,
        attn_mask: Optional[Tensor] = None,
        average_attn_weights: bool = True,
    ) -> Tuple[Tensor, Optional[Tensor]]:
        is_batched = query.dim() == 3
        if self.batch_first and is_batched:
            query, key, value = [x.transpose(1, 0) for x in (query, key, value)]  # noqa: C419
        if not self._qkv_same_embed_dim:
            attn_output, attn_output_weights = F.multi_head_attention_forward(
                query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
                self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
                key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask, use_separate_proj_weight=True,
                q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
                average_attn_weights=average_attn_weights,
            )  # fmt: skip
        else:
            attn_output, attn_output_weights = F.multi_head_attention_forward(
                query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
                self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
                key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
                average_attn_weights=average_attn_weights,
            )  # fmt: skip
        if self.batch_first and is_batched:
            return attn_output.transpose(1, 0), attn_output_weights
        else:
            return attn_output, attn_output_weights
