"""torch.export: captures modules as graphs of functional operators."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torchjit as torch
from torchjit.export._archive import load, save
from torchjit.export._containers import register_dataclass
from torchjit.export._decompose import default_decompositions
from torchjit.export._errors import UserError
from torchjit.export._trace import capture, capture_script
from torchjit.export.dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from torchjit.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, program_of
from torchjit.export.graph_signature import ExportBackwardSignature, ExportGraphSignature

__all__ = [
    "Dim", "ExportBackwardSignature", "ExportGraphSignature", "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "ShapesCollection",
    "UserError", "default_decompositions", "dims", "export", "load", "register_dataclass", "save",
]  # fmt: skip


def export(
    mod: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = True,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:  # fmt: skip
    """The program that mod(*args, **kwargs) is: a graph of functional operators without side effects.

    args and kwargs are examples. Sizes that dynamic_shapes says nothing of, numbers and strings are fixed in the program;
    dynamic_shapes gives, for each argument, a Dim for each size that is to be dynamic. Decisions by elements of tensors
    have to be made with torch.cond. strict has no effect: there is one way of capturing.

    Raises TypeError for what is no module, UserError for arguments and sizes that cannot be what they are said to be, and
    RuntimeError, with the place in the program, for what cannot be exported.
    """
    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if isinstance(mod, torch.jit.ScriptModule):
        captured = capture_script(mod, args, kwargs or {}, dynamic_shapes)
    else:
        captured = capture(mod, mod, args, kwargs or {}, dynamic_shapes)
    state = OrderedDict(mod.state_dict(keep_vars=True)) if not isinstance(mod, torch.jit.ScriptModule) else OrderedDict(mod.state_dict())
    rest = {name: b for name, b in mod.named_buffers() if name not in state}
    program = program_of(captured, state, {**rest, **captured.constants}, (args, kwargs or {}))
    program._declarations = captured.declarations
    return program
