"""torch.optim: optimizers and schedules of their learning rates."""

from torchjit.optim import lr_scheduler as lr_scheduler
from torchjit.optim.adam import Adam as Adam
from torchjit.optim.adam import AdamW as AdamW
from torchjit.optim.adam import NAdam as NAdam
from torchjit.optim.adam import RAdam as RAdam
from torchjit.optim.adaptive import Adadelta as Adadelta
from torchjit.optim.adaptive import Adagrad as Adagrad
from torchjit.optim.adaptive import Adamax as Adamax
from torchjit.optim.adaptive import RMSprop as RMSprop
from torchjit.optim.adaptive import Rprop as Rprop
from torchjit.optim.lbfgs import LBFGS as LBFGS
from torchjit.optim.optimizer import Optimizer as Optimizer
from torchjit.optim.sgd import ASGD as ASGD
from torchjit.optim.sgd import SGD as SGD
from torchjit.optim.sparse_adam import SparseAdam as SparseAdam

from torchjit.optim import swa_utils as swa_utils  # isort: skip  # over all of the above
from torchjit._submodules import provide as _provide  # isort: skip

# Modules of PyTorch whose optimizers stand with their kin here.
_provide(
    __name__,
    {name.lower(): name + " Optimizer" for name in ("AdamW", "NAdam", "RAdam", "Adadelta", "Adagrad", "Adamax", "RMSprop", "Rprop", "ASGD")},
)

from torchjit.optim import _functional as _functional  # isort: skip  # noqa: E402
from torchjit.optim import _multi_tensor as _multi_tensor  # isort: skip  # noqa: E402
