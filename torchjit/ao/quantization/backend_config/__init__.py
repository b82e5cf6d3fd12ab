"""torch.ao.quantization.backend_config: what a backend computes with quantized tensors."""

from torchjit import _submodules
from torchjit.ao.quantization.backend_config.backend_config import BackendConfig as BackendConfig
from torchjit.ao.quantization.backend_config.backend_config import BackendPatternConfig as BackendPatternConfig
from torchjit.ao.quantization.backend_config.backend_config import DTypeConfig as DTypeConfig
from torchjit.ao.quantization.backend_config.backend_config import DTypeWithConstraints as DTypeWithConstraints
from torchjit.ao.quantization.backend_config.backend_config import ObservationType as ObservationType
from torchjit.ao.quantization.backend_config.backends import get_fbgemm_backend_config as get_fbgemm_backend_config
from torchjit.ao.quantization.backend_config.backends import get_native_backend_config as get_native_backend_config
from torchjit.ao.quantization.backend_config.backends import (
    get_native_backend_config_dict as get_native_backend_config_dict,
)
from torchjit.ao.quantization.backend_config.backends import get_qnnpack_backend_config as get_qnnpack_backend_config
from torchjit.ao.quantization.backend_config.backends import get_tensorrt_backend_config as get_tensorrt_backend_config
from torchjit.ao.quantization.backend_config.backends import (
    get_tensorrt_backend_config_dict as get_tensorrt_backend_config_dict,
)

__all__ = [
    "get_fbgemm_backend_config", "get_native_backend_config", "get_native_backend_config_dict", "get_qnnpack_backend_config",
    "get_tensorrt_backend_config", "get_tensorrt_backend_config_dict", "BackendConfig", "BackendPatternConfig", "DTypeConfig",
    "DTypeWithConstraints", "ObservationType",
]  # fmt: skip

_submodules.provide(
    __name__,
    {
        "native": "get_native_backend_config get_native_backend_config_dict",
        "fbgemm": "get_fbgemm_backend_config",
        "qnnpack": "get_qnnpack_backend_config",
        "tensorrt": "get_tensorrt_backend_config get_tensorrt_backend_config_dict",
        "observation_type": "ObservationType",
    },
)
