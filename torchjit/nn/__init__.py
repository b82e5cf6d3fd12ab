"""torch.nn: modules, parameters, functions of neural networks."""

from typing import Any as _Any

from torchjit import _lazy
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


def factory_kwargs(kwargs: object) -> dict[str, _Any]:
    """The arguments device, dtype and memory_format of a constructor, with those that `factory_kwargs` among them holds.

    Raises TypeError for other arguments and for those that are given twice.
    """
    if kwargs is None:
        return {}
    given = dict(kwargs)  # type: ignore[call-overload]
    simple = {"device", "dtype", "memory_format"}
    if set(given) - simple - {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {set(given) - simple - {'factory_kwargs'}}")
    made = dict(given.get("factory_kwargs", {}))
    for name in simple & set(given):
        if name in made:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        made[name] = given[name]
    return made


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, _lazy.modules(__name__, "common_types grad intrinsic qat quantizable quantized"))
