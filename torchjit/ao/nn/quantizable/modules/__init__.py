"""The modules of torch.ao.nn.quantizable."""

from torchjit.ao.nn.quantizable.modules.activation import MultiheadAttention as MultiheadAttention
from torchjit.ao.nn.quantizable.modules.rnn import LSTM as LSTM
from torchjit.ao.nn.quantizable.modules.rnn import LSTMCell as LSTMCell

__all__ = ["LSTM", "LSTMCell", "MultiheadAttention"]
