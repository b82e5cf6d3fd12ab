"""Reductions of 64-bit integers and of rows of one element, against numbers of Python."""

import math

import pytest

import torchjit as torch

LONG = [[2**62 - 1, -(2**62), 3, 2**40 + 1, -7], [0, 5, -(2**33), 2**33, 1], [-1, -2, -3, -(2**50), -5]]


@pytest.mark.parametrize("n", [1, 2, 5, 200])
@pytest.mark.parametrize("name, of", [("amax", max), ("amin", min), ("all", all), ("any", any), ("prod", math.prod)])
def test_long_integers(n, name, of):
    rows = [(row * 40)[:n] for row in LONG]
    wanted = [of(row) for row in rows]
    if name == "prod":
        wanted = [(p + 2**63) % 2**64 - 2**63 for p in wanted]
    assert getattr(torch, name)(torch.tensor(rows), dim=1).tolist() == wanted
    assert getattr(torch, name)(torch.tensor(rows).t().contiguous(), dim=0).tolist() == wanted


@pytest.mark.parametrize("n", [1, 2, 5, 200])
def test_places_of_long_integers(n):
    rows = [(row * 40)[:n] for row in LONG]
    assert torch.argmax(torch.tensor(rows), dim=1).tolist() == [row.index(max(row)) for row in rows]
    assert torch.argmin(torch.tensor(rows), dim=1).tolist() == [row.index(min(row)) for row in rows]


def test_rows_of_one_element_are_copied():
    x = torch.tensor([[3.0], [math.nan], [-0.0]])
    values, places = torch.max(x, 1)
    values[0] = 7
    assert x[0, 0] == 3 and places.tolist() == [0, 0, 0] and math.isnan(torch.amin(x, 1)[1])
    assert torch.all(x, 1, keepdim=True).tolist() == [[True], [True], [False]] and torch.any(x.t(), 0).tolist() == [True, True, False]
