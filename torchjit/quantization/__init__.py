"""torch.quantization: the former name of torch.ao.quantization."""

import sys

from torchjit.ao.quantization import *  # noqa: F403
from torchjit.ao.quantization import fake_quantize as fake_quantize
from torchjit.ao.quantization import fuser_method_mappings as fuser_method_mappings
from torchjit.ao.quantization import observer as observer
from torchjit.ao.quantization import qconfig as qconfig
from torchjit.ao.quantization import quant_type as quant_type
from torchjit.ao.quantization import quantization_mappings as quantization_mappings
from torchjit.ao.quantization import stubs as stubs

# The modules are found under this name too.
for _name in (
    "fake_quantize", "fuse_modules", "fuser_method_mappings", "observer", "qconfig", "quant_type", "quantization_mappings", "quantize", "quantize_jit", "stubs", "utils",
):  # fmt: skip
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"torchjit.ao.quantization.{_name}"]
