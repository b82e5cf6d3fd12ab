"""torch.nn.quantized: the former name of torch.ao.nn.quantized."""

from torchjit.ao.nn.quantized import FloatFunctional as FloatFunctional
from torchjit.ao.nn.quantized import dynamic as dynamic
