"""A short form of `.ci/run attack`: some cases of each part, and the supervisor itself."""

import pathlib

import pytest

from tests.attack import supervisor
from tests.attack.__main__ import PARTS

CASES = {"threads": 20, "ownership": 150, "interrupts": 4}


@pytest.mark.parametrize("part", PARTS)
def test_attack(part):
    report = supervisor.attack(part, seconds=120, seed=1, cases=CASES.get(part, 300))
    assert report.findings == []
    assert report.cases == CASES.get(part, 300)


BROKEN = '''
import os, time
class Part:
    def __init__(self, seed, folder): self.seed, self.folder = seed, folder
    def describe(self, i): return f"the case {i} of seed {self.seed}"
    def count(self, i): return 10
    def run(self, i):
        if i == 2: os.abort()
        if i == 4: time.sleep(60)
        if i == 5: return "wrong result: 5"
        assert os.path.isdir(self.folder)
'''


def test_supervisor_survives_what_it_attacks(monkeypatch):
    part = pathlib.Path(supervisor.__file__).with_name("broken_part.py")
    part.write_text(BROKEN)
    try:
        monkeypatch.setattr(supervisor, "HANG", 2.0)
        seen = []
        report = supervisor.attack("broken_part", seconds=60, seed=7, cases=8, tell=seen.append)
    finally:
        part.unlink()
    assert [(f.case, f.kind) for f in report.findings] == [(2, "death"), (4, "hang"), (5, "answer")]
    assert report.findings[0].what == "the case 2 of seed 7" and report.findings[2].text == "wrong result: 5"
    assert seen == report.findings
    assert report.count == 10 * report.cases and report.cases == 6
