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

    def __init__(self, function: Any) -> None:
        self._forward, self._backward = function._differentiable_functions()

    def num_bailouts(self) -> int:
        """How many places may leave the plan for another one: none, guards choose within it."""
        return 0

    def request_bailout(self, index: int) -> None:
        """Does nothing: there is no place of any index."""

    def differentiable_op_executor_states(self) -> list[GraphExecutorState]:
        """The states of the differentiable graphs, in order."""
        return [state_of(f) for f in self._forward]

    def grad_executor_states(self) -> list[GraphExecutorState]:
        """The states of the graphs that compute the gradients of the differentiable ones, in order."""
        return [state_of(f) for f in self._backward]


class ExecutionPlan:
    """A graph and its code."""

    def __init__(self, function: Any) -> None:
        self._graph = function._executed_graph()
        self._code = Code(function)

    graph = property(lambda self: self._graph, doc="The graph.")
    code = property(lambda self: self._code, doc="Its code.")


class GraphExecutorState:
    """The plans of a function, none before it runs."""

    def __init__(self, plan: ExecutionPlan | None) -> None:
        self._plan = plan
        self._plans = {} if plan is None else {ArgumentSpec(): plan}

    graph = property(lambda self: None, doc="None, as in PyTorch while it profiles.")
    execution_plans = property(lambda self: self._plans, doc="The plans by the arguments that they are for.")
    fallback = property(lambda self: self._plan, doc="The plan for other arguments.")


def state_of(function: Any) -> GraphExecutorState:
    """The state of a function."""
    return GraphExecutorState(ExecutionPlan(function) if function._has_run() else None)
