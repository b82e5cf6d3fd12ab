"""Annotations of classes and functions, as every Python from 3.10 on keeps them.

Up to Python 3.13 annotations are evaluated where they stand, or are strings after
`from __future__ import annotations`. From 3.14 on they are evaluated when they are asked for
(PEP 649); names that are not defined then come as ForwardRef objects.
"""

from __future__ import annotations

import inspect
from typing import Any

try:
    import annotationlib as _lazy  # type: ignore[import-not-found]  # Python 3.14
except ImportError:
    _lazy = None


def own(obj: Any) -> dict[str, Any]:
    """The annotations that a class or function itself has. Asking changes nothing in it."""
    if _lazy is not None:
        return dict(_lazy.get_annotations(obj, format=_lazy.Format.FORWARDREF))
    if isinstance(obj, type):
        # The attribute of a class without annotations is that of its base, or is made when asked for.
        return dict(vars(obj).get("__annotations__") or {})
    return dict(getattr(obj, "__annotations__", None) or {})


def of_class(cls: type) -> dict[str, Any]:
    """The annotations of a class, or of the nearest base that has any."""
    for klass in cls.__mro__:
        found = own(klass)
        if found:
            return found
    return {}


def signature(fn: Any) -> inspect.Signature:
    """The signature of a function. Names that are not defined in its annotations are no error."""
    if _lazy is not None:
        return inspect.signature(fn, annotation_format=_lazy.Format.FORWARDREF)  # type: ignore[call-arg]
    return inspect.signature(fn)
