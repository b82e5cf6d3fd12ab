"""What a compiled function runs, as objects to look at: `f.get_debug_state()`."""

from __future__ import annotations

from typing import Any


class ArgumentSpec:
    """Stands for the arguments that a plan is for: there is one plan, which its guards make fit for all."""


class CompleteArgumentSpec:
    """Stands for the types and shapes of arguments as a whole."""

    def __new__(cls) -> Any:
        raise TypeError("torch._C.CompleteArgumentSpec: No constructor defined!")


class Code:
    """A plan made ready to run."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def num_bailouts(self) -> int:
        """How many places may leave the plan for another one: none, guards choose within it."""
        return 0

    def request_bailout(self, index: int) -> None:
        """Does nothing: there is no place of any index."""

    def differentiable_op_executor_states(self) -> list[GraphExecutorState]:
        """The states of the differentiable graphs, in order."""
        return [state_of(n.g("Subgraph")) for n in self._graph.findAllNodes("prim::DifferentiableGraph", True)]

    def grad_executor_states(self) -> list[GraphExecutorState]:
        """The states of graphs of derivatives: none, what runs is recorded and differentiated operator by operator."""
        return []


class ExecutionPlan:
    """A graph and its code."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.code = Code(graph)


class GraphExecutorState:
    """The plans of a function: graph is None, as in PyTorch while it profiles."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self.graph = None
        self.execution_plans = {ArgumentSpec(): plan}
        self.fallback = plan


def state_of(graph: Any) -> GraphExecutorState:
    """The state whose only plan is a graph."""
    return GraphExecutorState(ExecutionPlan(graph))
