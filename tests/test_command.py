"""`python -m torchjit` is the command gojit: data in and out as NumPy has them, the same exit statuses."""

import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
from contextlib import closing

import conformance
import numpy as np
import onnx_model
import pytest

MODEL = "tests/data/digits_cnn.pt"


def run(*args, **options):
    return subprocess.run([sys.executable, "-m", "torchjit", *map(str, args)], capture_output=True, text=True, timeout=60, **options)


def test_answers_are_those_of_pytorch(tmp_path):
    recorded = np.load("tests/data/digits_cnn.npz")
    np.save(tmp_path / "x.npy", recorded["in0"])
    done = run("run", MODEL, "--input", tmp_path / "x.npy", "-o", tmp_path / "y.npz")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["output"], recorded["out0"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", ">f4", ">c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_elements(tmp_path, dtype, order):
    x = np.asarray(np.arange(6).reshape(2, 3) % 2 if dtype == "bool" else np.arange(6).reshape(2, 3), dtype, order)
    (tmp_path / "same.py").write_text("def same(x):\n    return x\n")
    assert run("compile", tmp_path / "same.py", "-o", tmp_path / "same.pt").returncode == 0
    np.savez(tmp_path / "x.npz", x=x)
    done = run("run", tmp_path / "same.pt", tmp_path / "x.npz", "-o", tmp_path / "y.npy")
    assert done.returncode == 0, done.stderr
    y = np.load(tmp_path / "y.npy")
    assert y.dtype == x.dtype.newbyteorder("=") and (y == x).all()


CORPUS = pathlib.Path(__file__).parent / "data" / "corpus.tar.xz"
# Modules that their calls change: what PyTorch gives for the second case on a module just loaded, as each run of the command has one. Arrays by their names, and the results.
FRESH = {
    "buffers": ({"out1": [[8.864885330200195, 5.2967658042907715]]}, None),
    "class_attr": ({}, {"t": [{"T": {"ref": "out1", "dtype": "float32", "shape": [1, 2]}}, {"l": [{"i": 1}]}]}),
    "shared_views": ({"out4": [6, 107, 8, 9, 10, 11], "out5": [1, 107, 13, 19]}, None),
}
# What PyTorch says under no_grad, as the command runs models: its encoder of transformers cuts what is padded there.
FAILS = {("transformer_majority", 1): "The size of tensor a (9) must match the size of tensor b (11) at non-singleton dimension 1"}


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The archives of the corpus, with what PyTorch gave for them."""
    folder = tmp_path_factory.mktemp("corpus")
    with tarfile.open(CORPUS) as tar:
        tar.extractall(folder, [m for m in tar.getmembers() if m.name.startswith("pt/")], filter="data")
    return folder / "pt"


def argument(encoded, arrays, file):
    """An argument of the corpus as a word of the command line: a file of a tensor, or JSON."""
    if isinstance(encoded, dict) and "T" in encoded:
        array, dtype = arrays[encoded["T"]["ref"]], encoded["T"]["dtype"]
        if dtype == "bfloat16":  # which files of NumPy do not have
            return json.dumps({"dtype": dtype, "shape": array.shape, "data": array.reshape(-1).tolist()})
        np.save(file, array)
        return str(file)
    return json.dumps(plain(encoded))


def plain(encoded):
    if not isinstance(encoded, dict):
        return encoded
    ((kind, value),) = encoded.items()
    return [plain(item) for item in value] if kind == "l" else float(value) if kind == "f" else value


def differences(want, found, arrays, tolerance):
    """Where a value of the command's JSON is not one of the corpus."""
    kind, value = next(iter(want.items())) if isinstance(want, dict) else (None, want)
    if kind == "T":
        array = arrays[value["ref"]]
        data = np.array(found["data"], dtype="float64" if array.dtype.kind in "fc" else array.dtype).reshape(-1)
        data = data.view("complex128") if array.dtype.kind == "c" else data
        same = (found["dtype"], found["shape"]) == (value["dtype"], value["shape"])
        return [] if same and np.allclose(data, array.reshape(-1), *tolerance.get(value["dtype"], (0, 0)), equal_nan=True) else [(want, found)]
    if kind in ("l", "t"):
        if len(value) != len(found):
            return [(want, found)]
        pairs = list(zip(value, found))
    elif kind in ("d", "nt"):
        value = value if kind == "d" else want["fields"]
        pairs = [(item, found[str(plain(key))]) for key, item in value]
    else:
        return [] if type(found)(plain(want)) == found else [(want, found)]
    return [d for item, one in pairs for d in differences(item, one, arrays, tolerance)]


@pytest.mark.parametrize("name", sorted(pathlib.Path(n).stem for n in tarfile.open(CORPUS).getnames() if n.startswith("pt/") and n.endswith(".pt")))
def test_archives_of_the_corpus(archives, tmp_path, name):
    meta = json.loads((archives / f"{name}.json").read_text())
    arrays = dict(np.load(archives / f"{name}.npz")) if (archives / f"{name}.npz").exists() else {}
    cases = [case for entry in meta["entries"] for case in entry.get("cases", [])]
    assert cases
    if name in FRESH:
        changed, result = FRESH[name]
        arrays.update({ref: np.array(data, arrays[ref].dtype) for ref, data in changed.items()})
        cases[1]["expect"]["out"] = result or cases[1]["expect"]["out"]
    for number, case in enumerate(cases):
        words = [argument(a, arrays, tmp_path / f"{i}.npy") for i, a in enumerate(case["args"])]
        words += [f"{key}={argument(a, arrays, tmp_path / f'{key}.npy')}" for key, a in case.get("kwargs", {}).items()]
        done = run("run", archives / f"{name}.pt", *words, "--method", case.get("method", "forward"), "-o", tmp_path / "y.json")
        if (name, number) in FAILS:
            assert done.returncode == 1 and FAILS[name, number] in done.stderr
            continue
        assert done.returncode == 0, (number, done.stderr)
        found, want = json.loads((tmp_path / "y.json").read_text()), case["expect"]["out"]
        if not isinstance(want, dict) or next(iter(want)) not in ("t", "l", "d", "nt"):
            found = found["output"]
        elif next(iter(want)) in ("t", "l"):
            found = list(found.values())
        assert differences(want, found, arrays, conformance.TOL) == [], number


def test_statuses():
    assert run("run", MODEL).returncode == 2
    assert run("nothing").returncode == 2
    assert run("serve", MODEL, "--max-batch", "0").returncode == 2
    assert run("run", MODEL, "3x3").returncode == 1
    assert run("info", __file__).returncode == run("serve", __file__).returncode == 3


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_told_to_stop(stop):
    """A request that has come is answered, and the status is 0."""
    recorded = np.load("tests/data/digits_cnn.npz")
    x = {"name": "x", "shape": recorded["in0"].shape, "datatype": "FP32", "data": recorded["in0"].reshape(-1).tolist()}
    command = [sys.executable, "-m", "torchjit", "serve", f"digits={MODEL}", "--address", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        address = next(found[1] for line in server.stderr if (found := re.search(r"msg=serving address=(\S+)", line)))
        with closing(http.client.HTTPConnection(address, timeout=30)) as asked, closing(http.client.HTTPConnection(address, timeout=30)) as metrics:
            body, text = json.dumps({"inputs": [x]}).encode(), ""
            asked.request("POST", "/v2/models/digits/infer", body[:100], {"Content-Length": str(len(body))})
            while 'gojit_requests_running{model="digits"} 1' not in text:
                metrics.request("GET", "/metrics")
                text = metrics.getresponse().read().decode()
            server.send_signal(stop)
            assert next(line for line in server.stderr if "msg=stopping" in line)
            asked.send(body[100:])
            answer = json.loads(asked.getresponse().read())
        assert server.wait(60) == 0
    found = np.array(answer["outputs"][0]["data"]).reshape(recorded["out0"].shape)
    np.testing.assert_allclose(found, recorded["out0"], rtol=1e-4, atol=1e-5)


def test_doctor_and_version():
    found = json.loads(run("doctor", "--json").stdout)
    assert all(check["ok"] for check in found["checks"])
    assert "not used" not in found["gpu"]
    assert found["libraries"] and len(found["caches"]) == 1
    assert json.loads(run("version", "--json").stdout)["version"]


def test_python_loads_what_the_command_exports(tmp_path):
    """The containers of arguments and results are what they were."""
    import torchjit as torch

    class Nested(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, d: dict[str, torch.Tensor], l: list[torch.Tensor], n: int = 2) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:  # noqa: E741
            return self.linear(x) + d["a"] * n, {"s": l[0] * d["b"]}

    model = torch.jit.script(Nested())
    model.save(tmp_path / "nested.pt")
    given = ["[[1.0, 2.0]]", '{"a": [1.0, 2.0], "b": [3.0, 4.0]}', "[[5.0, 6.0]]"]
    done = run("export", tmp_path / "nested.pt", *given, "-o", tmp_path / "nested.pt2")
    assert done.returncode == 0, done.stderr
    program = torch.export.load(tmp_path / "nested.pt2")
    args = torch.tensor([[1.0, 2.0]]), {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([3.0, 4.0])}, [torch.tensor([5.0, 6.0])]
    got, want = program.module()(*args), model(*args)
    assert isinstance(got, tuple) and list(got[1]) == ["s"]
    torch.testing.assert_close(got[0], want[0])
    torch.testing.assert_close(got[1]["s"], want[1]["s"])
    assert program.module_call_graph[0].signature.forward_arg_names == ["x", "d", "l"]


def test_python_loads_what_the_command_exports_by_names(tmp_path):
    import torchjit as torch

    def f(x, scale: float = 1.0):
        return x * scale

    (tmp_path / "f.py").write_text("def f(x, scale: float = 1.0):\n    return x * scale\n")
    assert run("compile", tmp_path / "f.py", "f", "-o", tmp_path / "f.pt").returncode == 0
    done = run("export", tmp_path / "f.pt", "[1.0, 2.0]", "scale=3.0", "-o", tmp_path / "f.pt2")
    assert done.returncode == 0, done.stderr
    x = torch.tensor([1.0, 2.0])
    torch.testing.assert_close(torch.export.load(tmp_path / "f.pt2").module()(x, scale=3.0), f(x, 3.0))


def test_onnx_is_what_the_exporter_writes(tmp_path):
    """Inputs and the output have the names that the model gives them."""
    import torchjit as torch

    np.save(tmp_path / "x.npy", np.zeros((2, 1, 12, 12), np.float32))
    done = run("export", MODEL, "x=" + str(tmp_path / "x.npy"), "-o", tmp_path / "digits.onnx")
    assert done.returncode == 0, done.stderr
    graph = onnx_model.model((tmp_path / "digits.onnx").read_bytes())
    assert ([name for name, *_ in graph.inputs], [name for name, *_ in graph.outputs]) == (["x"], ["output"])
    torch.onnx.export(torch.jit.load(MODEL), torch.zeros(2, 1, 12, 12), tmp_path / "want.onnx", input_names=["x"], output_names=["output"])
    assert (tmp_path / "digits.onnx").read_bytes() == (tmp_path / "want.onnx").read_bytes()

    failed = run("export", MODEL, "3x3", "-o", tmp_path / "none.onnx")
    assert failed.returncode == 1 and "none.onnx cannot be written: RuntimeError" in failed.stderr and "size: [3, 3]" in failed.stderr
    assert not (tmp_path / "none.onnx").exists()
    assert run("export", MODEL, "1x1x12x12", "y=1", "-o", tmp_path / "none.onnx").returncode == 2
    assert run("export", MODEL, "1x1x12x12", "-o", tmp_path / "nowhere" / "none.onnx").returncode == 1
