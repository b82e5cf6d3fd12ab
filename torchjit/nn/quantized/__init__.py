"""torch.nn.quantized: the former name of torch.ao.nn.quantized."""

from torchjit import _submodules
from torchjit.ao.nn.quantized import *  # noqa: F403
from torchjit.ao.nn.quantized import dynamic as dynamic
from torchjit.ao.nn.quantized import functional as functional
from torchjit.ao.nn.quantized import modules as modules

_submodules.again(__name__, "torchjit.ao.nn.quantized")

# Reference modules had another name when they stood here.
_reference = _submodules.sys.modules["torchjit.ao.nn.quantized.reference"]
for _name in ("", ".modules", ".modules.conv", ".modules.linear", ".modules.rnn", ".modules.sparse", ".modules.utils"):
    _submodules.sys.modules[f"{__name__}._reference{_name}"] = _submodules.sys.modules[f"torchjit.ao.nn.quantized.reference{_name}"]
