"""torch.utils.benchmark: how long statements take, and tables of that."""

from torchjit.utils.benchmark.utils.common import Measurement as Measurement
from torchjit.utils.benchmark.utils.common import TaskSpec as TaskSpec
from torchjit.utils.benchmark.utils.common import ordered_unique as ordered_unique
from torchjit.utils.benchmark.utils.common import select_unit as select_unit
from torchjit.utils.benchmark.utils.common import set_torch_threads as set_torch_threads
from torchjit.utils.benchmark.utils.common import trim_sigfig as trim_sigfig
from torchjit.utils.benchmark.utils.common import unit_to_english as unit_to_english
from torchjit.utils.benchmark.utils.compare import Colorize as Colorize
from torchjit.utils.benchmark.utils.compare import Compare as Compare
from torchjit.utils.benchmark.utils.fuzzer import FuzzedParameter as FuzzedParameter
from torchjit.utils.benchmark.utils.fuzzer import FuzzedTensor as FuzzedTensor
from torchjit.utils.benchmark.utils.fuzzer import Fuzzer as Fuzzer
from torchjit.utils.benchmark.utils.fuzzer import ParameterAlias as ParameterAlias
from torchjit.utils.benchmark.utils.timer import Language as Language
from torchjit.utils.benchmark.utils.timer import Timer as Timer
from torchjit.utils.benchmark.utils.timer import timer as timer
