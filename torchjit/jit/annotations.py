"""Types of programs from Python annotations."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
import typing
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from torchjit import _C as _classes
from torchjit import _annotations, _lazy
from torchjit._jit_internal import BroadcastingList1 as BroadcastingList1
from torchjit._jit_internal import BroadcastingList2 as BroadcastingList2
from torchjit._jit_internal import BroadcastingList3 as BroadcastingList3
from torchjit._tensor import Tensor
from torchjit.jit._async import Future as Future
from torchjit.jit._callables import is_dict as is_dict
from torchjit.jit._callables import is_future as is_future
from torchjit.jit._callables import is_ignored_fn as is_ignored_fn
from torchjit.jit._callables import is_list as is_list
from torchjit.jit._callables import is_optional as is_optional
from torchjit.jit._callables import is_tuple as is_tuple
from torchjit.jit._callables import is_union as is_union
from torchjit.jit._resolve import Scope, _type_or_none

_C: Any = _classes  # its members are made when it is loaded



def try_ann_to_type(ann: Any, loc: Any = None) -> Any:
    """The type that an annotation stands for, None where it stands for none."""
    text = _type_or_none(ann, Scope())
    return None if text is None else _C._program_type(text)


def ann_to_type(ann: Any, loc: Any = None) -> Any:
    """The type that an annotation stands for. Raises ValueError where it stands for none."""
    found = try_ann_to_type(ann, loc)
    if found is None:
        raise ValueError(f"Unknown type annotation: '{ann}' at {loc.highlight() if hasattr(loc, 'highlight') else ''}")
    return found


def get_signature(fn: Any, rcb: Any = None, loc: Any = None, is_method: bool = False) -> Any:
    """(types of the parameters, type of the result) from the annotations or the type comment of a function, None where it has
    none. rcb gives the values of names in a comment.
    """
    found = try_real_annotations(fn, loc)
    if found is not None:
        return (found[0][1:], found[1]) if is_method else found
    try:
        type_line = get_type_line(textwrap.dedent("".join(inspect.getsourcelines(fn)[0])))
    except (TypeError, OSError):
        return None
    return parse_type_line(type_line, rcb, loc) if type_line else None


def try_real_annotations(fn: Any, loc: Any = None) -> Any:
    """(types of the parameters, type of the result) from the annotations of a function, None where it has none."""
    try:
        signature = _annotations.signature(fn)
    except ValueError:
        return None
    given = [p.annotation for p in signature.parameters.values()] + [signature.return_annotation]
    if all(a is signature.empty for a in given):
        return None
    found = [ann_to_type(Tensor if a is signature.empty else a, loc) for a in given]
    return found[:-1], found[-1]


class EvalEnv:
    """The names in a type comment: those of typing, then those that rcb knows."""

    def __init__(self, rcb: Any) -> None:
        self.rcb = rcb
        self.env = {"Tensor": Tensor, "typing": typing, "Tuple": Tuple, "List": List, "Dict": Dict, "Optional": Optional, "Union": Union, "Future": Future}  # noqa: UP006

    def __getitem__(self, name: str) -> Any:
        import builtins

        if name in self.env:
            return self.env[name]
        if self.rcb is not None:
            return self.rcb(name)
        return getattr(builtins, name, None)


def get_type_line(source: str) -> str | None:
    """The type comment of a function, one line with the types of all parameters; None where it has none.

    Raises RuntimeError for comments that no type can be read from.
    """
    ignored = re.compile(r"# type:\s*ignore(?:\[[a-zA-Z-]+\])?$")
    texts = [line for line in source.split("\n") if not ignored.search(line)]
    lines = [line for line in texts if "# type:" in line]
    if not lines:
        meant = [n for n, line in enumerate(texts) if re.search(r"#[\t ]*type[\t ]*:", line)]
        if meant:
            raise RuntimeError(f"The annotation prefix in line {meant[0]} is probably invalid.\nIt must be '# type:'")
        return None
    if len(lines) == 1:
        return lines[0].strip()
    last = next((n for n, line in enumerate(lines) if "# type: (...) ->" in line), None)
    if last is None:
        raise RuntimeError("Return type line '# type: (...) -> ...' not found on multiline type annotation\nfor type lines:\n" + "\n".join(lines))
    parameters = [line.split("# type:")[1].strip() for line in lines[:last]]
    return lines[last].replace("...", ", ".join(parameters), 1)


def split_type_line(type_line: str) -> tuple[str, str]:
    """The texts of the parameters' types and of the result's in a type comment. Raises RuntimeError where there is no arrow."""
    start = len("# type:")
    arrow = type_line.find("->")
    if arrow < 0:
        raise RuntimeError("Syntax error in type annotation (cound't find `->`)")
    return type_line[start:arrow].strip(), type_line[arrow + 2 :].strip()


def parse_type_line(type_line: str, rcb: Any, loc: Any) -> tuple[list[Any], Any]:
    """(types of the parameters, type of the result) of a type comment. Raises RuntimeError where it cannot be read."""
    parameters, result = split_type_line(type_line)
    read = []
    for what, text in (("argument list", parameters), ("return type", result)):
        try:
            if any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(text, mode="eval"))):
                raise RuntimeError(f"Type annotation should not contain calls, but '{text}' does")
            read.append(eval(text, {}, EvalEnv(rcb)))  # type: ignore[arg-type]
        except (NameError, SyntaxError) as e:
            raise RuntimeError(f"Failed to parse the {what} of a type annotation") from e
    given = read[0] if isinstance(read[0], tuple) else (read[0],)
    return [ann_to_type(a, loc) for a in given], ann_to_type(read[1], loc)


def get_param_names(fn: Any, n_args: int) -> list[str]:
    """The names of a function's parameters; numbers where it has none that can be read."""
    if isinstance(fn, types.BuiltinFunctionType) or not hasattr(fn, "__code__") and not callable(fn):
        return [str(i) for i in range(n_args)]
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return [str(i) for i in range(n_args)]


def is_vararg(the_callable: Any) -> bool:
    """Whether a function takes any number of arguments."""
    if not is_function_or_method(the_callable) and hasattr(the_callable, "__call__"):  # noqa: B004
        the_callable = the_callable.__call__
    return is_function_or_method(the_callable) and inspect.getfullargspec(the_callable).varargs is not None


def check_fn(fn: Any, loc: Any) -> None:
    """Raises FrontendError where the source of an object is not one function."""
    from torchjit.frontend import FrontendError

    try:
        source = textwrap.dedent("".join(inspect.getsourcelines(fn)[0]))
    except (OSError, TypeError):
        return
    module = ast.parse(source)
    if len(module.body) == 1 and isinstance(module.body[0], ast.ClassDef):
        raise FrontendError(loc, f"Cannot instantiate class '{module.body[0].name}' in a script function")
    if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef):
        raise FrontendError(loc, "Expected a single top-level function")


def is_function_or_method(the_callable: Any) -> bool:
    """Whether an object is a Python function or a method of one."""
    return inspect.isfunction(the_callable) or inspect.ismethod(the_callable)


def is_tensor(ann: Any) -> bool:
    """Whether an annotation is the class of tensors or a name of one of their kinds, such as torch.FloatTensor."""
    from torchjit.storage import _TensorType

    return isinstance(ann, _TensorType) or isinstance(ann, type) and issubclass(ann, Tensor)


def get_enum_value_type(e: Any, loc: Any) -> Any:
    """The type of the values of an enumeration. Raises ValueError where it has none, RuntimeError where they are of several."""
    values = [member.value for member in e]
    if not values:
        raise ValueError(f"No enum values defined for: '{e.__class__}'")
    return _C.unify_type_list([try_ann_to_type(type(value), loc) for value in values])


def _types() -> list[str]:
    return [name for name in vars(_C) if name.endswith("Type") and isinstance(getattr(_C, name), type)]


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "dis": "dis=",
    "torchjit._ops": "OpOverloadPacket",
    "torchjit._sources": "get_source_lines_and_file",
    "torchjit.jit._callables": "_qualified_name is_rref",
    "torchjit.jit._state": "_get_script_class",
}, otherwise=lambda name: getattr(_C, name, None) if name.endswith("Type") else None, listed=_types)  # fmt: skip
