"""torch.ao.nn.quantized.reference: modules of floats that round their weights to what quantized ones have."""

from torchjit.ao.nn.quantized.reference import modules as modules  # noqa: I001
from torchjit.ao.nn.quantized.reference.modules import *  # noqa: F403
