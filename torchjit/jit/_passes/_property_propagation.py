"""What is known of the tensors that a graph takes, from example inputs."""

from __future__ import annotations

from typing import Any

from torchjit import _C as _classes
from torchjit._tensor import Tensor

_C: Any = _classes  # its members are made when it is loaded


def apply_input_props_using_example(graph: Any, example_input: list[Any]) -> None:
    """Gives the parameters of a graph that are tensors the types of example tensors; an example that is None leaves its parameter as it is.

    The parameter self of a method has no example. Raises RuntimeError where the numbers differ, or a tensor meets what is none.
    """
    parameters = list(graph.inputs())
    if not parameters:
        return
    if isinstance(parameters[0].type(), _C.ClassType) and parameters[0].debugName() == "self":
        del parameters[0]
    if len(parameters) != len(example_input):
        raise RuntimeError("Number of inputs in graph does not match number of inputs in the example")
    for i, (parameter, example) in enumerate(zip(parameters, example_input, strict=True)):
        if example is None:
            continue
        is_tensor = isinstance(example, Tensor)
        if is_tensor != isinstance(parameter.type(), _C.TensorType):
            raise RuntimeError(f"Input {i} does not match type of example", parameter, example)
        if is_tensor:
            parameter.setType(_C.TensorType.create_from_tensor(example))
