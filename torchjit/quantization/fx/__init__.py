"""torch.quantization.fx: the former name of torch.ao.quantization.fx."""

import sys

import torchjit.ao.quantization.quantize_fx  # noqa: F401 - imports the modules below
from torchjit.ao.quantization.fx.convert import convert as convert
from torchjit.ao.quantization.fx.fuse import fuse as fuse
from torchjit.ao.quantization.fx.prepare import prepare as prepare

# The modules are found under this name too.
for _name in ("convert", "fuse", "graph_module", "prepare"):
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"torchjit.ao.quantization.fx.{_name}"]
