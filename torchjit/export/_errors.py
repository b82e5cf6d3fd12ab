"""Errors of the export."""

from __future__ import annotations


class UserError(RuntimeError):
    """A program cannot be exported as it was asked for."""
