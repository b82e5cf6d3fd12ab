"""torch.quantization: the former name of torch.ao.quantization."""

from torchjit.ao.quantization import DeQuantStub as DeQuantStub
from torchjit.ao.quantization import QuantStub as QuantStub
from torchjit.ao.quantization import QuantWrapper as QuantWrapper
from torchjit.ao.quantization import quantize_dynamic as quantize_dynamic
