"""Exported programs in files."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from typing import Any

import torchjit as torch
from torchjit import _native, _progress
from torchjit.export import _program
from torchjit.export._calls import read_call, write_call
from torchjit.export._containers import read_spec, write_spec
from torchjit.export._symbolic import size_of
from torchjit.export._trace import Captured
from torchjit.export.exported_program import ExportedProgram, program_of
from torchjit.export.graph_signature import ConstantArgument, InputKind, SymIntArgument
from torchjit.utils import _pytree as pytree


def save(
    ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None, opset_version: Any = None, pickle_protocol: int = 2, for_pytorch: bool = False
) -> None:  # fmt: skip
    """Writes a program, with its tensors, to a file or to an object with a method write. Files are usually called NAME.pt2.

    for_pytorch writes the form that torch.export.load of PyTorch 2.15 reads, as load here does, and raises ValueError for what has no form there.
    opset_version and pickle_protocol have no effect. A file is replaced when its successor is whole. extra_files are further contents, by
    names. Raises TypeError for what is no exported program, and SpecViolationError where its graph is not what Export IR allows.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.export.save(torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),)), file)
    >>> _ = file.seek(0)
    >>> torch.export.load(file).module()(torch.rand(4, 3)).shape
    torch.Size([4, 2])
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead.")
    form = _program.parse(ep._text())
    names = ep.module_call_graph[0].signature.forward_arg_names  # type: ignore[union-attr]
    calls = {e.fqn: write_call(e.signature) for e in ep.module_call_graph[1:] if e.signature is not None}
    form["in_spec"] = json.dumps({**write_spec(ep.in_spec), "names": names, "calls": calls})
    form["out_spec"] = json.dumps(write_spec(ep.out_spec))
    text = json.dumps(form)
    if not for_pytorch:
        _program.check(text)
    tensors = {s.target: ep._tensor(s.target) for s in ep.graph_signature.input_specs if s.target is not None}
    tensors.update(_examples(ep))
    files = {name: content if isinstance(content, (str, bytes)) else str(content) for name, content in (extra_files or {}).items()}
    if isinstance(f, (str, os.PathLike)):
        with _progress.of_bytes(f"saving {os.fspath(f)}") as told:
            _native.export_save(os.fspath(f), text, tensors, files, for_pytorch, told)
    else:
        f.write(_native.export_bytes(text, tensors, files, for_pytorch))


def load(f: Any, *, extra_files: dict[str, Any] | None = None, expected_opset_version: Any = None) -> ExportedProgram:
    """The program that save wrote, or torch.export.save of PyTorch 2. Nothing in the file is run. extra_files gets the further contents, by their names.

    Raises FileNotFoundError where there is no such file, RuntimeError and ValueError where it is damaged, or holds what is no program.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.export.save(torch.export.export(nn.ReLU(), (torch.rand(2),)), file)
    >>> _ = file.seek(0)
    >>> torch.export.load(file).module()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    if isinstance(f, (str, os.PathLike)):
        os.stat(f)  # a FileNotFoundError where there is none
        with _progress.of_bytes(f"loading {os.fspath(f)}") as told:
            text, tensors, files = _native.export_load(os.fspath(f), told)
    else:
        text, tensors, files = _native.export_read(f.read())
    if extra_files is not None:
        extra_files.update({name: content.decode() for name, content in files.items()})
    try:
        return _program_of_file(text, tensors)
    except RecursionError as e:
        raise ValueError("the program of the file is nested too deep") from e
    except (ValueError, RuntimeError, MemoryError):
        raise
    except Exception as e:  # of a damaged program: a key that is missing, a list where a text is expected
        raise ValueError(f"the program of the file is damaged: {type(e).__name__}: {e}") from e


def _program_of_file(text: str, tensors: dict[str, Any]) -> ExportedProgram:
    form = _program.parse(text)
    _program.check_names(form["graph"])
    captured = Captured(text, {}, {}, read_spec(json.loads(form["in_spec"])), read_spec(json.loads(form["out_spec"])))
    further = json.loads(form["in_spec"])
    captured.argument_names = further.get("names")
    if captured.argument_names is not None and not all(map(_program.is_name, captured.argument_names)):
        raise ValueError(f"the program has arguments with the names {captured.argument_names!r}")
    captured.calls = {path: read_call(call) for path, call in (further.get("calls") or {}).items()}
    state: dict[str, Any] = OrderedDict()
    constants: dict[str, Any] = {}
    for spec in _program.read_signature(form).input_specs:
        if spec.target is None:
            continue
        _program.check_path(spec.target)
        t = tensors[spec.target]
        if spec.kind == InputKind.PARAMETER:
            t = torch.nn.Parameter(t, requires_grad=_wants_gradient(form, spec.arg.name))
        kept = spec.kind == InputKind.PARAMETER or spec.kind == InputKind.BUFFER and spec.persistent
        (state if kept else constants)[spec.target] = t
    return program_of(captured, state, constants, _example_inputs(form, captured.in_spec, tensors), of_file=True)


_EXAMPLE = "example_inputs/"


def _examples(ep: ExportedProgram) -> dict[str, Any]:
    """The tensors that a program was captured with, by the names of the archive."""
    if ep.example_inputs is None:
        return {}
    leaves = pytree.tree_leaves(tuple(ep.example_inputs))
    user = [s for s in ep.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
    tensors = [(s, x) for s, x in zip(user, leaves, strict=True) if isinstance(x, torch.Tensor) and x.device.type != "meta"]
    return {_EXAMPLE + s.arg.name: x.detach() for s, x in tensors}


def _example_inputs(form: dict[str, Any], in_spec: Any, tensors: dict[str, Any]) -> Any:
    """The arguments that a program was captured with; None where the archive does not have them all."""
    leaves: list[Any] = []
    hints = {s["name"]: s["hint"] for s in form["symbols"] or ()}
    for spec in _program.read_signature(form).input_specs:
        if spec.kind == InputKind.USER_INPUT:
            if isinstance(spec.arg, ConstantArgument):
                leaves.append(spec.arg.value)
            elif isinstance(spec.arg, SymIntArgument):
                leaves.append(int(size_of(_val(form, spec.arg.name)["int"], hints)))
            elif _EXAMPLE + spec.arg.name in tensors:
                leaves.append(tensors[_EXAMPLE + spec.arg.name])
            else:
                return None
    return pytree.tree_unflatten(leaves, in_spec)


def _wants_gradient(form: dict[str, Any], name: str) -> bool:
    return bool(_val(form, name).get("grad", False))


def _val(form: dict[str, Any], name: str) -> dict[str, Any]:
    """What a node gives, as its metadata says it."""
    node = next(n for n in form["graph"]["nodes"] if n["name"] == name)
    return (node.get("meta") or {}).get("val") or {}
