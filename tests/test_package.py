"""Packages that PyTorch has written, and what PyTorch refuses."""

import io
import pathlib
import zipfile

import pytest

import torchjit as torch
from torchjit.package import PackageExporter, PackageImporter

DATA = pathlib.Path(__file__).resolve().parent / "data"


def test_a_package_of_pytorch_loads():
    i = PackageImporter(DATA / "package.pt")
    saved, x = i.load_pickle("model", "model.pkl"), torch.ones(1, 2)
    assert type(saved["net"]).__module__ == i.id() + ".model_code" and isinstance(saved["net"].l, torch.nn.Linear)
    assert torch.equal(saved["net"](x), 2 * saved["net"].l(x))
    assert torch.allclose(saved["scripted"](x), saved["answer"])
    assert torch.jit.script(saved["net"])(x).shape == (1, 2)  # its source is found
    assert torch.equal(saved["traced"](x), saved["net"].l(x).relu())
    assert i.load_text("text", "a.txt") == "hello" and i.import_module("model_code").torch is torch


def test_a_folder_is_a_package(tmp_path):
    zipfile.ZipFile(DATA / "package.pt").extractall(tmp_path)
    i = PackageImporter(next(tmp_path.iterdir()))
    saved = i.load_pickle("model", "model.pkl")
    assert torch.allclose(saved["scripted"](torch.ones(1, 2)), saved["answer"])


def test_nothing_is_written_after_an_exception(tmp_path):
    with pytest.raises(ZeroDivisionError), PackageExporter(tmp_path / "p.pt") as e:
        e.save_text("a", "b", "c")
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


def test_modules_from_outside_may_be_refused():
    data = io.BytesIO()
    with PackageExporter(data) as e:
        e.save_source_string("m", "import json")
    with pytest.raises(ImportError, match="needs the external module 'json' but that module has been disallowed"):
        PackageImporter(data, module_allowed=lambda name: name != "json")
