"""Arguments that are no good: operators refuse them with an error of PyTorch's class, in time and without reading outside of their tensors."""

import math
import pathlib
import subprocess
import sys

import pytest

import torchjit as torch
from torchjit.utils._python_dispatch import TorchDispatchMode

A, F, HUGE = torch.ops.aten, torch.nn.functional, 2**62


def ones(*shape):
    return torch.ones(shape)


EMPTY_DIMENSIONS = {
    "pad": lambda: F.pad(ones(1, 1, 0), [0, 1], mode="replicate"),
    "line": lambda: A.replication_pad1d(ones(1, 1, 0), [0, 1]),
    "image": lambda: A.replication_pad2d(ones(1, 0, 3), [0, 1, 1, 1]),
    "volume": lambda: A.replication_pad3d(ones(1, 0, 3, 3), [0, 1, 1, 1, 0, 0]),
    "out": lambda: A.replication_pad1d.out(ones(1, 1, 0), [0, 1], out=ones(1)),
    "line backward": lambda: A.replication_pad1d_backward(ones(1, 1, 1), ones(1, 1, 0), [0, 1]),
    "image backward": lambda: A.replication_pad2d_backward(ones(1, 2, 4), ones(1, 0, 3), [0, 1, 1, 1]),
}


@pytest.mark.parametrize("name", EMPTY_DIMENSIONS)
def test_paddings_of_empty_dimensions(name):
    with pytest.raises(RuntimeError, match="other non-zero dimensions for input"):
        EMPTY_DIMENSIONS[name]()


def test_a_gradient_of_places_without_dimensions():
    with pytest.raises(RuntimeError, match="expected grad_output with the sizes of the result"):
        A.grid_sampler_2d_backward(ones(), ones(2, 3, 6, 6), ones(2, 4, 5, 2), 0, 0, False, [True, True])


ALL = [True] * 3
NORMALIZATIONS = {
    "means of other rows": (lambda: A.native_layer_norm_backward(ones(1, 3), ones(1, 3), [3], ones(20000, 1), ones(20000, 1), None, None, ALL), "mean"),
    "a gradient of one row": (lambda: A.native_layer_norm_backward(ones(1), ones(2000, 300), [300], ones(2000, 1), ones(2000, 1), None, None, ALL), "grad_out"),
    "other rows": (lambda: A.native_layer_norm_backward(ones(2, 3), ones(2, 3), [4], ones(2, 1), ones(2, 1), None, None, ALL), "normalized_shape"),
    "weights": (lambda: A.native_layer_norm_backward(ones(2, 3), ones(2, 3), [3], ones(2, 1), ones(2, 1), ones(4), None, ALL), "weight"),
    "a mask of two": (lambda: A.native_layer_norm_backward(ones(2, 3), ones(2, 3), [3], ones(2, 1), ones(2, 1), None, None, [True] * 2), "fixed-size array of size 3"),
    "channels": (lambda: A.native_batch_norm_backward(ones(1), ones(2, 3), ones(3), None, None, ones(3), ones(3), True, 1e-5, ALL), "grad_out"),
    "means of channels": (lambda: A.native_batch_norm_backward(ones(2, 3), ones(2, 3), None, None, None, ones(1), ones(3), True, 1e-5, ALL), "mean"),
    "a vector in channels": (lambda: A.native_batch_norm_backward(ones(3), ones(3), None, None, None, ones(3), ones(3), True, 1e-5, ALL), "2D"),
    "no means": (lambda: A.native_batch_norm_backward(ones(2, 3), ones(2, 3), None, None, None, None, None, True, 1e-5, ALL), "save_mean"),
    "groups of a gradient": (lambda: A.native_group_norm_backward(ones(2, 4, 2), ones(2, 4, 3), ones(2, 2), ones(2, 2), None, 2, 4, 3, 2, ALL), "dY.numel"),
    "more samples": (lambda: A.native_group_norm_backward(ones(2, 4, 3), ones(2, 4, 3), ones(2, 2), ones(2, 2), None, 3, 4, 3, 2, ALL), "X.numel"),
    "means of groups": (lambda: A.native_group_norm_backward(ones(2, 4, 3), ones(2, 4, 3), ones(2, 3), ones(2, 2), None, 2, 4, 3, 2, ALL), "mean.numel"),
    "a vector in groups": (lambda: A.native_group_norm(ones(4), None, None, 2, 4, 3, 2, 1e-5), "X.numel"),
}


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_shapes_of_normalizations(name):
    call, message = NORMALIZATIONS[name]
    with pytest.raises(RuntimeError, match=message):
        call()


TOO_LARGE = {
    "interpolate": lambda: F.interpolate(ones(1, 1, 2, 2), size=(2**31, 2**31)),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(ones(1, 1, 4, 4), 2**40),
    "pad": lambda: F.pad(ones(1, 1, 2), [2**48, 1], mode="replicate"),
    "constant pad": lambda: F.pad(ones(1, 2), [HUGE, HUGE]),
    "pad_packed_sequence": lambda: torch._pad_packed_sequence(ones(5, 3), torch.tensor([2, 2, 1]), False, 0.0, 2**48),
    "tril_indices": lambda: torch.tril_indices(2**32, 2**32),
    "combinations": lambda: torch.combinations(torch.arange(200.0), 20),
    "multigammaln": lambda: torch.special.multigammaln(ones(2), HUGE),
    "avg_pool1d": lambda: F.avg_pool1d(ones(1, 1, 4), HUGE, stride=1, padding=2**61),
    "dilation": lambda: F.max_pool2d(ones(1, 1, 4, 4), 2, 1, 0, HUGE),
    "convolution": lambda: F.conv1d(ones(1, 1, 4), ones(1, 1, 2), None, 1, HUGE, 1),
    "repeats": lambda: torch.repeat_interleave(torch.tensor([HUGE] * 4)),
    "repeat": lambda: torch.repeat_interleave(ones(3), 2**48),
    "pixel_shuffle": lambda: F.pixel_shuffle(ones(1, 4, 2, 2), 2**32),
    "histc": lambda: torch.histc(ones(3), HUGE),
    "vander": lambda: torch.vander(ones(3), HUGE),
    "diag_embed": lambda: torch.diag_embed(ones(3), HUGE),
    "tensor_split": lambda: torch.tensor_split(ones(6), 2**48),
    "kaiser_window": lambda: torch.kaiser_window(2**48),
    "one_hot": lambda: F.one_hot(torch.tensor([1]), 2**48),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_does_not_fit_the_memory_is_an_error_at_once(name):
    with pytest.raises(RuntimeError, match="overflowed|can't allocate memory|integer out of range"):
        TOO_LARGE[name]()


WRONG = {
    "short output_size": (lambda: A.upsample_nearest3d(ones(1, 1, 2, 2, 2), [257], None, None, None), "output_size equals to 3"),
    "short input_size": (lambda: A.upsample_nearest2d_backward(ones(1, 1, 2, 2), [2, 2], [2, 2], None, None), "input_size equals to 4"),
    "factors of a vector": (lambda: A.upsample_nearest2d.vec(ones(2), None, [2.0, 2.0]), "input_size"),
    "short strides": (lambda: torch.empty_strided([2, 2], [1]), "must match dimensionality of strides"),
    "short padding": (lambda: A.replication_pad1d(ones(3, 3), [1]), "padding size is expected to be 2"),
    "sequences of numbers": (lambda: torch.nn.utils.rnn.pad_sequence([torch.tensor(1.0), torch.tensor(2.0)]), "at least one dimension"),
    "types": (lambda: torch.promote_types(torch.quint8, torch.float32), "promoteTypes with quantized numbers"),
    "quantized and real": (lambda: torch.gcd(torch.quantize_per_tensor(ones(2), 0.1, 0, torch.quint8), torch.ones(2, dtype=torch.int64)), "offending types: QUInt8 Long"),
    "devices": (lambda: ones(2).sub_(torch.ones(2, device="meta")), "at least two devices, meta and cpu"),
    "coordinates": (lambda: A.gradient.tensorarray(ones(3, 3), spacing=[ones(3, 0)], dim=[0]), "one dimension"),
    "parameters": (lambda: A.lstm.data(ones(5, 3).requires_grad_(), torch.tensor([2, 2, 1]), [ones(1, 2, 4)] * 2, [ones(16, 3)], False, 1, 0.0, False, False), "RNN parameters"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    call, message = WRONG[name]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_harmless_arguments_that_look_bad():
    assert torch.tril_indices(4, 3, HUGE).shape == (2, 12) and torch.triu_indices(2**40, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert torch.triu_indices(4, 3, 1).tolist() == [[0, 0, 1], [1, 2, 2]] and torch.tril_indices(4, 3, -2).tolist() == [[2, 3, 3], [0, 0, 1]]
    assert torch.combinations(torch.arange(4.0), 6, True).shape == (84, 6) and torch.combinations(torch.arange(2.0), 3).shape == (0, 3)
    assert repr(ones(1).expand(2**48)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"
    assert "nan" in repr(torch.full((1,), float("nan"), dtype=torch.float16).expand(2**48))
    assert A.block_diag([]).shape == (1, 0)
    assert "qint32" in repr(torch.eye(2, dtype=torch.qint32))
    assert torch.ops.torchvision.roi_align(ones(1, 2, 6, 6), torch.tensor([[0.0, 0, 0, 3, 3]]), float("nan"), 2, 2, 2, False).abs().sum() == 0
    p, lower, upper = A.lu_unpack.out(ones(2, 2), torch.tensor([1, 2], dtype=torch.int32), False, False, P=ones(0), L=ones(0), U=ones(0))
    assert p.numel() == lower.numel() == upper.numel() == 0
    counts = torch.tensor([float("nan"), float("inf"), 3.0])
    assert torch.binomial(counts, torch.ones(3) / 2)[:2].isnan().all()
    assert A._standard_gamma_grad(torch.tensor([-float("inf"), 2.0]), ones(2)).isnan().tolist() == [True, False]


def test_any_number_of_powers_of_nothing():
    assert torch.linalg.vander(torch.ones(2, 0, 1), N=1 << 40).shape == (2, 0, 1, 1 << 40)


def test_statistics_of_no_elements():
    for _ in range(3):
        out, mean, scale = torch.native_layer_norm(torch.ones(2, 0), [0], None, None, 1e-5)
        assert out.shape == (2, 0) and mean.tolist() == [[0], [0]] and scale.isnan().all()


def test_numbers_where_dimensions_are_asked_for():
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        A.unflatten.int(torch.tensor(1.0), -1, [1])
    number = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="at least 3 dimensional"):
        A._scaled_dot_product_attention(number, number, number, None, 0.0, True, True)
    with pytest.raises(RuntimeError, match="samples and channels"):
        A.instance_norm(ones(3), None, None, None, None, True, 0.1, 1e-5, False)
    assert torch.ops.prim.ReductionSizes([], [0], True) == []


def test_factors_of_what_is_no_number():
    nan = float("nan")
    with pytest.raises(RuntimeError, match="ldl_factor"):
        torch.linalg.ldl_factor(torch.tensor([[1.0, nan], [nan, 1.0]]))
    factors, _, info = torch.linalg.ldl_factor_ex(torch.tensor([[nan, 1.0], [1.0, 1.0]]))
    assert factors.shape == (2, 2) and info.item() > 0


def test_composites_that_would_reach_themselves_without_end():
    index = torch.tensor([0.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="the derivative for 'index' is not implemented|Expected dtype int64 for index"):
        A.index_fill.int_Tensor(ones(1), 0, index, torch.tensor(9.0))
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            seen.append(str(f))
            return f(*args, **(kwargs or {}))

    with Mode():
        assert torch.combinations(ones(3)).shape == (3, 2)
    assert seen


def test_powers_of_matrices_take_the_logarithm_of_the_exponent():
    x = (torch.eye(3, dtype=torch.float64) * 0.5 + 0.1).requires_grad_()
    plain = x.detach()
    for n in (1, 2, 3, 5, 6, -3):
        factor = torch.linalg.inv(plain) if n < 0 else plain
        product = factor
        for _ in range(abs(n) - 1):
            product = product @ factor
        assert torch.allclose(torch.linalg.matrix_power(x, n), product)
    least = -(2**63)  # has no opposite: the loop over its bits went on for good
    shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    for y in shear, shear.requires_grad_():
        assert torch.linalg.matrix_power(y, least).tolist() == [[1.0, float(least)], [0.0, 1.0]]
    assert torch.autograd.gradcheck(lambda t: torch.linalg.matrix_power(t, 5), (x,))
    torch.linalg.matrix_power(x, -HUGE)


REPEATED = {
    "less": (lambda: torch.repeat_interleave(ones(2, 3), torch.tensor([2, 3]), 0, output_size=4), "allocated size does not match required size"),
    "one number": (lambda: torch.repeat_interleave(ones(2, 3), 2, 0, output_size=5), "allocated size does not match required size"),
    "negative": (lambda: torch.repeat_interleave(ones(2, 3), torch.tensor([71, 2**30]), 0, output_size=-(2**31)), "negative dimension -2147483648"),
    "counts": (lambda: torch.repeat_interleave(torch.tensor([2, 2**40]), output_size=3), "allocated size does not match required size"),
    "meta": (lambda: torch.repeat_interleave(torch.ones(2, 3, device="meta"), 2, 0), "without output_size"),
}


@pytest.mark.parametrize("name", REPEATED)
def test_sizes_that_contradict_repeats(name):
    call, message = REPEATED[name]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_sizes_of_repeats_on_meta():
    x, counts = torch.ones(2, 3, device="meta"), torch.tensor([1, 2])
    assert torch.repeat_interleave(x, counts.to("meta"), 0, output_size=5).shape == (5, 3)
    assert torch.repeat_interleave(x, counts, 0).shape == (3, 3)
    assert torch.repeat_interleave(counts.to("meta"), output_size=7).device.type == "meta"


@pytest.mark.parametrize("dims", [(-1, 3), (3, -1), (3, 0), (-1, 0)])
def test_dimensions_of_sparse_tensors(dims):
    with pytest.raises(RuntimeError, match="negative|must be sparse_dim"):
        A._sparse_coo_tensor_with_dims(*dims, [2, 2], dtype=torch.float32, layout=torch.sparse_coo)


def test_sizes_of_sparse_tensors_are_checked():
    with pytest.raises(RuntimeError, match="negative dimension"):
        A._sparse_coo_tensor_with_dims(1, 1, [-2, 2], dtype=torch.float32, layout=torch.sparse_coo)


def test_sparse_and_meta_do_not_mix():
    x, y = torch.ones(2, 3, device="meta"), ones(2, 3).to_sparse()
    for call in (lambda: A.sparse_mask(x, y), lambda: y + x, lambda: torch.mm(y, x.T)):
        with pytest.raises(NotImplementedError, match="SparseMeta"):
            call()


DEFORMED = {"bias": {"bias": ones()}, "no points": {"weight": ones(3, 2, 0, 3)}, "dilation": {"dilation": HUGE}, "padding": {"padding": -1}}


@pytest.mark.parametrize("name", DEFORMED)
def test_shapes_of_deformable_convolutions(name):
    a = {"weight": ones(3, 2, 3, 3), "bias": ones(3), "padding": 0, "dilation": 1, **DEFORMED[name]}
    with pytest.raises(RuntimeError, match="bias has 1 elements|no points|integer out of range|not negative"):
        torch.ops.torchvision.deform_conv2d(
            ones(1, 2, 5, 5), a["weight"], ones(1, 18, 3, 3), ones(1, 9, 3, 3), a["bias"], 1, 1, a["padding"], 0, a["dilation"], 1, 1, 1, False
        )


@pytest.mark.parametrize("heads", [0, -2])
def test_numbers_of_heads(heads):
    x, w, b = ones(2, 3, 4), ones(12, 4), ones(12)
    with pytest.raises(RuntimeError, match="num_heads` must be positive"):
        A._native_multi_head_attention(x, x, x, 4, heads, w, b, ones(4, 4), ones(4))


def test_dimensions_of_heads():
    x, w, b, o, c = ones(2, 3, 4), ones(12, 4), ones(12), ones(4, 4), ones(4)
    for arguments, message in (((x, ones(3, 4), x), "3-D `key`"), ((x, x, ones(3, 4)), "3-D `value`")):
        with pytest.raises(RuntimeError, match=message):
            A._native_multi_head_attention(*arguments, 4, 2, w, b, o, c)
    with pytest.raises(RuntimeError, match="qkv_bias"):
        A._native_multi_head_attention(x, x, x, 4, 2, w, ones(5), o, c)


def test_states_of_a_cell_with_gradients():
    b = torch.zeros(20, requires_grad=True)
    with pytest.raises(RuntimeError, match="two hidden states"):
        A.lstm_cell(ones(2, 3), [ones(2, 5)], ones(20, 3), ones(20, 5), b, b)


def test_types_of_sparse_indices():
    with pytest.raises(RuntimeError, match="indices must be an int64 tensor"):
        A._validate_sparse_coo_tensor_args(torch.zeros(1, 3, dtype=torch.int32), ones(3), [3])


def test_windows_that_lie_in_padding_alone():
    values, places = A.max_pool1d_with_indices(ones(2, 4), [2], [1], [1], [5], False)
    assert values.tolist() == [[-float("inf")]] * 2 and places.tolist() == [[4]] * 2
    values, places = torch.nn.functional.max_pool2d(ones(1, 1, 4, 4), 2, 1, 1, 5, return_indices=True)
    assert values.item() == -float("inf") and places.item() == 20


def test_running_extremes_of_quantized_numbers():
    for name in ("cummin", "cummax"):
        with pytest.raises(RuntimeError, match="Could not run 'aten::_cum(min|max)_helper' with arguments from the 'QuantizedCPU' backend"):
            getattr(torch.quantize_per_tensor(ones(4), 0.5, 0, torch.qint32), name)(0)


def test_parts_without_number():
    with pytest.raises(RuntimeError, match="do not fit the memory"):
        A.hsplit.int(torch.zeros(0, 0), 2**62)
    with pytest.raises(RuntimeError, match="crow_indices must have at least one element"):
        A.sparse_csr_tensor(torch.zeros(0, dtype=torch.int64), torch.zeros(3, dtype=torch.int64), ones(3))


def test_tensors_with_elements_are_not_written_by_those_without():
    without = torch.empty(3, device="meta")
    x = ones(3)
    for write in (lambda: x.bernoulli_(without), lambda: x.index_add_(0, torch.arange(3), without)):
        with pytest.raises(NotImplementedError, match="Cannot inplace into non-meta tensor"):
            write()
    for write in (lambda: torch.bernoulli(without, out=x), lambda: torch.cat([without, without], out=x), lambda: torch.sum(without, 0, out=torch.ones(()))):
        with pytest.raises(RuntimeError, match="Expected out tensor to have device meta, but got cpu"):
            write()
    assert x.tolist() == [1, 1, 1]
    assert torch.cat([without, without], out=torch.empty(0, device="meta")).shape == (6,)


def test_memory_that_is_not_there():
    with pytest.raises(NotImplementedError, match="SparseCPU"):
        ones(5).tensor_split(ones(5).long().to_sparse())
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        torch.eye(3).to_sparse().data_ptr()
    assert torch.empty(3, device="meta").data_ptr() == 0


def test_diagonals_of_nothing():
    assert torch.ones(5, 0).expand(5, 0).fill_diagonal_(1, True).shape == (5, 0)


def test_transforms_of_nothing_take_no_memory():
    assert torch.fft.ihfftn(ones(3, 0, 0), [1 << 36]).shape == (3, 0, (1 << 35) + 1)


def test_weights_of_too_few_dimensions():
    with pytest.raises(RuntimeError, match="conv2d"):
        torch.conv2d(ones(1, 2, 5, 6, 1), torch.ones(()), ones(3), padding="same")
    for dilation in ([], [1, 1, 1]):
        with pytest.raises(RuntimeError, match="dilation cannot broadcast to 2 dimensions|expected dilation to be a single integer value or a list of 2"):
            A.conv2d.padding(ones(1, 2, 5, 6), ones(3, 2, 2, 3), ones(3), [1, 1], "same", dilation, 1)


def test_shapes_of_quantized_cells():
    cell = torch.ao.nn.quantized.dynamic.GRUCell(3, 2)
    with pytest.raises(RuntimeError, match="rows of a batch"):
        torch.ops.quantized.quantized_gru_cell_dynamic(ones(2), ones(2), cell._packed_weight_ih, cell._packed_weight_hh, cell.bias_ih, cell.bias_hh)


def test_states_of_quantized_cells():
    cell = torch.ao.nn.quantized.dynamic.LSTMCell(2, 2)
    for states in ([], [ones(1, 2)], [ones(1, 2)] * 3):
        with pytest.raises(RuntimeError, match="expects the two states of a cell"):
            torch.ops.quantized.quantized_lstm_cell_dynamic(ones(1, 2), states, cell._packed_weight_ih, cell._packed_weight_hh, cell.bias_ih, cell.bias_hh)


DISTANCES = """
import resource
import torchjit as torch
x = torch.rand(1200, 300)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert torch.ops.aten._cdist_forward(x, x, 1.0, None).shape == (1200, 1200)
assert torch.pdist(x).shape == (1200 * 1199 // 2,)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_distances_take_no_memory_beyond_their_own():
    """The differences of all coordinates would take 2 GB: in a process of its own, whose most memory nothing else has taken."""
    done = subprocess.run([sys.executable, "-c", DISTANCES], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent.parent, timeout=60)
    assert int(done.stdout) < 500_000, done.stderr


def test_images_without_pixels():
    for convolution, x, shape in ((torch.conv1d, ones(3, 4, 0), r"\[3, 4, 1, 0\]"), (torch.conv2d, ones(3, 4, 0, 3), r"\[3, 4, 0, 3\]")):
        weight = ones(3, 4, *[2] * (x.dim() - 2))
        with pytest.raises(RuntimeError, match=f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}"):
            convolution(x, weight, None, 1, 2)
    with pytest.raises(RuntimeError, match="Only zero batch"):
        torch.conv_transpose1d(ones(3, 4, 0), ones(4, 3, 2))
    assert torch.conv1d(ones(0, 4, 3), ones(3, 4, 2), None, 1, 2).shape == (0, 3, 6)
    assert torch.equal(torch.conv_tbc(ones(0, 3, 4), ones(2, 4, 3), ones(3), 2), ones(3, 3, 3))


def test_numbers_that_are_counted():
    for weights in (None, ones(1)):
        with pytest.raises(RuntimeError, match="maximum value of input overflowed"):
            torch.bincount(torch.tensor([2**63 - 1]), weights)
        with pytest.raises(RuntimeError, match="can't allocate memory|Storage size"):
            torch.bincount(torch.tensor([2**62]), weights)


def test_weights_of_classes():
    for weight in (ones(2), ones(1, 3)):
        with pytest.raises(RuntimeError, match="inconsistent weight size, expected 3"):
            A.multi_margin_loss(ones(3), torch.tensor(1), 1, 1.0, weight)
    assert A.multi_margin_loss(ones(1), torch.tensor(0), 1, 1.0, torch.tensor(1.0)).item() == 0


def test_shifts_of_a_scalar():
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        torch.fft.ifftshift(torch.tensor(1.0), [-1])


def test_shapes_of_sparse_products():
    for b in (ones(1), torch.tensor(1.0), ones(1, 2, 2)):
        with pytest.raises(RuntimeError, match="matrices expected"):
            torch.smm(ones(5, 1).to_sparse(), b)


def test_norms_of_real_numbers_as_complex_ones():
    for p in (0, 1, 2, 3, float("inf")):
        expected = torch.norm(ones(2, 4).double(), p, 1)
        assert torch.equal(A.norm.ScalarOpt_dim_dtype(ones(2, 4), p, [-1], False, dtype=torch.complex128), expected.to(torch.complex128))
    assert A.norm.ScalarOpt_dtype(ones(2, 8), 2, dtype=torch.complex64).item() == 4


def test_an_unknown_reduction_reduces_nothing_whatever_the_layout():
    a, b = torch.ones(2, 3), torch.full((2, 3), 0.25)
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy_with_logits"):
        loss = getattr(torch.ops.aten, name)
        for target in (b, b.t().contiguous().t()):
            given = (a, target, None, None, 8) if name.startswith("binary") else (a, target, 8)
            assert loss(*given).shape == (2, 3), name


def test_gradients_of_embeddings_by_frequency_in_integers():
    for dtype in (torch.int64, torch.int32, torch.bool, torch.float64):
        gradient = torch.tensor([[2, 4], [0, 1], [2, 2]], dtype=dtype)
        found = A.embedding_dense_backward(gradient, torch.tensor([0, 1, 0]), 3, -1, True)
        assert torch.equal(found, torch.tensor([[2, 3], [0, 1], [0, 0]]).to(dtype)), dtype


def test_gradients_of_average_pools_without_sizes():
    x, g = ones(2, 3, 4, 4), ones(2, 3, 2, 2)
    for kernel, stride, padding in ([], [2, 2], [0, 0]), ([2, 2], [2, 2], []), ([2, 2, 2], [2, 2], [0, 0]):
        with pytest.raises(RuntimeError, match="the gradient of avg_pool takes 2 sizes"):
            A.avg_pool2d_backward(g, x, kernel, stride, padding, False, True, None)
    assert A.avg_pool2d_backward(g, x, [2], [], [0], False, True, None).sum() == g.sum()


def test_sizes_along_a_dimension_that_no_tensor_has():
    for dim in (-2, 1, -(2**63)):
        with pytest.raises((RuntimeError, IndexError), match="Dimension out of range"):
            torch.ops.prim.sizes_along([ones(2), ones(3)], dim)
    assert torch.ops.prim.sizes_along([ones(0), ones(3, 4)], -2) == [0, 3]


def test_differences_of_a_huge_order_end():
    x = torch.ones(2, 3, requires_grad=True)
    assert torch.diff(x, 2**40, 1).shape == (2, 0)
    assert torch.diff(x, 2, 1).shape == (2, 1)


def test_sums_of_scalars_that_are_sparse():
    x = torch.sparse_coo_tensor(torch.zeros(0, 3, dtype=torch.long), torch.tensor([1.0, 2.0, 3.0]), ())
    with pytest.raises(RuntimeError, match="no dimensions"):
        torch.sparse.sum(x, [-1])


def test_regions_of_an_image_without_pixels():
    found = torch.ops.torchvision.ps_roi_align(torch.ones(1, 8, 6, 0), torch.zeros(2, 5), 1.0, 2, 2, 2)
    assert not found[0].any()


@pytest.mark.parametrize("differentiable", [False, True])
def test_gammas_of_a_huge_dimension(differentiable):
    with pytest.raises(RuntimeError):
        torch.special.multigammaln(torch.full((4, 1), 2.0**40, requires_grad=differentiable), 2**36)
    x = torch.tensor([3.0, 5.5], requires_grad=differentiable)
    torch.testing.assert_close(torch.special.multigammaln(x, 2), torch.lgamma(x) + torch.lgamma(x - 0.5) + 0.5 * torch.log(torch.tensor(torch.pi)))


@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align"])
def test_regions_of_a_huge_number_of_samples(name):
    arguments = [torch.ones(1, 8, 6, 6), torch.zeros(2, 5), 1.0, 2, 2, 2**61] + [False] * (name == "roi_align")
    with pytest.raises(RuntimeError):
        getattr(torch.ops.torchvision, name)(*arguments)


def test_interpolation_of_too_few_dimensions():
    with pytest.raises(RuntimeError, match="Only 3D, 4D and 5D input Tensors supported .got 1D."):
        getattr(A, "__interpolate")(ones(3), 8, None, "linear", False, True, False)


def test_too_few_weights_of_indices():
    with pytest.raises(RuntimeError, match="as many per_sample_weights as indices, 4, but got 2"):
        A.embedding_bag(ones(3, 5), torch.zeros(1, 4, dtype=torch.int64), torch.zeros(1, dtype=torch.int64), False, 0, False, ones(1, 2), False)


RECURRENT = {
    "gates of a cell": (lambda g: A.gru_cell(g(2, 2), g(2, 2), g(2, 2), g(2, 2), g(2, 2), None), "weights of a recurrent"),
    "no layers": (lambda g: A.gru.input(g(3, 2, 4), g(0, 2, 4), [], False, 0, 0.0, True, False, False), "num_layers is 0"),
    "no packed layers": (lambda g: A.lstm.data(g(3, 4), torch.tensor([2, 1]), [g(0, 2, 4)] * 2, [], False, 0, 0.0, True, False), "num_layers is 0"),
}


@pytest.mark.parametrize("name", RECURRENT)
@pytest.mark.parametrize("gradients", [False, True])
def test_recurrent_operators_without_gates_or_layers(name, gradients):
    call, message = RECURRENT[name]
    with pytest.raises(RuntimeError, match=message):
        call(lambda *shape: torch.ones(shape, requires_grad=gradients))


@pytest.mark.parametrize("f", [torch.minimum, torch.maximum])
def test_numbers_that_are_none_keep_their_bits(f):
    """Whichever machine code runs: rows, broadcast rows, few elements and many have a NaN of the first operand, or else of the second, as it is."""
    for bits in (0x7FC00000, -1, 0x7FC00123):
        nan = torch.tensor([bits] * 1200, dtype=torch.int32).view(torch.float32)
        for x in (nan.view(1, 300, 4), nan.view(1, 600, 2), nan[:8].view(1, 4, 2)):
            y = -torch.ones(2, *x.shape[1:])
            for a, b in ((x, y), (y, x), (x, y * math.nan)):
                assert set(f(a, b).contiguous().view(torch.int32).flatten().tolist()) == {bits}


def test_regions_of_more_bins_than_there_are_numbers():
    with pytest.raises(RuntimeError, match="overflow|allocate|multiple of pooling"):
        torch.ops.torchvision.ps_roi_pool(ones(1, 8, 6, 6), torch.zeros(2, 5), 1.0, 4, HUGE)


def test_quantiles_of_a_matrix_and_of_many_levels():
    for quantile in (torch.quantile, torch.nanquantile):
        with pytest.raises(RuntimeError, match="q must be a scalar or 1D tensor"):
            quantile(torch.ones(3), torch.rand(2, 2))
        with pytest.raises(RuntimeError, match=r"q values must be in the range \[0, 1\]"):
            quantile(torch.ones(3), torch.tensor([2.0]))
    assert torch.nanquantile(torch.tensor(1.0), torch.rand(40000)).sum() == 40000  # was 15 calls of operators for each


def test_sparse_dimensions_below_zero():
    with pytest.raises(RuntimeError, match="cannot have 3 sparse and -1 dense dimensions"):
        torch.ops.aten.sparse_resize_and_clear_(torch.ones(18, 64).to_sparse(), [16, 64], 3, -1)


def test_cross_entropy_of_probabilities_of_a_scalar():
    with pytest.raises(IndexError, match="Dimension specified as 1 but tensor has no dimensions"):
        torch.ops.aten.cross_entropy_loss(torch.tensor(1.0), torch.tensor(0.5), torch.tensor(2.0))


def test_names_of_what_has_no_dimensions():
    flat = torch.tensor(1.0).flatten(0, 0, "x")
    assert flat.names == ("x",) and flat.shape == (1,)
    with pytest.raises(RuntimeError, match="expected a non-empty list of Tensors"):
        torch.cat([], "x")
    with pytest.raises(RuntimeError, match="the place of the other dimensions is 0 to 1, but got 4"):
        torch.ops.aten.align_to.ellipsis_idx(torch.ones(2, names=("x",)), ["x"], 4)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_views_of_quantized_bytes_in_another_type_have_no_scale(dtype):
    q = torch.quantize_per_tensor(torch.linspace(0, 1, 8), 0.1, 0, torch.quint8)
    assert q.view(dtype).clone().view(torch.uint8).tolist() == q.int_repr().tolist()
    assert torch.zeros(q.view(dtype).shape, dtype=dtype).copy_(q.view(dtype)).view(torch.uint8).tolist() == q.int_repr().tolist()


@pytest.mark.parametrize("n, sizes", [(4, [2**62 + 1, 4]), (0, [4] * 32), (6, [2**33, 2**31, 6])], ids=str)
def test_shapes_of_more_elements_than_can_be_counted(n, sizes):
    x = torch.zeros(n)  # as many elements as an integer holds of the product of the sizes
    for view in (x.view, x.reshape, lambda s: x.unflatten(0, s), lambda s: torch.ops.aten._unsafe_view(x, s), lambda s: x.to("meta").view(s)):
        with pytest.raises(RuntimeError, match="overflowed|is invalid for input of size|multiply up"):
            view(sizes)
    with pytest.raises(RuntimeError, match="overflowed"):
        torch.histogramdd(torch.zeros(0, 300), [4] * 300)


def test_views_of_quantized_channels_have_other_channels_than_scales():
    q = torch.quantize_per_channel(torch.arange(12.0).view(2, 6), torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint32).view(6, 2)
    for read in (lambda: q[5], lambda: q[:5], lambda: q.split(2)[2], q.tolist, q.dequantize, lambda: q.narrow(0, 4, 1)):
        with pytest.raises(RuntimeError, match="expected one scale and zero point for each index of dimension 0"):
            read()
    assert q.view(2, 6)[1].dequantize().tolist() == pytest.approx([6.0, 7.0, 8.0, 9.0, 10.0, 11.0])
    with pytest.raises(NotImplementedError, match="adaptive_max_pool3d_backward"):
        torch.ops.aten.adaptive_max_pool3d_backward(q.view(2, 3, 2, 1, 1), torch.zeros(2, 3, 4, 4, 4), torch.zeros(2, 3, 2, 1, 1, dtype=torch.int64))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("factor", [5e-324, 1e-310, 1e-30, float("inf"), float("nan")])
def test_factors_of_resampling_beyond_the_image(dtype, factor):
    x = torch.arange(17).view(1, 1, 17, 1).to(dtype)
    rows = [0, 16, 16] if factor < 1 else [0, 0, 0] if factor == float("inf") else [0, 5, 11]
    assert torch.ops.aten.upsample_nearest2d(x, [3, 1], factor, None).flatten().tolist() == rows
    torch.ops.aten.upsample_nearest3d(x[None].expand(1, 1, 2, 17, 1), [3, 3, 1], factor, factor, factor)
    torch.ops.aten._upsample_nearest_exact2d(x, [3, 1], factor, None)
    if dtype != torch.uint8:
        for f in (torch.ops.aten.upsample_bilinear2d, torch.ops.aten.upsample_bicubic2d, torch.ops.aten._upsample_bilinear2d_aa, torch.ops.aten._upsample_bicubic2d_aa):
            assert f(x, [3, 1], False, factor, None).shape == (1, 1, 3, 1)
        g = torch.ops.aten.upsample_nearest2d_backward(torch.ones(1, 1, 3, 1, dtype=dtype), [3, 1], [1, 1, 17, 1], factor, None)
        assert g.sum() == 3


def test_exchanges_of_rows_are_integers_of_32_bits_for_each_matrix():
    """A gradient that went through exchanges of floats was made of itself without end."""
    matrices, exchanges = torch.eye(2).expand(3, 2, 2), torch.ones(3, 2, dtype=torch.int32)
    for wrong in (torch.ones(3, 2, requires_grad=True), torch.ones(3, 2, dtype=torch.int64)):
        with pytest.raises(RuntimeError, match="LU_pivots is expected to be a contiguous tensor of torch.int32 dtype"):
            torch.lu_unpack(matrices, wrong)
        with pytest.raises(RuntimeError, match="pivots should be a Tensor of scalar type torch.int32"):
            torch.linalg.lu_solve(matrices, wrong, torch.ones(2, 1))
    for wrong in (exchanges[:1], exchanges[0], exchanges[:, :1]):
        with pytest.raises(RuntimeError, match=r"Expected LU_pivots to have shape \[3, 2\] but got"):
            torch.lu_unpack(matrices, wrong)
        with pytest.raises(RuntimeError, match="Number of pivots per batch|Expected LU.shape\\[:-1\\] and pivots.shape to be the same"):
            torch.linalg.lu_solve(matrices, wrong, torch.ones(2, 1))
    with pytest.raises(RuntimeError, match="Expected LU and B to have the same dtype"):
        torch.linalg.lu_solve(matrices, exchanges, torch.ones(2, 1, dtype=torch.float64))
    assert torch.lu_unpack(matrices.long(), exchanges)[0].tolist() == [[[0, 1], [1, 0]]] * 3
