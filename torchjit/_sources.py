"""The text of functions, and ranges in it: torch._sources."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any, NamedTuple

from torchjit import frontend
from torchjit._advice import advised


class SourceRangeFactory(frontend.Source):
    """A text that makes ranges by line and columns. Columns are counted from behind the indentation of the first line."""

    def __init__(self, text: str, filename: str | None, file_lineno: int, leading_whitespace_len: int) -> None:
        super().__init__(text, filename, file_lineno, 0)
        self.columns = [start + leading_whitespace_len for start in self.line_starts]

    @property
    def source(self) -> str:
        """The text."""
        return self.text.decode("utf-8", "surrogatepass")

    def make_range(self, line: int, start_col: int, end_col: int) -> frontend.SourceRange:
        """The range between two columns of a line, the first line being 1."""
        return self.range(self.offset(line, start_col), self.offset(line, end_col))

    def make_raw_range(self, start: int, end: int) -> frontend.SourceRange:
        """The range between two bytes of the text."""
        return self.range(start, end)


class SourceContext(SourceRangeFactory):
    """The text of a function, with its name."""

    def __init__(
        self, source: str, filename: str | None, file_lineno: int, leading_whitespace_len: int, uses_true_division: bool = True, funcname: Any = None
    ) -> None:  # fmt: skip
        super().__init__(source, filename, file_lineno, leading_whitespace_len)
        self.uses_true_division = uses_true_division
        self.funcname = funcname
        self.filename = filename
        self.function = funcname or ""


def make_source_context(*args: Any) -> SourceContext:
    """A SourceContext of its arguments."""
    return SourceContext(*args)


def fake_range() -> frontend.SourceRange:
    """A range for what has no text."""
    return SourceContext("", None, 0, 0).make_raw_range(0, 1)


class ParsedDef(NamedTuple):
    """A function definition as Python's ast has it, and where it is from."""

    ast: ast.Module
    ctx: SourceContext
    source: str
    filename: str | None
    file_lineno: int


def get_source_lines_and_file(obj: Any, error_msg: str | None = None) -> tuple[list[str], int, str | None]:
    """(lines, number of the first one, file) of an object. Raises OSError with error_msg where Python cannot find the text."""
    try:
        filename = inspect.getsourcefile(obj)
        lines, first = inspect.getsourcelines(obj)
    except OSError as e:
        text = f"Can't get source for {obj}. TorchScript requires source access in order to carry out compilation, make sure original .py files are available."
        raise OSError(text if not error_msg else f"{text}\n{error_msg}") from e
    return lines, first, filename


def normalize_source_lines(sourcelines: list[str]) -> list[str]:
    """The lines of a function with at least the indentation of its def line."""
    at = next((i for i, line in enumerate(sourcelines) if line.lstrip().startswith("def")), None)
    if at is None:
        return sourcelines
    first = sourcelines[at]
    indent = first[: len(first) - len(first.lstrip())]
    return [indent + line.removeprefix(indent) if i > at else line for i, line in enumerate(sourcelines)]


def parse_def(fn: Any) -> ParsedDef:
    """The definition of a function. Raises RuntimeError where its text is no single definition."""
    lines, first, filename = get_source_lines_and_file(fn)
    source = "".join(normalize_source_lines(lines))
    text = textwrap.dedent(source)
    tree = ast.parse(text)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise advised(RuntimeError(f"Expected a single top-level function: {filename}:{first}"))
    indent = len(source.split("\n", 1)[0]) - len(text.split("\n", 1)[0])
    return ParsedDef(tree, SourceContext(source, filename, first, indent, True, fn.__name__), source, filename, first)
