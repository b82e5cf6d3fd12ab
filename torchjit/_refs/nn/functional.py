"""torch._refs.nn.functional: functions of networks by the names of PyTorch's references."""

import torchjit.nn.functional
from torchjit._refs._named import named

_NAMES = """celu dropout elu gelu glu hardshrink hardtanh hinge_embedding_loss huber_loss l1_loss layer_norm leaky_relu margin_ranking_loss mish mse_loss
    pairwise_distance pdist poisson_nll_loss prelu relu relu6 selu softplus softshrink tanhshrink threshold"""
globals().update(named(torchjit.nn.functional, _NAMES, "torch._refs.nn.functional"))
__all__ = _NAMES.split()
