"""torch.jit.supported_ops: what programs can call, as its documentation lists it."""

from __future__ import annotations

import builtins
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from torchjit import _C
from torchjit.jit import _builtins
from torchjit.jit._builtins import _find_builtin

# Functions of Python that programs have: the operators that they are, or what there is to say of those that have no schema.
_RENAMED = {name: "aten::" + name.capitalize() for name in ("bool", "int", "float", "complex")}
_RENAMED.update({name: "prim::" + name for name in ("abs", "max", "min")})
_WITHOUT_SCHEMA = {
    "print": "Print any value",
    "tuple": "Lists cannot be converted to tuples with this method since their size is not statically known",
    "getattr": "Attribute name must be a literal string",
    "hasattr": "Attribute name must be a literal string",
    "isinstance": "Result is static",
    "zip": "Arguments must be iterable. See :ref:`Iterables <jit_iterables>` for details.",
    "enumerate": "Arguments must be iterable. See :ref:`Iterables <jit_iterables>` for details.",
    "range": "Can only be used as an iterator in a for loop",
}
_GLOBALS = (
    "print", "tuple", "float", "complex", "int", "bool", "str", "getattr", "hasattr", "isinstance", "len", "hex", "oct", "round", "hash", "min", "max",
    "abs", "all", "divmod", "list", "ord", "chr", "bin", "range", "zip", "enumerate", "sorted",
)  # fmt: skip
_MAGIC = ("complex", "float", "int", "bool", "str", "len", "hex", "oct")


def _hidden(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _emit_type(type: Any) -> str:
    return str(type)


def _emit_arg(indent: int, i: int, arg: Any) -> str:
    """The declaration of an argument; those behind the first begin a line."""
    default = "" if arg.default_value is None else f"={arg.default_value}"
    return ("\n" + " " * indent if i > 0 else "") + f"{arg.name} : {_emit_type(arg.type)}{default}"


def _emit_args(indent: int, arguments: Any) -> str:
    return ",".join(_emit_arg(indent, i, arg) for i, arg in enumerate(arguments))


def _emit_ret(ret: Any) -> str:
    return _emit_type(ret.type)


def _emit_rets(returns: Any) -> str:
    return _emit_ret(returns[0]) if len(returns) == 1 else f"Tuple[{', '.join(map(_emit_ret, returns))}]"


def _emit_schema(mod: str | None, name: str, schema: Any, arg_start: int = 0, padding: int = 4) -> str:
    """A schema as the declaration of a function, an argument a line."""
    qualified = name if mod is None else f"{mod}.{name}"
    indent = len(qualified) + 1 + padding
    return f"{qualified}({_emit_args(indent, schema.arguments[arg_start:])}) -> {_emit_rets(schema.returns)}"


def _schemas(operator: str) -> list[Any]:
    return _C._jit_get_schemas_for_operator(operator)


def _get_tensor_ops() -> tuple[str, list[str]]:
    """The operators that are methods of tensors."""
    from torchjit import Tensor

    tensor = _C.TensorType.get()
    found = []
    for name in dir(Tensor):
        if _hidden(name):
            continue
        for s in _schemas("aten::" + name):
            if s.arguments and s.arguments[0].name == "self" and s.arguments[0].type.isSubtypeOf(tensor):
                found.append(_emit_schema("Tensor", name, s, arg_start=1))
    return "Supported Tensor Methods", found


def _get_nn_functional_ops() -> tuple[str, list[str]]:
    """The functions of torch.nn.functional that compile, and the operators in the modules that have many."""
    import torchjit
    from torchjit.nn import functional

    found = []
    for name, f in sorted(vars(functional).items()):
        if inspect.isfunction(f) and not _hidden(name) and f.__module__ == functional.__name__:
            try:
                found.append(_emit_schema("torch.nn.functional", name, torchjit.jit.script(f).schema))
            except Exception:  # functions that are chosen by a flag have no schema
                continue
    names = ("torch", *("torch._C." + namespace for namespace in _builtins.NAMESPACES))
    for module, mod in zip(names, _builtins._modules_containing_builtins, strict=True):
        found += _of_module(module, ((name, getattr(mod, name, None)) for name in dir(mod)))
    return "Supported PyTorch Functions", found


def _of_module(module: str, members: Iterable[tuple[str, Any]]) -> list[str]:
    """The declarations of the members that are operators."""
    found = []
    for name, member in members:
        operator = None if _hidden(name) else _find_builtin(member)
        found += [] if operator is None else [_emit_schema(module, name, s) for s in _schemas(operator)]
    return found


def _get_torchscript_builtins() -> tuple[str, list[str]]:
    """Functions of Python's modules, and of others than those of _get_nn_functional_ops, that are operators."""
    import cmath
    import collections
    import warnings

    import torchjit

    found = _of_module("collections", [("OrderedDict", collections.OrderedDict)]) + _of_module("builtins", [("dict", builtins.dict)])
    found += _of_module("cmath", sorted(vars(cmath).items()))
    found += _of_module("torch.autograd", [("grad", torchjit.autograd.grad), ("backward", torchjit.autograd.backward)])
    found += _of_module("_warnings", [("warn", warnings.warn)])
    return "TorchScript Builtin Functions", found


def _get_builtins_helper() -> list[tuple[Any, str]]:
    """The functions of Python that stand for operators, but for those of PyTorch's private modules, with the operators."""
    return [(f, op) for f, op in _builtins._builtin_ops if not (getattr(f, "__module__", None) or "").startswith("torchjit._C")]


def _is_math_fn(fn: Any) -> bool:
    """Whether a function is one of math. Raises RuntimeError for what is of no module."""
    mod = inspect.getmodule(fn)
    if mod is None:
        raise RuntimeError(f"Module for {fn} not found")
    return mod is math


def _get_math_builtins() -> tuple[str, list[Any]]:
    """The schemas of what the functions of math are, without those of tensors."""
    operators = [op for _, f in sorted(vars(math).items()) if (op := _find_builtin(f)) is not None]
    return "``math`` Module", [s for op in operators for s in _schemas(op) if "Tensor" not in str(s)]


def _get_global_builtins() -> tuple[str, str]:
    """What there is to say of Python's own functions."""
    declared, notes = [], []
    for name in _GLOBALS:
        schemas = [] if name == "range" else _schemas(_RENAMED.get(name, "aten::" + name))
        declared += [_emit_schema(None, name, s, padding=0) for s in schemas] + ([""] if schemas else [])
        if not schemas:
            notes.append(f'":any:`{name}`", "{_WITHOUT_SCHEMA[name]}"')
    magic = [f'"{name}", "``__{name}__``"' for name in _MAGIC]
    parts = (
        ("The functions in the following table are supported but do not have a static schema", '.. csv-table::\n    :header: "Function", "Note"', notes),
        ("The following functions will use the corresponding magic method on :any:`TorchScript classes`", '.. csv-table::\n    :header: "Function", "Magic Method"', magic),
        ("These built-in functions use the schema", ".. rst-class:: codeblock-height-limiter\n\n::", declared),
    )  # fmt: skip
    text = "".join(f"\n{title}\n\n{head}\n\n" + "\n".join("\t" + line if line else "" for line in "\n".join(lines).split("\n")) + "\n" for title, head, lines in parts)
    return "Python Built-in Functions", text


def _list_supported_ops() -> str:
    """The documentation: a section for each kind of what programs can call."""
    gathering: tuple[Callable[[], tuple[str, Any]], ...] = (
        _get_tensor_ops, _get_nn_functional_ops, _get_torchscript_builtins, _get_global_builtins, _get_math_builtins,
    )  # fmt: skip
    body = ""
    for gather in gathering:
        header, items = gather()
        if not isinstance(items, str):
            items = "\n.. rst-class:: codeblock-height-limiter\n\n::\n\n" + "".join(f"    {item}\n\n" for item in items) + "\n"
        target = header.replace("`", "").replace("-", "").lower().replace(" ", "-")
        body += f".. _{target}:\n\n{header}\n{'~' * len(header)}\n{items}"
    return body


class _Documented(types.ModuleType):
    """A module whose documentation is made when it is asked for."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return _list_supported_ops()


del globals()["__doc__"]
sys.modules[__name__].__class__ = _Documented
