"""Where the nodes of a graph come from: stacks that another graph's nodes have, kept while it is run."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator

from torchjit.fx._compatibility import compatibility

__all__ = [
    "override_stack_trace", "set_stack_trace", "append_stack_trace", "format_stack", "is_stack_trace_overridden",
]  # fmt: skip

current_stack: list[str] = []
is_overridden = False


@compatibility(is_backward_compatible=False)
@contextlib.contextmanager
def override_stack_trace() -> Iterator[None]:
    """While it is entered, format_stack gives the stack that was set and not Python's."""
    global is_overridden
    saved, is_overridden = is_overridden, True
    try:
        yield
    finally:
        is_overridden = saved


@compatibility(is_backward_compatible=False)
def set_stack_trace(stack: list[str]) -> None:
    """Sets the stack, where it is overridden."""
    global current_stack
    if is_overridden and stack:
        current_stack = stack


@compatibility(is_backward_compatible=False)
@contextlib.contextmanager
def append_stack_trace(stack: str | None) -> Iterator[None]:
    """Adds to the stack while it is entered, where that is overridden."""
    global current_stack
    if not (is_overridden and stack):
        yield
        return
    saved = current_stack
    current_stack = [*saved, stack]
    try:
        yield
    finally:
        current_stack = saved


@compatibility(is_backward_compatible=False)
def format_stack() -> list[str]:
    """The stack that was set, where it is overridden, else Python's."""
    return current_stack.copy() if is_overridden else traceback.format_list(traceback.extract_stack()[:-1])


@compatibility(is_backward_compatible=False)
def is_stack_trace_overridden() -> bool:
    """Whether override_stack_trace is entered."""
    return is_overridden
