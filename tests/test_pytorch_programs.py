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
