"""torch.jit._ScriptProfile: which lines of compiled functions run, how often, and how long they take."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchjit import _native
from torchjit._jit_internal import ignore


class InstructionStats:
    """What is known of one line."""

    def __init__(self, count: int, nanoseconds: int) -> None:
        self._count, self._nanoseconds = count, nanoseconds

    def count(self) -> int:
        """How many nodes of the line have run; a loop counts again in each round."""
        return self._count

    def duration_ns(self) -> int:
        """The nanoseconds that they took, without those of functions that they called."""
        return self._nanoseconds


class SourceRef(NamedTuple):
    """A piece of source text."""

    body: str
    first_line: int

    def starting_lineno(self) -> int:
        """The number of its first line in the file."""
        return self.first_line

    def text(self) -> str:
        """The text."""
        return self.body


class SourceStats:
    """The lines of one source that have run."""

    def __init__(self, source: SourceRef, lines: dict[int, InstructionStats]) -> None:
        self._source, self._lines = source, lines

    def source(self) -> SourceRef:
        """The source."""
        return self._source

    def line_map(self) -> dict[int, InstructionStats]:
        """The lines by their numbers in the file."""
        return self._lines


class LineProfile:
    """torch.classes.profiling._ScriptProfile: counts in all threads while it is enabled, beside any others that are."""

    def __init__(self) -> None:
        self._number = _native.line_profile_new()

    def __del__(self) -> None:
        _native.line_profile_drop(self._number)

    def enable(self) -> None:
        """Counts from now on."""
        _native.line_profile_enable(self._number, True)

    def disable(self) -> None:
        """Counts no more; what has been counted stays."""
        _native.line_profile_enable(self._number, False)

    def _dump_stats(self) -> list[SourceStats]:
        """What has been counted, in the order in which the sources were first run. RuntimeError while the profile is enabled."""
        return [
            SourceStats(SourceRef(text, first), {line: InstructionStats(count, ns) for line, count, ns in lines})
            for text, first, lines in _native.line_profile_read(self._number)
        ]


def pad(s: str, padding: int, offset: int = 0, char: str = " ") -> str:
    """A text set to the right in `padding` columns, after `offset` more."""
    return char * (max(padding - len(s), 0) + offset) + s


class _ScriptProfileColumn:
    """A column of a table: a header, and cells by line. Its width is the longest cell and the alignment, a multiple of this; 0 sets it as it is."""

    def __init__(self, header: str, alignment: int = 4, offset: int = 0) -> None:
        self.header, self.alignment, self.offset = header, alignment, offset
        self.rows: dict[int, Any] = {}

    def add_row(self, lineno: int, value: Any) -> None:
        """Sets the cell of a line."""
        self.rows[lineno] = value

    def materialize(self) -> tuple[str, list[tuple[int, str]]]:
        """The header and the cells with their lines, all padded."""
        cells = [(line, str(value)) for line, value in self.rows.items()]
        width = 0
        if self.alignment > 0:
            width = max(len(text) for text in (self.header, *(cell for _, cell in cells))) + self.alignment
            width -= width % self.alignment
        return pad(self.header, width, self.offset), [(line, pad(cell, width, self.offset)) for line, cell in cells]


class _ScriptProfileTable:
    """Columns beside each other, over the lines of a source."""

    def __init__(self, cols: list[_ScriptProfileColumn], source_range: list[int]) -> None:
        self.cols, self.source_range = cols, source_range

    def dump_string(self) -> str:
        """The table as text."""
        columns = [(header, dict(cells)) for header, cells in (col.materialize() for col in self.cols)]
        header = "".join(text for text, _ in columns)
        rows = ("".join(cells.get(line) or " " * len(text) for text, cells in columns) for line in self.source_range)
        return "\n".join([header, "=" * len(header), *rows])


# Profiles of _ScriptProfile by number: programs make some, too, and nobody says when they have done with one.
_profiles: dict[int, LineProfile] = {}


@ignore
def _new_profile() -> int:
    """The number of a new profile."""
    made = LineProfile()
    _profiles[made._number] = made
    return made._number


@ignore
def _enable_profile(number: int, on: bool) -> None:
    """Has a profile count from now on, or no more."""
    profile = _profiles[number]
    profile.enable() if on else profile.disable()


@ignore
def _profile_text(number: int) -> str:
    """What a profile has counted, as text."""
    return "\n\n".join(map(_table, _profiles[number]._dump_stats()))


class _Profile:
    """What _ScriptProfile has in Python alone."""

    _number: int

    @property
    def profile(self) -> LineProfile:
        """The profile."""
        return _profiles[self._number]


class _ScriptProfile(_Profile):
    """Counts the lines of compiled functions that run between enable and disable. Programs can use it, too.

    Functions run as they are defined meanwhile, and those that use a profile always, without fused kernels and loops of machine code. Hits are nodes
    of the graph that have run, a loop once in each round; the time of a line is that of its nodes without what they call.
    """

    def __init__(self) -> None:
        self._number: int = _new_profile()

    def enable(self) -> None:
        """Counts from now on."""
        _enable_profile(self._number, True)

    def disable(self) -> None:
        """Counts no more."""
        _enable_profile(self._number, False)

    def dump_string(self) -> str:
        """A table for each source that has run. RuntimeError while the profile is enabled."""
        return _profile_text(self._number)

    def dump(self) -> None:
        """Prints dump_string."""
        print(self.dump_string())


class LineTime(NamedTuple):
    """A line that has run: its number in the file and text, how many nodes of the graph ran for it, and the nanoseconds that they took."""

    number: int
    text: str
    hits: int
    nanoseconds: int


class line_profile:  # noqa: N801
    """A context in which the lines of compiled functions are counted and timed; PyTorch has no such function.

    Functions run as they are defined meanwhile, without fused kernels and loops of machine code: times tell lines from each other, not how fast the
    compiled function is. A line's hits are the nodes of the graph that have run for it, a loop once in each round; its time is that of these nodes without
    what they call. The text of the profile is a table for each source that has run.

        with torch.jit.line_profile() as lines:
            model(x)
        print(lines)
        slowest = max(lines.lines(), key=lambda line: line.nanoseconds)

    >>> @torch.jit.script
    ... def f(x):
    ...     return x.relu()
    >>> with torch.jit.line_profile() as profile:
    ...     _ = f(torch.rand(3))
    >>> "x.relu()" in str(profile)
    True
    """

    def __init__(self) -> None:
        self._profile = LineProfile()
        self._active = False

    def __enter__(self) -> line_profile:
        if self._active:
            raise RuntimeError("this profile counts already")
        self._active = True
        self._profile.enable()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self._profile.disable()
        self._active = False

    def lines(self) -> list[LineTime]:
        """The lines that have run, source by source. RuntimeError while the context is open."""
        return [
            LineTime(number, stats.source().text().splitlines()[number - stats.source().starting_lineno()], found.count(), found.duration_ns())
            for stats in self._profile._dump_stats()
            for number, found in stats.line_map().items()
        ]

    def __str__(self) -> str:
        if self._active:
            return "<unfinished torch.jit.line_profile>"
        return "\n\n".join(map(_table, self._profile._dump_stats()))

    __repr__ = __str__


def _table(stats: SourceStats) -> str:
    source = stats.source()
    texts = source.text().splitlines()
    indent = min(len(text) - len(text.lstrip(" ")) for text in texts)
    lines = list(range(source.starting_lineno(), source.starting_lineno() + len(texts)))
    number, hits, time = _ScriptProfileColumn("Line #"), _ScriptProfileColumn("Hits"), _ScriptProfileColumn("Time (ns)")
    contents = _ScriptProfileColumn("Line Contents", 0, 1)
    counted = stats.line_map()
    for line, text in zip(lines, texts, strict=True):
        number.add_row(line, line)
        contents.add_row(line, text[indent:])
        if line in counted:
            hits.add_row(line, counted[line].count())
            time.add_row(line, counted[line].duration_ns())
    return _ScriptProfileTable([number, hits, time, contents], lines).dump_string()


line_profile.__module__ = LineTime.__module__ = "torch.jit"
for _cls in (_ScriptProfileColumn, _ScriptProfileTable):
    _cls.__module__ = "torch.jit._script"
_ScriptProfile.__jit_unused_properties__ = ["profile"]  # type: ignore[attr-defined]
_ScriptProfile._jit_override_qualname = "__torch__.torch.jit._script._ScriptProfile"  # type: ignore[attr-defined]
