"""torch.quantization: the former name of torch.ao.quantization."""

from torchjit.ao.quantization import *  # noqa: F403
from torchjit.ao.quantization import fake_quantize as fake_quantize
from torchjit.ao.quantization import fuser_method_mappings as fuser_method_mappings
from torchjit.ao.quantization import observer as observer
from torchjit.ao.quantization import qconfig as qconfig
from torchjit.ao.quantization import quant_type as quant_type
from torchjit.ao.quantization import quantization_mappings as quantization_mappings
from torchjit.ao.quantization import stubs as stubs
