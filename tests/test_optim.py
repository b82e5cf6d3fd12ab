"""Optimizers and schedules give what PyTorch 1.13.1 gave (data/optim.txt, by optim_program.py)."""

import pickle

import pytest
import recorded

import torchjit as torch

LINES = recorded.recorded("optim")


@pytest.fixture(scope="module")
def printed():
    return recorded.printed("optim")


@pytest.mark.parametrize("i", range(len(LINES)), ids=[line.split()[0] for line in LINES])
def test_same_as_pytorch(printed, i):
    recorded.check(LINES[i], printed[i])


def test_state_goes_on_where_it_was():
    def run(steps, optimizer=None, p=None):
        p = torch.ones(3, requires_grad=True) if p is None else p
        optimizer = torch.optim.Adam([p], 0.1) if optimizer is None else optimizer
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            (p * torch.arange(3.0)).sin().sum().backward()
            optimizer.step()
        return p, optimizer

    whole, _ = run(6)
    p, first = run(3)
    q = p.detach().clone().requires_grad_()
    second = torch.optim.Adam([q], 0.1)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    run(3, second, q)
    assert torch.allclose(whole, q)


def test_a_step_without_gradient_changes_nothing():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [p], "lr": 1.0}], lr=0.1)
    optimizer.step()
    assert p.tolist() == [1.0, 1.0] and optimizer.param_groups[0]["lr"] == 1.0
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optimizer.add_param_group({"params": p})
