"""Tensors in Python: making, indexing, operators, NumPy, memory."""

import copy
import gc
import pickle

import numpy as np
import pytest

import torchjit as torch

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        (1, "int64", ()),
        (True, "bool", ()),
        (2.5, "float32", ()),
        (1j, "complex64", ()),
        ([1, 2], "int64", (2,)),
        ([[1, 2.0], [3, 4]], "float32", (2, 2)),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        ([True, 2], "int64", (2,)),
        (np.arange(6, dtype=np.int16).reshape(2, 3), "int16", (2, 3)),
        ([np.float32(1.5), np.int64(2)], "float32", (2,)),
    ],
)
def test_tensor_of_data(data, dtype, shape):
    x = torch.tensor(data)
    assert str(x.dtype) == "torch." + dtype
    assert x.shape == shape and isinstance(x.shape, torch.Size)
    assert np.array_equal(x.numpy(), np.asarray(data, dtype=dtype))


@pytest.mark.parametrize(
    "data, error, text",
    [
        ([[1], [2, 3]], ValueError, "expected sequence of length 1 at dim 1 .got 2."),
        ("text", TypeError, "invalid data type 'str'"),
        ([1, [2]], TypeError, "expected a number"),
        ([None], RuntimeError, "Could not infer dtype of NoneType"),
    ],
)
def test_bad_data(data, error, text):
    with pytest.raises(error, match=text):
        torch.tensor(data)


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_shares_memory_both_ways(name):
    a = np.arange(6).reshape(2, 3).astype(name)
    x = torch.from_numpy(a)
    assert x.dtype is getattr(torch, name)
    b = x.numpy()
    assert b.dtype == a.dtype and np.array_equal(a, b)
    b[0, 1] = 7
    assert a[0, 1] == b[0, 1]
    assert np.array_equal(torch.from_numpy(a[:, ::2].T).numpy(), a[:, ::2].T)


def test_an_array_outlives_its_tensor():
    a = torch.arange(1000.0).numpy()
    x = torch.from_numpy(np.arange(1000.0))
    gc.collect()
    torch._native.collect()
    assert a.sum() == x.sum().item() == 499500


def test_arrays_that_cannot_be_shared():
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="ndarray"):
        torch.from_numpy([1, 2])
    with pytest.raises(TypeError, match="can't convert"):
        torch.from_numpy(np.array(["a"]))


@pytest.mark.parametrize("name", DTYPES)
def test_dlpack_shares_memory_both_ways(name):
    a = np.arange(6).reshape(2, 3).astype(name)
    x = torch.from_dlpack(a)
    assert x.dtype is getattr(torch, name)
    a[0, 0] = 1
    b = np.from_dlpack(x.t())
    assert np.array_equal(b, a.T)
    b = np.from_dlpack(torch.from_numpy(a))
    a[1, 1] = 0
    assert np.array_equal(b, a)


def test_a_capsule_serves_once():
    capsule = torch.ones(2).__dlpack__()
    assert torch.from_dlpack(capsule).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="consumed only once"):
        torch.from_dlpack(capsule)
    torch.ones(2).__dlpack__()


INDICES = [0, -1, slice(None), slice(1, None), slice(None, None, 2), (0, 1), (slice(None), 1), (Ellipsis, 0), None, (None, 0, None),
           (slice(None), slice(1, 3)), [0, 1], ([0, 1], [1, 0]), (slice(None), [2, 0])]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_index_as_numpy_does(index):
    a = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(torch.from_numpy(a)[index].numpy(), a[index])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assign_as_numpy_does(index):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = torch.tensor(a)
    x[index] = -1.0
    a[index] = -1.0
    assert np.array_equal(x.numpy(), a)


def test_masks():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert x[x > 1].tolist() == [2.0, 3.0]
    x[x > 2] = 0
    assert x.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize(
    "index, error", [(3, IndexError), ((0, 0), IndexError), ("a", TypeError), (slice(None, None, -1), ValueError)]
)
def test_bad_index(index, error):
    with pytest.raises(error):
        torch.ones(3)[index]


@pytest.mark.parametrize(
    "text",
    [
        "x + y",
        "x - 2",
        "2 - x",
        "x * y",
        "3 / y",
        "x // 2",
        "x % 2",
        "x ** 2",
        "2 ** x",
        "-x",
        "abs(-x)",
        "x > y",
        "x == 2",
        "x != y",
        "x @ y",
    ],
)
def test_arithmetic_as_numpy_does(text):
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 1.0], [2.0, 2.0]])
    got = eval(text, {"x": torch.from_numpy(a), "y": torch.from_numpy(b)})
    assert np.allclose(got.numpy(), eval(text, {"x": a, "y": b}))


def test_in_place_operators_return_the_same_object():
    x = torch.ones(2)
    y = x
    y += 1
    assert y is x and x.tolist() == [2.0, 2.0]
    assert x.mul_(2) is x


def test_an_unknown_operand_gets_its_turn():
    class Other:
        def __radd__(self, x):
            return "added"

    assert torch.ones(1) + Other() == "added"
    with pytest.raises(TypeError):
        torch.ones(1) + "a"


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.view(3, 2),
        lambda x: x.view((3, 2)),
        lambda x: x.reshape(-1, 2),
        lambda x: x.sum(dim=0, keepdim=True),
        lambda x: x.sum([0, 1]),
        lambda x: x.sum(1),
        lambda x: torch.add(x, x, alpha=2),
        lambda x: torch.sum(input=x, axis=1),
        lambda x: x.permute(1, 0),
        lambda x: torch.zeros(2, 3, dtype=torch.int32),
        lambda x: torch.full((2,), 3.5),
        lambda x: torch.cat([x, x], dim=1),
        lambda x: x.max(dim=1).values,
        lambda x: torch.ops.aten.relu(x),
    ],
)
def test_forms_of_calls(call):
    assert isinstance(call(torch.arange(6.0).reshape(2, 3)), torch.Tensor)


def test_out_arguments():
    x, out = torch.ones(2), torch.empty(2)
    assert torch.add(x, 2, out=out) is out and out.tolist() == [3.0, 3.0]


def test_named_results():
    result = torch.tensor([3.0, 5.0]).max(0)
    assert result.values.item() == 5.0 and result.indices.item() == 1
    assert type(result).__name__ == "max" and "torch.return_types.max" in repr(result)


def test_a_call_that_fits_no_overload():
    with pytest.raises(TypeError, match=r"sum\(\): argument 'input' \(position 1\) must be Tensor, not str"):
        torch.sum("a")
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'nothing'"):
        torch.nothing(1)


def test_python_protocols():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2 and [r.tolist() for r in x] == [[1.0, 2.0], [3.0, 4.0]]
    assert bool(torch.tensor(1)) and int(torch.tensor(3)) == 3 and float(torch.tensor(2.5)) == 2.5
    assert 3.0 in x and [1, 2, 3][torch.tensor(1)] == 2 and f"{torch.tensor(1.5):.2f}" == "1.50"
    assert hash(x) == id(x)
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="0-d"):
        len(torch.tensor(1))


def test_copies_and_pickles():
    x = torch.arange(4).reshape(2, 2)
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert made.tolist() == x.tolist() and made.dtype is x.dtype


def test_conversions():
    x = torch.tensor([1.7, -2.2])
    assert x.to(torch.int64).tolist() == [1, -2] == x.long().tolist()
    assert x.double().dtype is torch.float64 and x.to("cpu") is x and x.half().dtype is torch.float16
    assert x.type() == "torch.FloatTensor"
    with pytest.raises(TypeError, match="invalid combination"):
        x.to([])


def test_random_streams_are_repeatable():
    torch.manual_seed(3)
    a = torch.rand(4).tolist()
    torch.manual_seed(3)
    assert torch.rand(4).tolist() == a
    g = torch.Generator().manual_seed(3)
    assert torch.rand(4, generator=g).tolist() == a


def test_dtypes_devices_and_limits():
    assert repr(torch.float) == "torch.float32" and torch.float is torch.float32 and torch.long is torch.int64
    assert torch.device("cuda", 1) == torch.device("cuda:1") and str(torch.device("cpu")) == "cpu"
    assert repr(torch.device("cuda:1")) == "device(type='cuda', index=1)"
    assert torch.finfo(torch.float32).eps == float(np.finfo(np.float32).eps) and torch.iinfo(torch.int8).min == -128
    assert torch.promote_types(torch.int32, torch.float16) is torch.float16
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        torch.device("nothing")


def test_settings_that_old_programs_make():
    data = bytearray(range(16))
    shown = torch.frombuffer(data, dtype=torch.int32, offset=4, count=2)
    assert shown.tolist() == [0x07060504, 0x0B0A0908]
    data[4] = 0
    assert shown[0] == 0x07060500
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(data, dtype=torch.int32, offset=1)
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 2
    torch.use_deterministic_algorithms(False)
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert torch.ones(1).dtype == torch.float64
    torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor" and torch.typename(3) == "int"


def test_operands_that_lie_across_the_result():
    for dtype in (torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.complex64, torch.complex128):
        a = (torch.arange(160 * 170) % 101).reshape(160, 170).to(dtype)
        b = (torch.arange(160 * 170) % 97).reshape(170, 160).to(dtype)
        for x, y in ((a.t(), b), (b, a.t()), (a.t()[:, 3:], b[:, 3:]), (a.view(4, 40, 170).permute(2, 0, 1), b.view(170, 4, 40))):
            made, want = torch.mul(x, y), torch.mul(x.contiguous(), y.contiguous())
            assert torch.equal(made, want) and made.shape == want.shape
            out = torch.empty(x.shape, dtype=dtype)
            assert torch.equal(torch.mul(x, y, out=out), want) and out.is_contiguous()
        in_place = b.clone()
        assert torch.equal(in_place.mul_(a.t()), b * a.t().contiguous())
    assert (a.t() * b).stride() == a.t().stride()


OUTS = {
    "ones": lambda t, **o: torch.ones(4, 6, **o), "full": lambda t, **o: torch.full((4, 6), 2.5, **o), "eye": lambda t, **o: torch.eye(4, 6, **o),
    "cat": lambda t, **o: torch.cat([t[:3], t[:1]], **o), "stack": lambda t, **o: torch.stack([t[0], t[2], t[1], t[0]], **o),
    "index_select": lambda t, **o: torch.index_select(t, 0, torch.tensor([2, 0, 0, 1]), **o),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTS)
def test_results_are_written_into_a_tensor_of_any_layout(name):
    t = torch.arange(24.0).view(4, 6)
    want = OUTS[name](t)
    outs = [torch.empty(4, 6), torch.empty(6, 4).t(), torch.empty(4, 12)[:, ::2], torch.empty(0)]
    double = torch.zeros(4, 6, dtype=torch.float64)
    if name == "index_select":
        with pytest.raises(RuntimeError, match="self and result must have the same scalar type"):
            OUTS[name](t, out=double)
        assert double._version == 0 and not double.any()
    else:
        outs.append(double)
    for out in outs:
        version = out._version
        assert OUTS[name](t, out=out) is out
        assert out.tolist() == want.tolist() and out._version > version
    if name == "stack":
        assert OUTS[name](t, out=t).tolist() == want.tolist()


def test_a_wrong_index_leaves_out_as_it_was():
    out = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="out of DATA bounds"):
        torch.index_select(torch.ones(2, 3), 0, torch.tensor([0, 2]), out=out)
    assert out.tolist() == [[0, 0, 0], [0, 0, 0]]
