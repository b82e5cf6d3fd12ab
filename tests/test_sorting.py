"""Places in the order of a row."""

import math
import random

import pytest

import torchjit as torch


def quantile(row, q, how):
    """The definition: between the two elements next to the place in the sorted row."""
    if any(math.isnan(v) for v in row):
        return math.nan
    row = sorted(row)
    place = q * (len(row) - 1)
    low, high = row[math.floor(place)], row[math.ceil(place)]
    if how == "linear":
        weight = place - math.floor(place)
        return low + weight * (high - low) if weight < 0.5 else high - (high - low) * (1 - weight)
    return {"lower": low, "higher": high, "nearest": row[round(place)], "midpoint": high - (high - low) * 0.5}[how]


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("n", [1, 2, 5, 24, 25, 100])
def test_quantiles_of_rows(n, how):
    """One place is looked for, many are read from the sorted row: the numbers are the same to the bit, also those of zeros."""
    pick = random.Random(n)
    values = [0.0, -0.0, 1.0, -1.0, math.nan]
    rows = [[pick.choice(values[:4]) for _ in range(n)], [pick.gauss(0, 1) for _ in range(n)], [pick.choice(values) for _ in range(n)]]
    places = [0.0, 0.25, 0.5, 0.7, 1.0]
    t = torch.tensor(rows, dtype=torch.float64)
    many = torch.quantile(t, torch.tensor(places, dtype=torch.float64), 1, interpolation=how)
    for q, found in zip(places, many, strict=True):
        wanted = [quantile(row, q, how).hex() for row in rows]
        assert [v.hex() for v in found.tolist()] == wanted
        assert [v.hex() for v in torch.quantile(t, q, 1, interpolation=how).tolist()] == wanted


def test_the_way_between_is_looked_at_first():
    with pytest.raises(RuntimeError, match="quantile\\(\\) interpolation must be one of linear"):
        torch.quantile(torch.zeros(0), 0.5, interpolation="between")
