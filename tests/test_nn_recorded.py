"""Modules, functions and helpers of torch.nn give what PyTorch 1.13.1 gave (data/nn.txt, by nn_program.py)."""

import pytest
import recorded

LINES = recorded.recorded("nn")


@pytest.fixture(scope="module")
def printed():
    return recorded.printed("nn")


@pytest.mark.parametrize("i", range(len(LINES)), ids=[line.split()[0] for line in LINES])
def test_same_as_pytorch(printed, i):
    recorded.check(LINES[i], printed[i])
