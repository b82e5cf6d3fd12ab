"""What the values of a graph are like, found out without computing elements."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit._subclasses.fake_tensor import FakeTensorMode
from torchjit.fx._compatibility import compatibility
from torchjit.fx.interpreter import Interpreter
from torchjit.fx.node import Node

__all__ = ["FakeTensorProp"]


@compatibility(is_backward_compatible=False)
class FakeTensorProp(Interpreter):
    """Runs a graph on tensors without elements and keeps in the meta of each node, as fake_result, its value."""

    def __init__(self, module: torch.fx.GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = mode if mode is not None else FakeTensorMode()

    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        result = super().run_node(n)
        n.meta["fake_result"] = result
        return result

    def fetch_attr(self, target: str) -> Any:
        """An attribute; for a tensor what stands for it."""
        found = super().fetch_attr(target)
        return self._mode.from_tensor(found) if isinstance(found, torch.Tensor) else found

    def propagate(self, *args: Any) -> Any:
        """Runs the graph for arguments like these, and gives its result."""
        with self._mode:
            return super().run(*[self._mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in args])
