"""Programs of parity/ give what PyTorch 1.13.1 gave, but for those that are listed with the reason."""

import answers
import parity
import pytest

# Programs that answer otherwise, by area and title, and why.
DIFFERENT: dict[str, str] = {}

CASES = [
    pytest.param(title, program, answer, id=f"{area}: {title}")
    for area in parity.areas()
    for title, program, answer in answers.sections(area, parity.FOLDER)
]


@pytest.mark.parametrize("title, program, answer", CASES)
def test_same_as_pytorch(title, program, answer, request):
    name = request.node.callspec.id
    printed = parity.difference(title, program, answer)
    if name in DIFFERENT:
        assert printed is not None, f"agrees now and can be taken off the list: {name}"
    else:
        assert printed is None, f"{printed}\n--- PyTorch\n{answer}"


def test_every_behaviour_has_its_cases():
    counts = parity.behaviours()
    assert counts
    assert {name: n for name, n in counts.items() if n < parity.LEAST} == {}


def test_at_most_two_of_a_hundred_are_listed():
    assert DIFFERENT.keys() <= {case.id for case in CASES}
    assert len(DIFFERENT) <= 0.02 * len(CASES)
