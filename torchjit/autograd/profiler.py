"""torch.autograd.profiler: the names that programs give to their parts. Nothing records them here."""

from typing import Any, Optional

# ruff: noqa: UP045


class record_function:  # noqa: N801
    """A context that gives a part of a program a name. It can be used in compiled functions."""

    def __init__(self, name: str, args: Optional[str] = None):
        self.name: str = name
        self.args: Optional[str] = args

    def __enter__(self):
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any):
        pass
