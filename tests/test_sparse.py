"""Sparse tensors where PyTorch 1.13.1 on the CPU has no answer, or where files are hostile; the rest is in answers/sparse.txt."""

import gc
import io
import zipfile

import pytest

import torchjit as torch
from torchjit import nn

LAYOUTS = ("coo", "csr", "csc", "bsr", "bsc")


def of_layout(dense, layout):
    return dense.to_sparse() if layout == "coo" else getattr(dense, f"to_sparse_{layout}")(*([(2, 2)] if layout.startswith("bs") else []))


@pytest.fixture
def dense():
    return torch.tensor([[0.0, 2, 0, 1], [3, 0, 0, 4], [0, 0, 0, 0], [5, 0, 6, 0]])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_agree_with_elements(dense, layout):
    x = of_layout(dense, layout)
    assert x.layout is getattr(torch, f"sparse_{layout}") and torch.equal(x.to_dense(), dense)
    for made, expected in (
        (x + x, dense + dense), (x - x * 0.5, dense * 0.5), (x * x, dense * dense), (x / 2, dense / 2), (-x, -dense), (x.sqrt(), dense.sqrt()),
        (x @ dense, dense @ dense), (x.mv(dense[0]), dense.mv(dense[0])), (x @ x, dense @ dense), (x.t(), dense.t()), (dense + x, dense + dense),
        (x * dense, dense * dense), (torch.sparse.mm(x, dense.t()), dense @ dense.t()), (x.double(), dense.double()), (x.clone(), dense),
    ):  # fmt: skip
        assert torch.allclose(made.to_dense(), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_become_each_other(dense, layout):
    for other in LAYOUTS[1:]:
        if layout != "coo" or not other.startswith("bs"):
            assert torch.equal(of_layout(of_layout(dense, layout), other).to_dense(), dense)


def test_parts_outlive_what_they_were_made_of():
    indices, values = torch.arange(100_000).view(1, -1), torch.arange(100_000.0)
    made = [torch.sparse_coo_tensor(indices.clone(), values.clone(), (100_000,)), values.clone().to_sparse()]
    csr = torch.sparse_csr_tensor(torch.tensor([0, 100_000]), torch.arange(100_000), values.clone(), (1, 100_000))
    gc.collect()
    others = [torch.full((100_000,), 7.0) for _ in range(20)]
    assert all(torch.equal(x.to_dense(), values) for x in made) and torch.equal(csr.to_dense()[0], values) and len(others) == 20


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("s", torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4, 5], (2, 4)))
        self.register_buffer("c", torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4, 5], (2, 4)))

    def forward(self, x):
        return self.s @ x + self.c @ x


def with_record(data, old, new):
    """An archive whose record of some bytes has others."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as after:
        changed = 0
        for name in before.namelist():
            content = before.read(name)
            changed += content == old
            after.writestr(name, new if content == old else content)
    assert changed == 1
    made.seek(0)
    return made


def bytes_of(numbers):
    return b"".join(n.to_bytes(8, "little", signed=True) for n in numbers)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ([0, 1, 1, 2, 0, 2], [0, 1, 1, 2, 0, 4], "size is inconsistent with indices: for dim 1, size is 4 but found index 4"),
        ([0, 1, 1, 2, 0, 2], [0, -1, 1, 2, 0, 2], "found negative index -1 for dim 0"),
        ([0, 1, 3], [0, 9, 3], "0 <= crow_indices"),
        ([2, 0, 2], [2, 0, 1 << 40], "0 <= col_indices < ncols"),
    ],
)
def test_archives_with_indices_outside_are_refused(old, new, message):
    for save, load, what in ((torch.jit.save, torch.jit.load, torch.jit.script(Holder())), (torch.save, torch.load, Holder().state_dict())):
        data = io.BytesIO()
        save(what, data)
        with pytest.raises(RuntimeError, match=message):
            load(with_record(data.getvalue(), bytes_of(old), bytes_of(new)))


def test_other_compressed_layouts_stay_out_of_archives():
    class Columns(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("s", torch.eye(2).to_sparse_csc())

        def forward(self):
            return self.s.to_dense()

    m = torch.jit.script(Columns())
    assert torch.equal(m(), torch.eye(2))
    with pytest.raises(RuntimeError, match="Cannot serialize a tensor in the layout sparse_csc"):
        torch.jit.save(m, io.BytesIO())


def test_constants_of_traces():
    s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3], (2, 2))
    t = torch.jit.trace(lambda x: torch.mm(s, x), torch.eye(2))
    data = io.BytesIO()
    torch.jit.save(t, data)
    data.seek(0)
    assert torch.equal(torch.jit.load(data)(torch.eye(2)), s.to_dense()) and torch.equal(t(torch.eye(2)), s.to_dense())


def test_programs_fuse_around_sparse_tensors():
    @torch.jit.script
    def f(x):
        y = x * 2
        return y * y + y

    x = torch.eye(3).to_sparse()
    for _ in range(3):
        assert torch.equal(f(x).to_dense(), 6 * torch.eye(3)) and torch.equal(f(torch.eye(3)), 6 * torch.eye(3))


def test_huge_shapes_need_no_memory():
    x = torch.sparse_coo_tensor([[0, 10**9], [10**8, 1]], [1.0, 2], (10**10, 10**8 + 1)).requires_grad_()
    (torch.sparse.sum(x * x + x, 1) * 3).coalesce().values().sum().backward()
    assert x.grad.coalesce().values().tolist() == [9.0, 15.0] and x.t().shape == (10**8 + 1, 10**10)


def test_memory_is_not_lent():
    x = torch.eye(2).to_sparse()
    for read in (memoryview, lambda x: x.data_ptr(), lambda x: x.numpy(), lambda x: x.tolist(), lambda x: x.storage(), lambda x: x.__dlpack__()):
        with pytest.raises((RuntimeError, TypeError)):
            read(x)
