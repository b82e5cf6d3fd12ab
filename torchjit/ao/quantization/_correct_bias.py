"""Correction of biases: what quantization shifts the mean output of each channel by is taken from the bias."""

from __future__ import annotations

from typing import Any

from torchjit import nn
from torchjit.ao.nn import quantized as nnq
from torchjit.ao.ns import _numeric_suite as ns

_supported_modules = {nn.Linear, nn.Conv2d}
_supported_modules_quantized = {nnq.Linear, nnq.Conv2d}


def get_module(model: Any, name: str) -> Any:
    """The module of a name."""
    return dict(model.named_modules())[name]


def parent_child_names(name: str) -> tuple[str, str]:
    """The name of the module that a module is in, and its name there."""
    parent, _, child = name.rpartition(".")
    return parent, child


def get_param(module: Any, attr: str) -> Any:
    """A parameter, which is a method of quantized modules."""
    value = getattr(module, attr, None)
    return value() if callable(value) else value


class MeanShadowLogger(ns.Logger):
    """Keeps the mean outputs of a quantized layer and of the layer of floats beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["float"] = None
        self.stats["quantized"] = None
        self.count = 0
        self.float_sum: Any = None
        self.quant_sum: Any = None

    def forward(self, x: Any, y: Any) -> None:  # type: ignore[override]
        """Adds both to the means."""
        if x.is_quantized:
            x = x.dequantize()
        self.count += 1
        self.quant_sum = x if self.quant_sum is None else self.quant_sum + x
        self.float_sum = y if self.float_sum is None else self.float_sum + y
        self.stats["quantized"], self.stats["float"] = self.quant_sum / self.count, self.float_sum / self.count

    def clear(self) -> None:
        """Forgets the means."""
        self.stats["float"] = self.stats["quantized"] = self.float_sum = self.quant_sum = None
        self.count = 0


def bias_correction(float_model: Any, quantized_model: Any, img_data: Any, target_modules: Any = _supported_modules_quantized, neval_batches: int | None = None) -> None:
    """Corrects the biases of the layers of a quantized model of some classes, one after the other, by means over batches of data: of (input, target) pairs."""
    ns.prepare_model_with_stubs(float_model, quantized_model, _supported_modules, MeanShadowLogger)
    names = [name for name, module in quantized_model.named_modules() if type(module) in target_modules]
    for name in names:
        layer = get_module(quantized_model, name)
        if get_param(layer, "bias") is None:
            continue
        for count, (data, _) in enumerate(img_data, 1):
            quantized_model(data)
            if count == neval_batches:
                break
        shadow = get_module(quantized_model, parent_child_names(name)[0])
        stats = ns.get_logger_dict(shadow)["stats"] if shadow is not quantized_model else None
        if stats is not None:
            error = stats["quantized"] - stats["float"]
            mean = error.mean([i for i in range(error.ndim) if i != 1]).data
            bias = get_param(layer, "bias")
            bias.data = bias.data - mean
            if hasattr(layer, "set_weight_bias"):
                layer.set_weight_bias(get_param(layer, "weight"), bias)
        for module in quantized_model.modules():
            if isinstance(module, MeanShadowLogger):
                module.clear()
