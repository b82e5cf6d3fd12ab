"""torch.ao: quantization of models."""

from torchjit.ao import nn as nn
from torchjit.ao import quantization as quantization
