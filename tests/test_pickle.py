"""Compiled functions and modules travel: pickle, copies, other processes."""

import copy
import multiprocessing
import pickle

import torchjit as torch
from torchjit import nn


@torch.jit.script
def shifted(x, by: float = 2.0):
    if x.sum() > 0:
        x = x * 2
    return x + by


@torch.jit.script
def twice(x):
    return shifted(shifted(x), by=1.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += 1
        return self.inner(x) + self.seen

    @torch.jit.export
    def count(self) -> int:
        return int(self.seen)


def test_a_function():
    again = pickle.loads(pickle.dumps(twice))
    x = torch.tensor([1.0, -0.5])
    assert again(x).tolist() == twice(x).tolist()
    assert again.code == twice.code and str(again.schema) == str(twice.schema) and again.__name__ == "twice"
    assert pickle.loads(pickle.dumps(shifted))(x).tolist() == [4.0, 1.0]
    assert copy.deepcopy(twice) is twice and copy.copy(twice) is twice


def test_a_function_is_pickled_again():
    once = pickle.loads(pickle.dumps(shifted))
    assert pickle.dumps(once) == pickle.dumps(pickle.loads(pickle.dumps(once)))


def test_a_module_with_its_state():
    net = torch.jit.script(Net())
    net.eval()
    net(torch.ones(2))
    again = pickle.loads(pickle.dumps(net))
    assert again.count() == 1 and not again.training
    assert again(torch.ones(2)).tolist() == net(torch.ones(2)).tolist()
    assert [p.requires_grad for p in again.parameters()] == [True, True]
    assert pickle.loads(pickle.dumps(net.count))() == 2


def test_a_module_inside_other_data():
    traced = torch.jit.trace(nn.Linear(2, 1), torch.ones(1, 2))
    again = pickle.loads(pickle.dumps({"model": traced, "epoch": 3}))
    assert again["epoch"] == 3 and again["model"](torch.ones(1, 2)).tolist() == traced(torch.ones(1, 2)).tolist()


def test_copies_of_modules():
    net = torch.jit.script(Net())
    deep = copy.deepcopy(net)
    with torch.no_grad():
        deep.inner.weight.zero_()
    assert net.inner.weight.abs().sum() > 0
    shallow = copy.copy(net)
    assert shallow.inner.weight is net.inner.weight


def double(f, x):
    return f(x) * 2


def test_spawned_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        out = pool.apply(double, (twice, torch.ones(2)))
    assert out.tolist() == (twice(torch.ones(2)) * 2).tolist()
