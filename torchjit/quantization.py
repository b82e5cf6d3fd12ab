"""torch.quantization: the former name of torch.ao.quantization."""

from torchjit.ao.quantization import quantize_dynamic as quantize_dynamic
