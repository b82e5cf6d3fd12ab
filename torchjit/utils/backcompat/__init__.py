"""Warnings about ways of PyTorch before 0.3, which no function here has any more: the switches are kept, and change nothing."""

from __future__ import annotations


class Warning:  # noqa: A001
    """A switch: enabled."""

    def __init__(self) -> None:
        self.enabled = False


broadcast_warning = Warning()
keepdim_warning = Warning()
