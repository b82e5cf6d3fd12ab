"""Bars are shown on terminals where tqdm is installed, for large files and many nodes; otherwise nothing is."""

import io
import sys
import types

import pytest

import torchjit as torch
from torchjit import _progress


class Bar:
    shown: list = []

    def __init__(self, items=None, total=None, desc=None, **options):
        self.items, self.total, self.n, self.closed = items, total, 0, False
        Bar.shown.append((desc, self))

    def update(self, n):
        self.n += n

    def close(self):
        self.closed = True

    def __iter__(self):
        for item in self.items:
            self.n += 1
            yield item


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def bars(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(_progress, "sys", types.SimpleNamespace(stderr=Terminal()))
    monkeypatch.setattr(Bar, "shown", [])
    return Bar.shown


def large():
    return torch.jit.script(torch.nn.Linear(1500, 1000))


def test_a_large_file_shows_how_far_it_is(bars, monkeypatch, tmp_path):
    path = str(tmp_path / "model.pt")
    large().save(path)
    assert bars == []
    monkeypatch.setattr(_progress, "LARGE", 1 << 20)
    large().save(path)
    ((what, bar),) = bars
    assert what == f"saving {path}" and bar.closed and 0 < bar.n <= bar.total and bar.total > 6_000_000


def test_a_large_file_that_is_loaded_shows_how_far_it_is(bars, monkeypatch, tmp_path):
    compiled, plain = str(tmp_path / "model.pt"), str(tmp_path / "plain.pt")
    large().save(compiled)
    torch.save(large().state_dict(), plain)
    monkeypatch.setattr(_progress, "LARGE", 1 << 20)
    torch.jit.load(compiled)
    torch.load(plain)
    torch.load("tests/data/saved_legacy.pt")
    torch.save(large().state_dict(), plain)
    assert [what for what, _ in bars] == [f"loading {compiled}", f"loading {plain}", f"saving {plain}"]
    assert all(bar.closed and 5_900_000 < bar.n <= bar.total for _, bar in bars)


def test_what_a_bar_raises_ends_the_loading(bars, monkeypatch, tmp_path):
    def interrupted(self, n):
        raise KeyboardInterrupt

    path = str(tmp_path / "model.pt")
    large().save(path)
    monkeypatch.setattr(_progress, "LARGE", 1 << 20)
    monkeypatch.setattr(Bar, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.jit.load(path)
    assert bars[0][1].closed


def test_own_progress_comes_first(bars, monkeypatch, tmp_path):
    monkeypatch.setattr(_progress, "LARGE", 1)
    seen = []
    torch.jit.save(large(), str(tmp_path / "model.pt"), progress=lambda done, total: seen.append((done, total)))
    assert seen and bars == []


def test_many_nodes_show_how_far_they_are(bars, monkeypatch):
    monkeypatch.setattr(_progress, "MANY", 2)
    torch.onnx.export(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), (torch.ones(1, 2),), io.BytesIO())
    assert bars[0][0] == "exporting to ONNX" and bars[0][1].n >= 2


def test_exporting_and_quantizing_show_how_far_they_are(bars, monkeypatch, tmp_path):
    monkeypatch.setattr(_progress, "MANY", 2)
    path = str(tmp_path / "model.pt2")
    net = torch.nn.Sequential(torch.nn.Linear(1500, 1000), torch.nn.Sequential(torch.nn.Linear(1000, 1)))
    program = torch.export.export(net, (torch.ones(1, 1500),))
    torch.export.save(program, path)
    monkeypatch.setattr(_progress, "LARGE", 1 << 20)
    torch.export.save(program, path)
    torch.export.load(path)
    torch.quantization.quantize_dynamic(net)
    what = ["making the exported program", f"saving {path}", f"loading {path}", "making the exported program", "quantizing"]
    assert [shown for shown, _ in bars] == what
    assert bars[-1][1].n == bars[-1][1].total == 4 * (1500 * 1000 + 1000 + 1000 + 1) and all(bar.n > 0 for _, bar in bars)


def test_nothing_is_shown_elsewhere(bars, monkeypatch, tmp_path):
    monkeypatch.setattr(_progress, "LARGE", 1)
    monkeypatch.setattr(_progress, "sys", types.SimpleNamespace(stderr=io.StringIO()))
    large().save(str(tmp_path / "model.pt"))
    monkeypatch.setattr(_progress, "sys", types.SimpleNamespace(stderr=Terminal()))
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    large().save(str(tmp_path / "model.pt"))
    assert bars == [] and list(_progress.over(range(3), "x")) == [0, 1, 2]
