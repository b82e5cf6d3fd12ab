"""torch.nn.parallel on the one device that there is."""

import pytest

import torchjit as torch
from torchjit.nn.parallel.parallel_apply import get_a_var, parallel_apply


class Times(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x, y=0):
        if self.k > 5:
            raise ValueError("too large")
        return x * self.k + y


def test_modules_are_called_at_once():
    ones = torch.ones(2, requires_grad=True)
    results = parallel_apply([Times(2), Times(3)], [ones, (ones,)], [{}, {"y": 1}])
    assert [r.tolist() for r in results] == [[2, 2], [4, 4]] and all(r.requires_grad for r in results)
    with torch.no_grad():
        assert not any(r.requires_grad for r in parallel_apply([Times(2), Times(3)], [ones, ones]))
    for modules in ([Times(2), Times(9)], [Times(9)]):
        with pytest.raises(ValueError, match="too large"):
            parallel_apply(modules, [ones] * len(modules))
    assert get_a_var([1, {"a": (ones, 2)}]) is ones and get_a_var([1, "x"]) is None


def test_replicas_share_parameters():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    first, second = torch.nn.parallel.replicate(net, ["cpu", "cpu"])
    assert first is not net and first[0].weight is net[0].weight is second[0].weight and first[1].running_mean is net[1].running_mean
    (detached,) = torch.nn.parallel.replicate(net, ["cpu"], detach=True)
    assert not detached[0].weight.requires_grad and detached[0].weight.data_ptr() == net[0].weight.data_ptr()
    x = torch.ones(3, 2)
    net.eval(), first.eval()
    assert torch.equal(first(x), net(x))
    with pytest.raises(RuntimeError, match="the CPU alone"):
        torch.nn.parallel.replicate(net, [0, 1])


def test_batches_stay_on_the_device():
    net = torch.nn.DataParallel(torch.nn.Linear(2, 3))
    assert net(torch.ones(4, 2)).shape == torch.nn.parallel.data_parallel(net.module, torch.ones(4, 2)).shape == (4, 3)
    with pytest.raises(RuntimeError, match="the CPU alone"):
        torch.nn.parallel.comm.broadcast(torch.ones(2), [0, 1])
