"""Type checkers know the package as its users meet it: installed, with errors in their programs alone."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "typed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the interpreter of an environment, venv, that has the package and nothing else."""
    root = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    (site,) = (root / "venv" / "lib").glob("python*/site-packages")
    os.symlink(os.path.join(os.path.dirname(HERE), "torchjit"), site / "torchjit")
    return root


@pytest.fixture(scope="module", params=["mypy", "pyright"])
def checked(request, installed):
    """What a type checker says to the programs of tests/typed. `.ci/run types` has pyright."""
    python = installed / "venv" / "bin" / "python"
    if request.param == "mypy":
        pytest.importorskip("mypy")
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", installed / "cache", "--python-executable", python]
    elif pyright := shutil.which(os.environ.get("PYRIGHT", "pyright")):
        command = [pyright, "--pythonpath", python]
    else:
        pytest.skip("pyright is not installed: .ci/run types installs it")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
    said = subprocess.run([*command, "right.py", "wrong.py"], cwd=PROGRAMS, capture_output=True, text=True, env=environment)
    return said.stdout + said.stderr


def lines_with_errors(text, file):
    """The lines for which a checker says that there is an error: mypy with one number behind the name, pyright with two."""
    return sorted({int(line) for line in re.findall(rf"^\s*(?:\S*/)?{file}:(\d+)(?::\d+)?(?:: error| - error)", text, re.M)})


def test_a_program_without_mistakes_has_no_errors(checked):
    assert lines_with_errors(checked, "wrong.py"), checked
    assert lines_with_errors(checked, "right.py") == [], checked


def test_each_mistake_is_found(checked):
    with open(os.path.join(PROGRAMS, "wrong.py")) as f:
        wrong = [number for number, line in enumerate(f, 1) if line.rstrip().endswith("# wrong")]
    assert len(wrong) > 15
    assert lines_with_errors(checked, "wrong.py") == wrong, checked


def test_the_program_without_mistakes_runs():
    pytest.importorskip("typing_extensions")
    runpy.run_path(os.path.join(PROGRAMS, "right.py"))


def test_public_names_have_types(installed):
    """What pyright knows of the package's public names: their parameters, results, attributes and bases."""
    pyright = shutil.which(os.environ.get("PYRIGHT", "pyright"))
    if not pyright:
        pytest.skip("pyright is not installed: .ci/run types installs it")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
    environment["PATH"] = f"{installed / 'venv' / 'bin'}{os.pathsep}{environment['PATH']}"  # where pyright looks for the package
    said = subprocess.run([pyright, "--ignoreexternal", "--verifytypes", "torchjit", "--outputjson"], cwd=installed, capture_output=True, text=True, env=environment)
    found = json.loads(said.stdout)["typeCompleteness"]
    assert sum(found["exportedSymbolCounts"].values()) > 8000, said.stdout[:2000]
    unknown = [symbol["name"] for symbol in found["symbols"] if symbol["isExported"] and not symbol["isTypeKnown"]]
    assert found["completenessScore"] >= 0.97, unknown
