"""Exported programs that PyTorch 2.15 saved. tests/data/torch2.pt2 has dynamic sizes, writes, branches, several results, constants, and its answers."""

import collections
import io
import json
import pathlib
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import torchjit as torch
from torchjit import nn
from torchjit.utils import _pytree as pytree

ARCHIVE = pathlib.Path(__file__).parent / "data" / "torch2.pt2"


@pytest.fixture
def content():
    return ARCHIVE.read_bytes()


def changed(content, **records):
    """The archive with other records: each a function of what the record holds."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            change = records.get(name.rpartition("/")[2].partition(".")[0], lambda x: x)
            new.writestr(name, change(old.read(name)))
    file.seek(0)
    return file


def test_a_program_gives_the_answers_of_pytorch():
    files = {}
    program = torch.export.load(ARCHIVE, extra_files=files)
    assert {str(s): (r.lower, r.upper) for s, r in program.range_constraints.items()} == {"s77": (2, 64)}
    (x,), given = program.example_inputs
    module = program.module()
    for image, answer in zip((x, -torch.ones(3, 1, 4, 4)), json.loads(files["answers"]), strict=True):
        result = module(image, **given)
        assert list(result) == ["out", "parts", "none", "sizes"]
        for found, expected in zip(pytree.tree_leaves(result), answer, strict=True):
            if isinstance(found, torch.Tensor):
                assert torch.allclose(found, torch.tensor(expected, dtype=found.dtype), atol=1e-5)
            else:
                assert found == expected
    assert module.calls.item() == 2  # the program writes its buffer
    assert [n for n, _ in module.named_parameters()] == ["conv.weight", "conv.bias", "norm.weight", "norm.bias", "line.weight", "line.bias"]
    assert "shift" not in program.state_dict and "%cond" in str(program.graph)
    with pytest.raises(RuntimeError, match="to be <= 64, but got 65"):
        module(torch.ones(65, 1, 4, 4), **given)
    with pytest.raises(RuntimeError, match="to have dtype torch.float32"):
        module(x.double(), **given)


Pair = collections.namedtuple("Pair", "first second")


# A training program with a part without gradients, and a decomposed one: squeezes of several dimensions, norms without statistics, named tuples, roots of sizes, items.
@pytest.mark.parametrize("name", ["torch2_parts.pt2", "torch2_decomposed.pt2"])
def test_parts_and_decomposed_programs_give_the_answers_of_pytorch(name):
    files = {}
    program = torch.export.load(ARCHIVE.with_name(name), extra_files=files)
    first = (Pair(torch.arange(12.0).view(3, 4) - 5, torch.arange(12.0).view(3, 4)), torch.tensor(2))
    second = (Pair(torch.ones(2, 4), torch.arange(8.0).view(2, 4)), torch.tensor(1))
    for given, answer in zip((first, second), json.loads(files["answers"]), strict=True):
        result = program.module()(*given)
        assert type(result) is Pair
        for found, expected in zip(pytree.tree_leaves(result), answer, strict=True):
            assert torch.allclose(found.double(), torch.tensor(expected, dtype=torch.float64), atol=1e-5)


class Counting(nn.Module):
    """Writes a buffer and statistics, and has a constant and a buffer that is no state."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("shift", torch.arange(4.0), persistent=False)

    def forward(self, x, *, scale, shown=True):
        self.calls += 1
        y = self.norm(x) * scale + self.shift + torch.tensor([1.0, 2.0, 3.0, 4.0])
        return {"out": y, "parts": [*y.split([1, 3], 1), None], "calls": self.calls + 0, "shown": shown}


def control(x, n):
    y = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
    k = n.item()
    torch._check(k >= 0)
    torch._check(k <= 3)
    carried, all = torch._higher_order_ops.scan(lambda c, x: (c + x, c * x), torch.ones(4), x)
    doubled = torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))
    return y[:k], carried, all, doubled, torch._higher_order_ops.map(lambda x: x + 1, x)


class Control(nn.Module):
    def forward(self, x, n):
        return control(x, n)


def programs():
    """Programs with further arguments that they take."""
    x, dim = torch.randn(3, 4), torch.export.Dim("n", max=64)
    dynamic = torch.export.export(nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)), (x,), dynamic_shapes=({0: dim},))
    yield "dynamic", dynamic, [((x,), {}), ((torch.randn(7, 4),), {})]
    given = {"scale": torch.tensor(2.0), "shown": False}
    yield "counting", torch.export.export(Counting(), (x,), given), [((x,), given)]
    yield "control", torch.export.export(Control(), (x, torch.tensor(2))), [((x, torch.tensor(2)), {}), ((-x, torch.tensor(1)), {})]
    attention = nn.MultiheadAttention(8, 2).eval()
    q = torch.randn(5, 2, 8)
    yield "attention", torch.export.export(attention, (q, q, q)), [((q, q, q), {})]
    yield "pytorch", torch.export.load(ARCHIVE.with_name("torch2_parts.pt2")), [((Pair(x, x), torch.tensor(2)), {})]


@pytest.mark.parametrize("name", ["dynamic", "counting", "control", "attention", "pytorch"])
def test_programs_for_pytorch_are_read_again(name, tmp_path):
    torch.manual_seed(0)
    program, calls = next((program, calls) for n, program, calls in programs() if n == name)
    torch.export.save(program, tmp_path / "for.pt2", extra_files={"notes": "text"}, for_pytorch=True)
    notes = {}
    again = torch.export.load(tmp_path / "for.pt2", extra_files=notes)
    assert notes == {"notes": "text"} and set(again.state_dict) == set(program.state_dict)
    for args, given in calls:
        expected, found = (pytree.tree_leaves(p.module()(*args, **given)) for p in (program, again))
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert torch.allclose(a, b) if isinstance(a, torch.Tensor) else a == b


def test_archives_for_pytorch_have_what_pytorch_reads():
    file = io.BytesIO()
    dim = torch.export.Dim("n", max=64)
    torch.export.save(torch.export.export(nn.Linear(4, 2), (torch.ones(3, 4),), dynamic_shapes=({0: 2 * dim - 1},)), file, for_pytorch=True)
    with zipfile.ZipFile(file) as archive:
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert (records["archive_format"], records["byteorder"]) == (b"pt2", b"little")
    program = json.loads(records["models/model.json"])
    assert program["range_constraints"] == {"s0": {"min_val": 0, "max_val": 64}}
    graph = program["graph_module"]["graph"]
    text = "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(-1))"
    assert graph["tensor_values"]["linear"]["sizes"] == [{"as_expr": {"expr_str": text, "hint": {"as_int": 3}}}, {"as_int": 2}]
    (node,) = graph["nodes"]
    assert node["target"] == "torch.ops.aten.linear.default" and node["inputs"][0] == {"name": "input", "arg": {"as_tensor": {"name": "input"}}, "kind": 1}
    config = json.loads(records["data/weights/model_weights_config.json"])["config"]
    assert config["weight"]["path_name"] == "weight_0" and len(records["data/weights/weight_0"]) == 4 * 8
    (x,), given = torch.load(io.BytesIO(records["data/sample_inputs/model.pt"]))
    assert x.shape == (3, 4) and given == {}


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda x: torch.frobenius_norm(x), "torch.ops.aten.frobenius_norm.default: PyTorch 2.15 has no such operator"),
        (lambda x: (x, "text"), "no program that gives a text"),
    ],
)
def test_what_pytorch_has_no_form_of_is_refused(function, text):
    class M(nn.Module):
        def forward(self, x):
            return function(x)

    with pytest.raises(ValueError, match=text):
        torch.export.save(torch.export.export(M(), (torch.eye(3),)), io.BytesIO(), for_pytorch=True)


def test_programs_that_write_are_neither_decomposed_nor_saved():
    program = torch.export.load(ARCHIVE)
    for refused in (program.run_decompositions, lambda: torch.export.save(program, io.BytesIO())):
        with pytest.raises(torch.export._errors.SpecViolationError, match="add_.Tensor' is not functional"):
            refused()


def test_objects_with_read_are_read(content):
    assert torch.export.load(io.BytesIO(content)).module()(torch.ones(2, 1, 4, 4), scale=3.0)["sizes"][1] == 4


@pytest.mark.parametrize(
    "record, change, text",
    [
        ("model", lambda x: x.replace(b"aten.relu.default", b"aten.nothing.default"), "the program calls torch.ops.aten.nothing.default, which there is not here"),
        ("model", lambda x: x.replace(b"torch.ops.aten.relu.default", b"builtins.eval"), "the program calls builtins.eval, which there is not here"),
        ("model", lambda x: x.replace(b'"p_conv_weight"', b'"p = 1; import os"'), "node 0 has no name of its own"),
        ("model", lambda x: x.replace(b'"dtype": 7', b'"dtype": 29'), "there is no element type float8_e4m3fn here"),
        ("model", lambda x: x[:-100], "record .models/model.json. cannot be read: unexpected end of JSON input"),
        ("byteorder", lambda x: b"middle", "not .little. or .big."),
        ("weight_0", lambda x: x[:8], "tensor .conv.weight.: A tensor of shape .4 1 3 3. and strides .9 9 3 1. reaches beyond its storage"),
    ],
)
def test_what_cannot_be_read_is_refused(content, record, change, text):
    with pytest.raises((ValueError, RuntimeError), match=text):
        torch.export.load(changed(content, **{record: change}))


def test_compressed_records_are_read(content):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    file.seek(0)
    assert str(torch.export.load(file).graph) == str(torch.export.load(ARCHIVE).graph)


def test_damaged_archives_are_refused(content):
    dice = random.Random(0)
    for _ in range(60):
        broken = bytearray(content)
        for _ in range(dice.randrange(1, 4)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            torch.export.load(io.BytesIO(broken[: dice.choice([len(broken), dice.randrange(len(broken))])]))
        except (ValueError, RuntimeError):
            pass


def test_the_command_runs_them(tmp_path):
    (x,), _ = torch.export.load(ARCHIVE).example_inputs
    np.save(tmp_path / "x.npy", x.numpy())
    given = ["--input", f"x={tmp_path / 'x.npy'}", "scale=3.0", "-o", tmp_path / "out.json"]
    done = subprocess.run([sys.executable, "-m", "torchjit", "run", ARCHIVE, *given], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())["getitem_4"]["data"]
    expected = torch.export.load(ARCHIVE).module()(x, scale=3.0)["out"].detach()
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5)
