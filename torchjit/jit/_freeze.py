"""torch.jit.freeze: modules whose attributes are constants."""

from __future__ import annotations

from typing import Any

from torchjit import _C
from torchjit._advice import advised
from torchjit.jit._module import RecursiveScriptModule, ScriptModule

_freeze_module: Any = _C._freeze_module
_optimize: Any = _C._jit_pass_optimize_frozen_graph


def freeze(mod: ScriptModule, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> RecursiveScriptModule:
    """A copy of a compiled module in eval mode whose parameters and attributes are constants and whose submodules are inlined.

    preserved_attrs names attributes that stay, and methods that stay beside forward. With optimize_numerics, operators
    behind convolutions are folded into their weights, which may change the last digits of results.

    >>> m = torch.jit.freeze(torch.jit.script(nn.Linear(3, 2).eval()))
    >>> list(m.parameters()), m(torch.rand(1, 3)).shape
    ([], torch.Size([1, 2]))
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
        )
    if mod.training:
        raise advised(
            RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before freezing.")
        )
    preserved = list(preserved_attrs) if preserved_attrs is not None else []
    frozen = RecursiveScriptModule._wrap(_freeze_module(mod._c, preserved))
    run_frozen_optimizations(frozen, optimize_numerics, [name for name in preserved if mod._c._has_method(name)])
    return frozen


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Optimizes the graphs of a frozen module as freeze does: dropouts go, and convolutions take in what follows them.

    >>> m = torch.jit.freeze(torch.jit.script(nn.Linear(3, 2).eval()), optimize_numerics=False)
    >>> torch.jit.run_frozen_optimizations(m)
    >>> m(torch.rand(1, 3)).shape
    torch.Size([1, 2])
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(f"run_frozen_optimizations expects a frozen ScriptModule, not a {type(mod).__name__}")
    if mod._c._has_method("forward"):
        _optimize(mod.graph, optimize_numerics)
    for name in preserved_methods or []:
        _optimize(getattr(mod, name).graph, optimize_numerics)


def optimize_for_inference(mod: ScriptModule, other_methods: list[str] | None = None) -> ScriptModule:
    """The module frozen, unless it is so already, and made ready for fast calls.

    >>> m = torch.jit.optimize_for_inference(torch.jit.script(nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)).eval()))
    >>> m(torch.rand(1, 1, 3, 3)).shape
    torch.Size([1, 2, 3, 3])
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. "
            "Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
        )
    if hasattr(mod, "training"):
        mod = freeze(mod.eval(), preserved_attrs=other_methods)
    return mod
