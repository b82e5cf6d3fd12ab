"""torch._export.verifier: what Export IR allows."""

from __future__ import annotations

from torchjit.export._verifier import SpecViolationError, Verifier

TrainingIRVerifier = Verifier

__all__ = ["SpecViolationError", "TrainingIRVerifier", "Verifier"]
