"""torch.export.graph_signature: what the inputs and outputs of an exported program are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

__all__ = [
    "ConstantArgument", "CustomObjArgument", "ExportBackwardSignature", "ExportGraphSignature", "InputKind", "InputSpec", "OutputKind",
    "OutputSpec", "SymBoolArgument", "SymFloatArgument", "SymIntArgument", "TensorArgument", "TokenArgument",
]  # fmt: skip


@dataclasses.dataclass
class TensorArgument:
    """A tensor: the name of its node."""

    name: str


@dataclasses.dataclass
class TokenArgument:
    """A token that keeps effects in order: the name of its node."""

    name: str


@dataclasses.dataclass
class SymIntArgument:
    """An integer that is known when the program runs."""

    name: str


@dataclasses.dataclass
class SymFloatArgument:
    """A float that is known when the program runs."""

    name: str


@dataclasses.dataclass
class SymBoolArgument:
    """A truth value that is known when the program runs."""

    name: str


@dataclasses.dataclass
class CustomObjArgument:
    """An object of a class of the user."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclasses.dataclass
class ConstantArgument:
    """A value that is part of the program."""

    name: str
    value: Any


class InputKind(Enum):
    """What an input is."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


class OutputKind(Enum):
    """What an output is."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


@dataclasses.dataclass
class InputSpec:
    """One input: a placeholder of the graph."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __post_init__(self) -> None:
        if self.kind == InputKind.BUFFER:
            assert self.persistent is not None, "Failed to specify persistent flag on BUFFER."

    def __str__(self) -> str:
        return _line(self)


@dataclasses.dataclass
class OutputSpec:
    """One output of the graph."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        return _line(self)


def _line(spec: InputSpec | OutputSpec) -> str:
    name = repr(spec.arg.value) if isinstance(spec.arg, ConstantArgument) and not spec.arg.name else spec.arg.name
    text = f"{name}: {spec.kind.name}"
    if spec.target is not None:
        text += f" target={spec.target!r}"
    if isinstance(spec, InputSpec) and spec.persistent is not None:
        text += f" persistent={spec.persistent}"
    return text


@dataclasses.dataclass
class ExportBackwardSignature:
    """Which outputs are gradients, in a program that computes them."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclasses.dataclass
class ExportGraphSignature:
    """What the inputs and outputs of a graph are.

    Parameters, buffers and constants are inputs of the graph; new values of buffers and of the user's inputs are
    outputs, before those that the user gets.

    >>> program = torch.export.export(nn.Linear(3, 2), (torch.rand(4, 3),))
    >>> list(program.graph_signature.parameters)
    ['weight', 'bias']
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _inputs(self, kind: InputKind) -> dict[str, str]:
        return {s.arg.name: s.target for s in self.input_specs if s.kind == kind and s.target is not None}

    def _outputs(self, kind: OutputKind) -> dict[str, str]:
        return {s.arg.name: s.target for s in self.output_specs if s.kind == kind and s.target is not None}

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in the module."""
        return tuple(self.inputs_to_parameters.values())

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers in the module."""
        return tuple(self.inputs_to_buffers.values())

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The names of the buffers that are not part of the state_dict."""
        return tuple(s.target for s in self.input_specs if s.kind == InputKind.BUFFER and s.persistent is False and s.target)

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the tensors that are neither parameters nor buffers."""
        return tuple(self.inputs_to_lifted_tensor_constants.values())

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        return tuple(self.inputs_to_lifted_custom_objs.values())

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The placeholders for what the user gives, and the values of inputs that are constants."""
        return tuple(_named(s.arg) for s in self.input_specs if s.kind == InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The nodes of what the user gets, and the values of outputs that are constants."""
        return tuple(_named(s.arg) for s in self.output_specs if s.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT))

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        return self._inputs(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        return self._inputs(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        return self._inputs(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self) -> Mapping[str, str]:
        return self._inputs(InputKind.CUSTOM_OBJ)

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Outputs that are new values of buffers."""
        return self._outputs(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        return self._outputs(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Outputs that are new values of the user's inputs."""
        return self._outputs(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> ExportBackwardSignature | None:
        return None

    @property
    def assertion_dep_token(self) -> Mapping[int, str] | None:
        return None

    @property
    def input_tokens(self) -> tuple[str, ...]:
        return ()

    @property
    def output_tokens(self) -> tuple[str, ...]:
        return ()

    def replace_all_uses(self, old: str, new: str) -> None:
        """Renames a node."""
        assert isinstance(old, str) and isinstance(new, str)
        specs: list[Any] = [*self.output_specs, *self.input_specs]
        for spec in specs:
            if getattr(spec.arg, "name", None) == old:
                spec.arg.name = new

    def get_replace_hook(self, replace_inputs: bool = False) -> Any:
        """A function for nodes that are replaced by others: it renames them here."""

        def hook(old: Any, new: str, user: Any) -> None:
            if user.op in ("output", "input") or replace_inputs:
                self.replace_all_uses(old.name, new)

        return hook

    def __str__(self) -> str:
        inputs = "\n".join(str(s) for s in self.input_specs)
        outputs = "\n".join(str(s) for s in self.output_specs)
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _named(arg: Any) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else arg.name
