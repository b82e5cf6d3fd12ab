"""torch.quantization.quantize_fx: the former name of torch.ao.quantization.quantize_fx."""

from torchjit.ao.quantization.fx.graph_module import ObservedGraphModule as ObservedGraphModule
from torchjit.ao.quantization.fx.tracer import QuantizationTracer as QuantizationTracer
from torchjit.ao.quantization.fx.tracer import Scope as Scope
from torchjit.ao.quantization.fx.tracer import ScopeContextManager as ScopeContextManager
from torchjit.ao.quantization.quantize_fx import _check_is_graph_module as _check_is_graph_module
from torchjit.ao.quantization.quantize_fx import _convert_fx as _convert_fx
from torchjit.ao.quantization.quantize_fx import _convert_standalone_module_fx as _convert_standalone_module_fx
from torchjit.ao.quantization.quantize_fx import _fuse_fx as _fuse_fx
from torchjit.ao.quantization.quantize_fx import _prepare_fx as _prepare_fx
from torchjit.ao.quantization.quantize_fx import _prepare_standalone_module_fx as _prepare_standalone_module_fx
from torchjit.ao.quantization.quantize_fx import _swap_ff_with_fxff as _swap_ff_with_fxff
from torchjit.ao.quantization.quantize_fx import convert_fx as convert_fx
from torchjit.ao.quantization.quantize_fx import fuse_fx as fuse_fx
from torchjit.ao.quantization.quantize_fx import prepare_fx as prepare_fx
from torchjit.ao.quantization.quantize_fx import prepare_qat_fx as prepare_qat_fx
