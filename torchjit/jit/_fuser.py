"""The names around PyTorch's fusers: which is used, how often shapes are specialized, whether graphs are optimized."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torchjit import _C, _lazy

_c: Any = _C


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context in which the executor is told whether to optimize. It optimizes the same way here.

    >>> with torch.jit.optimized_execution(False):
    ...     print(torch.jit.script(nn.ReLU())(torch.tensor([-1.0, 2.0])))
    tensor([0., 2.])
    """
    stored = _c._get_graph_executor_optimize()
    _c._set_graph_executor_optimize(should_optimize)
    try:
        yield
    finally:
        _c._set_graph_executor_optimize(stored)


_FUSERS = {
    "fuser0": (True, True, False, False, False, False),
    "fuser1": (True, True, True, True, False, False),
    "fuser2": (False, False, False, True, True, False),
    "fuser3": (True, True, True, True, False, True),
    "none": (False, False, False, False, False, False),
}
_SWITCHES = ("_jit_set_profiling_executor", "_jit_set_profiling_mode")


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context in which PyTorch would use one of its fusers: "fuser0", "fuser1", "fuser3" or "none"; "fuser2", for CUDA, raises RuntimeError.

    >>> with torch.jit.fuser("fuser1"):
    ...     print(torch.jit.script(nn.ReLU())(torch.tensor([-1.0, 2.0])))
    tensor([0., 2.])
    """
    if name not in _FUSERS:
        raise Exception(f"unrecognized fuser option (name: {name})")
    cpu, gpu, texpr, profiling, nvfuser, llga = _FUSERS[name]
    stored_nvfuser = _c._jit_set_nvfuser_enabled(nvfuser)  # which fails before the others are changed
    stored_cpu, stored_gpu = _c._jit_can_fuse_on_cpu(), _c._jit_can_fuse_on_gpu()
    stored_texpr = _c._jit_texpr_fuser_enabled()
    _c._jit_override_can_fuse_on_cpu(cpu)
    _c._jit_override_can_fuse_on_gpu(gpu)
    _c._jit_set_texpr_fuser_enabled(texpr)
    stored = [_c._jit_set_profiling_executor(profiling), _c._jit_set_profiling_mode(profiling)]
    stored_llga = _c._jit_set_llga_enabled(llga)
    try:
        yield
    finally:
        _c._jit_override_can_fuse_on_cpu(stored_cpu)
        _c._jit_override_can_fuse_on_gpu(stored_gpu)
        _c._jit_set_texpr_fuser_enabled(stored_texpr)
        for switch, value in zip(_SWITCHES, stored, strict=True):
            getattr(_c, switch)(value)
        _c._jit_set_nvfuser_enabled(stored_nvfuser)
        _c._jit_set_llga_enabled(stored_llga)


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """How often the profiling executor makes groups for the sizes that calls have met, and for any; returns the former strategy.

    >>> before = torch.jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 2)])
    >>> torch.jit.set_fusion_strategy(before)
    [('STATIC', 2), ('DYNAMIC', 2)]
    """
    for kind, depth in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise RuntimeError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}")
        if not isinstance(depth, int):
            raise TypeError(f"a depth is an int, not a {type(depth).__name__}")
    return _c._jit_set_fusion_strategy(list(strategy))


def enable_onednn_fusion(enabled: bool) -> None:
    """Keeps whether PyTorch would fuse with oneDNN."""
    _c._jit_set_llga_enabled(enabled)


def onednn_fusion_enabled() -> bool:
    """What enable_onednn_fusion has set.

    >>> torch.jit.onednn_fusion_enabled()
    False
    """
    return _c._jit_llga_enabled()


def _get_differentiable_graph_node(node: Any, diff_node: list[Any]) -> None:
    """Adds the differentiable graphs at a node, or in its blocks, to a list."""
    if node.kind() == "prim::DifferentiableGraph":
        diff_node.append(node)
        return
    for block in node.blocks():
        for inner in block.nodes():
            _get_differentiable_graph_node(inner, diff_node)


def _graph_for(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The optimized graph of a call of a compiled function."""
    return self.graph_for(*args, **kwargs)


def _script_method_graph_for(self: Any, parent: Any, *args: Any, **kwargs: Any) -> Any:
    """The optimized graph of a call of a compiled method, or of a module's forward."""
    return (parent if hasattr(parent, "graph_for") else self).graph_for(*args, **kwargs)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit._C": "last_executed_optimized_graph=_last_executed_optimized_graph"})
