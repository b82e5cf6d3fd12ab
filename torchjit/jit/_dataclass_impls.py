"""The methods that the dataclass decorator makes, written out as programs."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Any

from torchjit._sources import ParsedDef, SourceContext
from torchjit.jit._callables import is_optional

FAKE_FILENAME_PREFIX = "__torch_jit_dataclass"


def _get_fake_filename(cls: Any, method_name: str) -> str:
    """The file that messages name for a method that has none."""
    return "/".join((FAKE_FILENAME_PREFIX, cls.__name__, method_name))


def compose_fn(cls: Any, name: str, body_lines: list[str], signature: str) -> ParsedDef:
    """The definition of a method with a signature and a body; one without lines passes."""
    text = f"def {name}{signature}:\n" + "\n".join("  " + line for line in body_lines or ["pass"])
    filename = _get_fake_filename(cls, name)
    return ParsedDef(ast.parse(text), SourceContext(text, filename, 0, 0), text, filename, 0)


def _written_annotations(cls: Any, body: list[ast.stmt]) -> dict[str, str]:
    """The annotations of a class body as they are written, that of an InitVar without InitVar."""
    written = {}
    for statement in body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, annotation = statement.target.id, statement.annotation
            if isinstance(cls.__annotations__.get(name), dataclasses.InitVar) and isinstance(annotation, ast.Subscript):
                annotation = annotation.slice
            written[name] = ast.unparse(annotation)
    return written


def _parameter_text(parameter: inspect.Parameter, written: dict[str, str]) -> str:
    annotation: Any = parameter.annotation
    if isinstance(annotation, dataclasses.InitVar):
        annotation = annotation.type
    text = written.get(parameter.name) or inspect.formatannotation(annotation)
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {text}{default}"


def synthesize__init__(cls: Any, body: typing.Sequence[ast.stmt] = ()) -> ParsedDef:
    """__init__ of a dataclass. body are the statements of the class, whose annotations are taken as they are written."""
    if any(field.default_factory is not dataclasses.MISSING for field in dataclasses.fields(cls)):
        raise NotImplementedError("Default factory initializers are not supported in TorchScript dataclasses")
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    written = _written_annotations(cls, list(body))
    signature = ", ".join(["self", *(_parameter_text(p, written) for p in parameters)])
    lines = [f"self.{field.name} = {field.name}" for field in dataclasses.fields(cls) if field.init]
    if hasattr(cls, "__post_init__"):
        fields = {field.name for field in dataclasses.fields(cls)}
        late = ", ".join(p.name for p in parameters if p.name not in fields)
        lines.append(f"self.__post_init__({late})")
    return compose_fn(cls, "__init__", lines, f"({signature}) -> None")


def synthesize__repr__(cls: Any) -> ParsedDef:
    """__repr__ of a dataclass."""
    shown = ", ".join(f"{field.name}={{self.{field.name}}}" for field in dataclasses.fields(cls) if field.repr)
    return compose_fn(cls, "__repr__", [f'return f"{cls.__name__}({shown})"'], "(self) -> str")


def synthesize__hash__(cls: Any) -> ParsedDef:
    """__hash__ of a dataclass, which raises: programs have none."""
    return compose_fn(cls, "__hash__", ["raise NotImplementedError('__hash__ is not supported for dataclasses in TorchScript')"], "(self) -> int")


def synthesize_comparison(cls: Any, name: str, allow_eq: bool, raise_on_none: bool, inner: list[str]) -> ParsedDef:
    """A comparison field by field: inner compares val1 and val2 and may return; where nothing has, the result is allow_eq.

    Of two optional values one may be None: then the result is False, or TypeError is raised.
    """
    lines = []
    for field in (field for field in dataclasses.fields(cls) if field.compare):
        lines += [f"val1 = self.{field.name}", f"val2 = other.{field.name}"]
        if is_optional(field.type):
            lines += ["if val1 is not None and val2 is not None:", *("  " + line for line in inner)]
            lines.append("elif (val1 is None) != (val2 is None):")
            lines.append(f"  raise TypeError('Cannot compare {cls.__name__} with None')" if raise_on_none else "  return False")
        else:
            lines += inner
    return compose_fn(cls, name, [*lines, f"return {allow_eq}"], f"(self, other: {cls.__name__}) -> bool")


def synthesize_equality(cls: Any, name: str, converse: str) -> ParsedDef:
    """A comparison that is False as soon as the converse holds for a field."""
    return synthesize_comparison(cls, name, True, False, [f"if val1 {converse} val2: return False"])


def synthesize_inequality(cls: Any, name: str, op: str, allow_eq: bool) -> ParsedDef:
    """A comparison by the first field that differs."""
    return synthesize_comparison(cls, name, allow_eq, True, [f"if val1 {op} val2: return True", f"elif val2 {op} val1: return False"])


DATACLASS_MAGIC_METHODS: dict[str, Callable[[Any], ParsedDef]] = {
    "__init__": synthesize__init__,
    "__repr__": synthesize__repr__,
    "__hash__": synthesize__hash__,
    "__eq__": lambda cls: synthesize_equality(cls, "__eq__", "!="),
    "__ne__": lambda cls: synthesize_equality(cls, "__ne__", "=="),
    "__lt__": lambda cls: synthesize_inequality(cls, "__lt__", "<", False),
    "__le__": lambda cls: synthesize_inequality(cls, "__le__", "<", True),
    "__gt__": lambda cls: synthesize_inequality(cls, "__gt__", ">", False),
    "__ge__": lambda cls: synthesize_inequality(cls, "__ge__", ">", True),
}


def made_methods(cls: Any, body: typing.Sequence[ast.stmt], is_written: Callable[[Any], bool]) -> dict[str, ParsedDef]:
    """The definitions of the methods that the decorator has made for a class; is_written tells those of the user."""
    made = {}
    for name, synthesize in DATACLASS_MAGIC_METHODS.items():
        method = vars(cls).get(name)
        if name != "__hash__" and method is not None and not is_written(method):
            made[name] = synthesize__init__(cls, body) if name == "__init__" else synthesize(cls)
    return made
