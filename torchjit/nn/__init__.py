"""torch.nn: modules, parameters, functions of neural networks."""

from torchjit.nn.parameter import Buffer as Buffer
from torchjit.nn.parameter import Parameter as Parameter
from torchjit.nn.parameter import UninitializedBuffer as UninitializedBuffer
from torchjit.nn.parameter import UninitializedParameter as UninitializedParameter
from torchjit.nn.modules.module import Module as Module  # noqa: I001
from torchjit.nn import functional as functional
from torchjit.nn import init as init
from torchjit.nn import modules as modules
from torchjit.nn.modules import *  # noqa: F403

from torchjit.nn import parallel as parallel
from torchjit.nn.parallel import DataParallel as DataParallel
import torchjit.nn.utils  # noqa: I001
import sys as _sys

utils = _sys.modules["torchjit.nn.utils"]  # modules has one of its own


def __getattr__(name: str) -> object:
    if name != "quantized":
        raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")
    import importlib

    return importlib.import_module("torchjit.nn.quantized")
