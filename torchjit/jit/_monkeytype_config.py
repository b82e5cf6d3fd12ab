"""Types of parameters from example inputs: torch.jit.script(f, example_inputs=[(1, 2.0)]).

PyTorch asks MonkeyType for them; here the calls are watched directly. A function is called with the examples, and while it is
compiled, parameters without annotation have the types that they had in the calls, in the functions that it calls too.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torchjit import _native
from torchjit import frontend as _frontend

# Whether MonkeyType itself is there, which is not needed.
_IS_MONKEYTYPE_INSTALLED = importlib.util.find_spec("monkeytype") is not None
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SIMPLE = ("int", "float", "bool", "str", "complex")


def jit_code_filter(code: types.CodeType) -> bool:
    """Whether calls of a function are of interest: it is no part of torchjit, of Python or of an installed package."""
    name = os.path.abspath(code.co_filename)
    return bool(code.co_filename) and code.co_filename[0] != "<" and not name.startswith(_OWN) and "site-packages" not in name


def _kind(value: Any) -> str:
    """The type of a value as the text of an annotation; Any where there is none."""
    if value is None:
        return "NoneType"
    if isinstance(value, _native.TensorBase):
        return "Tensor"
    name = type(value).__name__
    if name in _SIMPLE:
        return name
    if type(value) is list:
        return f"List[{_merged([_kind(item) for item in value])}]"
    if type(value) is dict:
        return f"Dict[{_merged([_kind(key) for key in value])}, {_merged([_kind(item) for item in value.values()])}]"
    if type(value) is tuple:
        return f"Tuple[{', '.join(map(_kind, value))}]" if value else "Any"
    return "Any"


def _merged(kinds: list[str]) -> str:
    """The type that has the values of all: one of them, an optional one, or Any."""
    found = sorted(set(kinds))
    plain = [kind for kind in found if kind != "NoneType"]
    if not found or len(plain) > 1:
        return "Any"
    if len(plain) < len(found):
        return f"Optional[{plain[0]}]" if plain else "NoneType"
    return plain[0]


class JitTypeTraceStore:
    """The types of the arguments of functions that have been called, by their code."""

    def __init__(self) -> None:
        self.trace_records: dict[Any, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def add(self, frame: types.FrameType) -> None:
        """Notes the arguments of a call that begins."""
        code = frame.f_code
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            if name in frame.f_locals:
                self.trace_records[code][name].append(_kind(frame.f_locals[name]))

    def types_of(self, code: Any) -> dict[str, str]:
        """The types of a function's parameters by their names, {} for one that has not been called."""
        record = self.trace_records.get(code, {})
        return {name: _merged(kinds) for name, kinds in record.items() if name != "self"}


@contextmanager
def monkeytype_trace(store: JitTypeTraceStore) -> Iterator[None]:
    """A context in which the arguments of calls are noted."""

    def watch(frame: types.FrameType, event: str, arg: Any) -> None:
        if event == "call" and jit_code_filter(frame.f_code):
            store.add(frame)

    former = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(former)


# The types that the last examples of torch.jit.script had.
type_trace_db = JitTypeTraceStore()


def _get_type_trace_db() -> JitTypeTraceStore:
    """The types that the last examples of torch.jit.script had."""
    return type_trace_db


def call_with(obj: Any, example_inputs: Any) -> JitTypeTraceStore:
    """Calls an object, or the callables that are named, with examples; gives the types that were seen.

    Raises ValueError for inputs that are neither a list nor a dict of lists.
    """
    global type_trace_db
    type_trace_db = store = JitTypeTraceStore()
    if isinstance(example_inputs, dict):
        calls = [(callable_, example) for callable_, examples in example_inputs.items() for example in examples]
    elif isinstance(example_inputs, list):
        calls = [(obj, example) for example in example_inputs]
    else:
        raise ValueError(
            "Error: Unable to infer types. Please format the inputs to type `List[Tuple]` or `Dict[Callable, List[Tuple]]` "
            "to be run with MonkeyType."
        )
    with monkeytype_trace(store):
        for called, example in calls:
            called(*example)
    return store


@contextmanager
def types_from(store: JitTypeTraceStore) -> Iterator[None]:
    """A context in which parameters without annotation have the types that a store has seen."""
    current: Any = _frontend.recorded_types
    former = current[0]
    current[0] = store.types_of
    try:
        yield
    finally:
        current[0] = former


# ---- names of types ----


def is_torch_native_class(cls: Any) -> bool:
    """Whether a class is one of torch's."""
    module = getattr(cls, "__module__", "")
    return module.partition(".")[0] in ("torch", "torchjit")


def get_type(type: Any) -> str:
    """The text of an annotation for a class."""
    if isinstance(type, str):
        return type
    if inspect.getmodule(type) is inspect.getmodule(inspect.Parameter) or getattr(type, "__module__", "") == "typing":
        return str(type).replace("typing.", "")
    if is_torch_native_class(type):
        return f"{type.__module__}.{type.__name__}".replace("torchjit", "torch", 1)
    return type.__name__


def get_qualified_name(func: Callable[..., Any]) -> str:
    """The name of a function with those of what it is defined in."""
    return func.__qualname__
