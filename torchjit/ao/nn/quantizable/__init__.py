"""torch.ao.nn.quantizable: modules whose parts can be observed and quantized one by one."""

from torchjit.ao.nn.quantizable import modules as modules
from torchjit.ao.nn.quantizable.modules import *  # noqa: F403
