"""What a pass over FX graphs is."""

from __future__ import annotations

import abc
from typing import NamedTuple

from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph_module import GraphModule

__all__ = ["PassResult", "PassBase"]


class _Result(NamedTuple):
    graph_module: GraphModule
    modified: bool


@compatibility(is_backward_compatible=False)
class PassResult(_Result):
    """What a pass made, and whether it changed anything."""

    def __new__(cls, graph_module: GraphModule, modified: bool) -> PassResult:
        return super().__new__(cls, graph_module, modified)


@compatibility(is_backward_compatible=False)
class PassBase(abc.ABC):
    """A pass: call, and what is checked before and after it."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Changes the module."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the module is not what the pass takes."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the module is not what the pass promises."""
