"""Programs and archives with what PyTorch 1.13.1 answered: those that pass stay passing.

data/corpus.tar.xz holds the answers, programs/ the sources of the scripted programs, passing.txt the
programs that must pass. `conformance.py --corpus DIR` prints the whole report.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    corpus = tmp_path_factory.mktemp("corpus")
    with tarfile.open(HERE / "data" / "corpus.tar.xz") as tar:
        tar.extractall(corpus, filter="data")
    for source in (HERE / "programs").glob("*.py"):
        shutil.copy(source, corpus / "script")
    out = corpus / "report.json"
    command = [sys.executable, str(HERE / "conformance.py"), "--corpus", str(corpus), "--module", "torchjit"]
    done = subprocess.run(
        [*command, "-j", "2", "--timeout", "60", "--json", str(out)],
        cwd=HERE.parent,
        env={**__import__("os").environ, "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
    )
    assert out.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    print(done.stdout)
    return json.loads(out.read_text())


def test_programs_that_passed_still_pass(report):
    expected = (HERE / "data" / "passing.txt").read_text().split()
    programs = report["programs"]
    failing = [f"{n}: {programs[n]['fails'][:2] if n in programs else 'missing'}" for n in expected if n not in programs or not programs[n]["pass"]]
    assert len(expected) > 200
    assert not failing, "\n".join(failing)


def test_graphs_and_source_text(report):
    """Graphs that show no line of torch's own Python files are PyTorch's to the letter."""
    script = report["kinds"]["script"]
    for metric, least in (("graph.exact", 0.99), ("inlined_graph.exact", 1), ("code", 0.98), ("schema", 0.99)):
        same, total = script[metric]
        assert same >= least * total, f"{metric}: {same} of {total}"


def test_errors(report):
    """Errors have PyTorch's classes and first lines and point at the same words. Some say more behind that."""
    errors = report["kinds"]["errors"]
    for metric, least in (("err.type", 1), ("err.carets", 1), ("err.headline", 0.95), ("err.exact", 0.7)):
        same, total = errors[metric]
        assert same >= least * total, f"{metric}: {same} of {total}"


def test_damaged_archives_are_refused(report):
    bad = {n: p for n, p in report["programs"].items() if n.startswith("pt_bad/")}
    assert len(bad) > 20 and all(p["pass"] for p in bad.values()), [n for n, p in bad.items() if not p["pass"]]
