"""What Export IR allows."""

from __future__ import annotations

from typing import Any

from torchjit.export._errors import SpecViolationError as SpecViolationError


class Verifier:
    """Checks exported programs."""

    dialect = "ATEN"

    def check(self, ep: Any) -> None:
        """Raises SpecViolationError where the program is not what Export IR allows."""
        from torchjit.export import _program

        _program.check(ep._text())
