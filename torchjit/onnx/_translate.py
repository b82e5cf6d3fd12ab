"""From a graph of aten operators to one of ONNX: each node becomes what its symbolic function makes of it."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _C, _progress
from torchjit._C._onnx import OperatorExportTypes
from torchjit.onnx import _elementwise, _functions, _infer, _quantized, _registry, errors
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._internal import jit_utils

# Constants of these types are Constants of ONNX; others stay what they are, for symbolic functions to look at.
_TENSORS = {"TensorType", "IntType", "FloatType", "BoolType", "NumberType"}


def translate(program: Any, opset: int) -> tuple[Any, dict[str, Any]]:
    """The ONNX graph of a prepared program, and its initializers by the names of inputs.

    Raises UnsupportedOperatorError where an operator has no form in ONNX.
    """
    made = Translator(program, opset)
    graph, params, env = made.graph, made.params, made.env
    for value in program.graph.inputs():
        copy = graph.addInput()
        copy.copyMetadata(value)
        if _is_name(value.debugName()):
            copy.setDebugName(value.debugName())
        env[value] = copy
        if value.debugName() in program.state:
            params[copy.debugName()] = program.state[value.debugName()].detach()
        elif copy.type().kind() in ("IntType", "FloatType", "BoolType"):
            _infer.set_type(copy, *_infer.info(copy))
    made.block(program.graph.block(), graph.block())
    for value in program.graph.outputs():
        graph.registerOutput(made.output(value))
    return graph, params


def _is_name(name: str) -> bool:
    return not name.isdigit()


class Translator:
    """The state of one translation: env has what values of the program have become."""

    def __init__(self, program: Any, opset: int) -> None:
        self.program, self.opset = program, opset
        self.graph = _C.Graph()
        self.params: dict[str, Any] = {}
        self.env: dict[Any, Any] = {}
        self.lengths: set[Any] = set()  # of packed sequences

    def block(self, block: Any, target: Any) -> None:
        """Fills a block of the ONNX graph."""
        with self.graph.insert_point_guard(target):
            for node in _progress.over(block.nodes(), "exporting to ONNX"):
                self.node(node, target)

    def context(self, node: Any, target: Any) -> Context:
        """What the symbolic function of a node is called with."""
        made = Context(self.graph, target, self.opset, node, self.params, self.env)
        made.translator = self
        return made

    def node(self, node: Any, target: Any) -> None:
        """Adds what a node becomes."""
        g = self.context(node, target)
        outputs = list(node.outputs())
        if node.kind() == "prim::Constant":
            self.env[outputs[0]] = self._constant(g, node)
            return
        results = self._results(g, node, [self.env[v] for v in node.inputs()])
        if results is None:
            return
        made = list(results) if isinstance(results, (tuple, list)) else [results]
        if len(made) < len(outputs) and any(v.uses() for v in outputs[len(made) :]):
            raise errors.OnnxExporterError(
                f"the symbolic function of {node.kind()} gave {len(made)} values but {len(outputs)} are used"
            )
        for old, new in zip(outputs, made):
            if _quantized.is_quantized(new):
                self.env[old] = new
                continue
            new = self.env[old] = _of_type(g, new, old)
            if new is not None and old.type().kind() in _TENSORS and new.node().kind() != "prim::Param":
                _refine(new, old)
                if not _is_name(new.debugName()):
                    self._name_like(old, new)

    def _name_like(self, old: Any, new: Any) -> None:
        if old.debugName() and not old.debugName()[0].isdigit():
            new.setDebugName(old.debugName())

    def _results(self, g: Context, node: Any, inputs: list[Any]) -> Any:
        kind = node.kind()
        if kind == _functions.KIND:
            call = self.program.calls[node.i("call")]
            return call.function.symbolic(g, *call.arguments(inputs))
        if kind.startswith("onnx::"):
            return _copied(g, node, inputs)
        domain, name = kind.split("::", 1)
        if domain == "aten" and GLOBALS.operator_export_type == OperatorExportTypes.ONNX_ATEN:
            return _as_aten(g, node, inputs)
        function = _registry.find(kind, self.opset)
        if function is None and domain == "aten" and (form := _elementwise.form_of(node, self.opset)) is not None:
            return _elementwise.export(g, form, inputs)
        if function is None:
            if domain == "aten" and GLOBALS.operator_export_type == OperatorExportTypes.ONNX_ATEN_FALLBACK:
                return _as_aten(g, node, inputs)
            if domain != "prim" and GLOBALS.operator_export_type == OperatorExportTypes.ONNX_FALLTHROUGH:
                return _copied(g, node, inputs)
            raise errors.UnsupportedOperatorError(
                domain, name, self.opset, _registry.since(kind), str(node.sourceRange()).strip()
            )
        if any(_quantized.is_quantized(v) for v in inputs) and domain != "prim" and not hasattr(function, "takes_quantized"):
            return _quantized.through(g, function, inputs, kind)
        return function(g, *inputs)

    def _constant(self, g: Context, node: Any) -> Any:
        value = node.output().toIValue()
        if isinstance(value, (bool, int, float)) or isinstance(value, torch.Tensor):
            return g.constant(value, torch.float64 if isinstance(value, float) else None)
        if isinstance(value, (list, tuple)) and value:
            if all(isinstance(v, (bool, int, float)) for v in value):
                return g.list(
                    [g.constant(v, torch.float64 if isinstance(v, float) else None) for v in value],
                    node.output().type(),
                )
            if all(isinstance(v, torch.Tensor) for v in value):
                return g.list([g.initializer(v) for v in value], node.output().type())
        return g.graph.insertNode(g.graph.createClone(node, lambda v: v)).output()

    def output(self, value: Any) -> Any:
        """What the graph returns for a value: an Identity of inputs and of what is returned already."""
        made = self.env[value]
        if _quantized.is_quantized(made):
            raise errors.OnnxExporterError(f"the program returns a quantized tensor, %{value.debugName()}: dequantize it, or return its int_repr")
        if made.node().kind() == "prim::ListConstruct":
            g = self.context(None, self.graph.block())
            return (
                g.op("SequenceConstruct", *made.node().inputs()) if made.node().inputsSize() else g.op("SequenceEmpty")
            )
        if made.node().kind() == "prim::Param" or made in list(self.graph.outputs()):
            g = self.context(None, self.graph.block())
            again = g.op("Identity", made)
            again.setType(made.type())
            return again
        return made


class Context(jit_utils.GraphContext):
    """The context with what operators that have blocks need."""

    translator: Translator

    def fill(self, block: Any, target: Any) -> None:
        """Translates a block of the program into one of the graph."""
        self.translator.block(block, target)

    def list(self, items: Any, kind: Any = None) -> Any:
        """A list of values, which symbolic functions unpack."""
        node = self.graph.insertNode(self.graph.create("prim::ListConstruct", list(items), 1))
        node.output().setType(kind if kind is not None else _C.ListType.ofTensors())
        return node.output()


def _of_type(g: Context, value: Any, old: Any) -> Any:
    """The value with the element type that the program's tensor has, where both are known."""
    if value is None or old.type().kind() != "TensorType":
        return value
    wanted, found = old.type().dtype(), _infer.info(value)[0]
    return value if wanted is None or found is None or wanted == found else g.cast(value, wanted)


def _refine(new: Any, old: Any) -> None:
    """Gives a value what is known of the program's one: all of it where they agree."""
    if old.isCompleteTensor() and _infer.info(new) in ((None, None), _infer.info(old)):
        new.setType(old.type())
    else:
        _infer.refine(new, *_infer.info(old))


def _as_aten(g: Context, node: Any, inputs: list[Any]) -> Any:
    """An ATen node, which names an operator of PyTorch for a runtime that has them."""
    return g.aten_op(node.kind().removeprefix("aten::"), *inputs, outputs=node.outputsSize())


def _copied(g: Context, node: Any, inputs: list[Any]) -> Any:
    copy = g.graph.insertNode(g.graph.create(node.kind(), inputs, node.outputsSize()))
    copy.copyAttributes(node)
    return list(copy.outputs())
