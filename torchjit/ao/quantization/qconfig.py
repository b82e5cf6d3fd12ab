"""Which observers watch the activations and the weights of a module."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import torchjit as torch
from torchjit import nn
from torchjit.ao.quantization.fake_quantize import (
    FakeQuantize,
    FakeQuantizeBase,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from torchjit.ao.quantization.observer import (
    HistogramObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    ReuseInputObserver,
    _PartialWrapper,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)

# ruff: noqa: UP045

__all__ = [
    "QConfig", "QConfigDynamic", "QConfigAny", "default_qconfig", "default_debug_qconfig", "default_per_channel_qconfig", "default_dynamic_qconfig",
    "float16_dynamic_qconfig", "float16_static_qconfig", "per_channel_dynamic_qconfig", "float_qparams_weight_only_qconfig",
    "default_qat_qconfig", "default_dynamic_qat_qconfig", "default_weight_only_qconfig",
    "default_activation_only_qconfig", "default_qat_qconfig_v2", "default_reuse_input_qconfig", "default_symmetric_qnnpack_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig", "default_symmetric_qnnpack_qat_qconfig", "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_embedding_qat_qconfig", "get_default_qconfig", "get_default_qat_qconfig", "get_default_qconfig_dict",
    "get_default_qat_qconfig_dict", "qconfig_equals", "assert_valid_qconfig", "add_module_to_qconfig_obs_ctr", "activation_is_memoryless",
    "is_reuse_input_qconfig", "obs_or_fq_ctr_equals",
]  # fmt: skip


class _Makers(NamedTuple):
    activation: Callable[..., Any]
    weight: Callable[..., Any]


class QConfig(_Makers):
    """Makers of the observers of activations and of weights. Raises ValueError for observers, which each module needs its own of.

    >>> q = torch.quantization.QConfig(activation=torch.quantization.MinMaxObserver, weight=torch.quantization.MinMaxObserver.with_args(dtype=torch.qint8))
    >>> q.weight().dtype
    torch.qint8
    """

    def __new__(cls, activation: Callable[..., Any], weight: Callable[..., Any]) -> QConfig:
        if isinstance(activation, nn.Module) or isinstance(weight, nn.Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. Use MyObserver.with_args(x=1) to override"
                " arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


class QConfigDynamic(_Makers):
    """The former name of QConfig for dynamic quantization."""

    def __new__(
        cls, activation: Callable[..., Any] = nn.Identity, weight: Callable[..., Any] = nn.Identity,
    ) -> QConfigDynamic:  # fmt: skip
        warnings.warn(
            "QConfigDynamic is going to be deprecated in PyTorch 1.12, please use QConfig instead", stacklevel=2
        )
        if isinstance(weight, nn.Module):
            raise ValueError(
                "QConfigDynamic received observer instance, please pass observer class instead. Use MyObserver.with_args(x=1) to override"
                " arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


QConfigAny = Optional[QConfig]

default_qconfig: QConfig = QConfig(activation=default_observer, weight=default_weight_observer)
default_debug_qconfig: QConfig = QConfig(weight=default_weight_observer, activation=default_debug_observer)
default_per_channel_qconfig: QConfig = QConfig(activation=default_observer, weight=default_per_channel_weight_observer)
default_dynamic_qconfig: QConfig = QConfig(activation=default_dynamic_quant_observer, weight=default_weight_observer)
float16_dynamic_qconfig: QConfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=torch.float16, compute_dtype=torch.float16),
    weight=PlaceholderObserver.with_args(dtype=torch.float16),
)
float16_static_qconfig: QConfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=torch.float16),
    weight=PlaceholderObserver.with_args(dtype=torch.float16),
)
per_channel_dynamic_qconfig: QConfig = QConfig(
    activation=default_dynamic_quant_observer, weight=default_per_channel_weight_observer
)
float_qparams_weight_only_qconfig: QConfig = QConfig(
    activation=default_placeholder_observer, weight=default_float_qparams_observer
)
default_qat_qconfig: QConfig = QConfig(activation=default_fake_quant, weight=default_weight_fake_quant)
default_dynamic_qat_qconfig: QConfig = QConfig(activation=default_dynamic_fake_quant, weight=default_weight_fake_quant)
default_weight_only_qconfig: QConfig = QConfig(activation=nn.Identity, weight=default_weight_fake_quant)
default_activation_only_qconfig: QConfig = QConfig(activation=default_fake_quant, weight=nn.Identity)
default_qat_qconfig_v2: QConfig = QConfig(activation=default_fused_act_fake_quant, weight=default_fused_wt_fake_quant)
default_reuse_input_qconfig: QConfig = QConfig(activation=default_reuse_input_observer, weight=NoopObserver)
_SMALLEST_SCALE = 2**-12
default_symmetric_qnnpack_qconfig: QConfig = QConfig(
    activation=HistogramObserver.with_args(dtype=torch.qint8, reduce_range=False, eps=_SMALLEST_SCALE),
    weight=weight_observer_range_neg_127_to_127,
)
default_per_channel_symmetric_qnnpack_qconfig: QConfig = QConfig(
    activation=HistogramObserver.with_args(dtype=torch.qint8, reduce_range=False, eps=_SMALLEST_SCALE),
    weight=per_channel_weight_observer_range_neg_127_to_127,
)
_signed_activations = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=torch.qint8,
    reduce_range=False,
    eps=_SMALLEST_SCALE,
)
default_symmetric_qnnpack_qat_qconfig: QConfig = QConfig(
    activation=_signed_activations, weight=fused_wt_fake_quant_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qat_qconfig: QConfig = QConfig(
    activation=_signed_activations, weight=fused_per_channel_wt_fake_quant_range_neg_127_to_127
)
default_embedding_qat_qconfig: QConfig = QConfig(
    activation=NoopObserver.with_args(dtype=torch.float32), weight=default_embedding_fake_quant
)

# Whether the range of activations is halved, and whether weights have a scale for each channel.
_BACKENDS = {"fbgemm": (True, True), "x86": (True, True), "onednn": (False, True), "qnnpack": (False, False)}


def get_default_qconfig(backend: str = "fbgemm", version: int = 0) -> QConfig:
    """The configuration for models that have been trained. Raises AssertionError for versions other than 0."""
    if version != 0:
        raise AssertionError(
            f"Version number: {version} in get_default_qconfig is not supported. Version number must be 0"
        )
    if backend not in _BACKENDS:
        return default_qconfig
    reduce_range, channels = _BACKENDS[backend]
    return QConfig(
        activation=HistogramObserver.with_args(reduce_range=reduce_range),
        weight=default_per_channel_weight_observer if channels else default_weight_observer,
    )


def get_default_qat_qconfig(backend: str = "fbgemm", version: int = 1) -> QConfig:
    """The configuration for models in training. Raises AssertionError for versions other than 0, with modules of two steps, and 1."""
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version}in get_default_qat_qconfig is not supported. Version number must be 0 or 1"
        )
    if backend not in _BACKENDS:
        return default_qat_qconfig if version == 0 else default_qat_qconfig_v2
    reduce_range, channels = _BACKENDS[backend]
    given: dict[str, Any] = {"reduce_range": reduce_range} if backend != "onednn" else {}
    maker = FakeQuantize if version == 0 else FusedMovingAvgObsFakeQuantize
    weights = (
        (default_weight_fake_quant, default_per_channel_weight_fake_quant)
        if version == 0
        else (default_fused_wt_fake_quant, default_fused_per_channel_wt_fake_quant)
    )
    return QConfig(
        activation=maker.with_args(observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, **given),
        weight=weights[channels],
    )


def get_default_qconfig_dict(backend: str = "fbgemm", version: int = 0) -> dict[str, Any]:
    """The former form of get_default_qconfig_mapping."""
    from torchjit.ao.quantization.qconfig_mapping import get_default_qconfig_mapping

    warnings.warn(
        "torch.ao.quantization.get_default_qconfig_dict is deprecated and will be removed in a future version. Please use"
        " torch.ao.quantization.get_default_qconfig_mapping instead.",
        stacklevel=2,
    )
    return get_default_qconfig_mapping(backend, version).to_dict()


def get_default_qat_qconfig_dict(backend: str = "fbgemm", version: int = 1) -> dict[str, Any]:
    """The former form of get_default_qat_qconfig_mapping."""
    from torchjit.ao.quantization.qconfig_mapping import get_default_qat_qconfig_mapping

    warnings.warn(
        "torch.ao.quantization.get_default_qat_qconfig_dict is deprecated and will be removed in a future version. Please use"
        " torch.ao.quantization.get_default_qat_qconfig_mapping instead.",
        stacklevel=2,
    )
    return get_default_qat_qconfig_mapping(backend, version).to_dict()


def assert_valid_qconfig(qconfig: Any, mod: Any) -> None:
    """Raises AssertionError for a configuration that gives each channel of a transposed convolution a scale."""
    if qconfig is None:
        return
    if isinstance(mod, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)):
        from torchjit.ao.quantization.observer import MovingAveragePerChannelMinMaxObserver, PerChannelMinMaxObserver

        example = qconfig.weight()
        if isinstance(example, (PerChannelMinMaxObserver, MovingAveragePerChannelMinMaxObserver)):
            raise AssertionError("Per channel weight observer is not supported yet for ConvTranspose{n}d.")


def add_module_to_qconfig_obs_ctr(qconfig: Any, module: Any) -> Any:
    """The configuration whose observers are made on the device of a module."""
    if module is None or qconfig is None or qconfig._fields != ("activation", "weight"):
        return qconfig

    def get_factory_kwargs_based_on_module_device() -> Any:
        devices = {p.device for p in module.parameters()} | {b.device for b in module.buffers()}
        device = next(iter(devices)) if devices else None
        return None if device is None else {"device": device}

    def with_device(make: Any) -> Any:
        if isinstance(make, FakeQuantizeBase) or not hasattr(make, "with_callable_args"):
            return make
        try:
            make(factory_kwargs=None)
        except TypeError:
            return make  # what has no tensors has no device
        return make.with_callable_args(factory_kwargs=get_factory_kwargs_based_on_module_device)

    return QConfig(with_device(qconfig.activation), with_device(qconfig.weight))


def obs_or_fq_ctr_equals(obs_or_fq1: Any, obs_or_fq2: Any) -> bool:
    """Whether two makers make the same observers."""
    if isinstance(obs_or_fq1, _PartialWrapper) and isinstance(obs_or_fq2, _PartialWrapper):
        return _partial_wrapper_equals(obs_or_fq1, obs_or_fq2)
    return obs_or_fq1 == obs_or_fq2


def _partial_wrapper_equals(obs_or_fq1: _PartialWrapper, obs_or_fq2: _PartialWrapper) -> bool:
    first, second = copy.copy(obs_or_fq1.p.keywords), copy.copy(obs_or_fq2.p.keywords)
    same = True
    if "observer" in first and "observer" in second:
        same = obs_or_fq_ctr_equals(first.pop("observer"), second.pop("observer"))
    return (
        same and obs_or_fq1.p.func == obs_or_fq2.p.func and obs_or_fq1.p.args == obs_or_fq2.p.args and first == second
    )


def qconfig_equals(q1: Any, q2: Any) -> bool:
    """Whether two configurations make the same observers."""
    if q1 is None or q2 is None:
        return q1 == q2
    try:
        return obs_or_fq_ctr_equals(q1.activation, q2.activation) and obs_or_fq_ctr_equals(q1.weight, q2.weight)
    except AttributeError:
        return bool(q1 == q2)


def activation_is_memoryless(qconfig: Any) -> bool:
    """Whether the observer of activations knows the last tensor alone. Raises AssertionError where a configuration is for nothing else."""
    activation = qconfig.activation()
    if isinstance(activation, FakeQuantizeBase) and hasattr(activation, "activation_post_process"):
        activation = activation.activation_post_process
    return hasattr(activation, "averaging_constant") and activation.averaging_constant == 1


def is_reuse_input_qconfig(qconfig: Any) -> bool:
    """Whether results have the scale and zero point of the input."""
    return (
        qconfig is not None
        and isinstance(qconfig.activation(), ReuseInputObserver)
        and isinstance(qconfig.weight(), NoopObserver)
    )
