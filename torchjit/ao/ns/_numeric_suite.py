"""Comparisons of a quantized model with the model of floats that it was: weights, outputs of layers, and outputs of layers for equal inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torchjit as torch
from torchjit import nn
from torchjit.ao.nn import quantized as nnq
from torchjit.ao.nn.quantized import dynamic as nnqd
from torchjit.ao.quantization import prepare
from torchjit.ao.quantization.quantization_mappings import get_default_compare_output_module_list

NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST = {
    nnqd.Linear, nnq.Linear, nnqd.LSTM, nn.LSTM,
}  # fmt: skip


def _find_match(str_list: Iterable[str], key_str: str, postfix: str) -> str | None:
    """The name of the entry that belongs to the module of another entry whose last part is the postfix: fc.weight for fc._packed_params._packed_params."""
    parts = key_str.split(".")
    if parts[-1] != postfix:
        return None
    for cut in (1, 2) if postfix == "_packed_params" else (1,):
        module = "".join(parts[:-cut])
        if not module and cut == 2:
            return None
        for other in str_list:
            names = other.split(".")
            if module in ("".join(names[:-1]), "".join(names[:-2])):
                return other
    return None


def compare_weights(float_dict: dict[str, Any], quantized_dict: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The weights in the state dictionaries of both models: {"fc.weight": {"float": ..., "quantized": ...}}."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in quantized_dict.items():
        match = _find_match(float_dict, key, "weight")
        if match is not None:
            found[key] = {"float": float_dict[match], "quantized": value}
            continue
        match = _find_match(float_dict, key, "_packed_params")
        if match is not None:
            found[key] = {"float": float_dict[match], "quantized": value[0]}
            continue
        parts = key.split(".")
        if parts[-1] == "param" and parts[-3] == "_all_weight_values":  # of dynamic LSTMs
            layer, match_at = parts[-2], ".".join(parts[:-3])
            prefix = match_at + "." if match_at else ""
            hidden = value.__getstate__()[0][4][1].__getstate__()[0][0]
            found[key] = {"float": float_dict[f"{prefix}weight_hh_l{layer}"], "quantized": hidden}
    return found


class Logger(nn.Module):
    """Keeps what passes in stats."""

    def __init__(self) -> None:
        super().__init__()
        self.stats: dict[str, Any] = {}
        self.dtype = torch.quint8

    def forward(self, x: Any) -> Any:
        """Nothing is kept by the base class."""


def _as_list(value: Any) -> Any:
    return [_as_list(v) for v in value] if isinstance(value, tuple) else value


def _dequantized(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_dequantized(v) for v in value]
    return value.dequantize() if value.is_quantized else value


class ShadowLogger(Logger):
    """Keeps the outputs of a quantized layer and of the layer of floats beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["float"] = []
        self.stats["quantized"] = []

    def forward(self, x: Any, y: Any) -> None:  # type: ignore[override]
        """Keeps both: of several outputs, or of a batch, the first."""
        x, y = (value[0] if len(value) > 1 else value for value in (x, y))
        self.stats["quantized"].append(x.detach())
        self.stats["float"].append(y.detach())


class OutputLogger(Logger):
    """Keeps the outputs of a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["tensor_val"] = []

    def forward(self, x: Any) -> Any:
        """Keeps the output, and gives it."""
        self.stats["tensor_val"].append(x)
        return x


class Shadow(nn.Module):
    """A quantized layer with the layer of floats that it was, which gets the same inputs as floats; the logger sees both outputs."""

    def __init__(self, q_module: nn.Module, float_module: nn.Module, logger_cls: Callable[[], Any]) -> None:
        super().__init__()
        self.orig_module = q_module
        self.shadow_module = float_module
        self.dequant = nnq.DeQuantize()
        self.logger = logger_cls()

    def forward(self, *x: Any) -> Any:
        """The output of the quantized layer."""
        inputs = _as_list(x)
        output = self.orig_module(*inputs)
        self.logger(output, self.shadow_module(*_dequantized(inputs)))
        return output

    def _both(self, name: str, x: Any, y: Any) -> Any:
        output = getattr(self.orig_module, name)(x, y)
        y = y.dequantize() if isinstance(y, torch.Tensor) else y
        self.logger(output, getattr(self.shadow_module, name)(x.dequantize(), y))
        return output

    def add(self, x: Any, y: Any) -> Any:
        """The sum of the quantized layer."""
        return self._both("add", x, y)

    def add_scalar(self, x: Any, y: float) -> Any:
        """The sum with a number."""
        return self._both("add_scalar", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """The product."""
        return self._both("mul", x, y)

    def mul_scalar(self, x: Any, y: float) -> Any:
        """The product with a number."""
        return self._both("mul_scalar", x, y)

    def add_relu(self, x: Any, y: Any) -> Any:
        """The positive part of the sum."""
        return self._both("add_relu", x, y)

    def cat(self, x: list[Any], dim: int = 0) -> Any:
        """The tensors joined."""
        output = self.orig_module.cat(x, dim)
        self.logger(output, self.shadow_module.cat([t.dequantize() for t in x], dim))
        return output


def get_logger_dict(mod: nn.Module, prefix: str = "") -> dict[str, dict[str, Any]]:
    """What the loggers in a module have kept, by the names of the modules that they log, with .stats behind them."""
    found: dict[str, dict[str, Any]] = {}

    def collect(module: nn.Module, before: str) -> None:
        begin = before + "." if before else ""
        logger = next((child for child in module.children() if isinstance(child, Logger)), None)
        if logger is not None:
            found[begin + "stats"] = logger.stats
        for name, child in module.named_children():
            collect(child, begin + name)

    collect(mod, prefix)
    return found


def prepare_model_with_stubs(
    float_module: nn.Module, q_module: nn.Module, module_swap_list: Any, logger_cls: Callable[[], Any]
) -> None:
    """Puts a Shadow in the place of each quantized layer whose layer of floats is of a class in the list."""
    layers = dict(float_module.named_children())
    shadows = {}
    for name, layer in q_module.named_children():
        if name not in layers:
            continue
        before = layers[name]
        if type(before) not in module_swap_list:
            prepare_model_with_stubs(before, layer, module_swap_list, logger_cls)
        elif not _same_kind(layer, before):
            shadows[name] = Shadow(layer, before, logger_cls)
    for name, shadow in shadows.items():
        q_module._modules[name] = shadow


def _same_kind(first: nn.Module, second: nn.Module) -> bool:
    """Whether two modules and those in them are of the same classes."""
    return all(type(a) is type(b) for a, b in zip(first.modules(), second.modules()))


def compare_model_stub(
    float_model: nn.Module, q_model: nn.Module, module_swap_list: Any, *data: Any, logger_cls: Callable[[], Any] = ShadowLogger
) -> dict[str, dict[str, Any]]:
    """The outputs of quantized layers and of the layers of floats for equal inputs: {"fc.stats": {"float": [...], "quantized": [...]}}."""
    prepare_model_with_stubs(float_model, q_model, module_swap_list, logger_cls)
    q_model(*data)
    return get_logger_dict(q_model)


def prepare_model_outputs(
    float_module: nn.Module, q_module: nn.Module, logger_cls: Callable[[], Any] = OutputLogger, allow_list: Any = None
) -> None:
    """Puts loggers behind the layers of both models."""
    wanted = get_default_compare_output_module_list() if allow_list is None else allow_list
    config = torch.ao.quantization.QConfig(activation=logger_cls, weight=None)  # type: ignore[arg-type]
    for module, further in ((float_module, None), (q_module, NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST)):
        module.qconfig = config
        prepare(module, inplace=True, allow_list=wanted, observer_non_leaf_module_list=further, prepare_custom_config_dict={})


def get_matching_activations(float_module: nn.Module, q_module: nn.Module) -> dict[str, dict[str, Any]]:
    """What the loggers of both models have kept, by the names of quantized layers."""
    of_floats, of_quantized = get_logger_dict(float_module), get_logger_dict(q_module)
    found: dict[str, dict[str, Any]] = {}
    for key, stats in of_quantized.items():
        if len(stats["tensor_val"]) == 0:
            continue
        match = _find_match(sorted(of_floats, reverse=True), key, "stats")
        if match is not None:
            found[key] = {"float": of_floats[match]["tensor_val"], "quantized": stats["tensor_val"]}
    return found


def compare_model_outputs(
    float_model: nn.Module, q_model: nn.Module, *data: Any, logger_cls: Callable[[], Any] = OutputLogger, allow_list: Any = None
) -> dict[str, dict[str, Any]]:
    """The outputs of the layers of both models for one input: {"fc.stats": {"float": [...], "quantized": [...]}}."""
    prepare_model_outputs(float_model, q_model, logger_cls, allow_list)
    float_model(*data)
    q_model(*data)
    return get_matching_activations(float_model, q_model)
