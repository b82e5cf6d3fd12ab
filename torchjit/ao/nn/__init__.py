"""torch.ao.nn: modules of quantized models."""

from torchjit.ao.nn import quantized as quantized
