"""torch.utils: data, checkpoints, hooks, exchange of tensors with other libraries."""

from torchjit.utils import _pytree as _pytree
from torchjit.utils import checkpoint as checkpoint
from torchjit.utils import data as data
from torchjit.utils import dlpack as dlpack
from torchjit.utils import hooks as hooks
from torchjit.utils.throughput_benchmark import ThroughputBenchmark as ThroughputBenchmark


def set_module(obj: object, mod: str) -> None:
    """Says of an object that it stands in a module; raises TypeError for a name that is no text."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
