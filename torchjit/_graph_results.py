"""Classes of torch._C that hold what passes find out about graphs."""

from __future__ import annotations

from enum import Enum
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


class MobileOptimizerType(Enum):
    """The steps of torch.utils.mobile_optimizer.optimize_for_mobile."""

    CONV_BN_FUSION = 0
    INSERT_FOLD_PREPACK_OPS = 1
    REMOVE_DROPOUT = 2
    FUSE_ADD_RELU = 3
    HOIST_CONV_PACKED_PARAMS = 4

    def __int__(self) -> int:
        return self.value


def _on_graph_or_module(name: str, doc: str) -> Any:
    """A pass over a graph, or over the methods of a module and of its submodules."""
    run = _native.function(name)

    def pass_over(target: Any) -> None:
        if isinstance(target, _C().Graph):
            run(target)
            return
        for method in target._method_names():
            run(target._get_method(method).graph)
        for inner in target.children():
            pass_over(inner)

    pass_over.__doc__ = doc
    return pass_over


def _C() -> Any:
    from torchjit import _C

    return _C


def _jit_pass_optimize_for_mobile(module: Any, optimization_blocklist: Any, preserved_methods: list[str]) -> Any:
    """A frozen copy of a module with packed weights, without the steps that the set names."""
    from torchjit.utils import mobile_optimizer

    return mobile_optimizer._jit_pass_optimize_for_mobile(module, optimization_blocklist, preserved_methods)


def _jit_pass_fuse_clamp_w_prepacked_linear_conv(module: Any) -> None:
    """Has packed layers of a frozen module limit their results where a relu or hardtanh does so next."""
    _on_graph_or_module("_C._fuse_clamp_w_prepacked", "")(module)


def members() -> dict[str, Any]:
    """The classes and functions by name."""
    own = (
        Gradient, MobileOptimizerType, _jit_differentiate, _jit_pass_optimize_for_mobile, _jit_pass_fuse_clamp_w_prepacked_linear_conv,
    )  # fmt: skip
    found: dict[str, Any] = {x.__name__: x for x in own}
    found.update(MobileOptimizerType.__members__)
    found["_jit_pass_insert_prepacked_ops"] = _on_graph_or_module(
        "_C._insert_prepacked_ops", "Replaces linear layers and convolutions by the packing of their weights and the application of these."
    )
    found["_jit_pass_swap_functional_linear"] = _on_graph_or_module(
        "_C._swap_functional_linear", "Replaces calls of functions called linear by aten::linear."
    )
    return found
