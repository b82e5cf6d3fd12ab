"""Passes in an order that rules choose, run until nothing changes."""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any

from torchjit import nn
from torchjit.fx._compatibility import compatibility
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.passes.infra.pass_base import PassResult
from torchjit.fx.passes.pass_manager import _Schedule
from torchjit.fx.passes.pass_manager import _validate_pass_schedule_constraint as _validate_pass_schedule_constraint
from torchjit.fx.passes.pass_manager import this_before_that_pass_constraint as _before

__all__ = ["inplace_wrapper", "pass_result_wrapper", "this_before_that_pass_constraint", "PassManager"]

logger: logging.Logger = logging.getLogger(__name__)


@compatibility(is_backward_compatible=False)
def inplace_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A pass of a function that changes its argument."""

    @wraps(fn)
    def wrapped_fn(gm: Any) -> PassResult:
        fn(gm)
        return PassResult(gm, True)

    return wrapped_fn


@compatibility(is_backward_compatible=False)
def pass_result_wrapper(fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A pass of a function that returns a module, or None where it changes its argument."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped_fn(gm: Any) -> PassResult:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


@compatibility(is_backward_compatible=False)
def this_before_that_pass_constraint(this: Callable[..., Any], that: Callable[..., Any]) -> Callable[[Any, Any], bool]:
    """The rule that one pass comes before another."""
    return _before(this, that)


def _topological_sort_passes(passes: list[Any], constraints: list[Any]) -> list[Any]:
    """The passes in an order that the rules allow. Raises RuntimeError where there is none."""
    if not constraints:
        return passes
    after: dict[Any, list[Any]] = {p: [] for p in passes}
    before = dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            if a is not b and any(not constraint(a, b) for constraint in constraints):
                after[b].append(a)
                before[a] += 1
    ready, order = deque(p for p in passes if before[p] == 0), []
    while ready:
        p = ready.popleft()
        order.append(p)
        for later in after[p]:
            before[later] -= 1
            if before[later] == 0:
                ready.append(later)
    waiting = [p for p in passes if before[p]]
    if waiting:
        raise RuntimeError(f"Circular dependency detected within the following passes: {waiting}")
    return order


def _name(p: Any) -> str:
    return p.__name__ if inspect.isfunction(p) else type(p).__name__


@compatibility(is_backward_compatible=False)
class PassManager(_Schedule):
    """Runs passes, which give a PassResult each, in an order that meets the constraints, steps times or until they change nothing.

    Checks are run on the module at the beginning and, with run_checks_after_each_pass, after each pass. With debug a log tells of each.
    """

    def __init__(
        self,
        passes: list[Any] | None = None,
        constraints: list[Any] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
        debug: bool = False,
    ) -> None:
        super().__init__(passes, constraints)
        self.steps: int = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self.debug = debug

    def validate_constraints(self) -> None:
        """Raises RuntimeError where the order breaks a rule."""
        self._check_order()

    def solve_constraints(self) -> None:
        """Puts the passes in an order that the rules allow. Raises RuntimeError where there is none."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[..., Any]) -> None:
        """Sets the check of modules. Raises TypeError unless it takes one argument, ValueError unless that is called module."""
        names = list(inspect.signature(check).parameters)
        if len(names) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        setattr(self, "check", check)  # noqa: B010

    def check(self, module: nn.Module) -> None:
        """Does nothing: see add_checks."""

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed_at_all = False
        for _ in range(self.steps):
            module, changed = self._run_once(module)
            changed_at_all = changed_at_all or changed
            if not changed:
                break
        return PassResult(module, changed_at_all)

    def _run_once(self, module: nn.Module) -> tuple[nn.Module, bool]:
        changed = False
        for i, fn in enumerate(self.passes):
            if self.debug:
                logger.debug("Running pass '%s'", _name(fn))
            try:
                result = fn(module)
            except Exception as e:
                before = [_name(p) for p in self.passes[:i]]
                raise type(e)(f"An error occurred when running the '{_name(fn)}' pass after the following passes: {before}") from e
            module, changed = result.graph_module, changed or result.modified
            if isinstance(module, GraphModule):
                module.recompile()
            if self.run_checks_after_each_pass:
                self.check(module)
        return module, changed
