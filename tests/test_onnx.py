"""Models become ONNX: what is in the files, and which programs are refused. test_onnx_run.py runs them; answers/onnx.txt has PyTorch's
node sequences.
"""

import io
import struct
import zipfile

import onnx_model
import pytest
from onnx_model import Of

import torchjit as torch
from torchjit import nn
from torchjit.onnx import (
    TrainingMode,
    _capture,
    errors,
    register_custom_op_symbolic,
    symbolic_helper,
    unregister_custom_op_symbolic,
)

# Checks of sizes in modules, and torch.tensor, are constants of a trace: it says so.
pytestmark = pytest.mark.filterwarnings("ignore::torchjit.jit.TracerWarning")


def export(model, args, **options):
    file = io.BytesIO()
    model = model if isinstance(model, (nn.Module, torch.jit.ScriptFunction)) else Of(model)
    torch.onnx.export(model, args, file, **options)
    return onnx_model.model(file.getvalue())


def ops(graph):
    return [n.op for n in graph.nodes if n.op != "Constant"]


def mlp():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def test_a_model_as_a_file(tmp_path):
    path = tmp_path / "model.onnx"
    torch.onnx.export(
        mlp(), torch.randn(2, 3), path, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}}
    )
    g = onnx_model.model(path.read_bytes())
    assert (g.opsets, g.ir_version, g.producer) == ({"": 14}, 7, "pytorch")
    assert g.inputs == [("x", 1, ["n", 3])] and g.outputs == [("y", 1, ["Gemmy_dim_0", 2])]
    assert [(n.op, n.name, n.inputs, n.outputs) for n in g.nodes] == [
        ("Gemm", "/0/Gemm", ["x", "0.weight", "0.bias"], ["/0/Gemm_output_0"]),
        ("Relu", "/1/Relu", ["/0/Gemm_output_0"], ["/1/Relu_output_0"]),
        ("Gemm", "/2/Gemm", ["/1/Relu_output_0", "2.weight", "2.bias"], ["y"]),
    ]
    assert g.nodes[0].attributes == {"alpha": 1.0, "beta": 1.0, "transB": 1}


def test_elements_of_initializers():
    m = nn.Linear(2, 1)
    with torch.no_grad():
        m.weight.copy_(torch.tensor([[1.5, -2.0]]))
        m.bias.fill_(0.25)
    g = export(m, torch.ones(1, 2))
    weight, bias = g.initializers
    assert (weight.name, weight.dims, weight.kind, struct.unpack("<2f", weight.raw)) == (
        "weight",
        [1, 2],
        1,
        (1.5, -2.0),
    )
    assert struct.unpack("<f", bias.raw) == (0.25,)
    bools = export(lambda x: x & torch.tensor([True, False]), torch.tensor([True, True]))
    assert bools.nodes[0].attributes["value"].raw == b"\x01\x00" and bools.nodes[0].attributes["value"].kind == 9


def test_options():
    x = torch.randn(2, 3)
    assert [n for n, _, _ in export(mlp(), x, keep_initializers_as_inputs=True).inputs] == [
        "onnx::Gemm_0",
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
    ]
    bare = export(mlp(), x, export_params=False)
    assert len(bare.inputs) == 5 and not bare.initializers
    named = export(nn.Linear(3, 1), x, input_names=["a", "w", "b"])
    assert [t.name for t in named.initializers] == ["w", "b"]
    unfolded = export(nn.Linear(3, 1), torch.randn(2, 2, 3), do_constant_folding=False)
    assert ops(unfolded) == ["Transpose", "MatMul", "Add"]


def test_training_mode():
    m = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.25)).train()
    x = torch.randn(1, 1, 2, 2)
    assert ops(export(m, x)) == ["Conv"] and m.training and m[1].training
    g = export(m, x, training=TrainingMode.TRAINING)
    assert ops(g) == ["Conv", "BatchNormalization", "Dropout"] and g.nodes[1].attributes["training_mode"] == 1
    assert ops(export(m.eval(), x, training=TrainingMode.PRESERVE)) == ["Conv"]


def test_equal_initializers_are_kept_once():
    g = export(nn.Sequential(nn.LayerNorm(3), nn.LayerNorm(3)), torch.randn(2, 3))
    assert [t.name for t in g.initializers] == ["0.weight", "0.bias"]
    assert [(n.inputs, n.outputs) for n in g.nodes if n.op == "Identity"] == [
        (["0.bias"], ["1.bias"]),
        (["0.weight"], ["1.weight"]),
    ]


def test_weights_of_recurrent_networks_are_put_in_order():
    g = export(nn.LSTM(3, 2, batch_first=True), torch.randn(1, 5, 3))
    assert ops(g) == ["Transpose", "LSTM", "Squeeze", "Transpose"]
    assert [t.dims for t in g.initializers] == [[1, 8, 3], [1, 8, 2], [1, 16]]


def test_branches_and_loops():
    @torch.jit.script
    def f(x: torch.Tensor, n: int):
        y = x
        for i in range(n):
            if bool(y.sum() > 0):
                y = y * i
            else:
                y = y - x
        return y

    g = export(f, (torch.ones(2), 3))
    loop = g.nodes[-1]
    assert loop.op == "Loop" and len(loop.inputs) == 3
    body = loop.attributes["body"]
    assert [len(body.inputs), len(body.outputs)] == [3, 2]
    (branch,) = (n for n in body.nodes if n.op == "If")
    assert "Mul" in ops(branch.attributes["then_branch"]) and "Sub" in ops(branch.attributes["else_branch"])


def test_branches_that_are_known_or_raise_are_not_there():
    @torch.jit.script
    def f(x: torch.Tensor, scale: bool = True):
        if x.dim() != 2:
            raise ValueError("rank")
        return x * 2 if scale else x

    assert ops(export(f, (torch.ones(2, 3), True))) == ["If"]  # an argument is not known

    class M(nn.Module):
        def forward(self, x):
            return f(x)

    assert ops(export(torch.jit.script(M()), torch.ones(2, 3))) == ["Mul"]


def test_lists_in_loops_are_sequences():
    @torch.jit.script
    def f(x: torch.Tensor, n: int):
        made: list[torch.Tensor] = []
        for i in range(n):
            made.append(x * i)
        return torch.stack(made)

    g = export(f, (torch.ones(2), 3))
    assert ops(g) == ["SequenceEmpty", "Loop", "ConcatFromSequence"] and g.outputs[0][1] == 1


def test_writes_become_new_tensors():
    def f(x):
        y = x * 1
        y[0] = 5.0
        row = y[1]
        y += 1
        return y, row

    g = export(f, torch.ones(2, 3))
    assert ops(g) == ["Mul", "ScatterND", "Add", "Gather"]
    assert next(n for n in g.nodes if n.op == "Gather").inputs[0] == g.outputs[0][0]  # row sees what is added later


def test_writes_to_parts_and_into_results():
    def parts(x):
        y = x.clone()
        a, b = y.chunk(2)
        a.add_(1)
        return y, b

    def out(x):
        y = torch.zeros(2)
        torch.add(x, 1, out=y)
        return y

    g = export(parts, torch.ones(4))
    assert ops(g) == ["Slice", "Add", "ScatterND", "Slice"] and g.nodes[-1].inputs[0] == g.outputs[0][0]
    assert ops(export(out, torch.ones(2))) == ["Add"]


def test_writes_that_would_be_lost_are_refused():
    def f(x):
        y = x.clone()
        y.unfold(0, 2, 1)[0] = 1.0
        return y

    with pytest.raises(
        errors.OnnxExporterError, match=r"what aten::unfold gives shares memory that is written.*test_onnx.py"
    ):
        export(f, torch.ones(4))


def test_a_write_in_a_loop_is_carried():
    @torch.jit.script
    def f(x: torch.Tensor, n: int):
        y = torch.zeros_like(x)
        for i in range(n):
            y[i] = x[i]
        return y

    loop = next(n for n in export(f, (torch.ones(2, 3), 2)).nodes if n.op == "Loop")
    assert len(loop.outputs) == 1 and "ScatterND" in ops(loop.attributes["body"])


def test_sizes_are_constants_unless_they_are_dynamic():
    def f(x):
        return x.view(x.size(0), -1)

    x = torch.randn(2, 3, 4)
    assert ops(export(f, x)) == ["Reshape"]
    g = export(f, x, input_names=["x"], dynamic_axes={"x": [0]})
    assert ops(g) == ["Shape", "Gather", "Unsqueeze", "Concat", "Reshape"] and g.inputs[0][2] == [
        "x_dynamic_axes_1",
        3,
        4,
    ]


def test_arguments_by_name_and_containers():
    class M(nn.Module):
        def forward(self, x, y=None, scale=2.0):
            return {"sum": x["a"] + y, "scaled": x["a"] * scale}

    g = export(M(), ({"a": torch.ones(2)}, {"y": torch.ones(2)}))
    assert ops(g) == ["Add", "Mul"] and len(g.inputs) == 2 and len(g.outputs) == 2
    with pytest.raises(ValueError, match=r"names \['z'\]"):
        export(M(), ({"a": torch.ones(2)}, {"z": torch.ones(2)}))


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, other):
        return x * factor + other

    @staticmethod
    def symbolic(g, x, factor, other):
        return g.op("mine::Scaled", x, other, factor_f=factor)


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


def test_functions_with_a_symbolic():
    g = export(lambda x: Scaled.apply(x.relu(), 2.0, x) + 1, torch.ones(2), custom_opsets={"mine": 3})
    assert ops(g) == ["Relu", "Scaled", "Add"] and g.opsets == {"": 14, "mine": 3}
    assert g.nodes[1].domain == "mine" and g.nodes[1].attributes == {"factor": 2.0} and len(g.nodes[1].inputs) == 2
    assert ops(export(lambda x: Plain.apply(x), torch.ones(2))) == ["Mul"]
    assert Scaled.apply(torch.ones(1), 2.0, torch.ones(1)).item() == 3.0


def test_registered_operators():
    seen = []

    @symbolic_helper.parse_args("v", "i", "none")
    def exported(g, x, dim, dtype):
        seen.append(symbolic_helper._get_tensor_sizes(x))
        return g.op("mine::CumProd", x, torch.tensor(1.0), dim_i=dim)

    register_custom_op_symbolic("aten::cumprod", exported, 10)
    try:
        g = export(lambda x: x.cumprod(1), torch.ones(2, 3), input_names=["x"], dynamic_axes={"x": [0]})
        assert ops(g) == ["CumProd"] and g.nodes[-1].attributes == {"dim": 1} and seen == [[None, 3]]
        with pytest.raises(errors.UnsupportedOperatorError, match="from opset version 10 on"):
            export(lambda x: x.cumprod(1), torch.ones(2, 3), opset_version=9)
    finally:
        unregister_custom_op_symbolic("aten::cumprod", 10)
    with pytest.raises(errors.OnnxExporterError, match="must match the format domain::name"):
        register_custom_op_symbolic("cumprod", exported, 10)


def test_opset_modules_have_the_functions():
    from torchjit.onnx import symbolic_opset9, symbolic_opset11

    register_custom_op_symbolic("mine::flat", lambda g, x: symbolic_opset11.reshape(g, x, [-1]), 9)
    try:
        assert symbolic_opset9.relu is not None
        with pytest.raises(AttributeError, match="no attribute 'triu'"):
            getattr(symbolic_opset9, "triu")  # noqa: B009
    finally:
        unregister_custom_op_symbolic("mine::flat", 9)


def test_what_is_refused():
    x = torch.rand(2, 3)
    with pytest.raises(
        errors.UnsupportedOperatorError,
        match=r"'aten::digamma' to ONNX opset version 14 .* called at .*test_onnx.py",
    ):
        export(lambda x: torch.digamma(x), x)
    with pytest.raises(errors.UnsupportedOperatorError, match="supported from opset version 14 on"):
        export(lambda x: x.tril(), x, opset_version=13)
    with pytest.raises(errors.SymbolicValueError, match="repeat_interleave with repeats that differ"):
        export(lambda x, n: x.repeat_interleave(n, 0), (x, torch.tensor([1, 2])))
    with pytest.raises(ValueError, match="Unsupported ONNX opset version: 18"):
        export(mlp(), x, opset_version=18)
    with pytest.raises(ValueError, match="export_modules_as_functions is not implemented"):
        export(mlp(), x, export_modules_as_functions=True)
    with pytest.raises(TypeError, match="expected a torch.nn.Module"):
        torch.onnx.export(lambda x: x, x, io.BytesIO())
    with pytest.raises(RuntimeError, match=r"input names provided \(9\) exceeded"):
        export(mlp(), x, input_names=["a"] * 9)
    assert not torch.onnx.is_in_onnx_export()
    assert torch.onnx.utils.unconvertible_ops(Of(lambda x: torch.digamma(x) + 1), x)[1] == ["aten::digamma"]


def test_large_initializers_lie_beside_the_model(tmp_path, monkeypatch):
    from torchjit.onnx import _write

    monkeypatch.setattr(_write, "_MOST_BYTES", 100)
    m = nn.Linear(64, 32)
    torch.onnx.export(m, torch.ones(1, 64), tmp_path / "m.onnx")
    weight, bias = onnx_model.model((tmp_path / "m.onnx").read_bytes()).initializers
    assert (
        weight.external == [("location", "weight"), ("offset", "0"), ("length", "8192")]
        and not weight.raw
        and len(bias.raw) == 128
    )
    assert (tmp_path / "weight").read_bytes() == bytes(memoryview(m.weight.detach().reshape(-1)))
    with pytest.raises(RuntimeError, match="export to a path"):
        torch.onnx.export(m, torch.ones(1, 64), io.BytesIO())


def test_the_graph_of_a_model():
    torch.onnx.utils.GLOBALS.in_onnx_export = False
    graph, params, results = torch.onnx.utils._model_to_graph(nn.Linear(2, 1), (torch.ones(1, 2),), input_names=["x"])
    assert "onnx::Gemm[alpha=1., beta=1., transB=1](%x, %weight, %bias)" in str(graph)
    assert list(params) == ["weight", "bias"] and results.shape == (1, 1)


def test_traces_for_exports_know_weights_in_lists_and_name_values():
    x = torch.ones(5, 2, 3)
    graph, _ = torch.jit._get_trace_graph(nn.LSTM(3, 4), (x,))
    (lstm,) = graph.findAllNodes("aten::lstm")
    weights = [v for v in lstm.inputsAt(2).node().inputs()]
    assert all(v.node().kind() == "prim::Param" for v in weights) and len(weights) == 4
    linear, _ = torch.jit._get_trace_graph(nn.Linear(3, 4), (x,))
    assert next(iter(linear.inputs())).debugName() == "0"  # the name of the variable one call above: there is none


def test_metadata_has_the_scope():
    graph = _capture.capture(mlp(), (torch.ones(2, 3),)).graph
    first, last = list(graph.nodes())[0], list(graph.nodes())[-1]
    assert first.scopeName().endswith("Linear::0") and last.copyMetadata(first).scopeName() == first.scopeName()


def test_elementwise_operators_are_exported_by_their_records():
    model = Of(lambda x: torch.special.entr(x))
    graph, _, _ = torch.onnx.utils._model_to_graph(model, (torch.ones(2),))
    assert [n.kind()[6:] for n in graph.nodes()] == ["Constant", "Less", "Constant", "Where", "Greater", "Log", "Mul", "Neg", "Where"]
    assert torch.onnx.utils.unconvertible_ops(model, (torch.ones(2),))[1] == []
    assert torch.onnx.utils.unconvertible_ops(Of(lambda x: torch.special.entr(x).lgamma()), (torch.ones(2),))[1] == ["aten::lgamma"]
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="aten::special_entr"):  # Where came with version 9
        torch.onnx.export(model, (torch.ones(2),), io.BytesIO(), opset_version=7)


def test_quantized_tensors_are_integers_with_a_scale():
    ao = torch.ao.quantization
    model = nn.Sequential(ao.QuantStub(), nn.Linear(3, 2), ao.DeQuantStub()).eval()
    model.qconfig = ao.default_qconfig
    ao.prepare(model, inplace=True)(torch.ones(1, 3))
    ao.convert(model, inplace=True)
    graph, _, _ = torch.onnx.utils._model_to_graph(model, (torch.ones(1, 3),))
    kinds = [n.kind()[6:] for n in graph.nodes() if n.kind() != "onnx::Constant"]
    assert kinds == ["QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "Round", "Cast", "DequantizeLinear", "Gemm", "QuantizeLinear", "DequantizeLinear"]
    with pytest.raises(torch.onnx.errors.OnnxExporterError, match="the program returns a quantized tensor, %"):
        torch.onnx.export(model[:2], (torch.ones(1, 3),), io.BytesIO())


class _NoForm(torch.nn.Module):
    def forward(self, x):
        return torch.relu(torch.lgamma(x))


@pytest.mark.parametrize(
    "kind, kinds",
    [
        ("ONNX_FALLTHROUGH", ["aten::lgamma", "onnx::Relu"]),
        ("ONNX_ATEN_FALLBACK", ["aten::ATen lgamma", "onnx::Relu"]),
        ("ONNX_ATEN", ["aten::ATen lgamma", "aten::ATen relu"]),
    ],
)
def test_operators_without_a_form(kind, kinds):
    kind = getattr(torch.onnx.OperatorExportTypes, kind)
    seen = []

    def note(graph):
        seen.extend(n.kind() + (f" {n.s('operator')}" if n.hasAttribute("operator") else "") for n in graph.nodes())

    with torch.onnx.utils._options(_NoForm(), torch.onnx.TrainingMode.EVAL, False, kind, None, True):
        note(torch.onnx.utils._model_to_graph(_NoForm(), (torch.ones(2),))[0])
    assert seen == kinds
    out = io.BytesIO()
    torch.onnx.export(_NoForm(), torch.ones(2), out, operator_export_type=kind)
    assert b"org.pytorch.aten" in out.getvalue() and b"lgamma" in out.getvalue()
    text = torch.onnx.export_to_pretty_string(_NoForm(), (torch.ones(2),), operator_export_type=kind)
    name = kinds[0].split()[0]
    assert "{ domain: , version: 14}OperatorSetIdProto { domain: org.pytorch.aten, version: 1}]" in text and f'"{name}_0"' in text
    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="aten::lgamma"):
        torch.onnx.export(_NoForm(), torch.ones(2), io.BytesIO())


def test_models_in_archives_and_folders(tmp_path):
    model, x, forms = torch.nn.ReLU(), torch.ones(2), torch.onnx.ExportTypes
    plain = io.BytesIO()
    torch.onnx.export(model, x, plain)
    for form, how in [(forms.ZIP_ARCHIVE, zipfile.ZIP_STORED), (forms.COMPRESSED_ZIP_ARCHIVE, zipfile.ZIP_DEFLATED)]:
        out = io.BytesIO()
        assert torch.equal(torch.onnx._export(model, x, out, export_type=form), x)
        archive = zipfile.ZipFile(out)
        assert archive.read("__MODEL_PROTO") == plain.getvalue() and archive.infolist()[0].compress_type == how
    torch.onnx._export(model, x, tmp_path / "model", export_type=forms.DIRECTORY)
    assert (tmp_path / "model" / "__MODEL_PROTO").read_bytes() == plain.getvalue()
    torch.onnx._export(model, x, tmp_path / "model.onnx", export_type=forms.PROTOBUF_FILE)
    assert (tmp_path / "model.onnx").read_bytes() == plain.getvalue()
    with pytest.raises(RuntimeError, match="Unknown export type"):
        torch.onnx._export(model, x, io.BytesIO(), export_type="tar")


def test_names_of_any_graph():
    """_jit_pass_onnx_assign_scoped_names_for_node_and_value names nodes of aten operators and constants by modules, once, and lets others be."""
    traced = torch.onnx._capture._traced(torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softplus())), (torch.ones(2),)).graph
    for _ in range(2):
        torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value(traced)
        names = [node.s("onnx_name") for node in traced.nodes()]
        assert names == ["/0/0.0/relu", "/0/0.1/Constant", "/0/0.1/Constant_1", "/0/0.1/softplus"]
    assert next(traced.nodes()).output().debugName() == "/0/0.0/relu_output_0"
    unscoped = torch._C.parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  %z : Tensor = aten::neg(%y)\n  return (%z)")
    torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value(unscoped)
    assert [node.hasAttribute("onnx_name") for node in unscoped.nodes()] == [False, False]
