"""torch.nn.quantized: the former name of torch.ao.nn.quantized."""

from torchjit import _submodules
from torchjit.ao.nn.quantized import *  # noqa: F403
from torchjit.ao.nn.quantized import dynamic as dynamic
from torchjit.ao.nn.quantized import modules as modules

_submodules.again(__name__, "torchjit.ao.nn.quantized")
