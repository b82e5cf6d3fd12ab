"""How tensors are shown as text: the settings of torch.set_printoptions. The text is made by the library."""

from __future__ import annotations

import math
import re
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor


class _PrinterOptions:
    """The settings in force; see set_printoptions."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = _PrinterOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Changes how tensors are shown.

    precision is the number of digits behind the point (4); threshold the number of elements from which only the
    edges are shown (1000), which have edgeitems elements at each end of a dimension (3); linewidth the number of
    characters in a line (80). profile gives all of them at once: "default", "short" or "full". sci_mode turns the
    scientific form on or off; None leaves the choice to the values. What is not given stays as it was, but for
    sci_mode.
    """
    for name, value in _PROFILES.get(profile or "", {}).items():
        setattr(PRINT_OPTS, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode
    _native.set_print_options(
        PRINT_OPTS.precision, -1 if PRINT_OPTS.threshold == math.inf else int(PRINT_OPTS.threshold), PRINT_OPTS.edgeitems,
        PRINT_OPTS.linewidth, sci_mode,
    )  # fmt: skip


# The steps to the text, for programs that put texts of their own together; the library's own text is the same.


class _Formatter:
    """How the numbers of a tensor are written, all with one width."""

    def __init__(self, tensor: Any) -> None:
        self.floating_dtype = tensor.dtype.is_floating_point
        self.int_mode, self.sci_mode, self.max_width = True, False, 1
        values = tensor.reshape(-1).tolist()
        if not self.floating_dtype:
            self.max_width = max((len(str(v)) for v in values), default=1)
            return
        known = [v for v in values if math.isfinite(v) and v != 0]
        if known:
            low, high = min(map(abs, known)), max(map(abs, known))
            self.int_mode = all(v == math.ceil(v) for v in known)
            self.sci_mode = high / low > 1000 or high > 1e8 or not self.int_mode and low < 1e-4
            written = [f"{v:.{PRINT_OPTS.precision}e}" if self.sci_mode else self._plain(v) for v in known]
            self.max_width = max(1, *map(len, written))
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode

    def _plain(self, value: float) -> str:
        if not self.int_mode:
            return f"{value:.{PRINT_OPTS.precision}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    def width(self) -> int:
        """The width of a number."""
        return self.max_width

    def format(self, value: Any) -> str:
        """The text of a number, with spaces before it."""
        if not self.floating_dtype:
            text = str(value)
        elif self.sci_mode:
            text = f"{value:{self.max_width}.{PRINT_OPTS.precision}e}"
        else:
            text = self._plain(value)
        return text.rjust(self.max_width)


def _joined(real: str, imaginary: str) -> str:
    """The text of a complex number."""
    imaginary = imaginary.lstrip() + "j"
    return real + imaginary if imaginary[0] in "+-" else f"{real}+{imaginary}"


def _number(value: Any, formatter1: _Formatter, formatter2: _Formatter | None) -> str:
    return formatter1.format(value) if formatter2 is None else _joined(formatter1.format(value.real), formatter2.format(value.imag))


def _scalar_str(self: Any, formatter1: _Formatter, formatter2: _Formatter | None = None) -> str:
    """The text of a tensor of one number; formatter2 is for imaginary parts."""
    return _number(self.item(), formatter1, formatter2)


def _edges(size: int, summarize: bool) -> tuple[list[int], bool]:
    """The places along a dimension that are shown, and whether others are left out between them."""
    n = PRINT_OPTS.edgeitems
    if not summarize or size <= 2 * n:
        return list(range(size)), False
    return [*range(n), *range(size - n, size)], True


def _vector_str(self: Any, indent: int, summarize: bool, formatter1: _Formatter, formatter2: _Formatter | None = None) -> str:
    """The text of a tensor of one dimension, in lines that are indented."""
    length = formatter1.width() + 2 + (0 if formatter2 is None else formatter2.width() + 1)
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // length)
    if summarize and not PRINT_OPTS.edgeitems:
        return "..."
    shown, left_out = _edges(self.size(0), summarize)
    values = self.tolist()
    texts = [_number(values[i], formatter1, formatter2) for i in shown]
    if left_out:
        texts.insert(PRINT_OPTS.edgeitems, " ...")
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _tensor_str_with_formatter(self: Any, indent: int, summarize: bool, formatter1: _Formatter, formatter2: _Formatter | None = None) -> str:
    """The text of the numbers of a tensor, in lines that are indented."""
    dim = self.dim()
    if dim == 0:
        return _scalar_str(self, formatter1, formatter2)
    if dim == 1:
        return _vector_str(self, indent, summarize, formatter1, formatter2)
    shown, left_out = _edges(self.size(0), summarize)
    texts = [_tensor_str_with_formatter(self[i], indent + 1, summarize, formatter1, formatter2) for i in shown]
    if left_out:
        texts.insert(PRINT_OPTS.edgeitems, "...")
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(texts) + "]"


def _tensor_str(self: Any, indent: int) -> str:
    """The text of the numbers of a tensor as it is shown, in lines that are indented."""
    if self.numel() == 0:
        return "[]"
    summarize = self.numel() > PRINT_OPTS.threshold
    self = self.detach().resolve_conj().resolve_neg()
    shown = get_summarized_data(self) if summarize else self
    if self.dtype.is_complex:
        return _tensor_str_with_formatter(self, indent, summarize, _Formatter(shown.real), _Formatter(shown.imag))
    return _tensor_str_with_formatter(self, indent, summarize, _Formatter(shown))


def get_summarized_data(self: Any) -> Any:
    """The numbers of a tensor that are shown where others are left out: those at the edges of each dimension."""
    if self.dim() == 0:
        return self
    if not PRINT_OPTS.edgeitems:
        return self.new_empty([0] * self.dim())
    for dim in range(self.dim()):
        shown, left_out = _edges(self.size(dim), True)
        if left_out:
            self = self.index_select(dim, _native.tensor_from_data(shown, None))
    return self


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text of a tensor with what is said behind its numbers, and the last parenthesis."""
    parts = [tensor_str]
    length = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            length, force_newline = indent + len(suffix), False
        else:
            parts.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(parts) + ")"


def _str(self: Any, *, tensor_contents: Any = None) -> str:
    """The text of a tensor, with tensor_contents in place of its numbers."""
    text = Tensor.__repr__(self)
    if tensor_contents is None:
        return text
    prefix, _, rest = text.partition("(")
    whole = _tensor_str(self, len(prefix) + 1)
    suffix = rest.removeprefix(whole).lstrip(", \n").removesuffix(")")
    suffixes = [part.strip() for part in re.split(r",\s+(?=\w+=)", suffix)] if suffix else []
    return _add_suffixes(f"{prefix}({tensor_contents}", suffixes, len(prefix) + 1, False)


_str_intern = _str


def tensor_totype(t: Any) -> Any:
    """A tensor in the type that its numbers are compared in: float64."""
    return t.double()
