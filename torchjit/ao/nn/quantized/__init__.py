"""torch.ao.nn.quantized: modules with quantized weights."""

from torchjit.ao.nn.quantized import dynamic as dynamic
