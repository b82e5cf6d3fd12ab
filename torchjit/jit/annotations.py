"""Types of programs from Python annotations."""

from __future__ import annotations

from typing import Any

from torchjit import _annotations
from torchjit._C import parse_schema
from torchjit._tensor import Tensor
from torchjit.jit._resolve import Scope, _type_or_none


def try_ann_to_type(ann: Any, loc: Any = None) -> Any:
    """The type that an annotation stands for, None where it stands for none."""
    text = _type_or_none(ann, Scope())
    return None if text is None else parse_schema(f"type({text} x) -> ()").arguments[0].type


def ann_to_type(ann: Any, loc: Any = None) -> Any:
    """The type that an annotation stands for. Raises ValueError where it stands for none."""
    found = try_ann_to_type(ann, loc)
    if found is None:
        raise ValueError(f"Unknown type annotation: '{ann}' at {loc.highlight() if hasattr(loc, 'highlight') else ''}")
    return found


def get_signature(fn: Any, rcb: Any = None, loc: Any = None, is_method: bool = False) -> Any:
    """(types of the parameters, type of the result) from the annotations of a function, None where it has none."""
    signature = _annotations.signature(fn)
    parameters = list(signature.parameters.values())[is_method:]
    given = [p.annotation for p in parameters] + [signature.return_annotation]
    if all(a is signature.empty for a in given):
        return None
    types = [ann_to_type(Tensor if a is signature.empty else a, loc) for a in given]
    return types[:-1], types[-1]


def is_function_or_method(the_callable: Any) -> bool:
    """Whether an object is a Python function or a method of one."""
    import inspect

    return inspect.isfunction(the_callable) or inspect.ismethod(the_callable)
