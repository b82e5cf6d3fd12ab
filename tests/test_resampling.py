"""Resampling: gradients are the transposed operators, and layouts and errors are those of PyTorch 1.13.1."""

import pytest

import torchjit as torch
import torchjit.nn.functional as F

MODES = [
    ("nearest", 1), ("nearest-exact", 1), ("linear", 1), ("nearest", 2), ("nearest-exact", 2), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3),
]


@pytest.mark.parametrize("mode, n", MODES)
@pytest.mark.parametrize("size", [1, 3, 11])
@pytest.mark.parametrize("rows", [1, 40])  # many rows go another way than few
def test_gradients_are_the_transposed_operator(mode, n, size, rows):
    torch.manual_seed(0)
    x = torch.randn(rows, 2, *[5, 7, 4][:n], dtype=torch.float64, requires_grad=True)
    y = F.interpolate(x, size=[size] * n, mode=mode)
    g = torch.randn(y.shape, dtype=torch.float64, requires_grad=True)
    (gx,) = torch.autograd.grad(y, x, g, create_graph=True)
    assert torch.allclose((y * g).sum(), (x * gx).sum())
    (again,) = torch.autograd.grad(gx, g, x)  # the gradient is linear too
    assert torch.allclose(again, y)


def test_several_runs_of_outputs():
    x = torch.arange(12.0).reshape(1, 1, 3, 4)
    y = F.interpolate(x, scale_factor=(2.0, 3.0), mode="bilinear")
    assert y[0, 0, 0].tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2, 7 / 3, 8 / 3, 3, 3])
    assert y[0, 0, :, 0].tolist() == pytest.approx([0, 1, 3, 5, 7, 8])


@pytest.mark.parametrize("mode, strides", [("bilinear", (75, 1, 15, 3)), ("nearest", (75, 1, 15, 3)), ("bicubic", (75, 25, 5, 1))])
def test_layout(mode, strides):
    x = torch.randn(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    assert F.interpolate(x, size=5, mode=mode).stride() == strides
    if mode != "bicubic":
        assert F.interpolate(x, size=1, mode=mode).stride() == (3, 1, 3, 3)


@pytest.mark.parametrize("shape, out, into, message", [
    ((1, 2, 4, 4), [4, 5], [1, 2, 2, 2], r"same shape as output; output.size\(3\) = 5 but got grad_output.size\(3\) = 4"),
    ((1, 2, 4, 4), [4, 4], [1, 3, 2, 2], r"output.size\(1\) = 3 but got grad_output.size\(1\) = 2"),
    ((1, 2, 4, 4), [4, 4], [2, 2], "It is expected input_size equals to 4, but got size 2"),
    ((2, 4, 4), [4, 4], [1, 2, 2, 2], "Expected grad_output to be a tensor of dimension 4 but got: dimension 3"),
])
def test_errors_of_gradients(shape, out, into, message):
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten.upsample_nearest2d_backward(torch.ones(shape), out, into)


@pytest.mark.parametrize("mode, n", MODES)
def test_no_images(mode, n):
    x = torch.ones(0, 2, *[3] * n, requires_grad=True)
    y = F.interpolate(x, size=[4] * n, mode=mode)
    assert y.shape == (0, 2, *[4] * n)
    assert torch.autograd.grad(y.sum(), x)[0].shape == x.shape


@pytest.mark.parametrize("shape, message", [
    ((2, 0, 3), "Non-empty 3D data tensor expected but got a tensor with sizes [2, 0, 3]"),
    ((0, 0, 3, 4), "Non-empty 4D data tensor expected but got a tensor with sizes [0, 0, 3, 4]"),
    ((2, 1, 0), "Input and output sizes should be greater than 0, but got input (W: 0) and output (W: 4)"),
    ((2, 1, 3, 0), "Input and output sizes should be greater than 0, but got input (H: 3, W: 0) output (H: 4, W: 4)"),
    ((2, 1, 0, 2, 3), "Input and output sizes should be greater than 0, but got input (D: 0, H: 2, W: 3) output (D: 4, H: 4, W: 4)"),
])
def test_images_without_elements(shape, message):
    with pytest.raises(RuntimeError) as e:
        F.interpolate(torch.ones(shape), size=4, mode=["linear", "bilinear", "trilinear"][len(shape) - 3])
    assert str(e.value).startswith(message)


def test_gradient_by_factors():
    g = torch.ones(1, 1, 4, 4)
    assert torch.ops.aten.upsample_nearest2d_backward.vec(g, None, [1, 1, 2, 2], [2.0, 2.0]).tolist() == [[[[4.0, 4.0], [4.0, 4.0]]]]


def test_shapes_alone():
    x = torch.empty(2, 3, 4, 4, device="meta").contiguous(memory_format=torch.channels_last)
    y = F.interpolate(x, scale_factor=2.5, mode="bilinear")
    assert y.device.type == "meta" and y.shape == (2, 3, 10, 10) and y.stride() == (300, 1, 30, 3)


def test_integers_are_not_interpolated():
    x = torch.ones(1, 2, 3, 3, dtype=torch.int16)
    for mode, name in (("bilinear", "linear"), ("bicubic", "cubic")):
        with pytest.raises(RuntimeError, match=f"compute_indices_weights_{name}. not implemented for 'Short'"):
            F.interpolate(x, size=(4, 4), mode=mode)
    with pytest.raises(RuntimeError, match="compute_indices_weights_aa. not implemented for 'Long'"):
        F.interpolate(x.long(), size=(4, 4), mode="bilinear", antialias=True)
    assert F.interpolate(x, size=(6, 6)).dtype == torch.int16


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_more_outputs_between_two_inputs_than_are_made_at_a_time(mode):
    x = torch.randn(1, 1, 1, 2, dtype=torch.float64)
    assert torch.allclose(F.interpolate(x, size=(4097, 2), mode=mode), x.expand(1, 1, 4097, 2))
    x = torch.randn(1, 1, 3, 2, dtype=torch.float64)
    y = F.interpolate(x, size=(13001, 2), mode=mode)
    assert torch.allclose(y, F.interpolate(x.mT, size=(2, 13001), mode=mode).mT)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("size", [9001, 20000])
def test_long_lines_are_made_by_stretches(mode, size):
    x = torch.randn(2, 1, 10000, dtype=torch.float64)
    together, there = F.interpolate(x, size=size, mode=mode), torch.arange(size, dtype=torch.float64)
    if mode == "nearest":
        assert torch.equal(together, x[..., (there.float() * (10000 / size)).floor().long()])
        return
    at = ((there + 0.5) * (10000 / size) - 0.5).clamp(min=0)
    low = at.long().clamp(max=9999)
    assert torch.allclose(together, x[..., low] * (1 - (at - low)) + x[..., (low + 1).clamp(max=9999)] * (at - low))


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_channels_last_is_resampled_as_it_lies(mode):
    x = torch.randn(2, 3, 7, 5, dtype=torch.float64, requires_grad=True)
    y = x.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
    for size in [(3, 4), (11, 13)]:
        a, b = F.interpolate(x, size=size, mode=mode), F.interpolate(y, size=size, mode=mode)
        g = torch.randn(a.shape, dtype=torch.float64)
        (ga,), (gb,) = torch.autograd.grad(a, x, g), torch.autograd.grad(b, y, g.contiguous(memory_format=torch.channels_last))
        assert torch.allclose(a, b) and torch.allclose(ga, gb)
