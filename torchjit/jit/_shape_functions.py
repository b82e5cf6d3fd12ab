"""How operators make the sizes of their results of the sizes of their arguments, as functions that can be called and compiled.

The functions are those that the passes over graphs use: the library has them as a program (gojit/internal/shapes/functions.py), which this module
runs. `shape_compute_graph_mapping` has the compiled function of each operator by its schema.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401, UP035

from torchjit import _C

number = Union[int, float]  # noqa: UP007

_program, _operators, _names = _C._shape_functions()
_FILE = "<torch.jit._shape_functions>"
linecache.cache[_FILE] = (len(_program), None, _program.splitlines(True), _FILE)
exec(compile(_program, _FILE, "exec", flags=0, dont_inherit=True), globals())

script_func_map: dict[Callable[..., Any], Any] = {}
shape_compute_graph_mapping: dict[str, Any] = {}
bounded_compute_graph_mapping: dict[str, tuple[Any, Any]] = {}


def process_func(func: Callable[..., Any]) -> Any:
    """The compiled form of a function, made once."""
    from torchjit.jit import script

    if func not in script_func_map:
        script_func_map[func] = script(func)
    return script_func_map[func]


def add_shape_compute_mapping(operator_schema: str, func: Callable[..., Any]) -> None:
    """Notes the function of an operator."""
    shape_compute_graph_mapping[operator_schema] = process_func(func)


def add_bounded_compute_mapping(operator_schema: str, lower_bound_func: Callable[..., Any], upper_bound_func: Callable[..., Any]) -> None:
    """Notes functions between whose results the sizes of an operator's result are."""
    bounded_compute_graph_mapping[operator_schema] = (process_func(lower_bound_func), process_func(upper_bound_func))


def _fill() -> None:
    for operator, name in zip(_operators, _names, strict=True):
        base, _, overload = operator.partition(".")
        for schema in _C._jit_get_schemas_for_operator(base):
            if schema.overload_name == overload:
                add_shape_compute_mapping(str(schema), globals()[name])
    add_bounded_compute_mapping("aten::nonzero(Tensor self) -> (Tensor)", globals()["nonzero_lower_bound"], globals()["nonzero_upper_bound"])


_fill()
_ = math
