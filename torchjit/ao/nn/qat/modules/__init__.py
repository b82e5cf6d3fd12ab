"""The modules, by theme."""

from torchjit.ao.nn.qat.modules.conv import Conv1d as Conv1d
from torchjit.ao.nn.qat.modules.conv import Conv2d as Conv2d
from torchjit.ao.nn.qat.modules.conv import Conv3d as Conv3d
from torchjit.ao.nn.qat.modules.embedding_ops import Embedding as Embedding
from torchjit.ao.nn.qat.modules.embedding_ops import EmbeddingBag as EmbeddingBag
from torchjit.ao.nn.qat.modules.linear import Linear as Linear

__all__ = ["Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag"]
