"""torch.ao.nn.quantized.dynamic: modules with quantized weights that take and give float tensors."""

from torchjit.ao.nn.quantized.dynamic.modules.cells import GRUCell as GRUCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import LSTMCell as LSTMCell
from torchjit.ao.nn.quantized.dynamic.modules.cells import RNNCell as RNNCell
from torchjit.ao.nn.quantized.dynamic.modules.conv import Conv1d as Conv1d
from torchjit.ao.nn.quantized.dynamic.modules.conv import Conv2d as Conv2d
from torchjit.ao.nn.quantized.dynamic.modules.conv import Conv3d as Conv3d
from torchjit.ao.nn.quantized.dynamic.modules.conv import ConvTranspose1d as ConvTranspose1d
from torchjit.ao.nn.quantized.dynamic.modules.conv import ConvTranspose2d as ConvTranspose2d
from torchjit.ao.nn.quantized.dynamic.modules.conv import ConvTranspose3d as ConvTranspose3d
from torchjit.ao.nn.quantized.dynamic.modules.linear import Linear as Linear
from torchjit.ao.nn.quantized.dynamic.modules.rnn import GRU as GRU
from torchjit.ao.nn.quantized.dynamic.modules.rnn import LSTM as LSTM
