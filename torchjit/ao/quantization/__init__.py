"""torch.ao.quantization: models whose weights, or weights and activations, become integers."""

from __future__ import annotations

from typing import Any

from torchjit import _lazy
from torchjit.ao.quantization.fake_quantize import *  # noqa: F403
from torchjit.ao.quantization.fuse_modules import fuse_modules as fuse_modules  # noqa: I001
from torchjit.ao.quantization.fuse_modules import fuse_modules_qat as fuse_modules_qat
from torchjit.ao.quantization.fuser_method_mappings import *  # noqa: F403
from torchjit.ao.quantization.observer import *  # noqa: F403
from torchjit.ao.quantization.qconfig import *  # noqa: F403
from torchjit.ao.quantization.qconfig_mapping import *  # noqa: F403
from torchjit.ao.quantization.quant_type import QuantType as QuantType
from torchjit.ao.quantization.quant_type import quant_type_to_str as quant_type_to_str
from torchjit.ao.quantization.quantization_mappings import *  # noqa: F403
from torchjit.ao.quantization.quantize import *  # noqa: F403
from torchjit.ao.quantization.quantize_jit import *  # noqa: F403
from torchjit.ao.quantization.stubs import DeQuantStub as DeQuantStub
from torchjit.ao.quantization.stubs import QuantStub as QuantStub
from torchjit.ao.quantization.stubs import QuantWrapper as QuantWrapper
from torchjit.ao.quantization.utils import get_combined_dict as get_combined_dict
from torchjit.ao.quantization.utils import get_qparam_dict as get_qparam_dict
from torchjit.ao.quantization.utils import (
    has_no_children_ignoring_parametrizations as has_no_children_ignoring_parametrizations,
)


def default_eval_fn(model: Any, calib_data: Any) -> None:
    """Runs a model on the inputs of pairs of input and target: for `quantize`."""
    for data, _ in calib_data:
        model(data)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.ao": "ao_nn=nn",
    "torchjit": "nn",
    "torchjit.ao.nn": "nnq=quantized nnqat=qat",
    "torchjit.ao.nn.qat": "nnqatd=dynamic",
    "torchjit.ao.nn.quantized": "nnqd=dynamic nnqr=reference",
    "torchjit.nn": "F=functional Module nni=intrinsic",
    "torchjit.nn.intrinsic": "nniq=quantized nniqat=qat",
    "torchjit.nn.utils.parametrize": "type_before_parametrizations",
})
