"""torch.ao.nn.quantized.dynamic: modules with quantized weights that take and give float tensors."""

from torchjit.ao.nn.quantized.dynamic.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.dynamic.modules.rnn import GRU as GRU
from torchjit.ao.nn.quantized.dynamic.modules.rnn import LSTM as LSTM
