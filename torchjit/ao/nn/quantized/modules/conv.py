"""Convolutions whose weights, inputs and results are quantized."""

from typing import Any, List, Optional, Tuple

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import (
    WeightedQuantizedModule,
    _observed_weight,
    _own_state,
    _range_of,
    _take_state,
)
from torchjit.nn.common_types import _size_1_t, _size_2_t, _size_3_t
from torchjit.nn.modules.module import Module
from torchjit.nn.modules.utils import _pair, _single, _triple  # noqa: I001
from torchjit.nn.utils.fusion import fuse_conv_bn_weights
from torchjit.types import Device

# ruff: noqa: UP006, UP035, UP045, A002, N803

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_SUPPORTED_PADDING = {"zeros", "reflect"}


def _reverse_repeat_padding(padding: List[int]) -> List[int]:
    _reversed_padding_repeated_twice: List[int] = []
    N = len(padding)  # noqa: N806
    for idx in range(N):
        for _ in range(2):
            _reversed_padding_repeated_twice.append(padding[N - idx - 1])
    return _reversed_padding_repeated_twice


class _ConvNd(WeightedQuantizedModule):
    """What convolutions over any number of dimensions share."""

    _FLOAT_MODULE: Any = None
    _NNIQAT_CONV_BN_MODULE: Any = None
    _NNI_CONV_RELU_MODULE: Any = None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Tuple[int, ...],
        stride: Tuple[int, ...] = 1,  # type: ignore[assignment]
        padding: Tuple[int, ...] = 0,  # type: ignore[assignment]
        dilation: Tuple[int, ...] = 1,  # type: ignore[assignment]
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        raise NotImplementedError

    def _init(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups, bias, padding_mode="zeros",
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.kernel_size: Tuple[int, ...] = kernel_size
        self.stride: Tuple[int, ...] = stride
        self.padding: Tuple[int, ...] = padding
        self.dilation: Tuple[int, ...] = dilation
        self.transposed: bool = transposed
        self.output_padding: Tuple[int, ...] = output_padding
        self.groups: int = groups
        if padding_mode not in _SUPPORTED_PADDING:
            raise ValueError(f"'padding_mode' {padding_mode} is not supported by quantized convolution")
        self.padding_mode: str = padding_mode
        if self.transposed:
            shape = [in_channels, out_channels // self.groups]
        else:
            shape = [out_channels, in_channels // self.groups]
        weight = torch.quantize_per_tensor(torch.zeros(shape + list(kernel_size)), 1.0, 0, torch.qint8)
        self.set_weight_bias(weight, torch.zeros(out_channels, dtype=torch.float) if bias else None)
        self.scale: float = 1.0
        self.zero_point: int = 0

    def set_weight_bias(self, qweight: Tensor, bias_float: Optional[Tensor]) -> None:
        """Replaces weight and bias."""
        raise NotImplementedError

    def _weight_bias(self):
        raise NotImplementedError

    def weight(self) -> Tensor:
        """The weight."""
        return self._weight_bias()[0]

    def bias(self) -> Optional[Tensor]:
        """The bias, None where there is none."""
        return self._weight_bias()[1]

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}"
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias() is None:
            text += ", bias=False"
        return text

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight_bias()
        _own_state(self, destination, prefix)

    @torch.jit.export
    def __getstate__(self):
        (w, b) = self._weight_bias()
        return (
            self.in_channels,
            self.out_channels,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.transposed,
            self.output_padding,
            self.groups,
            self.padding_mode,
            w,
            b,
            self.scale,
            self.zero_point,
            self.training,
        )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        self.set_weight_bias(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        _take_state(self, state_dict, prefix)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs
        )

    @torch.jit.export
    def __setstate__(self, state):
        self.in_channels = state[0]
        self.out_channels = state[1]
        self.kernel_size = state[2]
        self.stride = state[3]
        self.padding = state[4]
        self.dilation = state[5]
        self.transposed = state[6]
        self.output_padding = state[7]
        self.groups = state[8]
        self.padding_mode = state[9]
        self.set_weight_bias(state[10], state[11])
        self.scale = state[12]
        self.zero_point = state[13]
        self.training = state[14]

    def __deepcopy__(self, memo: dict[int, object]) -> "_ConvNd":
        made = type(self).__new__(type(self))
        nn.Module.__init__(made)
        made.__setstate__(self.__getstate__())
        return made

    def __copy__(self) -> "_ConvNd":
        return self.__deepcopy__({})

    @classmethod
    def get_qconv(
        cls, mod: Module, activation_post_process: Optional[Module], weight_post_process: Optional[Module] = None,
    ) -> Module:  # fmt: skip
        """The convolution with the weight of one with floats, and results by what was observed; None leaves results as floats."""
        weight = _observed_weight(mod, mod.qconfig.weight() if weight_post_process is None else weight_post_process)
        made = cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            mod.stride,
            mod.padding,
            mod.dilation,
            mod.groups,
            mod.bias is not None,
            mod.padding_mode,
        )
        made.set_weight_bias(weight, mod.bias)
        if activation_post_process is not None and activation_post_process.dtype != torch.float:
            made.scale, made.zero_point = _range_of(activation_post_process)
        return made

    @classmethod
    def from_float(cls, mod: Any) -> Module:
        """The convolution for one with floats that has been observed. Raises AssertionError for classes that it does not stand for."""
        if hasattr(mod, "weight_fake_quant"):
            _fold_norm(cls._NNIQAT_CONV_BN_MODULE, mod)
            if not hasattr(mod, "activation_post_process"):
                raise AssertionError("Input QAT module must have observer attached")
            return cls.get_qconv(mod, mod.activation_post_process, mod.weight_fake_quant)
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f" nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__} but got:{type(mod)}"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined.")
        activation = getattr(mod, "activation_post_process", None)
        if type(mod) is cls._NNI_CONV_RELU_MODULE:
            mod = mod[0]
        return cls.get_qconv(mod, activation, mod.qconfig.weight())

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Module:
        """The convolution for one that rounds its weight, with the scale and zero point of results."""
        made = cls(
            ref_qconv.in_channels, ref_qconv.out_channels, ref_qconv.kernel_size, ref_qconv.stride, ref_qconv.padding, ref_qconv.dilation,
            ref_qconv.groups, ref_qconv.bias is not None, ref_qconv.padding_mode,
        )  # fmt: skip
        made.set_weight_bias(ref_qconv.get_quantized_weight(), ref_qconv.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made


def _fold_norm(wanted, mod):
    """Gives a convolution of a class the weights that have its normalization in them."""
    if type(mod) is wanted:
        mod.weight, mod.bias = fuse_conv_bn_weights(
            mod.weight, mod.bias, mod.bn.running_mean, mod.bn.running_var, mod.bn.eps, mod.bn.weight, mod.bn.bias
        )


class Conv1d(_ConvNd):
    """A convolution over one dimension on quantized tensors."""

    _FLOAT_MODULE: Any = nn.Conv1d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_1_t,
        stride: _size_1_t = 1,
        padding: _size_1_t = 0,
        dilation: _size_1_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        padding = padding if isinstance(padding, str) else _single(padding)
        self._init(
            in_channels,
            out_channels,
            _single(kernel_size),
            _single(stride),
            padding,
            _single(dilation),
            False,
            _single(0),
            groups,
            bias,
            padding_mode,
        )

    def _get_name(self):
        return "QuantizedConv1d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        if self.padding_mode == "zeros":
            self._packed_params = torch.ops.quantized.conv1d_prepack(
                w, b, self.stride, self.padding, self.dilation, self.groups
            )
        else:
            self._packed_params = torch.ops.quantized.conv1d_prepack(
                w, b, self.stride, _single(0), self.dilation, self.groups
            )

    def _weight_bias(self):
        return torch.ops.quantized.conv1d_unpack(self._packed_params)

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding[:1])  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv1d(input, self._packed_params, self.scale, self.zero_point)


class Conv2d(_ConvNd):
    """A convolution over two dimensions on quantized tensors."""

    _FLOAT_MODULE: Any = nn.Conv2d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_2_t,
        stride: _size_2_t = 1,
        padding: _size_2_t = 0,
        dilation: _size_2_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self._init(
            in_channels,
            out_channels,
            _pair(kernel_size),
            _pair(stride),
            _pair(padding),
            _pair(dilation),
            False,
            _pair(0),
            groups,
            bias,
            padding_mode,
        )

    def _get_name(self):
        return "QuantizedConv2d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        if self.padding_mode == "zeros":
            self._packed_params = torch.ops.quantized.conv2d_prepack(
                w, b, self.stride, self.padding, self.dilation, self.groups
            )
        else:
            self._packed_params = torch.ops.quantized.conv2d_prepack(
                w, b, self.stride, _pair(0), self.dilation, self.groups
            )

    def _weight_bias(self):
        return self._packed_params.unpack()

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding)  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv2d(input, self._packed_params, self.scale, self.zero_point)


class Conv3d(_ConvNd):
    """A convolution over three dimensions on quantized tensors."""

    _FLOAT_MODULE: Any = nn.Conv3d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_3_t,
        stride: _size_3_t = 1,
        padding: _size_3_t = 0,
        dilation: _size_3_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if padding_mode == "reflect":
            raise AssertionError("Conv3d does not support reflection padding")
        self._init(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding), _triple(dilation), False, _triple(0), groups, bias,
            padding_mode,
        )  # fmt: skip

    def _get_name(self):
        return "QuantizedConv3d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        if self.padding_mode == "zeros":
            self._packed_params = torch.ops.quantized.conv3d_prepack(
                w, b, self.stride, self.padding, self.dilation, self.groups
            )
        else:
            self._packed_params = torch.ops.quantized.conv3d_prepack(
                w, b, self.stride, _triple(0), self.dilation, self.groups
            )

    def _weight_bias(self):
        return self._packed_params.unpack()

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        if self.padding_mode != "zeros":
            _reversed_padding_repeated_twice = _reverse_repeat_padding(self.padding)  # type: ignore[arg-type]
            input = F.pad(input, _reversed_padding_repeated_twice, mode=self.padding_mode)
        return torch.ops.quantized.conv3d(input, self._packed_params, self.scale, self.zero_point)


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions share."""

    def _init_transposed(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        groups,
        bias,
        dilation,
        padding_mode,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._init(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
            bias,
            padding_mode,
        )

    @classmethod
    def from_float(cls, mod: Any) -> Module:
        """The convolution for one with floats that has been observed. Raises AssertionError for classes that it does not stand for."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(f" nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined.")
        made = cls._like(mod)
        made.set_weight_bias(_observed_weight(mod, mod.qconfig.weight()), mod.bias)
        activation = getattr(mod, "activation_post_process", None)
        if activation is not None and activation.dtype != torch.float:
            made.scale, made.zero_point = _range_of(activation)
        return made

    @classmethod
    def _like(cls, mod):
        return cls(
            mod.in_channels, mod.out_channels, mod.kernel_size, mod.stride, mod.padding, mod.output_padding, mod.groups, mod.bias is not None,
            mod.dilation, mod.padding_mode,
        )  # fmt: skip

    @classmethod
    def from_reference(cls, ref_qconvt: Module, output_scale: float, output_zero_point: int) -> Module:
        """The convolution for one that rounds its weight, with the scale and zero point of results."""
        made = cls._like(ref_qconvt)
        made.set_weight_bias(ref_qconvt.get_quantized_weight(), ref_qconvt.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution over one dimension on quantized tensors."""

    _FLOAT_MODULE = nn.ConvTranspose1d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_1_t, stride: _size_1_t = 1,
        padding: _size_1_t = 0, output_padding: _size_1_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_1_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        self._init_transposed(
            in_channels, out_channels, _single(kernel_size), _single(stride), _single(padding), _single(output_padding), groups, bias,
            _single(dilation), padding_mode,
        )  # fmt: skip

    def _get_name(self):
        return "QuantizedConvTranpose1d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        self._packed_params = torch.ops.quantized.conv_transpose1d_prepack(
            w, b, self.stride, self.padding, self.output_padding, self.dilation, self.groups
        )

    def _weight_bias(self):
        return torch.ops.quantized.conv_transpose1d_unpack(self._packed_params)

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        return torch.ops.quantized.conv_transpose1d(input, self._packed_params, self.scale, self.zero_point)


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution over two dimensions on quantized tensors."""

    _FLOAT_MODULE = nn.ConvTranspose2d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_2_t, stride: _size_2_t = 1,
        padding: _size_2_t = 0, output_padding: _size_2_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_2_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        self._init_transposed(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding), _pair(output_padding), groups, bias, _pair(dilation),
            padding_mode,
        )  # fmt: skip

    def _get_name(self):
        return "QuantizedConvTranpose2d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        self._packed_params = torch.ops.quantized.conv_transpose2d_prepack(
            w, b, self.stride, self.padding, self.output_padding, self.dilation, self.groups
        )

    def _weight_bias(self):
        return torch.ops.quantized.conv2d_unpack(self._packed_params)

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return torch.ops.quantized.conv_transpose2d(input, self._packed_params, self.scale, self.zero_point)


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution over three dimensions on quantized tensors."""

    _FLOAT_MODULE = nn.ConvTranspose3d

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: _size_3_t, stride: _size_3_t = 1,
        padding: _size_3_t = 0, output_padding: _size_3_t = 0, groups: int = 1, bias: bool = True,
        dilation: _size_3_t = 1, padding_mode: str = "zeros", device: Device = None, dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        self._init_transposed(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding), _triple(output_padding), groups, bias,
            _triple(dilation), padding_mode,
        )  # fmt: skip

    def _get_name(self):
        return "QuantizedConvTranpose3d"

    def set_weight_bias(self, w: Tensor, b: Optional[Tensor]) -> None:
        self._packed_params = torch.ops.quantized.conv_transpose3d_prepack(
            w, b, self.stride, self.padding, self.output_padding, self.dilation, self.groups
        )

    def _weight_bias(self):
        return torch.ops.quantized.conv3d_unpack(self._packed_params)

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, T, H, W)`!")
        return torch.ops.quantized.conv_transpose3d(input, self._packed_params, self.scale, self.zero_point)
