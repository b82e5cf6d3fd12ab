"""The context that symbolic functions get: the graph that is made, and where in it they are."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _fold, _infer, _promote
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._type_utils import JitScalarType

_ATTRIBUTE = re.compile(r"^(.+)_(([ifstgz])|(ty))$")

# Operators whose inputs have one element type: others are cast to it.
_ONE_TYPE = {
    "onnx::" + op
    for op in "Add Sub Mul Div Mod Max Min Sum Mean Equal Greater Less GreaterOrEqual LessOrEqual MatMul Gemm Concat PRelu Range".split()
}


@dataclasses.dataclass
class GraphContext:
    """What a symbolic function adds nodes to.

    graph is the ONNX graph and block the one of its blocks that is filled; opset is the version, original_node the node that is exported,
    params_dict the initializers by the names of the graph's inputs, env what values of the program have become. Attributes that are not
    here are the graph's.
    """

    graph: Any
    block: Any
    opset: int
    original_node: Any
    params_dict: dict[str, Any]
    env: dict[Any, Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    def op(self, opname: str, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """Adds a node, of ONNX where opname has no namespace, and returns its output, a tuple of them where outputs is not 1.

        An argument that is no Value becomes a Constant, None an input that is left out. The name of an attribute ends with the letter of
        its kind (alpha_f, axes_i, to_i, value_t, mode_s); sequences make attributes of lists. Raises ValueError for other names.
        """
        kind = opname if "::" in opname else "onnx::" + opname
        given = {name: value for name, value in kwargs.items() if value is not None}
        inputs = self._promoted(kind, [self._input(a) for a in raw_args])
        if kind.startswith("onnx::"):
            folded = _fold.fold(self, kind[6:], inputs, given)
            if folded is not None:
                return folded
        node = self.graph.insertNode(self.graph.create(kind, inputs, outputs))
        for name, value in sorted(given.items()):
            set_attribute(node, name, value)
        if self.original_node is not None:
            node.copyMetadata(self.original_node)
        _infer.infer(self, node)
        return node.output() if outputs == 1 else tuple(node.outputs())

    def aten_op(self, operator: str, *args: Any, overload_name: str = "", **kwargs: Any) -> Any:
        """Adds an aten::ATen node, which stands for an operator that only a runtime with PyTorch in it has."""
        return self.op("aten::ATen", *args, operator_s=operator, overload_name_s=overload_name, **kwargs)

    at = aten_op

    def constant(self, value: Any, dtype: Any = None) -> Any:
        """A Constant of a number, a list of numbers or a tensor; integers are of int64 and floats of float32 where dtype says nothing."""
        if not isinstance(value, torch.Tensor):
            flat = value if isinstance(value, (list, tuple)) else [value]
            if dtype is None:
                dtype = torch.float32 if any(isinstance(v, float) for v in flat) else None
            if dtype is None:
                dtype = torch.bool if flat and all(isinstance(v, bool) for v in flat) else torch.int64
            value = torch.tensor(value, dtype=dtype)
        elif dtype is not None:
            value = value.to(dtype)
        return self.op("Constant", value_t=value)

    def cast(self, value: Any, dtype: Any) -> Any:
        """A value with elements of another type."""
        constant = _fold.constant_of(value)
        if constant is not None and value.node().kind() == "onnx::Constant":
            return self.constant(constant, dtype)
        return self.op("Cast", value, to_i=JitScalarType.from_dtype(dtype).onnx_type())

    def _promoted(self, kind: str, inputs: list[Any]) -> list[Any]:
        """The inputs of an operator that takes one element type, with that which they have together."""
        first = {"onnx::Where": 1}.get(kind, 0 if kind in _ONE_TYPE else None)
        if first is None or len(inputs) < 2:
            return inputs
        wanted = _promote.together(inputs[first:])
        if wanted is None:
            return inputs
        return inputs[:first] + [
            v if _infer.info(v)[0] in (wanted, None) else self.cast(v, wanted) for v in inputs[first:]
        ]

    def none(self) -> Any:
        """A value that stands for an input that is left out."""
        node = self.graph.insertNode(self.graph.create("prim::Constant", [], 1))
        node.output().setType(_C.OptionalType.ofTensor())
        return node.output()

    def initializer(self, tensor: Any) -> Any:
        """A further input of the graph whose value is a tensor."""
        value = self.graph.addInput()
        value.setType(_C.TensorType.create_from_tensor(tensor.detach()))
        self.params_dict[value.debugName()] = tensor.detach()
        return value

    def _input(self, argument: Any) -> Any:
        if isinstance(argument, _C.Value):
            return self._as_tensor(argument)
        if argument is None:
            return self.none()
        return self.constant(argument)

    def _as_tensor(self, value: Any) -> Any:
        """A list of numbers as a tensor: other values are what they are."""
        if value.node().kind() == "prim::ListConstruct":
            from torchjit.onnx import symbolic_helper

            return symbolic_helper._list_as_tensor(self, value)
        return value


def set_attribute(node: Any, key: str, value: Any) -> None:
    """Gives a node an attribute by its name with the letter of its kind."""
    match = _ATTRIBUTE.match(key)
    if match is None:
        raise ValueError(
            f"Invalid attribute specifier '{key}' names must be suffixed with type, e.g. 'dim_i' or 'dims_i'"
        )
    name, kind = match.group(1), match.group(2)
    if kind == "z":
        kind = "t"
    if isinstance(value, (list, tuple)) or isinstance(value, torch.Size):
        kind, value = kind + "s", list(value)
    elif kind == "t" and not isinstance(value, torch.Tensor):
        value = torch.tensor(value)
    elif kind == "i":
        value = int(value)
    getattr(node, kind + "_")(name, value.detach() if isinstance(value, torch.Tensor) else value)


def in_training() -> bool:
    """Whether the export is for training."""
    return bool(GLOBALS.training_mode)
