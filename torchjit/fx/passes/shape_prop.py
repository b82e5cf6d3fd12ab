"""What the values of a graph are for example arguments: shapes, types, layouts."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.interpreter import Interpreter
from torchjit.fx.node import Node, map_aggregate

__all__ = ["TensorMetadata", "ShapeProp"]


@compatibility(is_backward_compatible=True)
class TensorMetadata(NamedTuple):
    """What is known of a tensor beside its elements."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: torch.Tensor) -> TensorMetadata:
    """The metadata of a tensor."""
    formats = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)
    # Of several that fit, PyTorch names any.
    fitting = [f for f in formats if _fits(result, f)]
    qparams: dict[str, Any] = {}
    if result.is_quantized:
        qparams["qscheme"] = result.qscheme()
        if qparams["qscheme"] in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            qparams["scale"], qparams["zero_point"] = result.q_scale(), result.q_zero_point()
        else:
            # As lists, so that the dictionary can be compared.
            qparams["scale"] = result.q_per_channel_scales().tolist()
            qparams["zero_point"] = result.q_per_channel_zero_points().tolist()
            qparams["axis"] = result.q_per_channel_axis()
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), fitting[0] if fitting else None,
        result.is_quantized, qparams,
    )  # fmt: skip


def _fits(tensor: torch.Tensor, memory_format: torch.memory_format) -> bool:
    wanted = {torch.channels_last: 4, torch.channels_last_3d: 5}.get(memory_format, tensor.dim())
    return tensor.dim() == wanted and tensor.is_contiguous(memory_format=memory_format)


@compatibility(is_backward_compatible=True)
class ShapeProp(Interpreter):
    """Runs a graph and notes in the meta of each node the type of its value and, as tensor_meta, what tensors are like."""

    def run_node(self, n: Node) -> Any:
        """The value of a node, whose meta gets what it is like. Raises RuntimeError with the node where it fails."""
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        found = False

        def extract(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, torch.Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, extract)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph with the arguments, and gives its result."""
        return super().run(*args)
