"""torch.jit._shape_functions, and the graphs that compute the sizes of a graph's tensors."""

import pytest

import torchjit as torch
from torchjit import _C

ONE = """
torch.relu(x); x.t(); x.transpose(0, 1); x.permute([1, 0]); x.unsqueeze(-1); x.unsqueeze(0).squeeze(0); x.sum([1]); x.mean([0], True); x.flatten(0, 1)
x.view([-1]); x.view([x.size(1), -1]); x.view([x.size(0) * x.size(1)]); x[1:]; x[:, ::2]; x[-3:-1]; x[0]; x.select(1, 2); torch.cat([x, x], 1)
torch.cat([x, x, x], 0); x.max(1)[0]; x.expand([2, -1, -1]); torch.argmax(x, 1); torch.topk(x, 2)[0]; torch.softmax(x, 1)
torch.embedding(x, torch.zeros([5, 2], dtype=torch.long)); torch.zeros([x.size(0), 3]); torch.arange(x.size(0)); torch.arange(1, x.size(1), 2)
torch.matmul(x.t(), x); x.mean(); x.clamp(0, 1)
"""
TWO = [
    ("x + y", (4, 6), (6,)), ("x + y", (4, 1), (1, 5)), ("torch.mm(x, y)", (4, 6), (6, 3)), ("torch.matmul(x, y)", (2, 4, 6), (6, 3)),
    ("torch.matmul(x, y)", (6,), (6, 3)), ("torch.matmul(x, y)", (4, 6), (6,)), ("torch.bmm(x, y)", (2, 4, 6), (2, 6, 3)), ("torch.cat([x, y], 0)", (4, 6), (2, 6)),
    ("torch.linear(x, y)", (4, 6), (3, 6)), ("torch.conv2d(x, y)", (1, 3, 8, 8), (4, 3, 3, 3)),
    ("torch.conv2d(x, y, None, [2, 2], [1, 1])", (1, 3, 8, 8), (4, 3, 3, 3)), ("torch.where(x > 0, x, y)", (4, 6), (6,)),
    ("torch.matmul(x, y).relu().sum([0]) + y[0]", (4, 6), (6, 3)), ("torch.max_pool2d(x, [2, 2]) + y", (1, 3, 9, 9), (1,)), ("torch.lerp(x, y, y)", (4, 6), (6,)),
    ("torch.addmm(y[0], x, y)", (4, 6), (6, 3)), ("torch.conv_transpose2d(x, y, None, [2, 2])", (1, 3, 4, 4), (3, 2, 3, 3)),
]  # fmt: skip


def computed(text, shapes):
    """The sizes of the program's result as its graph computes them from those of the parameters."""
    graph = torch.jit.CompilationUnit(f"def f({', '.join('xy'[: len(shapes)])}):\n    return {text}\n").f.graph.copy()
    _C._jit_pass_constant_propagation(graph)
    for parameter, shape in zip(graph.inputs(), shapes, strict=True):
        parameter.setType(_C.TensorType.get().with_sizes([None] * len(shape)))
    mapping = _C._jit_pass_propagate_shapes_on_graph_and_build_compute(graph)
    partial = mapping.partial_eval_shape_graph()
    results = _C._jit_interpret_graph(partial, tuple(list(shape) for shape in shapes))
    results = results if isinstance(results, tuple) else (results,)
    symbols = mapping.graph_output_to_symbolic_shape_dim()
    found = dict(zip((symbols[v] for v in partial.outputs()), results, strict=True))
    return [found.get(size, size) for size in next(graph.outputs()).type().symbolic_sizes()]


def expected(text, shapes):
    return list(eval(text, {"torch": torch}, dict(zip("xy", (torch.ones(shape) for shape in shapes), strict=False))).shape)


@pytest.mark.parametrize("text", [t.strip() for line in ONE.strip().splitlines() for t in line.split(";")])
def test_one(text):
    assert computed(text, [(4, 6)]) == expected(text, [(4, 6)])


@pytest.mark.parametrize(("text", "x", "y"), TWO)
def test_two(text, x, y):
    assert computed(text, [x, y]) == expected(text, [x, y])


def test_functions():
    from torchjit.jit import _shape_functions as functions

    assert functions.broadcast([4, 1], [5]) == [4, 5] and functions.matmul([2, 3], [3, 4]) == [2, 4]
    assert functions.slice([7, 2], 0, 1, None, 2) == [3, 2] and functions.view([2, 6], [3, -1]) == [3, 4]
    with pytest.raises(AssertionError, match=r"The size of tensor a 3 must match the size of tensor b \(2\) at non-singleton dimension 0"):
        functions.broadcast([3], [2])
    mm = functions.shape_compute_graph_mapping["aten::mm(Tensor self, Tensor mat2) -> Tensor"]
    assert mm([2, 3], [3, 5]) == [2, 5] and mm is functions.process_func(functions.mm)
    with pytest.raises(torch.jit.Error, match="AssertionError"):
        mm([2, 3], [4, 5])


def test_registered():
    graph = _C.parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::erfinv_(%x)\n  return (%y)")
    node = next(graph.nodes())
    assert _C._jit_shape_compute_graph_for_node(node) is None
    shapes = _C.parse_ir("""graph(%x : int[]):
  %seven : int = prim::Constant[value=7]()
  %out : int[] = prim::ListConstruct(%seven)
  return (%out)""")
    _C._jit_register_shape_compute_graph_for_node(node, shapes)
    assert str(_C._jit_shape_compute_graph_for_node(node)) == str(shapes)


def test_known_sizes_are_constants():
    graph = torch.jit.CompilationUnit("def f(x, y):\n    return torch.cat([x, y], 0)\n").f.graph
    symbol = _C._new_symbolic_shape_symbol()
    for parameter, size in zip(graph.inputs(), (5, 8), strict=True):
        parameter.setType(parameter.type().with_sizes([size, 8, symbol]))
    mapping = _C._jit_pass_propagate_shapes_on_graph_and_build_compute(graph)
    assert next(graph.outputs()).type().symbolic_sizes() == [13, 8, symbol]
    assert list(mapping.graph_output_to_symbolic_shape_dim().values()) == [symbol]
    assert len(list(mapping.partial_eval_shape_graph().nodes())) == 2
