"""The modules, by theme."""

from torchjit.nn.modules.activation import *  # noqa: F403
from torchjit.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from torchjit.nn.modules.batchnorm import *  # noqa: F403
from torchjit.nn.modules.container import *  # noqa: F403
from torchjit.nn.modules.conv import *  # noqa: F403
from torchjit.nn.modules.distance import *  # noqa: F403
from torchjit.nn.modules.dropout import *  # noqa: F403
from torchjit.nn.modules.fold import *  # noqa: F403
from torchjit.nn.modules.flatten import *  # noqa: F403
from torchjit.nn.modules.instancenorm import *  # noqa: F403
from torchjit.nn.modules.linear import *  # noqa: F403
from torchjit.nn.modules.loss import *  # noqa: F403
from torchjit.nn.modules.module import Module as Module
from torchjit.nn.modules.normalization import *  # noqa: F403
from torchjit.nn.modules.padding import *  # noqa: F403
from torchjit.nn.modules.pixelshuffle import *  # noqa: F403
from torchjit.nn.modules.pooling import *  # noqa: F403
from torchjit.nn.modules.rnn import *  # noqa: F403
from torchjit.nn.modules.sparse import *  # noqa: F403
from torchjit.nn.modules.transformer import *  # noqa: F403
from torchjit.nn.modules.upsampling import *  # noqa: F403

__all__ = sorted(name for name, made in globals().items() if isinstance(made, type) and issubclass(made, Module) and name[:1] != "_" and name != "NonDynamicallyQuantizableLinear")
