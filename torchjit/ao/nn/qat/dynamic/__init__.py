"""torch.ao.nn.qat.dynamic: modules with rounded weights whose inputs will be quantized as they come."""

from torchjit.ao.nn.qat.dynamic.modules import Linear as Linear
