"""What errors of the export suggest, applied to what was said of sizes."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from torchjit.export._dims import Dim, _DerivedDim

_FIX = re.compile(r"^\s*(\w+) = (.+)$")
_LINEAR = re.compile(r"^(?:(\d+)\*)?(\w+)(?: ([+-]) (\d+))?$")


def refined(message: str, shapes: Any) -> Any:
    """shapes with the fixes of a message. Raises ValueError where it suggests none, or what cannot be read."""
    _, found, text = message.partition("Suggested fixes:")
    if not found:
        raise ValueError("the message suggests no fixes")
    dims = {d.__name__: d for d in _dims_of(shapes)}
    roots = dict(dims)
    fixes: dict[str, Any] = {}
    for line in text.strip("\n").split("\n"):
        match = _FIX.match(line)
        if match is None:
            break
        name, value = match.groups()
        roots[name] = fixes[name] = _value(value, roots)
    return _replace(shapes, fixes)


def _dims_of(shapes: Any) -> list[Any]:
    if isinstance(shapes, Dim):
        return [shapes.root if isinstance(shapes, _DerivedDim) else shapes]
    if isinstance(shapes, dict):
        return [d for x in shapes.values() for d in _dims_of(x)]
    if isinstance(shapes, (list, tuple)):
        return [d for x in shapes for d in _dims_of(x)]
    return []


def _value(text: str, dims: dict[str, Any]) -> Any:
    """The int, the Dim or the expression over a Dim that a fix is."""
    if text.isdigit():
        return int(text)
    made = re.match(r"^Dim\('(\w+)'((?:, (?:min|max)=\d+)*)\)$", text)
    if made is not None:
        bounds = {k: int(n) for k, n in re.findall(r"(min|max)=(\d+)", made[2])}
        return Dim(made[1], **bounds)
    linear = _LINEAR.match(text)
    if linear is None or linear[2] not in dims:
        raise ValueError(f"the suggested fix {text!r} cannot be read")
    made_of = dims[linear[2]]
    if linear[1]:
        made_of = int(linear[1]) * made_of
    return made_of if not linear[3] else made_of + int(linear[3] + linear[4])


def _replace(shapes: Any, fixes: dict[str, Any]) -> Any:
    if isinstance(shapes, _DerivedDim):
        root = fixes.get(shapes.root.__name__)
        if root is None:
            return shapes
        return shapes.fn(root) if isinstance(root, int) else root._derived(shapes.factor, shapes.rest)
    if isinstance(shapes, Dim):
        return fixes.get(shapes.__name__, shapes)
    if isinstance(shapes, dict):
        return {k: _replace(x, fixes) for k, x in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)(_replace(x, fixes) for x in shapes)
    if dataclasses.is_dataclass(shapes) and not isinstance(shapes, type):
        return dataclasses.replace(shapes, **{f.name: _replace(getattr(shapes, f.name), fixes) for f in dataclasses.fields(shapes)})
    return shapes
