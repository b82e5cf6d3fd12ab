"""torch.export: captures modules as graphs of functional operators."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torchjit as torch
from torchjit._pytorch_tensors import converted
from torchjit.export._archive import load, save
from torchjit.export._containers import register_dataclass
from torchjit.export._decompose import CustomDecompTable, default_decompositions
from torchjit.export._errors import UserError
from torchjit.export._trace import capture, capture_script
from torchjit.export.dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from torchjit.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, program_of
from torchjit.export.graph_signature import ExportBackwardSignature, ExportGraphSignature

__all__ = [
    "AdditionalInputs", "Constraint", "CustomDecompTable", "Dim", "ExportBackwardSignature", "ExportGraphSignature", "ExportedProgram",
    "FlatArgsAdapter", "ModuleCallEntry", "ModuleCallSignature", "ShapesCollection", "UnflattenedModule", "UserError", "default_decompositions",
    "dims", "export", "export_for_inference", "export_for_training", "load", "register_dataclass", "save", "unflatten",
]  # fmt: skip


def export(
    mod: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = True,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:  # fmt: skip
    """The program that mod(*args, **kwargs) is: a graph of functional operators without side effects.

    args and kwargs are examples. Sizes that dynamic_shapes says nothing of, numbers and strings are fixed in the program;
    dynamic_shapes gives, for each argument, a Dim for each size that is to be dynamic. Decisions by elements of tensors
    have to be made with torch.cond. strict has no effect: there is one way of capturing. preserve_module_call_signature names modules
    whose containers of arguments and results torch.export.unflatten is to keep.

    Raises TypeError for what is no module, UserError for arguments and sizes that cannot be what they are said to be, and
    RuntimeError, with the place in the program, for what cannot be exported.

    >>> program = torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),))
    >>> program.module()(torch.rand(4, 3)).shape
    torch.Size([4, 2])
    """
    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    args, kwargs = converted(args), converted(kwargs)
    given = dynamic_shapes
    if isinstance(dynamic_shapes, (AdditionalInputs, ShapesCollection)):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    if isinstance(mod, torch.jit.ScriptModule):
        captured = capture_script(mod, args, kwargs or {}, dynamic_shapes)
    else:
        captured = capture(mod, mod, args, kwargs or {}, dynamic_shapes, preserved=tuple(preserve_module_call_signature))
    state = OrderedDict(mod.state_dict(keep_vars=True)) if not isinstance(mod, torch.jit.ScriptModule) else OrderedDict(mod.state_dict())
    rest = {name: b for name, b in mod.named_buffers() if name not in state}
    program = program_of(captured, state, {**rest, **captured.constants}, (args, kwargs or {}))
    if isinstance(given, AdditionalInputs):
        given.verify(program)
    return program


def export_for_training(
    mod: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = True,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:  # fmt: skip
    """export: its programs are functional, and may be trained."""
    preserved = preserve_module_call_signature
    return export(mod, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict, preserve_module_call_signature=preserved)


def export_for_inference(
    mod: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = True,
    preserve_module_call_signature: tuple[str, ...] = (), decomp_table: Any = None,
) -> ExportedProgram:  # fmt: skip
    """export, and run_decompositions with decomp_table."""
    preserved = preserve_module_call_signature
    program = export(mod, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict, preserve_module_call_signature=preserved)
    return program.run_decompositions(decomp_table)


if TYPE_CHECKING:
    from torchjit.export.unflatten import FlatArgsAdapter as FlatArgsAdapter
    from torchjit.export.unflatten import InterpreterModule as InterpreterModule
    from torchjit.export.unflatten import UnflattenedModule as UnflattenedModule
    from torchjit.export.unflatten import unflatten as unflatten
else:

    def __getattr__(name: str) -> Any:
        if name in ("FlatArgsAdapter", "UnflattenedModule", "unflatten", "InterpreterModule"):
            import importlib

            module = importlib.import_module("torchjit.export.unflatten")
            for known in module.__all__:
                globals()[known] = getattr(module, known)
            return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(types.ModuleType):
    """A package whose function unflatten keeps its name when the module of that name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name == "unflatten" and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
