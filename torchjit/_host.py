"""What the native library asks of Python: classes for results, decisions about Python objects."""

from __future__ import annotations

import importlib
import operator
import sys
import threading
from typing import Any


def return_type(name: str, fields: list[str]) -> type:
    """The class of an operator's named results: a tuple with field names, made of a sequence."""
    found = _return_classes.get(name)
    if found is not None and found.__match_args__ == tuple(fields):
        return _from_sequence(found)

    def new(cls: Any, *args: Any) -> Any:
        if len(args) != 1 or not hasattr(args[0], "__iter__"):
            raise TypeError("constructor requires a sequence")
        items = tuple(args[0])
        if len(items) != len(fields):
            raise TypeError(f"torch.return_types.{name}() takes a {len(fields)}-sequence ({len(items)}-sequence given)")
        return tuple.__new__(cls, items)

    def show(self: Any) -> str:
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True)) + ")"

    members: dict[str, Any] = {f: property(operator.itemgetter(i)) for i, f in enumerate(fields)}
    members.update(
        __slots__=(), __module__="torch.return_types", __new__=new, __repr__=show, __match_args__=tuple(fields), n_fields=len(fields),
        n_sequence_fields=len(fields), n_unnamed_fields=0, __reduce__=lambda self: (type(self), (tuple(self),)),
    )  # fmt: skip
    made = type(name, (tuple,), members)
    _return_classes.setdefault(name, made)
    return _from_sequence(made)


# The classes of operators' named results that have been made, by name.
_return_classes: dict[str, Any] = {}


def return_class(name: str) -> Any:
    """The class of an operator's named results, None where it has none."""
    if name not in _return_classes:
        from torchjit import _C

        for schema in _C._jit_get_schemas_for_operator("aten::" + name):
            fields = [r.name for r in schema.returns]
            if len(fields) > 1 and all(fields) and not any("out" == a.name or a.kwarg_only and a.is_out for a in schema.arguments):
                return_type(name, fields)
                break
    return _return_classes.get(name)


def _from_sequence(cls: Any) -> Any:
    """A callable that makes a cls of one sequence."""
    return lambda items: tuple.__new__(cls, items)


def named_tuple(name: str, fields: list[str]) -> type:
    """The class of a named tuple: the program's own where it has been seen, else a new one."""
    import collections

    short = name.rpartition(".")[2]
    found = _known_classes.get(name)
    if found is None or getattr(found, "_fields", None) != tuple(fields):  # a loaded program's class may have been defined again since
        module = name.removesuffix(short)
        again = [c for n, c in _known_classes.items() if n.endswith("." + short) and n.startswith(module) and getattr(c, "_fields", None) == tuple(fields)]
        found = again[-1] if again else collections.namedtuple(short, fields)
    return found


def enum(name: str) -> type:
    """The enumeration class of a qualified name: the program's own where it has been seen or its module is loaded."""
    import enum as enums

    found = _known_classes.get(name)
    if found is None:
        module, _, short = name.removeprefix("__torch__.").rpartition(".")
        found = getattr(sys.modules.get(module or "__main__"), short, None)
    if not isinstance(found, enums.EnumMeta):
        raise RuntimeError(f"Unknown reference to ScriptClass {name}. (Did you forget to import it?)")
    return found


def instance(name: str, attributes: list[str]) -> Any:
    """What makes an instance of the Python class of that qualified name of the values of its attributes."""
    cls = _known_classes.get(name)
    if cls is None:
        return None

    def make(*values: Any) -> Any:
        obj = cls.__new__(cls)
        for attribute, value in zip(attributes, values, strict=True):
            object.__setattr__(obj, attribute, value)
        return obj

    return make


# The classes that messages about arguments of operators name with their modules: those that PyTorch has in C++, here by their names in torchjit.
_named_with_modules = {name: f"torch.{name}" for name in ("Size", "dtype", "device", "layout", "memory_format", "finfo", "iinfo", "qscheme")}
_named_with_modules |= {"Generator": "torch._C.Generator"}


def describe(value: Any) -> tuple[str, str, str, str]:
    """The type's name and the texts of an object, for messages, and the type's name in those about arguments of operators."""
    name, module = type(value).__name__, type(value).__module__
    argument = name
    if module == "torchjit":
        argument = _named_with_modules.get(name, name)
    elif module in ("torch.return_types", "torchjit.storage"):
        argument = f"{module.replace('torchjit', 'torch')}.{name}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        name += f" (aka NamedTuple({', '.join(value._fields)}))"
    return name, repr(value), str(value), argument


def cast(value: Any, kind: str) -> Any:
    """A number of the kind that an object says it is, None where it says nothing."""
    make = {"int": int, "float": float, "bool": bool, "complex": complex}.get(kind)
    if make is None or not hasattr(type(value), f"__{kind}__"):
        return None
    try:
        return make(value)
    except (TypeError, ValueError, OverflowError):
        return None


def sequence(value: Any) -> list[Any] | None:
    """The items of an object that is a sequence: it has a length and items by position."""
    if isinstance(value, (dict, str, bytes)) or not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        return None
    return [value[i] for i in range(len(value))]


def attribute(obj: Any, name: str) -> Any:
    """What an attribute of a Python module is to the compiler."""
    from torchjit.jit import _resolve

    return _resolve.attribute(obj, name)


def class_attribute(cls: type, name: str) -> Any:
    """What an attribute of a class of modules is to the compiler."""
    from torchjit.jit import _resolve

    return _resolve.class_attribute(cls, name)


def attributes(obj: Any, names: list[str]) -> list[Any] | None:
    """The attributes that an instance of a class of programs has, of a Python object; None where one is missing."""
    try:
        return [getattr(obj, name) for name in names]
    except AttributeError:
        return None


def index_part(part: Any) -> Any:
    """What an object in an index means: the elements of a sequence that is no list, the number that it stands for. Raises IndexError for others."""
    if not hasattr(part, "__getitem__") or not hasattr(part, "__len__"):
        if hasattr(type(part), "__index__"):
            return operator.index(part)
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(part).__name__})"
        )
    return [part[i] for i in range(len(part))]


def call_ignored(fn: Any, *args: Any) -> Any:
    """Calls a function that was left to Python; modules are given as Python sees them."""
    from torchjit.jit import _module

    return fn(*(_module.python_side(a) if isinstance(a, _module._CModule) else a for a in args))


def enum_member(obj: Any, enum_name: str) -> str | None:
    """The name of a member of an enumeration that was compiled or is in a loaded program; None for other objects."""
    known = _known_classes.get(enum_name)
    if known is None:
        import enum

        from torchjit._jit_internal import qualified_name

        return obj.name if isinstance(obj, enum.Enum) and qualified_name(type(obj)) == enum_name else None
    return obj.name if known is type(obj) else None


def typed_value(obj: Any) -> tuple[str | None, Any] | None:
    """What an object that stands for any type is to programs: the name of an enumeration and its member's, that of a script class
    and the object, None and a number; None where programs know nothing of it.
    """
    import enum

    if "torchjit.jit._resolve" not in sys.modules:
        return None
    from torchjit.jit import _resolve

    if isinstance(obj, int):
        return None, int(obj)
    if isinstance(obj, enum.Enum):
        try:
            return _resolve.enum_name(type(obj)), obj.name or ""
        except (RuntimeError, ValueError):
            return None
    return _resolve.script_class_of(obj)


def future_result(obj: Any) -> Any:
    """The result of a future of Python in a list, once it is there; None for what is no future. Raises what the future raises."""
    from torchjit.jit._async import Future

    return [obj.wait()] if isinstance(obj, Future) else None


def await_result(obj: Any) -> Any:
    """The result of a call that Python left to whoever waits, in a list; None for what is no such call. Raises what the call raises."""
    from torchjit.jit._await import _Await

    return [obj.wait()] if isinstance(obj, _Await) else None


def compiled_module(obj: Any) -> Any:
    """What a module is to programs, which is compiled where it was not; None where an object is no module, or cannot be compiled."""
    from torchjit import jit, nn

    if not isinstance(obj, nn.Module):
        return None
    try:
        return (obj if isinstance(obj, jit.ScriptModule) else jit.script(obj))._c
    except Exception:
        return None


# Files of this package whose functions stand for functions of PyTorch's library: a program that is
# traced does not see their frames.
_UNSEEN = tuple(__file__.replace("_host.py", name) for name in ("_host.py", "_tensor.py", "_creation.py", "jit/_trace.py", "jit/_logging.py", "autograd/function.py", "_ops.py"))

# Methods in them that are functions of Python in PyTorch too, in which a trace finds no variables. What those of the first set warn of is nothing that
# the program did; the others make numbers and truths of its tensors.
_QUIET = {"__reversed__", "__rtruediv__", "__rfloordiv__", "__rpow__", "__rmod__", "__rmatmul__", "norm", "unique"}
_SEEN = _QUIET | {"__format__", "__contains__"}


def _frames(depth: int = 2, hiding: set[str] = _SEEN) -> Any:
    """The frames of the program that is being traced, innermost first, and whether a method hides its variables or warnings. The frames from
    that of depth on, seen from here, may belong to it.
    """
    frame = sys._getframe(depth)
    hidden = False
    while frame is not None and frame.f_code.co_filename in _UNSEEN:
        hidden = hidden or frame.f_code.co_name in hiding
        frame = frame.f_back  # type: ignore[assignment]
    return frame, hidden


def trace_place() -> tuple[str, int, str]:
    """Where the traced program is: file, line, and a line for each frame."""
    if naming.place is not None:
        return "", 1, naming.place
    frame, _ = _frames()
    if frame is None:
        return "", 0, ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    stack = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in _UNSEEN or code.co_name in ("trace", "trace_module"):
            stack.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}\n")
        frame = frame.f_back
    return file, line, "".join(stack)


class _Naming(threading.local):
    """What names tensors in the trace that the thread records, None where the variables of the program do."""

    function: Any = None
    place: str | None = None  # what stands for the frames of the program, where something does


naming = _Naming()


def trace_name(tensor: Any) -> str:
    """The name of the traced program's local variable that holds a tensor; "" where none does."""
    if naming.function is not None:
        return str(naming.function(tensor))
    frame, hidden = _frames()
    return "" if hidden else _name_in(frame, tensor)


def name_in_caller(tensor: Any) -> str:
    """The name of the variable that holds a tensor in what called the function that is being traced; "" where none does."""
    frame, hidden = _frames(3)
    return "" if hidden or frame is None else _name_in(frame.f_back, tensor)


def _name_in(frame: Any, tensor: Any) -> str:
    for name, held in frame.f_locals.items() if frame is not None else ():
        if held is tensor:
            return "" if name == "self" else name
    return ""


def trace_warn(what: str) -> None:
    """Warns that the traced program makes a Python value of a tensor."""
    trace_warn_text(
        f"{what} might cause the trace to be incorrect. We can't record the data flow of Python values, so this value will be "
        "treated as a constant in the future. This means that the trace might not generalize to other inputs!"
    )


def trace_warn_text(text: str) -> None:
    """Warns at the line of the traced program, once for a line as Python's filters have it."""
    import warnings

    from torchjit.jit._trace import TracerWarning

    frame, hidden = _frames(hiding=_QUIET)
    if frame is None or hidden or _native.export_active():
        return
    warnings.warn_explicit(
        text, TracerWarning, frame.f_code.co_filename, frame.f_lineno,
        frame.f_globals.get("__name__", "<string>"), frame.f_globals.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def write(text: str) -> None:
    """Writes what a program prints to where Python's output goes at the time."""
    if sys.stdout is not None:
        sys.stdout.write(text)


def add_frame(error: Exception, text: str) -> None:
    """Adds to an error of the compiler for whom what failed was compiled."""
    from torchjit.frontend import FrontendError

    if isinstance(error, FrontendError) and error.args and isinstance(error.args[0], str):
        error.args = (error.args[0] + text, *error.args[1:])


def failed_class(error: Exception) -> str:
    """The name of the class whose definition an error of the compiler is about, "" where it is about none."""
    return str(error.__dict__.pop("compiled_class", ""))


def save(value: Any, file: str) -> None:
    """Writes a value that a program saves into a file, as torch.save does."""
    importlib.import_module("torchjit.serialization").save(value, file)


def warn(message: str) -> None:
    """Warns at the caller's line, where that of a program is not known."""
    import warnings

    warnings.warn(message, stacklevel=2)


def anomaly_place() -> str:
    """The traceback of what the program does, without the frames of this package."""
    import os
    import traceback

    here = os.path.dirname(__file__) + os.sep
    return "".join(line for line in traceback.format_stack()[:-1] if here not in line.split(",", 1)[0])


def anomaly_warn(node: str, created: str, induced: bool) -> None:
    """Warns of a node whose derivative failed, or of one that it was made by."""
    import warnings

    start = f"\n\nPrevious calculation was induced by {node}. " if induced else f"Error detected in {node}. "
    if not created:
        text = start + "No forward pass information available. Enable detect anomaly during forward pass for more information."
    elif induced:
        text = start + "Traceback of forward call that induced the previous calculation:\n" + created
    else:
        text = start + "Traceback of forward call that caused the error:\n" + created
    warnings.warn(text, stacklevel=2)


def warn_no_grad() -> None:
    """Warns that a tensor that is no leaf has no gradient."""
    import warnings

    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
        "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
        "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
        "github.com/pytorch/pytorch/pull/30531 for more informations.",
        stacklevel=2,
    )


# Python classes by the qualified names that programs have for them.
_known_classes: dict[str, Any] = {}

from torchjit import _native  # noqa: E402

_native.check_interpreter()
_native.set_host(sys.modules[__name__])


def dispatch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the innermost mode below autograd makes of an operator."""
    from torchjit import _dispatch_modes

    return _dispatch_modes.call_mode(name, args, kwargs)


def expand(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a composite operator gives where Python knows what it is made of, in a tuple; None where it does not."""
    from torchjit import _composites

    return _composites.call(name, args, kwargs)


def part(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an operator gives that another one is made of."""
    from torchjit import _composites

    return _composites.part(name)(*args, **kwargs)


def size(x: Any, dim: int, fixed: bool) -> Any:
    """A size of a tensor, which may be a symbol; an integer where it is to be one for the program."""
    return int(x.size(dim)) if fixed else x.size(dim)


def write_onnx(module: str, arguments: list[Any], inputs: list[str], outputs: list[str], file: str) -> str:
    """Writes the module of a file as ONNX; what went wrong, "" where nothing did."""
    from torchjit import jit, onnx

    try:
        onnx.export(jit.load(module), tuple(arguments), file, input_names=inputs, output_names=outputs)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""
