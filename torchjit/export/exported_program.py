"""torch.export.exported_program: programs that have been captured, with their tensors."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

from torchjit import _native
from torchjit.export import _program
from torchjit.export._symbolic import Symbol, ValueRanges
from torchjit.export.graph_signature import ExportGraphSignature, InputKind, OutputKind
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature"]


@dataclasses.dataclass
class ModuleCallSignature:
    """What the inputs and outputs of a call of a module are."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: Any
    out_spec: Any
    forward_arg_names: list[str] | None = None


@dataclasses.dataclass
class ModuleCallEntry:
    """A module of the captured program, by its path."""

    fqn: str
    signature: ModuleCallSignature | None = None


@dataclasses.dataclass
class CallSpec:
    """What containers the inputs and the outputs form."""

    in_spec: Any
    out_spec: Any


class ExportedProgram:
    """A captured program: a graph of functional operators, and the parameters, buffers and constants that it takes.

    The graph takes parameters, buffers and constants as its first inputs and gives new values of buffers as its first
    outputs; graph_signature says which is which. A program is called by what module() returns.

    >>> program = torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),))
    >>> isinstance(program, torch.export.ExportedProgram), list(program.state_dict)
    (True, ['weight', 'bias'])
    """

    def __init__(
        self, graph_module: GraphModule, graph_signature: ExportGraphSignature, state_dict: dict[str, Any], range_constraints: dict[Symbol, ValueRanges],
        module_call_graph: list[ModuleCallEntry], constants: dict[str, Any], program: dict[str, Any], call_spec: CallSpec, example_inputs: Any = None,
        classes: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._graph_module, self._graph_signature = graph_module, graph_signature
        self._state_dict, self._range_constraints, self._constants = state_dict, range_constraints, constants
        self._module_call_graph, self._call_spec = module_call_graph, call_spec
        self._example_inputs = example_inputs
        self._classes = classes or {}
        self._symbols, self._modules = program.get("symbols") or [], program.get("modules") or {}

    @property
    def graph_module(self) -> GraphModule:
        return self._graph_module

    @property
    def graph(self) -> Graph:
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """The parameters and the persistent buffers."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """The tensors that are neither parameters nor persistent buffers."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Any]:
        return self._constants

    @property
    def range_constraints(self) -> dict[Symbol, ValueRanges]:
        """The ranges of the symbols in the metadata."""
        return self._range_constraints

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        return self._module_call_graph

    @property
    def call_spec(self) -> CallSpec:
        return self._call_spec

    @property
    def in_spec(self) -> Any:
        return self._call_spec.in_spec

    @property
    def out_spec(self) -> Any:
        return self._call_spec.out_spec

    @property
    def example_inputs(self) -> Any:
        """The arguments that the program was captured with."""
        return self._example_inputs

    @property
    def dialect(self) -> str:
        return "ATEN"

    @property
    def verifiers(self) -> list[Any]:
        """The classes that check programs of this dialect."""
        return [self.verifier]

    @property
    def verifier(self) -> Any:
        from torchjit.export._verifier import Verifier

        return Verifier

    def parameters(self) -> Any:
        """The parameters."""
        for _, p in self.named_parameters():
            yield p

    def named_parameters(self) -> Any:
        """The parameters with their names."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self) -> Any:
        """The buffers."""
        for _, b in self.named_buffers():
            yield b

    def named_buffers(self) -> Any:
        """The buffers with their names."""
        for name in self.graph_signature.buffers:
            yield name, self._tensor(name)

    def _tensor(self, name: str) -> Any:
        return self.state_dict[name] if name in self.state_dict else self.constants[name]

    def module(self, *, flat: bool = True) -> Any:
        """A module that runs the program, with the parameters and buffers of the captured module."""
        from torchjit.export._module import module_of

        return module_of(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def validate(self) -> None:
        """Raises SpecViolationError where the graph, as it is now, is not what Export IR allows."""
        _program.check(self._text())

    _validate = validate

    def run_decompositions(self, decomp_table: Any = None) -> ExportedProgram:
        """The program with operators in terms of simpler ones, by a table from operators to functions.

        Without a table those of torch.export.default_decompositions.
        """
        from torchjit.export._decompose import run

        return run(self, decomp_table)

    def _text(self) -> str:
        """The program as the library reads it."""
        form = {
            "graph": _program.write_graph(self._graph_module, self._classes), "signature": _program.write_signature(self._graph_signature),
            "symbols": self._symbols, "modules": self._modules, "in_spec": "", "out_spec": "",
        }  # fmt: skip
        return json.dumps(form)

    def __str__(self) -> str:
        from torchjit.export._readable import readable

        body = readable(self._graph_module, "GraphModule").replace("\n", "\n    ")
        signature = str(self._graph_signature)
        return f"ExportedProgram:\n    {body}\nGraph signature: {signature}\nRange constraints: {self._range_constraints}\n"

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str | None:
        """The graph as a picture; None where it has too many nodes for one."""
        return _native.export_picture(self._text())

    def _repr_html_(self) -> str:
        """The graph as a picture and the program as text, for notebooks."""
        return str(_native.export_notebook(self._text(), str(self)))

    def __deepcopy__(self, memo: Any = None) -> ExportedProgram:
        made = copy.copy(self)
        made._graph_module = copy.deepcopy(self._graph_module, memo)
        made._graph_signature = copy.deepcopy(self._graph_signature, memo)
        made._state_dict = {k: v.detach().clone() for k, v in self._state_dict.items()}
        return made


def program_of(captured: Any, state: dict[str, Any], constants: dict[str, Any], example: Any = None, of_file: bool = False) -> ExportedProgram:
    """The exported program of what was captured; of_file says that a file has it, which may say anything."""
    form = _program.parse(captured.text)
    module = _program.Reader(form, captured.classes, of_file).module(form["graph"])
    signature = _program.read_signature(form)
    spec = CallSpec(captured.in_spec, captured.out_spec)
    entries = [ModuleCallEntry(path) for path in form.get("modules") or {"": ""}]
    inputs = [s.arg for s in signature.input_specs if s.kind == InputKind.USER_INPUT]
    outputs = [s.arg for s in signature.output_specs if s.kind == OutputKind.USER_OUTPUT]
    entries[0].signature = ModuleCallSignature(inputs, outputs, spec.in_spec, spec.out_spec, captured.argument_names)
    for entry in entries[1:]:
        entry.signature = captured.calls.get(entry.fqn)
    names = {s.target: s for s in signature.input_specs if s.target}
    kept = {name: t for name, t in constants.items() if name in names}
    return ExportedProgram(module, signature, state, _program.read_ranges(form), entries, kept, form, spec, example, captured.classes)



def __getattr__(name: str) -> Any:
    if name == "default_decompositions":
        from torchjit.export._decompose import default_decompositions

        return default_decompositions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
