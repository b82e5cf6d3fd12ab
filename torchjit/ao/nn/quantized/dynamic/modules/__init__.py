"""The modules, by theme."""

from torchjit.ao.nn.quantized.dynamic.modules.cells import GRUCell as GRUCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import LSTMCell as LSTMCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import RNNCell as RNNCell
from torchjit.ao.nn.quantized.dynamic.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.dynamic.modules.rnn import GRU as GRU
from torchjit.ao.nn.quantized.dynamic.modules.rnn import LSTM as LSTM

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "Linear", "RNNCell"]
