"""Modules of quantized models, by theme."""

from typing import Optional

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.activation import ELU as ELU
from torchjit.ao.nn.quantized.modules.activation import Hardswish as Hardswish
from torchjit.ao.nn.quantized.modules.activation import LeakyReLU as LeakyReLU
from torchjit.ao.nn.quantized.modules.activation import PReLU as PReLU
from torchjit.ao.nn.quantized.modules.activation import ReLU6 as ReLU6
from torchjit.ao.nn.quantized.modules.activation import Sigmoid as Sigmoid
from torchjit.ao.nn.quantized.modules.activation import Softmax as Softmax
from torchjit.ao.nn.quantized.modules.attention import MultiheadAttention as MultiheadAttention
from torchjit.ao.nn.quantized.modules.batchnorm import BatchNorm2d as BatchNorm2d
from torchjit.ao.nn.quantized.modules.batchnorm import BatchNorm3d as BatchNorm3d
from torchjit.ao.nn.quantized.modules.conv import Conv1d as Conv1d
from torchjit.ao.nn.quantized.modules.conv import Conv2d as Conv2d
from torchjit.ao.nn.quantized.modules.conv import Conv3d as Conv3d
from torchjit.ao.nn.quantized.modules.conv import ConvTranspose1d as ConvTranspose1d
from torchjit.ao.nn.quantized.modules.conv import ConvTranspose2d as ConvTranspose2d
from torchjit.ao.nn.quantized.modules.conv import ConvTranspose3d as ConvTranspose3d
from torchjit.ao.nn.quantized.modules.dropout import Dropout as Dropout
from torchjit.ao.nn.quantized.modules.embedding_ops import Embedding as Embedding
from torchjit.ao.nn.quantized.modules.embedding_ops import EmbeddingBag as EmbeddingBag
from torchjit.ao.nn.quantized.modules.functional_modules import FloatFunctional as FloatFunctional
from torchjit.ao.nn.quantized.modules.functional_modules import FXFloatFunctional as FXFloatFunctional
from torchjit.ao.nn.quantized.modules.functional_modules import QFunctional as QFunctional
from torchjit.ao.nn.quantized.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.modules.linear import LinearPackedParams as LinearPackedParams
from torchjit.ao.nn.quantized.modules.normalization import GroupNorm as GroupNorm
from torchjit.ao.nn.quantized.modules.normalization import InstanceNorm1d as InstanceNorm1d
from torchjit.ao.nn.quantized.modules.normalization import InstanceNorm2d as InstanceNorm2d
from torchjit.ao.nn.quantized.modules.normalization import InstanceNorm3d as InstanceNorm3d
from torchjit.ao.nn.quantized.modules.normalization import LayerNorm as LayerNorm
from torchjit.ao.nn.quantized.modules.rnn import LSTM as LSTM
from torchjit.nn import MaxPool2d as MaxPool2d
from torchjit.nn.modules.module import Module


class Quantize(nn.Module):
    """Quantizes tensors with its scale and zero point."""

    scale: torch.Tensor
    zero_point: torch.Tensor

    def __init__(
        self, scale: float, zero_point: int, dtype: torch.dtype, factory_kwargs: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        made = torch.nn.factory_kwargs(factory_kwargs)
        super().__init__()
        self.register_buffer("scale", torch.tensor([scale], **made))
        self.register_buffer(
            "zero_point",
            torch.tensor([zero_point], dtype=torch.long, **{k: v for k, v in made.items() if k != "dtype"}),
        )
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:  # noqa: N803
        return torch.quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for a QuantStub that has been observed."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return Quantize(scale.float().item(), zero_point.long().item(), mod.activation_post_process.dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(nn.Module):
    """Gives the numbers that quantized tensors stand for."""

    def forward(self, Xq: Tensor) -> Tensor:  # noqa: N803
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: Module) -> Module:
        """The module for a DeQuantStub."""
        return DeQuantize()


__all__ = [
    "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeQuantize",
    "Dropout", "ELU", "Embedding", "EmbeddingBag", "FXFloatFunctional", "FloatFunctional", "GroupNorm", "Hardswish", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LSTM", "LayerNorm", "LeakyReLU", "Linear", "MaxPool2d", "Module", "MultiheadAttention", "PReLU",
    "QFunctional", "Quantize", "ReLU6", "Sigmoid", "Softmax",
]  # fmt: skip
