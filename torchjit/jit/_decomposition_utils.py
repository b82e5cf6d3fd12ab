"""Graphs that stand for operators."""

from __future__ import annotations

from typing import Any

from torchjit import _C, _lazy


def _register_decomposition(op: Any, graph: Any) -> None:
    """Has a graph stand for an overload of an operator, such as torch.ops.aten.square.default; see torch._C._jit_pass_run_decompositions."""
    from torchjit._ops import OpOverload, OpOverloadPacket

    assert not isinstance(op, OpOverloadPacket), f"Must pass specific op overload, not overload packet, found {op}"
    assert isinstance(op, OpOverload)
    _C._jit_register_decomposition_for_schema(op._schema, graph)


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit._ops": "OpOverload OpOverloadPacket"})
