"""Classes of torch._C that hold what passes find out about graphs."""

from __future__ import annotations

from enum import Enum
from typing import Any

from torchjit import _native

_differentiate = _native.function("_C._differentiate")
_compute_shapes = _native.function("_C._compute_shapes")


class Gradient:
    """A graph that was differentiated: f computes it and what df needs besides, df the gradients of its inputs.

    The first f_real_outputs outputs of f are those of the graph. The inputs of df are the gradients of the outputs of f that df_input_vjps
    lists, the inputs of f that df_input_captured_inputs lists and the outputs that df_input_captured_outputs lists; df gives a
    tuple of the gradients of the inputs of f that df_output_vjps lists.
    """

    __slots__ = ("df", "df_input_captured_inputs", "df_input_captured_outputs", "df_input_vjps", "df_output_vjps", "f", "f_real_outputs")

    def __init__(self, parts: tuple[Any, ...]) -> None:
        (
            self.f, self.df, self.f_real_outputs, self.df_input_vjps, self.df_input_captured_inputs, self.df_input_captured_outputs,
            self.df_output_vjps,
        ) = parts  # fmt: skip


def _jit_differentiate(graph: Any) -> Gradient:
    """A graph without control flow, differentiated. RuntimeError where an operator has no derivative that a graph can have."""
    return Gradient(_differentiate(graph))


class _ShapeComputeGraphMapping:
    """How the sizes of a graph's tensors that are symbols are computed from those of its parameters."""

    def __init__(self, graph: Any, symbols: list[int]) -> None:
        self._graph, self._symbols = graph, symbols

    def partial_eval_shape_graph(self) -> Any:
        """The graph that takes the sizes of the parameters that are tensors and gives those that are symbols."""
        return self._graph

    def graph_output_to_symbolic_shape_dim(self) -> dict[Any, int]:
        """The symbol that each output of the graph is."""
        return dict(zip(self._graph.outputs(), self._symbols, strict=True))


def _jit_pass_propagate_shapes_on_graph_and_build_compute(
    graph: Any, beg: Any = None, end: Any = None
) -> _ShapeComputeGraphMapping:
    """Gives tensors the types that follow from those of the parameters and returns how sizes that are symbols are computed."""
    return _ShapeComputeGraphMapping(*_compute_shapes(graph, beg, end))


def _jit_pass_fuse_tensorexprs(graph: Any) -> None:
    """Groups elementwise nodes whose tensors' types are all known, where `_jit_override_can_fuse_on_cpu` has allowed it.

    Other types are erased, and nodes that compute the same become one.
    """
    c = _C()
    if c._jit_can_fuse_on_cpu() and c._jit_texpr_fuser_enabled():
        c._fuse_tensorexprs(graph)
    else:
        c._erase_outer_shapes(graph)
        c._jit_pass_cse(graph)
        c._jit_pass_dce(graph)


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


def _jit_pass_optimize_for_inference(module: Any, other_methods: list[str] | None = None) -> None:
    """Optimizes the graphs of a frozen module, that of forward and of the methods that are named, as torch.jit.optimize_for_inference does."""
    for name in ["forward", *(other_methods or [])]:
        _C()._jit_pass_optimize_frozen_graph(module._get_method(name).graph, True)


def _jit_pass_fuse_clamp_w_prepacked_linear_conv(module: Any) -> None:
    """Has packed layers of a frozen module limit their results where a relu or hardtanh does so next."""
    _on_graph_or_module("_C._fuse_clamp_w_prepacked", "")(module)


def members() -> dict[str, Any]:
    """The classes and functions by name."""
    own = (
        Gradient, MobileOptimizerType, _jit_pass_fuse_tensorexprs, _ShapeComputeGraphMapping, _jit_differentiate, _jit_pass_propagate_shapes_on_graph_and_build_compute, _jit_pass_optimize_for_mobile, _jit_pass_optimize_for_inference,
        _jit_pass_fuse_clamp_w_prepacked_linear_conv,
    )  # fmt: skip
    found: dict[str, Any] = {x.__name__: x for x in own}
    found.update(MobileOptimizerType.__members__)
    found["_jit_pass_insert_prepacked_ops"] = _on_graph_or_module(
        "_C._insert_prepacked_ops", "Replaces linear layers and convolutions by the packing of their weights and the application of these."
    )
    found["_jit_pass_insert_prepack_unpack"] = _on_graph_or_module(
        "_C._insert_prepack_unpack", "Packs the rounded weights of layers, which then use what is unpacked."
    )
    found["_jit_pass_swap_functional_linear"] = _on_graph_or_module(
        "_C._swap_functional_linear", "Replaces calls of functions called linear by aten::linear."
    )
    return found
