"""torch.nn.quantizable: the former name of torch.ao.nn.quantizable."""

from torchjit import _submodules
from torchjit.ao.nn.quantizable import *  # noqa: F403
from torchjit.ao.nn.quantizable import modules as modules

_submodules.again(__name__, "torchjit.ao.nn.quantizable")
