"""torch.ao.nn.quantized: modules with quantized weights."""

from torchjit.ao.nn.quantized import dynamic as dynamic
from torchjit.ao.nn.quantized.modules.functional_modules import FloatFunctional as FloatFunctional
