"""Tables of measurements."""

from __future__ import annotations

import enum
import math
from typing import Any

from torchjit.utils.benchmark.utils import common

__all__ = ["Colorize", "Compare"]

_BOLD, _END = "\033[1m", "\033[0m"
# Below which multiple of the best value a color is used, and the color.
_COLORS = ((1.01, "\033[92m" + _BOLD), (1.1, "\033[34m" + _BOLD), (2, ""), (10, "\033[2m\033[91m"), (math.inf, "\033[31m" + _BOLD))


class Colorize(enum.Enum):
    """Among which values the best one is looked for."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Measurements as tables: one for each label, with a row for each sub-label and a column for each description.

    >>> timers = [torch.utils.benchmark.Timer(s, globals={"x": torch.ones(3)}, label="ops") for s in ("x.relu()", "x.neg()")]
    >>> table = torch.utils.benchmark.Compare([timer.timeit(10) for timer in timers])
    >>> "ops" in str(table)
    True
    """

    def __init__(self, results: list[common.Measurement]) -> None:
        self._results: list[common.Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def __str__(self) -> str:
        return "\n".join(self._render())

    def extend_results(self, results: Any) -> None:
        """Adds measurements. Raises ValueError for anything else."""
        for r in results:
            if not isinstance(r, common.Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Has numbers shown with the digits that say something."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Has the best values of columns, or of rows, shown in color."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Has values marked whose times spread much."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def _render(self) -> list[str]:
        groups: dict[Any, list[common.Measurement]] = {}
        for r in common.Measurement.merge(self._results):
            groups.setdefault(r.label, []).append(r)
        return [_Table(group, self._colorize, self._trim_significant_figures, self._highlight_warnings).render() for group in groups.values()]


class _Column:
    """The numbers under a description."""

    def __init__(self, name: str, values: list[common.Measurement], scale: float, trim: bool, warn: bool) -> None:
        self.name, self.scale, self.trim, self.warn = name, scale, trim, warn
        digits = [math.ceil(math.log10(m.median / scale)) for m in values]
        self.decimals = min((max(m.significant_figures - d, 0) for m, d in zip(values, digits, strict=True)), default=0) if trim else 1
        self.length = max(digits, default=1) + self.decimals + (self.decimals > 0)
        self.warns = warn and any(m.has_warnings for m in values)
        self.width = max([len(name), *(len(self.text(m)) for m in values)])

    def text(self, m: common.Measurement | None) -> str:
        """A value, with a mark where its times spread much."""
        if m is None:
            return ""
        value = m.median / self.scale
        if self.trim:
            value = common.trim_sigfig(value, m.significant_figures)
        number = f"{value:>{self.length}.{self.decimals}f}"
        if not self.warns:
            return number
        mark = f" (! {m.iqr / m.median * 100:.0f}%)" if m.has_warnings else ""
        return number + mark.ljust(len(" (! XX%)"))


class _Table:
    """One label's table."""

    def __init__(self, results: list[common.Measurement], colorize: Colorize, trim: bool, warn: bool) -> None:
        self.label, self.colorize, self.warn = results[0].label, colorize, warn
        self.unit, self.scale = common.select_unit(min(r.median for r in results))
        self.values = {(_row(r), r.description or ""): r for r in results}
        self.rows = sorted(common.ordered_unique(map(_row, results)), key=lambda row: (row[0], row[1] or ""))
        self.columns = [
            _Column(name, [r for r in results if (r.description or "") == name], self.scale, trim, warn)
            for name in common.ordered_unique(r.description or "" for r in results)
        ]
        self.envs = common.ordered_unique(row[1] for row in self.rows)

    def render(self) -> str:
        """The text of the table."""
        names = self._row_names()
        first = max(map(len, names))
        widths = [first] + [c.width for c in self.columns]
        overall = sum(widths) + 5 * (len(widths) - 1)
        title = f" {self.label or ''} "
        lines = [f"[{title.center(overall - 2, '-')}]", self._joined([" " * first] + [c.name.center(c.width) for c in self.columns])]
        threads = None
        for row, name in zip(self.rows, names, strict=True):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(overall, "-"))
            lines.append(self._joined([name.ljust(first), *self._cells(row)]))
        text = "\n".join(lines) + f"\n\nTimes are in {common.unit_to_english(self.unit)}s ({self.unit}).\n"
        if any(c.warns for c in self.columns):
            text += "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
        return text

    def _joined(self, cells: list[str]) -> str:
        return "  |  ".join(cells)

    def _row_names(self) -> list[str]:
        """The names of rows, with the environment where there are several."""
        several = len(self.envs) > 1
        width = max(len(env or "") for env in self.envs) if several else 0
        names, before = [], None
        for threads, env, name in self.rows:
            shown = f"({env})" if several and (threads, env) != before else ""
            before = (threads, env)
            names.append(f"  {shown.ljust(width + 2)}  {name}")
        return names

    def _cells(self, row: Any) -> list[str]:
        cells = []
        for c in self.columns:
            m = self.values.get((row, c.name))
            cell = c.text(m).center(c.width)
            if m is not None and self.colorize is not Colorize.NONE:
                cell = _colored(cell, m.median, self._best(row, c))
            cells.append(cell)
        return cells

    def _best(self, row: Any, column: _Column) -> float:
        """The least value of the row, or of the column among the rows with as many threads."""
        if self.colorize is Colorize.ROWWISE:
            return min(m.median for (r, _), m in self.values.items() if r == row)
        return min(m.median for (r, name), m in self.values.items() if name == column.name and r[0] == row[0])


def _row(m: common.Measurement) -> tuple[int, str | None, str]:
    return m.num_threads, m.task_spec.env, m.as_row_name


def _colored(cell: str, value: float, best: float) -> str:
    color = next(color for limit, color in _COLORS if value < limit * best)
    return cell if not color else color + cell + _END * (2 if color.count("\033") > 1 else 1)
