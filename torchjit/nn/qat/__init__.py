"""torch.nn.qat: the former name of torch.ao.nn.qat."""

from torchjit import _submodules
from torchjit.ao.nn.qat import *  # noqa: F403
from torchjit.ao.nn.qat import dynamic as dynamic
from torchjit.ao.nn.qat import modules as modules

_submodules.again(__name__, "torchjit.ao.nn.qat")
