"""Modules that compute with floats and round their weights, by theme."""

from torchjit.ao.nn.quantized.reference.modules.conv import Conv1d as Conv1d
from torchjit.ao.nn.quantized.reference.modules.conv import Conv2d as Conv2d
from torchjit.ao.nn.quantized.reference.modules.conv import Conv3d as Conv3d
from torchjit.ao.nn.quantized.reference.modules.conv import ConvTranspose1d as ConvTranspose1d
from torchjit.ao.nn.quantized.reference.modules.conv import ConvTranspose2d as ConvTranspose2d
from torchjit.ao.nn.quantized.reference.modules.conv import ConvTranspose3d as ConvTranspose3d
from torchjit.ao.nn.quantized.reference.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.reference.modules.rnn import LSTM as LSTM
from torchjit.ao.nn.quantized.reference.modules.rnn import GRUCell as GRUCell
from torchjit.ao.nn.quantized.reference.modules.rnn import LSTMCell as LSTMCell
from torchjit.ao.nn.quantized.reference.modules.rnn import RNNCell as RNNCell
from torchjit.ao.nn.quantized.reference.modules.sparse import Embedding as Embedding
from torchjit.ao.nn.quantized.reference.modules.sparse import EmbeddingBag as EmbeddingBag

__all__ = [
    "Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "RNNCell", "LSTMCell", "GRUCell",
    "LSTM",
    "Embedding", "EmbeddingBag",
]  # fmt: skip
