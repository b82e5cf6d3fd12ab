"""Classes of torch._C that hold what passes find out about graphs."""

from __future__ import annotations

from typing import Any

from torchjit import _native

_differentiate = _native.function("_C._differentiate")


class Gradient:
    """A graph that was differentiated: f computes it and what df needs besides, df the gradients of its inputs.

    The first f_real_outputs outputs of f are those of the graph. The inputs of df are the gradients of the outputs of f that df_input_vjps
    lists, the inputs of f that df_input_captured_inputs lists and the outputs that df_input_captured_outputs lists; df gives a
    tuple of the gradients of the inputs of f that df_output_vjps lists.
    """

    def __init__(self, parts: tuple[Any, ...]) -> None:
        (
            self.f, self.df, self.f_real_outputs, self.df_input_vjps, self.df_input_captured_inputs, self.df_input_captured_outputs,
            self.df_output_vjps,
        ) = parts  # fmt: skip


def _jit_differentiate(graph: Any) -> Gradient:
    """A graph without control flow, differentiated. RuntimeError where an operator has no derivative that a graph can have."""
    return Gradient(_differentiate(graph))


def members() -> dict[str, Any]:
    """The classes and functions by name."""
    return {"Gradient": Gradient, "_jit_differentiate": _jit_differentiate}
