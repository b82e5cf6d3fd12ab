# ruff: noqa: UP006, UP007, UP035, UP045
"""torch.jit.save: what is saved loads again and is the same program with the same values."""

import enum
import io
import lzma
import os
import pathlib
import subprocess
import sys
import zipfile
from typing import Dict, Final, List, NamedTuple, Optional, Tuple

import pytest

import torchjit as torch
from torchjit import nn

DTYPES = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
    torch.float64, torch.bool, torch.complex64, torch.complex128,
)  # fmt: skip


class Pair(NamedTuple):
    a: int
    b: torch.Tensor


class Color(enum.Enum):
    RED = 1
    GREEN = 2


@torch.jit.script
class Counter:
    def __init__(self, x: int):
        self.x = x
        self.seen: List[int] = []

    def add(self, v: int) -> int:
        self.seen.append(v)
        return self.x + v


def helper(x: torch.Tensor, by: int = 5) -> torch.Tensor:
    return x + torch.tensor(by)


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        pass


class Model(nn.Module):
    k: Final[int]
    counts: Dict[str, int]
    nothing: Optional[torch.Tensor]
    layer: Layer

    def __init__(self):
        super().__init__()
        self.k = 7
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
        self.more = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.layer = nn.Linear(2, 2)
        self.counts = {"a": 1}
        self.nothing = None
        self.ints, self.floats, self.bools, self.texts = [1, 1 << 40], [1.5], [True], ["a", "ünï"]
        self.tensors = [torch.ones(2)]
        self.mixed = (1, "x", 2.5)
        self.number = 1 + 2j
        self.color = Color.RED
        base = torch.arange(10)
        self.register_buffer("part", base[2:5])
        self.register_buffer("turned", base.view(2, 5).t())
        for i, dtype in enumerate(DTYPES):
            self.register_buffer(f"typed{i}", torch.ones(3).to(dtype))

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, Pair]:
        counter = Counter(3)
        y = self.layers(x) + counter.add(4) + self.k + self.layer.forward(x)
        for m in self.more:
            y = m(y)
        if "ü" in self.texts[1]:
            y = y + 1
        if self.color == Color.RED:
            y = helper(y)
        return y, Pair(1, y)

    @torch.jit.export
    def count(self, n: int) -> Dict[str, int]:
        self.counts["n"] = n
        return self.counts


def again(m, **options):
    return torch.jit.load(io.BytesIO(m.save_to_buffer(**options)))


@pytest.fixture(scope="module")
def model():
    return torch.jit.script(Model())


def test_a_module_is_the_same_after_saving(model):
    x = torch.ones(4, 2)
    model.count(3)
    loaded = again(again(model))
    assert torch.equal(loaded(x)[0], model(x)[0])
    assert loaded(x)[1].a == 1
    assert loaded.count(4) == {"a": 1, "n": 4}
    for name in ("ints", "floats", "bools", "texts", "mixed", "number", "nothing"):
        assert getattr(loaded, name) == getattr(model, name), name
    assert torch.equal(loaded.tensors[0], torch.ones(2))
    assert [n for n, _ in loaded.named_parameters()] == [n for n, _ in model.named_parameters()]
    assert all(p.requires_grad for p in loaded.parameters())


def test_tensors_keep_their_types_strides_and_sharing(model):
    loaded = again(model)
    for i, dtype in enumerate(DTYPES):
        t = getattr(loaded, f"typed{i}")
        assert t.dtype == dtype
        assert torch.equal(t, getattr(model, f"typed{i}"))
    assert loaded.turned.stride() == (1, 5)
    loaded.part[0] = 100
    assert loaded.turned[2, 0].item() == 100


@pytest.mark.parametrize("training", [True, False])
def test_the_mode_is_saved(training):
    m = torch.jit.script(nn.Dropout(0.5)).train(training)
    assert again(m).training is training


def test_a_function_becomes_a_module_with_forward():
    f = torch.jit.script(helper)
    loaded = again(f)
    assert torch.equal(loaded(torch.ones(2)), torch.full((2,), 6.0))
    assert torch.equal(loaded(torch.ones(2), 1), torch.full((2,), 2.0))


def test_constants_are_saved():
    table = torch.arange(6).reshape(2, 3)
    traced = torch.jit.trace(lambda x: x + table, torch.ones(3))
    assert torch.equal(again(traced)(torch.zeros(3)), table.float())


def test_paths_files_and_extra_files(tmp_path, model):
    extra = {"a.txt": "text", "folder/b": b"\0\1"}
    torch.jit.save(model, tmp_path / "m.pt", _extra_files=extra)
    with open(tmp_path / "n.pt", "wb") as f:
        torch.jit.save(model, f)
    assert sorted(os.listdir(tmp_path)) == ["m.pt", "n.pt"]
    wanted = {"a.txt": "", "folder/b": ""}
    torch.jit.load(str(tmp_path / "m.pt"), _extra_files=wanted)
    assert wanted == {"a.txt": b"text", "folder/b": b"\0\1"}
    torch.jit.load(str(tmp_path / "n.pt"))


def test_records_but_code_are_stored_as_they_are_and_all_are_aligned(tmp_path, model):
    path = tmp_path / "m.pt"
    model.save(path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        for info in z.infolist():
            is_code = "/code/" in info.filename and info.file_size > 200
            assert info.compress_type == (zipfile.ZIP_DEFLATED if is_code else zipfile.ZIP_STORED)
            at = info.header_offset
            name, extra = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (26, 28))
            assert (at + 30 + name + extra) % 64 == 0, info.filename


class CallsPython(nn.Module):
    @torch.jit.ignore
    def outside(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outside(x)


def test_a_failure_keeps_the_file(tmp_path, model):
    path = tmp_path / "m.pt"
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="Could not export Python function call 'outside'"):
        torch.jit.script(CallsPython()).save(path)
    with pytest.raises(RuntimeError, match="cannot be the name of an extra file"):
        model.save(path, _extra_files={"../x": b""})
    with pytest.raises(TypeError, match="extra file 'x' must be str or bytes"):
        model.save(path, _extra_files={"x": 1})
    with pytest.raises(RuntimeError, match="cannot be written"):
        model.save(tmp_path / "missing" / "m.pt")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.pt"]


def test_a_loaded_file_can_be_replaced_by_itself(tmp_path, model):
    path = tmp_path / "m.pt"
    model.save(path)
    x = torch.ones(1, 2)
    loaded = torch.jit.load(str(path))
    loaded.save(path)
    assert torch.equal(loaded(x)[0], torch.jit.load(str(path))(x)[0])


def test_an_error_after_loading_points_at_the_program(tmp_path):
    class Product(nn.Module):
        def forward(self, x, y):
            if x.dim() == 2:
                x = x + 1
            return torch.mm(x, y)

    torch.jit.script(Product()).save(tmp_path / "m.pt")
    with pytest.raises(RuntimeError) as caught:
        torch.jit.load(tmp_path / "m.pt")(torch.ones(2, 3), torch.ones(2, 3))
    text = str(caught.value)
    assert "Traceback of TorchScript, serialized code (most recent call last):\n  File \"code/__torch__" in text
    assert "Traceback of TorchScript, original code (most recent call last):\n  File \"" + __file__ in text
    assert "            return torch.mm(x, y)\n                   ~~~~~~~~ <--- HERE" in text


def test_a_report_on_an_archive(tmp_path):
    model = torch.jit.script(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    torch.jit.save(model, tmp_path / "m.pt", _extra_files={"note": "x"})
    report = torch.jit.inspect(tmp_path / "m.pt")
    assert report.ok and report.version == 3 and report.module.endswith("container.Sequential") and report.extra == ("note",)
    assert [(t.name, t.dtype, t.shape) for t in report.tensors] == [("0.weight", "float32", (3, 2)), ("0.bias", "float32", (3,))]
    assert "aten::linear" in report.operators and any(n.endswith("Sequential.forward") for n in report.methods)

    data = bytearray((tmp_path / "m.pt").read_bytes())
    data[data.index(b"training") : data.index(b"training") + 8] = b"drawning"  # in data.pkl, which is stored as it is
    report = torch.jit.inspect(io.BytesIO(data))
    assert not report.ok and report.problems[0].startswith("data.pkl") and "checksum" in report.problems[0]
    with pytest.raises(RuntimeError, match="not a ZIP archive"):
        torch.jit.inspect(io.BytesIO(b"text"))


def test_equal_modules_give_equal_bytes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2, bias=False)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def made():
        net = Net()
        for p in net.parameters():
            nn.init.constant_(p, 0.5)
        return net

    scripts = [torch.jit.script(made()), torch.jit.script(made())]
    assert scripts[0].save_to_buffer() == scripts[1].save_to_buffer()
    traces = [torch.jit.trace(made(), torch.ones(1, 2)) for _ in range(2)]
    assert str(traces[0].graph) != str(traces[1].graph)  # the classes have other names
    assert traces[0].save_to_buffer() == traces[1].save_to_buffer()
    again = torch.jit.load(io.BytesIO(scripts[0].save_to_buffer()))
    assert again.save_to_buffer() == scripts[0].save_to_buffer()


def test_progress_of_a_large_archive(tmp_path):
    model = torch.jit.script(nn.Linear(2000, 1500))
    told = []
    torch.jit.save(model, tmp_path / "m.pt", progress=lambda done, total: told.append((done, total)))
    assert len(told) == 2 and told == sorted(told) and told[-1][0] <= told[-1][1]

    def stop(done, total):
        raise KeyboardInterrupt

    before = (tmp_path / "m.pt").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        torch.jit.save(model, tmp_path / "m.pt", progress=stop)
    assert (tmp_path / "m.pt").read_bytes() == before and os.listdir(tmp_path) == ["m.pt"]


KILLED = """
import sys
import torchjit as torch
model = torch.jit.script(torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]))
torch.jit.save(model, sys.argv[1])
print("saved", flush=True)
while True:
    torch.jit.save(model, sys.argv[1], progress=lambda done, total: print(done, flush=True))
    print("saved", flush=True)
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    file = tmp_path / "m.pt"
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for i in range(int(os.environ.get("TORCHJIT_KILLS", "2"))):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, file], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": root}
        )
        assert process.stdout.readline() == b"saved\n"
        for _ in range(i % 10):  # it ends while it writes, or between two files
            process.stdout.readline()
        process.kill()
        process.communicate()
        assert torch.jit.inspect(file).ok


def test_where_archives_are_loaded_from(tmp_path):
    file = tmp_path / "m.pt"
    model = torch.jit.script(nn.Linear(2, 1))
    model.save(file, _extra_files={"a": "text"})
    for source in (file, str(file), file.read_bytes(), io.BytesIO(file.read_bytes()), memoryview(file.read_bytes())):
        extra = {"a": "", "b": "kept"}
        loaded = torch.jit.load(source, map_location=torch.device("cpu"), _extra_files=extra)
        assert loaded.weight.tolist() == model.weight.tolist() and extra == {"a": b"text", "b": b""}
    with pytest.raises(ValueError, match="map_location should be either None, string or torch.device, but got type: <class 'int'>"):
        torch.jit.load(file, map_location=1)
    with pytest.raises(RuntimeError, match="on a CUDA device"):
        torch.jit.load(file, "cuda:0")
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(tmp_path / "none.pt")


def test_tensors_quantized_by_channel(tmp_path):
    class Held(nn.Module):
        def __init__(self):
            super().__init__()
            scales, zeros = torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([1, 2])
            self.q = torch.quantize_per_channel(torch.arange(6.0).view(2, 3), scales, zeros, 0, torch.qint8)

        def forward(self):
            return self.q.dequantize(), self.q.int_repr()

    model = torch.jit.script(Held())
    model.save(tmp_path / "m.pt")
    for a, b in zip(torch.jit.load(tmp_path / "m.pt")(), model(), strict=True):
        assert a.tolist() == b.tolist()


# Quantized and saved by PyTorch 1.13.1, with an input x and its answer y. cnn: a convolution with relu, one in groups, a sum, pooling, a linear layer;
# rnn: an LSTM of two layers in both directions, a GRU and a linear layer, all quantized dynamically.
@pytest.mark.parametrize("name", ["cnn", "rnn"])
def test_a_quantized_network_of_pytorch(tmp_path, name):
    archive = lzma.decompress((pathlib.Path(__file__).parent / "data" / f"quantized_{name}.pt.xz").read_bytes())
    loaded = torch.jit.load(archive)
    if name == "rnn":
        torch.testing.assert_close(loaded(), loaded.y)
        loaded.y = loaded()
    assert loaded().tolist() == loaded.y.tolist()
    frozen = torch.jit.freeze(loaded.eval())
    assert frozen().tolist() == loaded.y.tolist()
    for module in (loaded, frozen):
        module.save(tmp_path / "m.pt")
        assert torch.jit.load(tmp_path / "m.pt")().tolist() == loaded.y.tolist()


@torch.jit.script
def scaled(x, by: int):
    return x * by


def forked(x):
    y = x + 1
    f = torch.jit.fork(scaled, y, 3)
    g = torch.jit.fork(scaled, x, 2)
    return torch.jit.wait(f) + torch.jit.wait(g)


def slope(x):
    return torch.autograd.grad([(x * x).sum()], [x])[0]


def test_forks_and_gradients_in_archives():
    f = torch.jit.script(forked)
    loaded = torch.jit.load(f.save_to_buffer())
    assert loaded(torch.ones(2)).tolist() == f(torch.ones(2)).tolist() == [8.0, 8.0]
    assert loaded.save_to_buffer() == torch.jit.load(loaded.save_to_buffer()).save_to_buffer()
    g = torch.jit.load(torch.jit.script(slope).save_to_buffer())
    assert g(torch.tensor([1.0, 2.0], requires_grad=True)).tolist() == [2.0, 4.0]


def test_an_enumeration_of_a_loaded_program():
    def other(c: Color) -> Color:
        return Color.GREEN if c == Color.RED else Color.RED

    data = torch.jit.script(other).save_to_buffer()
    assert torch.jit.load(data)(Color.RED) is Color.GREEN
    code = "import sys, torchjit; m = torchjit.jit.load(sys.stdin.buffer.read()); print(m.forward.schema)\n"
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    out = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": root})
    assert b"Color" in out.stdout


def test_where_tensors_are_loaded_to():
    """What PyTorch 1.13 does on a machine without a GPU."""
    file = io.BytesIO()
    torch.save({"w": torch.arange(3.0)}, file)

    def loaded(where):
        file.seek(0)
        return torch.load(file, map_location=where)["w"]

    for where in (None, "cpu", torch.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cuda:1"}, lambda storage, location: None):
        assert loaded(where).tolist() == [0, 1, 2]
    assert loaded("meta").is_meta and loaded({"cpu": "meta"}).shape == (3,)
    seen = []
    assert loaded(lambda storage, location: seen.append((len(storage), location)) or storage.fill_(4)).tolist() == [4, 4, 4]
    assert seen == [(3, "cpu")]
    with pytest.raises(RuntimeError, match="don't know how to restore data location of torch.storage.UntypedStorage \\(tagged with nowhere\\)"):
        loaded("nowhere")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available\\(\\) is False"):
            loaded("cuda")
