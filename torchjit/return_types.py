"""torch.return_types: the classes of operators' named results."""

from __future__ import annotations

from typing import Any

from torchjit import _host, _lazy, _native


def _class_of(name: str) -> Any:
    """The class of the results of an operator, of its form with `out` too, None where it has none."""
    return _host.return_class(name) or _host.return_class(name.removesuffix("_out"))


def _operators() -> list[str]:
    found = [name for name in _native.operator_names("aten") if _host.return_class(name) is not None]
    return [*found, *(name + "_out" for name in found)]


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {}, otherwise=_class_of, listed=_operators)
