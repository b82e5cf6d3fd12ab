"""Errors of the export."""

from __future__ import annotations


class SpecViolationError(Exception):
    """A program is not what Export IR allows."""


class UserError(RuntimeError):
    """A program cannot be exported as it was asked for."""
