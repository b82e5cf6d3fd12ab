"""Modules that watch tensors go by, to choose the scale and zero point with which they are to be quantized."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import torchjit as torch
from torchjit import nn
from torchjit.ao.quantization.utils import calculate_qmin_qmax, check_min_max_valid, is_per_tensor

__all__ = [
    "default_affine_fixed_qparams_observer", "default_debug_observer", "default_dynamic_quant_observer", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer", "default_float_qparams_observer", "default_histogram_observer",
    "default_observer", "default_per_channel_weight_observer", "default_placeholder_observer", "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer", "default_weight_observer", "get_observer_state_dict", "load_observer_state_dict",
    "per_channel_weight_observer_range_neg_127_to_127", "weight_observer_range_neg_127_to_127", "FixedQParamsObserver", "HistogramObserver", "MinMaxObserver",
    "MovingAverageMinMaxObserver", "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver",
    "RecordingObserver", "ReuseInputObserver", "UniformQuantizationObserverBase",
]  # fmt: skip


class _PartialWrapper:
    """A constructor with arguments: those of `p`, and those that functions give when it is called."""

    def __init__(self, p: Any) -> None:
        self.p = p
        self.callable_args: dict[str, Any] = {}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        for name, give in self.callable_args.items():
            if name not in keywords:
                keywords[name] = give()
        return self.p(*args, **keywords)

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        """The constructor with further arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Any) -> _PartialWrapper:
        """The constructor with arguments that functions give when it is called."""
        made = self.with_args()
        made.callable_args = {**self.callable_args, **kwargs}
        return made


def _with_args(cls_or_self: Any, **kwargs: Any) -> _PartialWrapper:
    return _PartialWrapper(partial(cls_or_self, **kwargs))


def _with_callable_args(cls_or_self: Any, **kwargs: Any) -> _PartialWrapper:
    return _PartialWrapper(partial(cls_or_self)).with_callable_args(**kwargs)


class ObserverBase(ABC, nn.Module):
    """What observers are: `forward` watches a tensor and gives it back, `calculate_qparams` gives scale and zero point."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    @abstractmethod
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        pass

    @classmethod
    def with_args(cls, **kwargs: object) -> _PartialWrapper:
        """The constructor with arguments."""
        return _with_args(cls, **kwargs)

    @classmethod
    def with_callable_args(cls, **kwargs: Callable[[], object]) -> _PartialWrapper:
        """The constructor with arguments that functions give when it is called."""
        return _with_callable_args(cls, **kwargs)


class UniformQuantizationObserverBase(ObserverBase):
    """Observers of a range that is divided into steps of one size."""

    _version = 3
    eps: torch.Tensor
    min_val: torch.Tensor
    max_val: torch.Tensor

    def __init__(
        self, dtype: Any = torch.quint8, qscheme: Any = torch.per_tensor_affine, reduce_range: bool = False, quant_min: Any = None, quant_max: Any = None,
        factory_kwargs: Any = None, eps: float = torch.finfo(torch.float32).eps,
    ) -> None:  # fmt: skip
        made = torch.nn.factory_kwargs(factory_kwargs)
        super().__init__(dtype=dtype)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn(
                "Please use quant_min and quant_max to specify the range for observers."
                "                     reduce_range will be deprecated in a future release of PyTorch.",
                stacklevel=2,
            )
        self.reduce_range = reduce_range
        self.register_buffer("eps", torch.tensor([eps], **made))
        if qscheme not in (torch.per_tensor_affine, torch.per_tensor_symmetric, torch.per_channel_affine, torch.per_channel_symmetric,
                           torch.per_channel_affine_float_qparams):  # fmt: skip
            raise AssertionError(
                "Default Observer only works for per_tensor_affine, per_tensor_symmetric, per_channel_affine, per_channel_symmetric and per_channel_float_qparams quantization scheme"
            )
        if dtype not in (torch.qint8, torch.quint8, torch.qint32):
            raise AssertionError("Default Observer only works for qint8, quint8 and quint4x2 data type")
        self.has_customized_qrange: bool = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            self._validate_qmin_qmax(quant_min, quant_max)
        self.quant_max: int
        self.quant_min: int
        self.quant_min, self.quant_max = calculate_qmin_qmax(
            quant_min, quant_max, self.has_customized_qrange, dtype, reduce_range
        )

    @torch.jit.export
    def _validate_qmin_qmax(self, quant_min: int, quant_max: int) -> None:
        if not quant_min <= 0 <= quant_max:
            raise AssertionError("Used-specified quantization range must include 0.")
        if not quant_min < quant_max:
            raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")

    @torch.jit.export
    def _calculate_qparams(self, min_val: torch.Tensor, max_val: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scale and zero point of a range, each of one dimension."""
        if not check_min_max_valid(min_val, max_val):
            return torch.tensor([1.0], device=min_val.device.type), torch.tensor([0], device=min_val.device.type)
        lowest, highest = self.quant_min, self.quant_max
        low, high = torch.min(min_val, torch.zeros_like(min_val)), torch.max(max_val, torch.zeros_like(max_val))
        zero_point = torch.zeros(low.size(), dtype=torch.int64, device=low.device)
        if self.qscheme == torch.per_tensor_symmetric or self.qscheme == torch.per_channel_symmetric:  # noqa: PLR1714 - programs have no such `in`
            high = torch.max(-low, high)
            scale = torch.max(high / (float(highest - lowest) / 2), self.eps)
            if self.dtype == torch.quint8:
                zero_point = zero_point.new_full(
                    zero_point.size(), (lowest + highest) // 2 if self.has_customized_qrange else 128
                )
        elif self.qscheme == torch.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / float(highest - lowest)
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            zero_point = -1 * min_val / scale
        else:
            scale = torch.max((high - low) / float(highest - lowest), self.eps)
            zero_point = torch.clamp(lowest - torch.round(low / scale).to(torch.int), lowest, highest)
        if scale.dim() == 0:
            scale = torch.tensor([float(scale)], dtype=scale.dtype, device=scale.device)
        if zero_point.dim() == 0:
            whole = torch.tensor([int(zero_point)], dtype=zero_point.dtype, device=zero_point.device)
            if self.qscheme == torch.per_channel_affine_float_qparams:
                whole = torch.tensor([float(zero_point)], dtype=zero_point.dtype, device=zero_point.device)
            zero_point = whole
        return scale, zero_point

    def reset_min_max_vals(self) -> None:
        """Forgets what was observed."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


_ObserverBase = UniformQuantizationObserverBase


class MinMaxObserver(UniformQuantizationObserverBase):
    """Observes the smallest and the largest element so far.

    >>> o = torch.quantization.MinMaxObserver(dtype=torch.quint8)
    >>> _ = o(torch.tensor([-1.0, 3.0]))
    >>> o.calculate_qparams()
    (tensor([0.0157]), tensor([64], dtype=torch.int32))
    """

    def __init__(
        self, dtype: Any = torch.quint8, qscheme: Any = torch.per_tensor_affine, reduce_range: bool = False, quant_min: Any = None, quant_max: Any = None,
        factory_kwargs: Any = None, eps: float = torch.finfo(torch.float32).eps,
    ) -> None:  # fmt: skip
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps)
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MinMaxObserver's qscheme only support torch.per_tensor_symmetric                     and torch.per_tensor_affine."
            )
        made = torch.nn.factory_kwargs(factory_kwargs)
        self.register_buffer("min_val", torch.tensor(float("inf"), **made))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **made))
        if self.qscheme == torch.per_tensor_symmetric and self.reduce_range and self.dtype == torch.quint8:
            raise NotImplementedError(
                "Cannot reduce range for symmetric                                        quantization for quint8"
            )

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = torch.aminmax(x)
        self.min_val.copy_(torch.min(low, self.min_val))
        self.max_val.copy_(torch.max(high, self.max_val))
        return x_orig

    @torch.jit.export
    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        return self._calculate_qparams(self.min_val, self.max_val)

    @torch.jit.export
    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    @torch.jit.export
    def reset_min_max_vals(self) -> None:
        self.min_val.copy_(torch.tensor(float("inf")))
        self.max_val.copy_(torch.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Observes averages of the smallest and of the largest element, the latest with the weight `averaging_constant`.

    >>> o = torch.quantization.MovingAverageMinMaxObserver(averaging_constant=0.5)
    >>> _ = o(torch.tensor([0.0, 1.0])), o(torch.tensor([0.0, 3.0]))
    >>> o.max_val
    tensor(2.)
    """

    def __init__(
        self, averaging_constant: float = 0.01, dtype: Any = torch.quint8, qscheme: Any = torch.per_tensor_affine, reduce_range: bool = False,
        quant_min: Any = None, quant_max: Any = None, eps: float = torch.finfo(torch.float32).eps, **kwargs: Any,
    ) -> None:  # fmt: skip
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MovingAverageMinMaxObserver's qscheme only support                     torch.per_tensor_symmetric and torch.per_tensor_affine."
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = torch.aminmax(x)
        if not (self.min_val == float("inf") and self.max_val == float("-inf")):
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """Observes the smallest and the largest element of each channel, which are the indices of the dimension `ch_axis`.

    >>> o = torch.quantization.PerChannelMinMaxObserver(ch_axis=0)
    >>> _ = o(torch.tensor([[-1.0, 3.0], [0.0, 5.0]]))
    >>> o.max_val
    tensor([3., 5.])
    """

    def __init__(
        self, ch_axis: int = 0, dtype: Any = torch.quint8, qscheme: Any = torch.per_channel_affine, reduce_range: bool = False, quant_min: Any = None,
        quant_max: Any = None, factory_kwargs: Any = None, eps: float = torch.finfo(torch.float32).eps,
    ) -> None:  # fmt: skip
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps)
        if is_per_tensor(qscheme):
            raise NotImplementedError(
                "PerChannelMinMaxObserver's qscheme only support                     torch.per_channel_symmetric, torch.per_channel_affine and"
                " torch.per_channel_affine_float_qparams."
            )
        made = torch.nn.factory_kwargs(factory_kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", torch.tensor([], **made))
        self.register_buffer("max_val", torch.tensor([], **made))
        if self.qscheme == torch.per_channel_symmetric and self.reduce_range and self.dtype == torch.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def _channels(self, x_orig: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The smallest and the largest element of each channel."""
        x = x_orig.detach()
        axes = list(range(x.dim()))
        axes[self.ch_axis], axes[0] = 0, self.ch_axis
        rows = torch.flatten(x.permute(axes).to(self.min_val.dtype), start_dim=1)
        low, high = torch.aminmax(rows, dim=1)
        return low, high

    def _keep(self, low: torch.Tensor, high: torch.Tensor) -> None:
        self.min_val.resize_(low.shape)
        self.max_val.resize_(high.shape)
        self.min_val.copy_(low)
        self.max_val.copy_(high)

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        return self._forward(x_orig)

    def _forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self._channels(x_orig)
        if self.min_val.numel() != 0 and self.max_val.numel() != 0:
            low, high = torch.min(low, self.min_val), torch.max(high, self.max_val)
        self._keep(low, high)
        return x_orig

    @torch.jit.export
    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        version = local_metadata.get("version", None)
        names = (
            {"min_val": "min_vals", "max_val": "max_vals"}
            if version is not None and version < 3
            else {"min_val": "min_val", "max_val": "max_val"}
        )
        for name, kept in names.items():
            value = state_dict.get(prefix + kept)
            if value is None:
                if strict:
                    missing_keys.append(prefix + kept)
                continue
            getattr(self, name).resize_(value.shape)
            if kept != name:
                state_dict[prefix + name] = state_dict.pop(prefix + kept)
        if strict and any(key in missing_keys for key in (prefix + "min_val", prefix + "max_val")):
            strict = False
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @torch.jit.export
    def reset_min_max_vals(self) -> None:
        self.min_val = torch.rand(0)
        self.max_val = torch.rand(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Observes averages of the smallest and of the largest element of each channel."""

    def __init__(
        self, averaging_constant: float = 0.01, ch_axis: int = 0, dtype: Any = torch.quint8, qscheme: Any = torch.per_channel_affine,
        reduce_range: bool = False, quant_min: Any = None, quant_max: Any = None, eps: float = torch.finfo(torch.float32).eps, **kwargs: Any,
    ) -> None:  # fmt: skip
        if is_per_tensor(qscheme):
            raise NotImplementedError(
                "MovingAveragePerChannelMinMaxObserver's qscheme only support                     torch.per_channel_symmetric,"
                " torch.per_channel_affine and torch.per_channel_affine_float_qparams."
            )
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self._channels(x_orig)
        if self.min_val.numel() != 0 and self.max_val.numel() != 0:
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self._keep(low, high)
        return x_orig


class FixedQParamsObserver(ObserverBase):
    """Gives the scale and zero point that it was made with."""

    scale: torch.Tensor
    zero_point: torch.Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
    ) -> None:
        super().__init__(dtype=dtype)
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.register_buffer("scale", torch.tensor([scale], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([zero_point], dtype=torch.int))
        self.dtype = dtype
        self.qscheme = qscheme

    def forward(self, X: torch.Tensor) -> torch.Tensor:  # noqa: N803
        return X

    @torch.jit.export
    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        return self.scale, self.zero_point


class _Unranged(ObserverBase):
    """An observer that chooses no scale."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        raise Exception(f"calculate_qparams should not be called for {type(self).__name__}")  # noqa: TRY002 - PyTorch's class


class PlaceholderObserver(_Unranged):
    """Says which element type a tensor is to have, without a scale. compute_dtype is that of tensors that are quantized as they come."""

    def __init__(self, dtype: Any = torch.float32, custom_op_name: str = "", compute_dtype: Any = None) -> None:
        super().__init__(dtype=dtype)
        self.dtype = dtype
        self.custom_op = custom_op_name
        if compute_dtype:
            self.compute_dtype = compute_dtype


class RecordingObserver(_Unranged):
    """Keeps all tensors that it sees."""

    tensor_val: list[torch.Tensor]

    def __init__(self, dtype: Any = torch.quint8, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.tensor_val = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.tensor_val.append(x.clone())
        return x

    @torch.jit.export
    def get_tensor_value(self) -> list[torch.Tensor]:
        """The tensors so far."""
        return self.tensor_val


class NoopObserver(_Unranged):
    """Says which element type a tensor is to have and is replaced by a cast."""

    def __init__(self, dtype: Any = torch.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype)
        self.dtype = dtype
        self.custom_op = custom_op_name


class ReuseInputObserver(_Unranged):
    """Stands where a result has the scale and zero point of the input."""

    def __init__(self) -> None:
        super().__init__(torch.quint8)


def _is_activation_post_process(module: Any) -> bool:
    from torchjit.ao.quantization.fake_quantize import FakeQuantizeBase

    return isinstance(module, (ObserverBase, FakeQuantizeBase))


def get_observer_state_dict(mod: Any) -> Any:
    """The part of a model's state that belongs to its observers."""
    return OrderedDict((name, value) for name, value in mod.state_dict().items() if "activation_post_process" in name)


def load_observer_state_dict(mod: Any, obs_dict: Any) -> None:
    """Puts the state of observers into those of a model. Raises Exception for names that are missing or too many."""
    missing: list[str] = []
    unexpected: list[str] = []
    for name, module in mod.named_modules():
        if _is_activation_post_process(module):
            module._load_from_state_dict(obs_dict, name + ".", {}, False, missing, unexpected, [])
    for key in missing:
        if "observer" in key or "activation_post_process" in key:
            raise Exception(f"Missing keys for observer {key} in state_dict")  # noqa: TRY002 - PyTorch's class
    for key in unexpected:
        if "observer" in key or "activation_post_process" in key:
            raise Exception(f"Unexpected keys for observer {key} in state_dict")  # noqa: TRY002 - PyTorch's class


from torchjit.ao.quantization._histogram_observer import HistogramObserver  # noqa: E402 - made of the classes above

default_observer: _PartialWrapper = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer: _PartialWrapper = MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
weight_observer_range_neg_127_to_127: _PartialWrapper = MinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_histogram_observer: _PartialWrapper = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer: _PartialWrapper = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127: _PartialWrapper = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer: _PartialWrapper = PlaceholderObserver.with_args(dtype=torch.quint8, compute_dtype=torch.quint8)
default_float_qparams_observer: _PartialWrapper = PerChannelMinMaxObserver.with_args(
    dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer: _PartialWrapper = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=torch.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer: _PartialWrapper = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=torch.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver
