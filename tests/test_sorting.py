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


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("nans", [0.0, 0.3, 0.9])
def test_topk_is_the_front_of_a_stable_sort(largest, nans):
    """Equal elements come in the order of their places, NaNs count as greater than numbers."""
    torch.manual_seed(1)
    x = torch.randint(0, 6, (300, 40)).float()
    x[torch.rand(300, 40) < nans] = math.nan
    values, places = x.topk(7, largest=largest)
    ordered, order = x.sort(descending=largest, stable=True)
    assert places.tolist() == order[:, :7].tolist()
    assert torch.equal(torch.nan_to_num(values), torch.nan_to_num(ordered[:, :7].contiguous()))


def test_long_permutations_are_made_in_half_the_memory():
    """What PyTorch 1.13.1 answers on both sides of the border."""
    sums = []
    for n in (65535, 65536, 100000):
        torch.manual_seed(3)
        x = torch.randperm(n)
        assert torch.equal(x.sort()[0], torch.arange(n))
        sums.append((x[:3].tolist(), int((x * torch.arange(n)).sum())))
    assert sums == [([42091, 10959, 19676], 70347297485024), ([5994, 6324, 38799], 70398082721231), ([58986, 64086, 32569], 249813540157243)]
