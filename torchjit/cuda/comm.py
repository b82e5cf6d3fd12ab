"""Movement of tensors between devices: see torch.nn.parallel.comm."""

from torchjit.nn.parallel.comm import broadcast as broadcast
from torchjit.nn.parallel.comm import broadcast_coalesced as broadcast_coalesced
from torchjit.nn.parallel.comm import gather as gather
from torchjit.nn.parallel.comm import reduce_add as reduce_add
from torchjit.nn.parallel.comm import reduce_add_coalesced as reduce_add_coalesced
from torchjit.nn.parallel.comm import scatter as scatter
