"""How tensors are shown as text: the settings of torch.set_printoptions. The text is made by the library."""

from __future__ import annotations

import math
from typing import Any

from torchjit import _native


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
