"""FileCheck: what tests say of printed graphs."""

from __future__ import annotations

from typing import Any

from torchjit import _C

_run: Any = _C._filecheck_run
_parse: Any = _C._filecheck_parse
_count: Any = _C._filecheck_count


class FileCheck:
    """Checks that texts occur in a text in an order.

    Each method adds a check and returns the object; `run` fails with the first one that does not hold.

    >>> graph = torch.jit.script(nn.ReLU()).inlined_graph
    >>> torch.testing.FileCheck().check("aten::relu").check_not("aten::add").check("return").run(graph)
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, str, int]] = []
        self._has_run = False

    def _add(self, kind: str, text: str) -> FileCheck:
        if not isinstance(text, str):
            raise TypeError(f"{kind} expects a str, not {type(text).__name__}")
        self._checks.append((kind, text, 0))
        return self

    def check(self, text: str) -> FileCheck:
        """The text occurs behind the last match."""
        return self._add("CHECK", text)

    def check_not(self, text: str) -> FileCheck:
        """The text does not occur between the matches before and behind."""
        return self._add("CHECK-NOT", text)

    def check_same(self, text: str) -> FileCheck:
        """The text occurs in the line of the last match."""
        return self._add("CHECK-SAME", text)

    def check_next(self, text: str) -> FileCheck:
        """The text occurs in the line after the last match."""
        return self._add("CHECK-NEXT", text)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """The text occurs a number of times, and with exactly, not more often."""
        self._checks += _count(str, count, exactly)
        return self

    def check_dag(self, text: str) -> FileCheck:
        """The text occurs behind the last match, in any order with the checks of this kind beside it."""
        return self._add("CHECK-DAG", text)

    def check_source_highlighted(self, text: str) -> FileCheck:
        """The text occurs with ~ below it, as in messages with places in source."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", text)

    def check_regex(self, text: str) -> FileCheck:
        """A match of a regular expression occurs behind the last match."""
        return self._add("CHECK-REGEX", text)

    def run(self, *args: Any, **kwargs: Any) -> None:
        """run(text_or_graph), or run(checks_file, text_or_graph) with checks in comments `# CHECK: text`."""
        given = [*args, *kwargs.values()]
        if not set(kwargs) <= {"checks_file", "test_file", "graph"} or not 1 <= len(given) <= 2:
            raise TypeError(
                "run(): incompatible function arguments: expected a text or a graph, and before it perhaps checks"
            )
        self._has_run = True
        tested = given[-1]
        if len(given) == 2:
            self._checks += _parse(given[0])
        if not isinstance(tested, (str, _C.Graph)):
            raise TypeError(
                f"run(): incompatible function arguments: expected a text or a graph, not {type(tested).__name__}"
            )
        _run(self._checks, str(tested))

    def __del__(self) -> None:
        if not self._has_run:
            print("You have not run this instance of FileCheck!\nFileCheck checks:")
            for kind, text, _ in self._checks:
                print(f"\t{kind}: {text}")
