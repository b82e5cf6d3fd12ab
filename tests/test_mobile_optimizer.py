"""torch.utils.mobile_optimizer: frozen modules with packed weights, their archives, and the passes that make them."""

import io

import pytest

import torchjit as torch
from torchjit import _C
from torchjit.testing import FileCheck, assert_close
from torchjit.utils.mobile_optimizer import MobileOptimizerType, generate_mobile_module_lints, optimize_for_mobile


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(4, 6, 3, padding=1, groups=2)
        self.bn = torch.nn.BatchNorm2d(6)
        self.up = torch.nn.ConvTranspose2d(6, 4, 2, stride=2, output_padding=1, bias=False)
        self.drop = torch.nn.Dropout()
        self.lin = torch.nn.Linear(4, 2)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        y = self.drop(self.up(x)).mean([2, 3])
        z = torch.nn.functional.hardtanh(self.lin(y), -0.25, 0.5)
        return torch.relu(z + z)

    @torch.jit.export
    def twice(self, x):
        return self.forward(x) * 2


@pytest.fixture
def module():
    torch.manual_seed(0)
    made = Layers().eval()
    made.bn.running_mean.normal_()
    return made


def test_optimize(module):
    x = torch.randn(2, 4, 5, 5)
    made = optimize_for_mobile(torch.jit.script(module))
    assert_close(made(x), module(x))
    check = FileCheck().check("prepacked::conv2d_clamp_run").check("prepacked::conv2d_transpose_clamp_run")
    check.check("prepacked::linear_clamp_run").check("aten::_add_relu").run(made.graph)
    text = str(made.graph)
    assert not any(name in text for name in ("batch_norm", "dropout", "aten::relu", "hardtanh", "prepack("))
    assert made.mobile_optimized and not hasattr(made, "twice") and not list(made.named_parameters())
    kept = optimize_for_mobile(torch.jit.script(module), preserved_methods=["twice"])
    assert_close(kept.twice(x), module(x) * 2)


def test_archive(module):
    x = torch.randn(1, 4, 6, 6)
    made = optimize_for_mobile(torch.jit.script(module))
    buffer = io.BytesIO()
    torch.jit.save(made, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert torch.equal(loaded(x), made(x)) and loaded.mobile_optimized
    assert "ops.prepacked.conv2d_clamp_run(x, CONSTANTS.c0)" in loaded.code


@pytest.mark.parametrize("left_out", list(MobileOptimizerType))
def test_blocklist(module, left_out):
    x = torch.randn(2, 4, 5, 5)
    made = optimize_for_mobile(torch.jit.script(module), {left_out})
    assert_close(made(x), module(x))
    sign = {
        MobileOptimizerType.CONV_BN_FUSION: "aten::batch_norm", MobileOptimizerType.INSERT_FOLD_PREPACK_OPS: "aten::conv2d",
        MobileOptimizerType.REMOVE_DROPOUT: "aten::dropout", MobileOptimizerType.FUSE_ADD_RELU: "aten::add(",
    }  # fmt: skip
    if left_out in sign:
        assert sign[left_out] in str(made.graph)


def test_passes(module):
    scripted = torch.jit.script(module)
    _C._jit_pass_insert_prepacked_ops(scripted._c)
    frozen = torch.jit.freeze(scripted)
    FileCheck().check("prepacked::conv2d_clamp_prepack(").check("prepacked::conv2d_clamp_run(").run(frozen.graph)
    _C._jit_pass_fuse_clamp_w_prepacked_linear_conv(frozen._c)
    _C._jit_pass_fold_prepacking_ops(frozen._c)
    x = torch.randn(2, 4, 5, 5)
    assert_close(frozen(x), module(x))
    FileCheck().check_not("prepack(").check("prepack_folding_forward._jit_pass_packed_weight_0").run(frozen.graph)


def test_operators():
    weight, bias, x = torch.randn(6, 2, 3, 3), torch.randn(6), torch.randn(1, 4, 5, 5)
    packed = torch.ops.prepacked.conv2d_clamp_prepack(weight, bias, [2, 1], [1, 0], [1, 1], 2, -0.5, None)
    expected = torch.conv2d(x, weight, bias, [2, 1], [1, 0], [1, 1], 2).clamp(min=-0.5)
    assert_close(torch.ops.prepacked.conv2d_clamp_run(x, packed), expected)
    assert torch.ops.prepacked.unpack_prepacked_sizes_conv2d(packed) == ([6, 2, 3, 3], [6], [2, 1], [1, 0], [1, 1], 2)
    linear = torch.ops.prepacked.linear_clamp_prepack(torch.ones(2, 4), None, None, 1.0)
    assert torch.ops.prepacked.linear_clamp_run(torch.ones(3, 4), linear).tolist() == [[1, 1]] * 3
    with pytest.raises(RuntimeError, match="XNNPACK Linear not usable! Reason: The provided input tensor"):
        torch.ops.prepacked.linear_clamp_run(torch.ones(3, 5), linear)
    with pytest.raises(RuntimeError, match="xnnpack.Conv2dOpContext"):
        torch.ops.prepacked.conv2d_clamp_run(x, linear)
    with pytest.raises(RuntimeError, match="XNNPACK Linear not available! Reason: The provided"):
        torch.ops.prepacked.linear_clamp_prepack(torch.ones(2), None, None, None)


def test_refused(module):
    with pytest.raises(TypeError, match="Got <class .*Layers'>, but ScriptModule is expected."):
        optimize_for_mobile(module)
    scripted = torch.jit.script(module)
    with pytest.raises(AttributeError, match="The following methods to preserve do not exist in script_module: nope"):
        optimize_for_mobile(scripted, preserved_methods=["nope"])
    with pytest.raises(TypeError, match="Unknown backend, must be one of 'CPU', 'Vulkan' or 'Metal'"):
        optimize_for_mobile(scripted, backend="foo")


def test_lints(module):
    found = generate_mobile_module_lints(torch.jit.script(module))
    assert [f["name"] for f in found] == ["BUNDLED_INPUT"] + ["REQUIRES_GRAD"] * 7 + ["BATCHNORM", "DROPOUT"]
    assert found[1]["message"].startswith("Param conv.weight requires grad, please set torch.no_grad()")


def test_replicated_dequantize():
    graph = _C.parse_ir("""graph(%x : Tensor):
  %d : Tensor = aten::dequantize(%x)
  %a : Tensor = aten::relu(%d)
  %b : Tensor = aten::mul(%d, %a)
  return (%b, %d)""")
    _C._jit_pass_replicate_dequantize(graph)
    FileCheck().check_count("aten::dequantize(%x)", 1).check("relu").check("dequantize").check("mul").check("dequantize").run(graph)
