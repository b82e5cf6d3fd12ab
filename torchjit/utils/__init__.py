"""torch.utils: data, checkpoints, hooks, exchange of tensors with other libraries."""

from torchjit.utils import _pytree as _pytree
from torchjit.utils import checkpoint as checkpoint
from torchjit.utils import data as data
from torchjit.utils import dlpack as dlpack
from torchjit.utils import hooks as hooks
from torchjit.utils.throughput_benchmark import ThroughputBenchmark as ThroughputBenchmark
