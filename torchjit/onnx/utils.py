"""Export of models to ONNX: the functions of torch.onnx.utils."""

from __future__ import annotations

import contextlib
import os
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit._archive import ReplacedFile
from torchjit._C._onnx import OperatorExportTypes, TrainingMode
from torchjit.onnx import (
    _capture,
    _constants,
    _elementwise,
    _functional,
    _infer,
    _names,
    _optimize,
    _prepare,
    _registry,
    _text,
    _translate,
    _write,
)
from torchjit.onnx._globals import GLOBALS

__all__ = [
    "disable_apex_o2_state_dict_hook", "export", "export_to_pretty_string", "exporter_context", "is_in_onnx_export", "model_signature",
    "register_custom_op_symbolic", "select_model_mode_for_export", "setup_onnx_logging", "unconvertible_ops",
    "unregister_custom_op_symbolic",
    "warn_on_static_input_change",
]  # fmt: skip


def is_in_onnx_export() -> bool:
    """Whether a model is being exported.

    >>> torch.onnx.is_in_onnx_export()
    False
    """
    return GLOBALS.in_onnx_export


@contextlib.contextmanager
def select_model_mode_for_export(model: Any, mode: TrainingMode) -> Iterator[None]:
    """A context in which a module is in the mode of an export, and the export of it. Raises TypeError for what is no TrainingMode."""
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"'mode' should be a torch.onnx.TrainingMode enum, but got '{type(mode)}'.")
    former, changed = GLOBALS.training_mode, None
    if isinstance(model, torch.nn.Module):
        wanted = {
            TrainingMode.EVAL: False,
            TrainingMode.TRAINING: True,
            TrainingMode.PRESERVE: getattr(model, "training", False),
        }[mode]
        GLOBALS.training_mode = TrainingMode.TRAINING if wanted else TrainingMode.EVAL
        if getattr(model, "training", wanted) != wanted:
            changed = (
                {m: m.training for m in model.modules()}
                if not isinstance(model, torch.jit.ScriptModule)
                else model.training
            )
            model.train(wanted)
    try:
        yield
    finally:
        GLOBALS.training_mode = former
        if isinstance(changed, dict):
            for module, training in changed.items():
                module.training = training
        elif changed is not None:
            model.train(changed)


@contextlib.contextmanager
def disable_apex_o2_state_dict_hook(model: Any) -> Iterator[None]:
    """A context without effect: the hook of the library apex casts states of CUDA modules."""
    yield


@contextlib.contextmanager
def setup_onnx_logging(verbose: bool) -> Iterator[None]:
    """A context in which exports print the graph, where verbose is set."""
    former, _text.verbose[0] = _text.verbose[0], verbose or _text.verbose[0]
    try:
        yield
    finally:
        _text.verbose[0] = former


@contextlib.contextmanager
def exporter_context(model: Any, mode: TrainingMode, verbose: bool) -> Iterator[None]:
    """The context of an export: the mode and the log."""
    with select_model_mode_for_export(model, mode), setup_onnx_logging(verbose):
        yield


def export(
    model: Any,
    args: Any,
    f: Any,
    export_params: bool = True,
    verbose: bool = False,
    training: TrainingMode = TrainingMode.EVAL,
    input_names: Any = None,
    output_names: Any = None,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    opset_version: int | None = None,
    do_constant_folding: bool = True,
    dynamic_axes: Any = None,
    keep_initializers_as_inputs: bool | None = None,
    custom_opsets: Any = None,
    export_modules_as_functions: Any = False,
) -> None:
    """Writes a model to a path or a file as ONNX.

    model: a module, which is traced with the arguments; a compiled module or function, whose branches and loops are kept.
    args: the arguments, a tuple or a tensor; a dictionary at its end has those that are given by name.
    export_params: whether the tensors of the model are in the file; else they are inputs.
    verbose: whether the graph is printed.
    training: whether the model is exported in the mode of inference (EVAL), of training, or as it is.
    input_names, output_names: names of inputs, then of the model's tensors, and of outputs.
    opset_version: from 7 to 17, 14 where none is given.
    do_constant_folding: whether what depends on the model's tensors alone is computed.
    dynamic_axes: the dimensions whose sizes differ between runs, by the names of inputs and outputs: names by numbers, or a list of
    numbers.
    keep_initializers_as_inputs: whether the model's tensors are inputs too, which can be given other values.
    operator_export_type: what becomes of operators without a form in ONNX: an error (ONNX), a node of their own name (ONNX_FALLTHROUGH), or a
    node ATen that names them (ONNX_ATEN_FALLBACK; ONNX_ATEN has all operators be such nodes).
    custom_opsets: versions of the domains of operators that are not of ONNX.

    Raises UnsupportedOperatorError where an operator has no form at the opset version, SymbolicValueError where one has none for its
    arguments, ValueError for unknown versions and for export_modules_as_functions, which is not implemented.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.onnx.export(nn.Linear(3, 2), torch.rand(1, 3), file, input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    >>> len(file.getvalue()) > 100
    True
    """
    _export(
        model,
        args,
        f,
        export_params,
        verbose,
        training,
        input_names,
        output_names,
        operator_export_type,
        opset_version=opset_version,
        do_constant_folding=do_constant_folding,
        dynamic_axes=dynamic_axes,
        keep_initializers_as_inputs=keep_initializers_as_inputs,
        custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions,
    )


def _export(
    model: Any,
    args: Any,
    f: Any,
    export_params: bool = True,
    verbose: bool = False,
    training: TrainingMode = TrainingMode.EVAL,
    input_names: Any = None,
    output_names: Any = None,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    *,
    opset_version: int | None = None,
    do_constant_folding: bool = True,
    dynamic_axes: Any = None,
    keep_initializers_as_inputs: bool | None = None,
    custom_opsets: Any = None,
    export_modules_as_functions: Any = False,
    export_type: Any = None,
) -> Any:
    """export; returns what the call of a module that was traced returned. export_type, of ExportTypes, has the model be in an archive or a folder."""
    if export_modules_as_functions:
        raise ValueError(
            "export_modules_as_functions is not implemented: modules are exported as the operators that they call"
        )
    for domain, version in (custom_opsets or {}).items():
        if not isinstance(version, int):
            raise TypeError(f"the version of the domain '{domain}' is a {type(version).__name__}, not an int")
    axes = _checked_axes(dynamic_axes or {}, input_names, output_names)
    with _options(model, training, verbose, operator_export_type, opset_version, do_constant_folding):
        graph, params, results = _model_to_graph(
            model,
            args,
            verbose,
            input_names,
            output_names,
            do_constant_folding=do_constant_folding,
            training=training,
            dynamic_axes=axes,
        )
        if not getattr(model, "training", False):
            _optimize.share_initializers(graph, params)
        _names.name_nodes(graph)
        _text.log("Exported graph: ", graph)
        if not export_params:
            keep_initializers_as_inputs = True
        path = os.fspath(f) if isinstance(f, (str, os.PathLike)) and export_type in (None, torch.onnx.ExportTypes.PROTOBUF_FILE) else None
        pieces = _write.model_pieces(
            graph,
            params,
            GLOBALS.export_onnx_opset_version,
            _named_axes(graph, axes),
            dict(custom_opsets or {}),
            bool(keep_initializers_as_inputs),
            export_params,
            path,
        )
    if export_type not in (None, torch.onnx.ExportTypes.PROTOBUF_FILE):
        _write_inside(f, pieces, export_type)
    elif path is None:
        for piece in pieces:
            f.write(piece)
    else:
        with ReplacedFile(path) as out:
            out.writelines(pieces)
    return results


def _write_inside(f: Any, pieces: Any, export_type: Any) -> None:
    """Writes a model as the file of an archive or of a folder. Raises RuntimeError for forms that are not known."""
    forms = torch.onnx.ExportTypes
    if export_type == forms.DIRECTORY:
        os.makedirs(f, exist_ok=True)
        with ReplacedFile(os.path.join(f, _constants.ONNX_ARCHIVE_MODEL_PROTO_NAME)) as out:
            out.writelines(pieces)
        return
    if export_type not in (forms.ZIP_ARCHIVE, forms.COMPRESSED_ZIP_ARCHIVE):
        raise RuntimeError("Unknown export type")
    how = zipfile.ZIP_DEFLATED if export_type == forms.COMPRESSED_ZIP_ARCHIVE else zipfile.ZIP_STORED
    with zipfile.ZipFile(f, "w", how) as archive:
        archive.writestr(_constants.ONNX_ARCHIVE_MODEL_PROTO_NAME, b"".join(pieces))


@contextlib.contextmanager
def _options(
    model: Any,
    training: TrainingMode,
    verbose: bool,
    operator_export_type: Any,
    opset_version: int | None,
    do_constant_folding: bool,
) -> Iterator[None]:
    """The context of an export with options. Raises ValueError for those that are not implemented."""
    kind = OperatorExportTypes.ONNX if operator_export_type is None else operator_export_type
    kind = OperatorExportTypes(kind)
    if is_in_onnx_export():
        raise RuntimeError("a model is being exported already")
    former = GLOBALS.export_onnx_opset_version, GLOBALS.operator_export_type, GLOBALS.fold_constants
    GLOBALS.export_onnx_opset_version = _constants.ONNX_DEFAULT_OPSET if opset_version is None else opset_version
    GLOBALS.operator_export_type, GLOBALS.fold_constants, GLOBALS.in_onnx_export = kind, do_constant_folding, True
    try:
        with exporter_context(model, training, verbose):
            yield
    finally:
        GLOBALS.in_onnx_export = False
        GLOBALS.export_onnx_opset_version, GLOBALS.operator_export_type, GLOBALS.fold_constants = former


def _model_to_graph(
    model: Any,
    args: Any,
    verbose: bool = False,
    input_names: Any = None,
    output_names: Any = None,
    operator_export_type: Any = None,
    do_constant_folding: bool = True,
    _disable_torch_constant_prop: bool = False,
    fixed_batch_size: bool = False,
    training: TrainingMode = TrainingMode.EVAL,
    dynamic_axes: Any = None,
) -> tuple[Any, dict[str, Any], Any]:
    """The ONNX graph of a model, its initializers by the names of the graph's inputs, and what the model returned."""
    program = _capture.capture(model, _capture.arguments(model, args))
    dynamic = _dynamic_inputs(program, input_names, dynamic_axes or {})
    _prepare.prepare(program.graph, program.inputs, dynamic)
    graph, params = _translate.translate(program, GLOBALS.export_onnx_opset_version)
    _give_types(graph, program.results)
    in_training = training == TrainingMode.TRAINING or bool(GLOBALS.training_mode)
    _optimize.optimize(graph, params, in_training)
    _C._jit_pass_lint(graph)
    return graph, _names.name_values(graph, params, input_names, output_names), program.results


def _give_types(graph: Any, results: Any) -> None:
    """Gives outputs the element types and the numbers of dimensions that an example has, where they are not known."""
    tensors = _flat(results)
    if len(tensors) != len(list(graph.outputs())):
        return
    for value, tensor in zip(graph.outputs(), tensors):
        if isinstance(tensor, torch.Tensor) and value.type().kind() == "TensorType":
            _infer.refine(value, tensor.dtype, [None] * tensor.dim())


def _flat(results: Any) -> list[Any]:
    """The tensors and lists of results; numbers are tensors, and None is left out."""
    if isinstance(results, dict):
        results = tuple(results.values())
    if isinstance(results, tuple):
        return [t for r in results for t in _flat(r)]
    return [] if results is None else [torch.tensor(results) if isinstance(results, (int, float)) else results]


def _dynamic_inputs(program: Any, input_names: Any, axes: dict[str, Any]) -> dict[int, set[int]]:
    """The dimensions whose sizes are not fixed, by the positions of inputs."""
    names = [v.debugName() for v in program.graph.inputs()]
    names[: len(input_names or ())] = list(input_names or ())[: len(names)]
    ranks = [
        len(v.type().varyingSizes() or ()) if v.type().kind() == "TensorType" else 0 for v in program.graph.inputs()
    ]
    return {i: {d % ranks[i] for d in axes[name]} for i, name in enumerate(names) if axes.get(name) and ranks[i]}


def _checked_axes(axes: Any, input_names: Any, output_names: Any) -> dict[str, dict[int, str]]:
    """dynamic_axes with names: axes that are numbers alone get names by the value's."""
    known = {*(input_names or ()), *(output_names or ())}
    made: dict[str, dict[int, str]] = {}
    for key, value in axes.items():
        if key not in known:
            warnings.warn(f"Provided key {key} for dynamic axes is not a valid input/output name", stacklevel=4)
        if isinstance(value, dict):
            made[key] = {int(d): str(name) for d, name in value.items()}
        elif isinstance(value, (list, tuple)):
            made[key] = {}
            for i, d in enumerate(value):
                if not isinstance(d, int):
                    raise ValueError(f"The type of axis index is expected to be an integer, but '{key}' has {d!r}")
                if d in made[key]:
                    warnings.warn(f"Duplicate dynamic axis index {d} was provided for input {key}.", stacklevel=4)
                else:
                    made[key][d] = f"{key}_dynamic_axes_{i + 1}"
        else:
            raise ValueError(
                f"dynamic_axes of '{key}' is a {type(value).__name__}: a dictionary of names by numbers or a list of numbers is expected"
            )
    return made


def _named_axes(graph: Any, axes: dict[str, dict[int, str]]) -> dict[str, dict[int, str]]:
    """The names of dynamic sizes, by numbers that are not negative."""
    made = {}
    for value in [*graph.inputs(), *graph.outputs()]:
        given = axes.get(value.debugName())
        if given and value.type().kind() == "TensorType":
            rank = len(value.type().varyingSizes() or ()) or 1
            made[value.debugName()] = {d % rank: name for d, name in given.items()}
    return made


def export_to_pretty_string(
    model: Any,
    args: Any,
    export_params: bool = True,
    verbose: bool = False,
    training: TrainingMode = TrainingMode.EVAL,
    input_names: Any = None,
    output_names: Any = None,
    operator_export_type: Any = OperatorExportTypes.ONNX,
    export_type: Any = None,
    google_printer: bool = False,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool | None = None,
    custom_opsets: Any = None,
    add_node_names: bool = True,
    do_constant_folding: bool = True,
    dynamic_axes: Any = None,
) -> str:
    """A description of the model that export would write, as text.

    >>> "Relu" in torch.onnx.export_to_pretty_string(nn.ReLU(), (torch.rand(2),))
    True
    """
    axes = _checked_axes(dynamic_axes or {}, input_names, output_names)
    with _options(model, training, verbose, operator_export_type, opset_version, do_constant_folding):
        graph, params, _ = _model_to_graph(
            model, args, verbose, input_names, output_names, training=training, dynamic_axes=axes
        )
        opsets = _write.opsets_of(graph, GLOBALS.export_onnx_opset_version, dict(custom_opsets or {}))
        return _text.describe(graph, params if export_params else {}, opsets, bool(keep_initializers_as_inputs))


def unconvertible_ops(
    model: Any, args: Any, training: TrainingMode = TrainingMode.EVAL, opset_version: int | None = None
) -> tuple[Any, list[str]]:
    """The graph of aten operators of a model, and those of its operators that have no form in ONNX."""
    opset = _constants.ONNX_DEFAULT_OPSET if opset_version is None else opset_version
    with _options(model, training, False, None, opset, True):
        program = _capture.capture(model, _capture.arguments(model, args))
        _prepare.prepare(program.graph, program.inputs, {})
    missing = [
        n.kind()
        for n in _functional.nodes_of(program.graph.block())
        if n.kind() != "prim::Constant"
        and not n.kind().startswith("onnx::")
        and _registry.find(n.kind(), opset) is None
        and _elementwise.form_of(n, opset) is None
    ]
    return program.graph, missing


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Has a function export an operator ("domain::name") from an opset version on.

    The function is called with the graph and the operator's arguments as values, and returns what g.op returned. Raises ValueError for
    other names.
    """
    _registry.register(symbolic_name, symbolic_fn, opset_version)


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Takes back what register_custom_op_symbolic was told for an opset version. Raises ValueError for other names."""
    _registry.unregister(symbolic_name, opset_version)


def warn_on_static_input_change(input_states: Any) -> None:
    """Warns of inputs, before and after a call, that the call has changed and that are no tensors."""
    for before, after in zip(*input_states):
        if isinstance(before, dict) and list(before) != list(after):
            warnings.warn(
                "We detected that you are modifying a dictionary that is an input to your model. Note that dictionaries are allowed as "
                "inputs in ONNX but they should be handled with care.",
                stacklevel=2,
            )


def model_signature(model: Any) -> Any:
    """The signature of a model's forward."""
    import inspect

    return inspect.signature(model.forward if hasattr(model, "forward") else model)
