"""torch.ao.nn.quantized.dynamic: modules with quantized weights that take and give float tensors."""

from torchjit.ao.nn.quantized.dynamic.modules.cells import GRUCell as GRUCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import LSTMCell as LSTMCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import RNNCell as RNNCell
from torchjit.ao.nn.quantized.dynamic.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.dynamic.modules.rnn import GRU as GRU
from torchjit.ao.nn.quantized.dynamic.modules.rnn import LSTM as LSTM
