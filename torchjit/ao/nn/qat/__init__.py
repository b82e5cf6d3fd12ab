"""torch.ao.nn.qat: modules whose weights are rounded as quantization will round them, so that training knows."""

from torchjit.ao.nn.qat import dynamic as dynamic  # noqa: I001
from torchjit.ao.nn.qat.modules import *  # noqa: F403
