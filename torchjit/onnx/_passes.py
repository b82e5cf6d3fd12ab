"""The passes of the exporter over any graph: torch._C._jit_pass_onnx_... and what stands beside them in torch._C.

`torch.onnx.export` does not run these: it goes from a program to its ONNX graph in one walk (_translate), which folds constants, infers types
and promotes as it makes nodes, with the same rules as the passes here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _capture, _fold, _functional, _infer, _names, _optimize, _text, _translate
from torchjit.onnx._globals import GLOBALS
from torchjit.onnx._type_utils import JitScalarType

# Operators that give lists of tensors and, where a program takes a list apart at once, have as many outputs instead.
_SPLITTING = {
    "aten::split", "aten::split_with_sizes", "aten::unsafe_split", "aten::unsafe_split_with_sizes", "aten::unsafe_chunk", "aten::unbind",
    "aten::where", "aten::nonzero_numpy",
}  # fmt: skip

# What constants are folded through, as PyTorch 1.13 does.
_FOLDED = {
    "Add", "Cast", "Concat", "Div", "Equal", "Gather", "Greater", "Less", "Mul", "Neg", "Not", "ReduceL1", "ReduceL2", "ReduceProd", "Reshape",
    "Shape", "Size", "Slice", "Sqrt", "Squeeze", "Sub", "Transpose", "Unsqueeze",
}  # fmt: skip

# Operators whose inputs have one element type: of arithmetic the result has it, too, comparisons and logic give bools.
_ARITHMETIC = {"Add", "Concat", "Div", "Gemm", "Mod", "Mul", "Pow", "Sub"}
_COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}


def _nodes(block: Any) -> Iterator[Any]:
    """The nodes of a block and of the blocks in it, innermost first."""
    for node in list(block.nodes()):
        for inner in node.blocks():
            yield from _nodes(inner)
        yield node


def _op(node: Any) -> str:
    """The operator of ONNX that a node is, "" for other nodes."""
    return str(node.kind()).removeprefix("onnx::") if node.kind().startswith("onnx::") else ""


def _jit_pass_onnx_remove_print(graph: Any) -> None:
    """Removes what prints."""
    for node in _nodes(graph):
        if node.kind() in ("prim::Print", "aten::warn"):
            read = list(node.inputs())
            node.destroy()
            for value in read:
                if not value.uses() and value.node().kind() == "prim::Constant":
                    value.node().destroy()


def _jit_pass_onnx_preprocess(graph: Any) -> None:
    """Gives operators whose lists are taken apart at once an output for each element, and connects lists that are made only to be taken apart."""
    for node in _nodes(graph):
        if node.kind() != "prim::ListUnpack":
            continue
        made, outputs = node.inputsAt(0).node(), list(node.outputs())
        if made.kind() == "prim::ListConstruct" and made.inputsSize() == len(outputs):
            for value, out in zip(list(made.inputs()), outputs):
                out.replaceAllUsesWith(value)
        elif made.kind() in _SPLITTING and len(made.output().uses()) == 1:
            made.i_("_outputs", len(outputs))
            node.removeInput(0)
            made.eraseOutput(0)
            for out in outputs:
                value = made.addOutput()
                value.copyMetadata(out)
                out.replaceAllUsesWith(value)
        else:
            continue
        node.destroy()


def _jit_pass_onnx_peephole(graph: Any, opset_version: int, fixed_batch_size: bool = False) -> None:
    """Removes and joins transpositions, and puts them into matrix products."""
    for node in _nodes(graph):
        if _op(node) == "Transpose" and node.hasAttribute("perm"):
            _join_transposes(node)
        elif _op(node) == "Gemm":
            _take_transposes(node)
    _C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)


def _join_transposes(node: Any) -> None:
    perm, former = list(node["perm"]), node.inputsAt(0).node()
    if _op(former) == "Transpose" and former.hasAttribute("perm"):
        inner = list(former["perm"])
        perm = [inner[d] for d in perm]
        node.is_("perm", perm)
        node.replaceInput(0, former.inputsAt(0))
    if perm == sorted(perm):
        node.output().replaceAllUsesWith(node.inputsAt(0))
        node.destroy()


def _take_transposes(node: Any) -> None:
    for position, name in enumerate(("transA", "transB")):
        former = node.inputsAt(position).node()
        if _op(former) == "Transpose" and former.hasAttribute("perm") and list(former["perm"]) == [1, 0]:
            node.i_(name, 0 if node.hasAttribute(name) and node.i(name) else 1)
            node.replaceInput(position, former.inputsAt(0))


def _sorted(params: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(params.items()))


def _jit_pass_onnx_eliminate_unused_items(graph: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The initializers that the graph uses; the inputs for others are erased."""
    left = dict(params)
    _optimize.remove_unused(graph, left)
    return _sorted({name: value for name, value in left.items() if any(v.debugName() == name for v in graph.inputs())})


def _jit_pass_onnx_constant_fold(graph: Any, params: dict[str, Any], opset_version: int) -> dict[str, Any]:
    """Computes nodes of constants and initializers, which become initializers. Returns those that the graph uses then."""
    if opset_version < 9:
        warnings.warn("Constant folding supported for only opsets >= 9. Constant folding not applied.", stacklevel=2)
        return params
    left = dict(params)
    for node in list(graph.nodes()):
        tensors = [_fold.constant_of(v) if v.debugName() not in left else left[v.debugName()] for v in node.inputs()]
        if _op(node) not in _FOLDED or not tensors or any(t is None for t in tensors) or not _is_foldable(node, tensors):
            continue
        with torch.no_grad():
            result = (_COMPUTE.get(_op(node)) or _fold._COMPUTE[_op(node)])(tensors, _attributes(node))
        if result is None:
            continue
        value = graph.addInput()
        value.inferTypeFrom(result)
        left[value.debugName()] = result
        node.output().replaceAllUsesWith(value)
        node.destroy()
    _C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)
    return _jit_pass_onnx_eliminate_unused_items(graph, left)


def _is_foldable(node: Any, tensors: list[Any]) -> bool:
    """Whether a node computes what its inputs say without more than steps of one."""
    if _op(node) == "Slice" and len(tensors) > 4 and tensors[4].tolist() != [1] * tensors[4].numel():
        warnings.warn(
            "Constant folding - Only steps=1 can be constant folded for opset >= 10 onnx::Slice op. Constant folding not applied.", stacklevel=3
        )
        return False
    if _op(node) == "Cast" and _dtype_of(node.i("to")) is None:
        raise RuntimeError(f"ONNX type {node.i('to')} is an unexpected tensor scalar type")
    return True


def _dtype_of(number: int) -> Any:
    """The element type of a number of ONNX, None for the number of none."""
    try:
        return JitScalarType.from_onnx_type(number)
    except Exception:  # it has a class of its own for each way to be wrong
        return None


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node by their names with the letter of their kind, as symbolic functions give them."""
    return {f"{name}_{node.kindOf(name)[0]}": node[name] for name in node.attributeNames()}


def _product(t: list[Any], a: dict[str, Any]) -> Any:
    result = t[0]
    for axis in sorted((d % t[0].dim() for d in a.get("axes_i", range(t[0].dim()))), reverse=True):
        result = result.prod(axis, keepdim=bool(a.get("keepdims_i", 1)))
    return result


def _sliced(t: list[Any], a: dict[str, Any]) -> Any:
    given: list[Any] = [a[f"{name}_i"] for name in ("starts", "ends", "axes") if f"{name}_i" in a] or [x.tolist() for x in t[1:4]]
    result, starts, ends, axes = t[0], *given[:2], given[2] if len(given) > 2 else range(len(given[0]))
    for axis, start, end in zip(axes, starts, ends):
        result = result[(slice(None),) * (axis % result.dim()) + (slice(start, end),)]
    return result


# What is computed otherwise, or only, here: values keep the memory of their operands where PyTorch's do.
_COMPUTE: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    "ReduceProd": _product,
    "Size": lambda t, a: torch.tensor(t[0].numel()),
    "Slice": lambda t, a: _sliced(t, a),
    "Transpose": lambda t, a: t[0].permute(a.get("perm_i", list(range(t[0].dim()))[::-1])),
}


def _jit_pass_onnx_deduplicate_initializers(graph: Any, params: dict[str, Any], is_train: bool) -> dict[str, Any]:
    """Keeps one of equal initializers, of the same memory where the export is for training; others are Identities of it."""
    left = dict(params)
    kept: list[Any] = []
    for value in list(graph.inputs()):
        tensor = left.get(value.debugName())
        if tensor is None:
            continue
        owner = next((v for v in kept if _is_same(left[v.debugName()], tensor, is_train)), None)
        if owner is None:
            kept.append(value)
            continue
        name = value.debugName()
        node = graph.create("onnx::Identity", [owner], 1)
        graph.prependNode(node)
        node.output().setType(value.type())
        value.replaceAllUsesWith(node.output())
        graph.eraseInput(value.offset())
        del left[name]
        node.output().setDebugName(name)
    return _sorted(left)


def _is_same(a: Any, b: Any, is_train: bool) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    return bool(a.data_ptr() == b.data_ptr()) if is_train else bool(torch.equal(a, b))


def _jit_pass_onnx_eval_peephole(graph: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Folds batch normalizations into the convolutions before them."""
    left = dict(params)
    _optimize._fold_batch_norms(graph, left)
    return _sorted(left)


def _jit_pass_onnx_cast_all_constant_to_floating(graph: Any) -> None:
    """Has Constants of integers and bools be cast: runtimes that have no others take them as floats."""
    for node in _nodes(graph):
        if _op(node) != "Constant" or not node.hasAttribute("value"):
            continue
        tensor = node.t("value")
        if tensor.is_floating_point() or tensor.is_complex():
            continue
        node.t_("value", tensor.to(torch.float32))
        cast = graph.create("onnx::Cast", [], 1)
        cast.i_("to", int(JitScalarType.from_dtype(tensor.dtype).onnx_type()))
        cast.insertAfter(node)
        cast.output().setType(node.output().type())
        node.output().replaceAllUsesWith(cast.output())
        cast.addInput(node.output())


def _jit_pass_onnx_scalar_type_analysis(graph: Any, lowprecision_cast: bool, opset_version: int) -> None:
    """Casts operands of one operator to one element type, the type of constants without dimensions counting only where no other is as high."""
    for node in _nodes(graph):
        op = _op(node)
        if op not in _ARITHMETIC | _COMPARISONS:
            continue
        dtype = _joined(list(node.inputs()))
        if dtype is None:
            continue
        for position, value in enumerate(list(node.inputs())):
            if _infer.info(value)[0] not in (dtype, None) or _fold.constant_of(value) is not None:
                _convert(graph, node, position, dtype)
        out = node.output()
        if op in _ARITHMETIC and out.type().kind() == "TensorType":
            out.setType(out.type().with_dtype(dtype))


def _is_number(value: Any) -> bool:
    tensor = _fold.constant_of(value)
    return tensor is not None and tensor.dim() == 0


def _joined(values: list[Any]) -> Any:
    """The element type that values have together, None where that of no tensor is known."""
    numbers = [_fold.constant_of(v).dtype for v in values if _is_number(v)]
    known = [_infer.info(v)[0] for v in values if not _is_number(v)]
    known = [d for d in known if d is not None]
    if not known:
        return None if not numbers else numbers[0]
    dtype = known[0]
    for other in known[1:]:
        dtype = torch.promote_types(dtype, other)
    for other in numbers:
        if (other.is_floating_point or other.is_complex) and not (dtype.is_floating_point or dtype.is_complex):
            dtype = torch.get_default_dtype()
        elif dtype == torch.bool:
            dtype = other
    return dtype


def _convert(graph: Any, node: Any, position: int, dtype: Any) -> None:
    """Gives an operand another element type: Constants become others, what else there is is cast."""
    value = node.inputsAt(position)
    tensor = _fold.constant_of(value)
    if tensor is not None:
        made = graph.create("onnx::Constant", [], 1)
        made.t_("value", tensor.to(dtype))
        made.output().inferTypeFrom(made.t("value"))
    else:
        made = graph.create("onnx::Cast", [value], 1)
        made.i_("to", int(JitScalarType.from_dtype(dtype).onnx_type()))
        made.output().setType(value.type().with_dtype(dtype))
    made.insertBefore(node)
    node.replaceInput(position, made.output())
    if tensor is not None and not value.uses():
        value.node().destroy()


def _jit_pass_onnx_graph_shape_type_inference(graph: Any, params: dict[str, Any], opset_version: int) -> None:
    """Gives values the types that follow from those of the inputs."""
    for node in _nodes(graph):
        _jit_pass_onnx_node_shape_type_inference(node, params, opset_version)


def _jit_pass_onnx_node_shape_type_inference(node: Any, params: dict[str, Any], opset_version: int) -> None:
    """Gives the outputs of a node the types that follow from those of its inputs."""
    before = [(v, *_infer.info(v)) for v in node.outputs()]
    _infer.infer(None, node)
    for value, dtype, sizes in before:
        if _infer.info(value) == (None, None):
            value.setType(_infer.tensor_type(dtype, sizes) if (dtype, sizes) != (None, None) else _C.TensorType.get())


def _jit_pass_onnx_set_dynamic_input_shape(graph: Any, dynamic_axes: dict[str, dict[int, str]], input_names: list[str]) -> None:
    """Has sizes of inputs not be known: dimensions by the names of inputs."""
    for name, value in zip(input_names, list(graph.inputs())):
        sizes = value.type().varyingSizes() if value.type().kind() == "TensorType" else None
        if name not in dynamic_axes or sizes is None:
            continue
        changed = [None if d in dynamic_axes[name] else n for d, n in enumerate(sizes)]
        value.setType(value.type().with_sizes(changed))


def _jit_pass_onnx_assign_output_shape(
    graph: Any, tensors: Iterable[Any], desc: Any, onnx_shape_inference: bool, is_script: bool = False
) -> None:
    """Gives the outputs the types of tensors, where the inference did not find them."""
    for value, tensor in zip(graph.outputs(), tensors):
        if value.type().kind() == "TensorType" and not (onnx_shape_inference and value.isCompleteTensor()):
            value.inferTypeFrom(tensor)


def _jit_pass_prepare_division_for_onnx(graph: Any) -> None:
    """Has the quotient of two integers be that of floats."""
    for node in _nodes(graph):
        inputs = list(node.inputs())
        if node.kind() != "aten::div" or [v.type().kind() for v in inputs] != ["IntType", "IntType"]:
            continue
        with graph.insert_point_guard(node):
            floats = []
            for value in inputs:
                tensor = graph.insertNode(graph.create("prim::NumToTensor", [value], 1)).output()
                tensor.setType(_C.TensorType.get().with_dtype(torch.int64).with_device(torch.device("cpu")).with_sizes([]))
                floats.append(graph.insertNode(graph.create("aten::_cast_Float", [tensor, graph.insertConstant(0)], 1)).output())
        for position, value in enumerate(floats):
            node.replaceInput(position, value)
        node.output().setType(_C.TensorType.get().with_dtype(torch.float64).with_device(torch.device("cpu")).with_sizes([]))


def _jit_pass_onnx_remove_inplace_ops_for_onnx(graph: Any, module: Any = None) -> None:
    """Replaces writes by operators that make new values."""
    _functional.remove_writes(graph)


def _jit_pass_onnx_function_substitution(graph: Any) -> None:
    """Inlines calls, but for those of `interpolate`, which are a node that a symbolic function knows."""
    for node in _nodes(graph):
        if node.kind() == "prim::CallFunction" and node.inputsAt(0).node().s("name") in ("interpolate", "__interpolate"):
            made = graph.create("aten::__interpolate", list(node.inputs())[1:], 1)
            made.insertBefore(node)
            made.output().copyMetadata(node.output())
            node.output().replaceAllUsesWith(made.output())
            node.destroy()
    _C._jit_pass_inline(graph)


def _jit_pass_onnx(graph: Any, operator_export_type: Any) -> Any:
    """The ONNX graph of a graph of aten operators, of the opset that the exporter has."""
    made = _translate.translate(_capture.Program(graph, {}, [], None), GLOBALS.export_onnx_opset_version)[0]
    _C._jit_pass_dce_allow_deleting_nodes_with_side_effects(made)
    return made


def _jit_pass_onnx_assign_scoped_names_for_node_and_value(graph: Any) -> None:
    """Names nodes and what they make by modules and operators."""
    _names.name_nodes(graph)


def _jit_pass_onnx_lint(graph: Any) -> None:
    """Raises RuntimeError where a graph is not well formed."""
    _C._jit_pass_lint(graph)


def _jit_pass_onnx_clear_scope_records() -> None:
    """Does nothing: scopes are kept by nodes."""


def _jit_onnx_list_model_parameters(module: Any) -> tuple[Any, list[Any]]:
    """A module and its parameters and buffers, in their order."""
    tensors: list[Any] = []

    def collect(m: Any) -> None:
        inner = []
        for _name, value in _attributes_of(m):
            if isinstance(value, torch.Tensor):
                tensors.append(value)
            elif isinstance(value, _C.ScriptModule):
                inner.append(value)
        for value in inner:
            collect(value)

    collect(module)
    return module, tensors


def _attributes_of(module: Any) -> list[tuple[str, Any]]:
    return [*_C.ParameterDict(module).items(), *_C.BufferDict(module).items(), *_C.ModuleDict(module).items()]


def _jit_onnx_create_full_scope_name(class_name: str, variable_name: str) -> str:
    """The name of a scope: a class and the name of a variable."""
    return f"{class_name}::{variable_name}"


def _jit_is_onnx_log_enabled() -> bool:
    """Whether exports print their graphs."""
    return torch.onnx.is_onnx_log_enabled()


def _jit_set_onnx_log_enabled(enabled: bool) -> None:
    """Has exports print their graphs, or not."""
    torch.onnx.enable_log() if enabled else torch.onnx.disable_log()


def _jit_set_onnx_log_output_stream(stream_name: str = "stdout") -> None:
    """Has exports print to "stdout" or "stderr". Raises ValueError for other names."""
    torch.onnx.set_log_stream(stream_name)


def _jit_onnx_log(*args: Any) -> None:
    """Prints values where exports print their graphs."""
    if torch.onnx.is_onnx_log_enabled():
        _text.log(*args)
