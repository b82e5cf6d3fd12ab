"""torch.ao.nn.quantized: modules that take and give quantized tensors."""

from torchjit.ao.nn.quantized import dynamic as dynamic  # noqa: I001
from torchjit.ao.nn.quantized import functional as functional
from torchjit.ao.nn.quantized import modules as modules
from torchjit.ao.nn.quantized.modules import *  # noqa: F403
from torchjit.ao.nn.quantized import reference as reference  # noqa: I001
