"""Which nodes of a graph something supports."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torchjit as torch
from torchjit.fx._compatibility import compatibility
from torchjit.fx.node import Node
from torchjit.fx.passes.shape_prop import TensorMetadata
from torchjit.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target

__all__ = ["OperatorSupportBase", "OperatorSupport", "create_op_support", "chain", "OpSupports"]

TargetTypeName = str
SupportedArgumentDTypes = tuple[Sequence[Sequence[torch.dtype]], dict[str, Sequence[torch.dtype]]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]
Submodules = Mapping[str, torch.nn.Module]
IsNodeSupported = Callable[[Submodules, Node], bool]


@compatibility(is_backward_compatible=False)
class OperatorSupportBase(abc.ABC):
    """Says of each node whether it is supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        """Whether a node of a module with these submodules is supported."""
        raise NotImplementedError


@compatibility(is_backward_compatible=False)
class OperatorSupport(OperatorSupportBase):
    """Says it by a table: for the name of a target None, or the types that arguments may have, by position and by name."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        """Whether the table has the node's target, for arguments of its types. Nodes that call nothing are supported."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        wanted = self._support_dict[target]
        if wanted is None:
            return True
        by_position, by_name = wanted
        for arg, dtypes in zip(node.args, by_position, strict=False):
            if isinstance(arg, Node) and _get_arg_dtype(arg) not in dtypes:
                return False
        return all(not isinstance(node.kwargs.get(name), Node) or _get_arg_dtype(node.kwargs[name]) in dtypes for name, dtypes in by_name.items())


def _get_arg_dtype(arg: Any) -> Any:
    """The type of a node's value, None where it is no tensor, as ShapeProp noted."""
    assert isinstance(arg, Node)
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]


@compatibility(is_backward_compatible=False)
class FunctionalOperatorSupport(OperatorSupportBase):
    """Says it by a function."""

    def __init__(self, is_node_supported: IsNodeSupported) -> None:
        self._function = is_node_supported

    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        """What the function says."""
        return self._function(submodules, node)


@compatibility(is_backward_compatible=False)
def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """Support for the nodes that a function of the submodules and the node approves."""
    return FunctionalOperatorSupport(is_node_supported)


@compatibility(is_backward_compatible=False)
def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Support for the nodes that all the others support."""
    return create_op_support(lambda submodules, node: all(s.is_node_supported(submodules, node) for s in op_support))


@compatibility(is_backward_compatible=False)
class OpSupports:
    """Common rules."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: torch.dtype) -> OperatorSupportBase:
        """No support for nodes with an argument of an element type."""
        return create_op_support(lambda submodules, node: all(_get_arg_dtype(arg) != dtype for arg in node.all_input_nodes))

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """No support for nodes of some names."""
        return create_op_support(lambda submodules, node: node.name not in disallow_set)
