"""Backward passes as programs that extend them see them: what is to be called at their ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from torchjit import _native


class _Passes(threading.local):
    """The backward passes of a thread that are running, the innermost last: what is called at the end of each, None where nothing is."""

    def __init__(self) -> None:
        self.running: list[list[Callable[[], Any]] | None] = []


_passes = _Passes()


def run(operator: str, *args: Any) -> Any:
    """Runs a backward pass, and then what has been queued in it."""
    running = _passes.running
    running.append(None)
    try:
        made = _native.operator(operator)(*args)
        queued = running[-1]
        while queued:
            queued.pop(0)()
        return made
    finally:
        running.pop()


class _EngineBase:
    """What runs backward passes: torch.autograd.Variable._execution_engine."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Has a function called at the end of the backward pass that is running."""
        running = _passes.running
        if not running:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        queued = running[-1] or []
        queued.append(callback)
        running[-1] = queued

    def is_checkpoint_valid(self) -> bool:
        """Whether a backward pass may run the parts of a checkpoint again: none here keeps only some of the leaves' gradients."""
        return True

    def run_backward(
        self, tensors: Any, grad_tensors: Any, keep_graph: bool, create_graph: bool, inputs: Any = (), allow_unreachable: bool = False, accumulate_grad: bool = False,
    ) -> Any:  # fmt: skip
        """The gradients of tensors, which are added to those of leaves unless inputs are given."""
        if accumulate_grad or not inputs:
            return run("aten::backward", list(tensors), list(grad_tensors), keep_graph, create_graph)
        return tuple(run("aten::grad", list(tensors), list(inputs), list(grad_tensors), keep_graph, create_graph, allow_unreachable))


engine = _EngineBase()
