"""torch.jit.explain: how compiled code runs."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

from torchjit import _native
from torchjit.autograd import profiler


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of a plan, and the microseconds that it took in a call; None where no call was measured."""

    text: str
    microseconds: float | None


@dataclasses.dataclass(frozen=True)
class Group:
    """Operators that run together: as one kernel, or by one plan.

    `reasons` are those for which calls so far ran the operators one by one instead, `steps` those of the plan that ran last.
    """

    place: str | None
    operators: list[str]
    planned: bool
    steps: list[Step]
    reasons: list[str]


@dataclasses.dataclass(frozen=True)
class Time:
    """How long the events of one name took in a call on average: `self_us` without the events within them."""

    name: str
    count: float
    self_us: float
    total_us: float


class Explanation:
    """How calls of a compiled function run: what torch.jit.explain returns.

    `graph` is the text of the graph that the interpreter runs, `groups` are its operators that run together, with the reasons why some did not, `times` are those
    of calls where arguments were given. `node_by_node` are the reasons for which calls of an exported module ran its nodes one by one. `str()` shows all of it; in a
    notebook there is a drawing; `save("x.html")` writes a page.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self.name: str = found["name"]
        self.graph: str = found["graph"]
        self.groups: list[Group] = [
            Group(
                g.get("place"), g["operators"], g["planned"], [Step(s["text"], s.get("microseconds")) for s in g.get("steps", [])], g.get("reasons", [])
            )
            for g in found["groups"]
        ]
        self.node_by_node: list[str] = found.get("node_by_node", [])
        calls = found.get("calls", 1)
        self.times: list[Time] = [Time(t["name"], t["count"] / calls, t["self_us"] / calls, t["total_us"] / calls) for t in found.get("times", [])]

    def _text(self) -> str:
        return json.dumps(self._found)

    def __str__(self) -> str:
        return str(_native.explanation_text(self._text()))

    def __repr__(self) -> str:
        fused = sum(not g.reasons for g in self.groups)
        return f"<torch.jit.Explanation of {self.name}: {len(self.groups)} groups of operators, {fused} of which always run together>"

    def _repr_html_(self) -> str:
        return str(_native.explanation_notebook(self._text()))

    def save(self, path: Any) -> None:
        """Writes a page of HTML that needs nothing else: the times, the groups, a drawing of the graph, its text."""
        pathlib.Path(path).write_text(_native.explanation_page(self._text()), encoding="utf-8")


_CALLS = 5


def explain(obj: Any, *args: Any, **kwargs: Any) -> Explanation:
    """Tells how a compiled function, method or module (its forward) runs, or the module of an exported program.

    The explanation has the graph that the interpreter runs, with groups of elementwise operators that are one kernel each and groups that run by one
    plan. For each group there are the reasons for which calls so far ran its operators one by one instead; for a plan its steps, what they read,
    and where in the arena of a call their results lie. Where arguments are given, obj is called with them a few times, and there are the times of steps,
    kernels, operators and of the call around them. PyTorch has no such function.

        print(torch.jit.explain(model))
        torch.jit.explain(model, x).save("model.html")

    >>> @torch.jit.script
    ... def f(x):
    ...     return x.relu() + 1
    >>> explanation = torch.jit.explain(f, torch.rand(3))
    >>> "aten::relu" in str(explanation), "<svg" in explanation._repr_html_()
    (True, True)
    """
    found = getattr(obj, "_lowered", None) or getattr(obj, "forward", obj)
    if not hasattr(found, "_explain"):
        raise TypeError(f"explain() expects a compiled function, method or module, but got {type(obj).__name__}")
    if not args and not kwargs:
        return Explanation(json.loads(found._explain()))
    obj(*args, **kwargs)  # plans are made in the first calls
    found._time_steps(True)
    try:
        measured = profiler.profile()
        with measured:
            for _ in range(_CALLS):
                obj(*args, **kwargs)
        told = json.loads(found._explain())
    finally:
        found._time_steps(False)
    averages = sorted(measured.key_averages(), key=lambda e: e.self_cpu_time_total, reverse=True)
    told["calls"] = _CALLS
    told["times"] = [{"name": e.key, "count": e.count, "self_us": e.self_cpu_time_total, "total_us": e.cpu_time_total} for e in averages]
    return Explanation(told)


for _cls in (Step, Group, Time, Explanation):
    _cls.__module__ = "torch.jit"
