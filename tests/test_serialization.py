"""torch.save and torch.load. data/saved_*.pt were written by PyTorch 1.13.1 from what `saved` makes."""

import collections
import io
import os
import pathlib
import pickle
import zipfile

import pytest

import torchjit as torch
from torchjit import nn

DATA = pathlib.Path(__file__).resolve().parent / "data"


def saved():
    torch.manual_seed(0)
    base = torch.arange(10.0)
    return {
        "a": base[2:5], "b": base.view(2, 5).t(), "h": torch.ones(2, dtype=torch.bfloat16), "i": torch.tensor(3), "e": torch.empty(0, 3),
        "p": nn.Parameter(torch.ones(2)), "size": torch.Size([1, 2]), "dt": torch.int64, "dev": torch.device("cpu"),
        "od": collections.OrderedDict(x=1), "t": (1, 2.5, "s", None, True, [1j]), "bool": torch.tensor([True, False]),
        "c": torch.ones(1, dtype=torch.complex64), "sd": nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).state_dict(), "set": {1, 2},
    }  # fmt: skip


def same(x, y):
    if isinstance(x, torch.Tensor):
        return x.dtype == y.dtype and x.shape == y.shape and x.stride() == y.stride() and bool((x == y).all())
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[k], y[k]) for k in x)
    return x == y and type(x) is type(y)


def written(obj):
    buffer = io.BytesIO()
    torch.save(obj, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("source", ["saved_state.pt", "saved_legacy.pt", None])
def test_everything_comes_back(source):
    found = torch.load(DATA / source) if source else torch.load(io.BytesIO(written(saved())))
    expected = saved()
    assert list(found) == list(expected) and [k for k in expected if not same(expected[k], found[k])] == []
    assert isinstance(found["p"], nn.Parameter) and found["p"].requires_grad
    found["a"][0] = 100
    assert found["b"][2, 0] == 100  # they share their memory


def test_modules():
    module = torch.load(DATA / "saved_module.pt")
    assert module[0](torch.ones(1, 1, 3, 3)).shape == (1, 2, 1, 1) and isinstance(module[2], nn.LSTM)
    again = torch.load(io.BytesIO(written(module)))
    assert same(dict(again.state_dict()), dict(module.state_dict()))


def test_equal_objects_give_equal_bytes():
    assert written(saved()) == written(saved())


def test_a_file_is_replaced_when_all_is_written(tmp_path):
    path = tmp_path / "state.pt"
    torch.save({"x": torch.ones(2)}, path)

    class Bad:
        def __reduce__(self):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        torch.save(Bad(), path)
    assert torch.load(path)["x"].tolist() == [1.0, 1.0] and os.listdir(tmp_path) == ["state.pt"]


class Mine:
    pass


def test_files_call_nothing_that_is_not_known(tmp_path):
    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    data = written([Attack()])
    with pytest.raises(pickle.UnpicklingError, match=r"the file asks for (posix|nt)\.mkdir, which loading does not call"):
        torch.load(io.BytesIO(data))
    assert not (tmp_path / "made").exists()
    data = written(Mine())
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        torch.load(io.BytesIO(data))
    assert isinstance(torch.load(io.BytesIO(data), weights_only=False), Mine)
    torch.serialization.add_safe_globals([Mine])
    assert isinstance(torch.load(io.BytesIO(data)), Mine)


def test_damaged_files():
    data = written({"x": torch.arange(100.0)})
    for n in range(0, len(data) - 1, 37):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError, ValueError)):
            torch.load(io.BytesIO(data[:n]))
    short = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(short, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name)[:-4] if name.endswith("data/0") else old.read(name))
    with pytest.raises(RuntimeError, match="data/0 has 396 bytes, but 100 elements of torch.float32 need 400"):
        torch.load(io.BytesIO(short.getvalue()))


def test_views_outside_of_their_memory_are_refused():
    data = written(torch.arange(4.0))
    wide = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(wide, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"K\x00K\x04\x85", b"K\x00K\x64\x85") if name.endswith("data.pkl") else content)
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        torch.load(io.BytesIO(wide.getvalue()))


def test_storages_and_typed_constructors():
    x = torch.arange(6.0).view(2, 3)
    storage = x[1].storage()
    assert len(storage) == 6 and storage.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and storage.nbytes() == 24
    storage[5] = 50
    assert x[1, 2] == 50 and storage.data_ptr() == x.data_ptr()
    assert torch.FloatTensor([1, 2]).dtype == torch.float32 and torch.LongTensor(2, 3).shape == (2, 3)
    assert isinstance(torch.ones(1, dtype=torch.bool), torch.BoolTensor) and not isinstance(x, torch.LongTensor)
