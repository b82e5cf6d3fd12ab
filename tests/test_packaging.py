"""What is released: one version, and a source distribution that has all that the build reads."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import torchjit

ROOT = pathlib.Path(__file__).parent.parent


def manifest(folder):
    """The patterns of MANIFEST.in for a folder."""
    rules = re.findall(rf"^recursive-include {folder} (.*)$", (ROOT / "MANIFEST.in").read_text(), re.M)
    return rules[0].split()


def test_one_version():
    version = (ROOT / "gojit/VERSION").read_text().strip()
    assert torchjit.__version__ == f"1.13.1+torchjit{version}"
    assert 'version = { file = "gojit/VERSION" }' in (ROOT / "pyproject.toml").read_text()


def test_the_source_distribution_has_what_go_embeds():
    embedded = []
    for path in ROOT.glob("gojit/**/*.go"):
        if not path.name.endswith("_test.go"):
            for names in re.findall(r"^//go:embed (.*)$", path.read_text(), re.M):
                embedded += [path.parent / name for name in names.split()]
    assert len(embedded) >= 10
    for path in embedded:
        files = [f for f in path.rglob("*") if f.is_file()] if path.is_dir() else [path]
        assert files and path.exists()
        for file in files:
            assert any(fnmatch.fnmatch(file.name, pattern) for pattern in manifest("gojit")), file


def test_the_source_distribution_has_what_cgo_reads():
    for path in ROOT.glob("pybind/*"):
        if path.is_file():
            assert any(fnmatch.fnmatch(path.name, pattern) for pattern in manifest("pybind")), path
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")


def test_the_image_has_what_it_copies():
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", (ROOT / "Dockerfile").read_text(), re.M) for word in line.split()[:-1]]
    assert copied and all((ROOT / name).exists() and name in let_in for name in copied)


def test_one_version_of_go():
    version = re.search(r"^go (\d+\.\d+)\.\d+$", (ROOT / "go.mod").read_text(), re.M)[1]
    for name in ("Dockerfile", "pyproject.toml"):
        assert {v for v in re.findall(r"go(?:lang:)?(1\.\d+)", (ROOT / name).read_text())} == {version}, name


@pytest.mark.skipif(shutil.which("go") is None, reason="the modules of the programs are listed by Go, which is not installed")
def test_licenses_of_what_is_linked():
    """Programs and libraries are given away with the licenses of the modules that are in them."""
    there = {path.stem for path in (ROOT / "licenses").glob("*.txt")}
    linked = {"go"}
    for system in ("linux", "darwin", "windows"):
        command = ["go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./gojit/cmd/gojit"]
        listed = subprocess.run(command, cwd=ROOT, env={**os.environ, "GOOS": system, "CGO_ENABLED": "0"}, capture_output=True, text=True, check=True)
        linked |= {path.replace("/", "_") for path in listed.stdout.split()}
    assert linked == there


def test_the_wheels_are_built_by_the_version_that_is_checked():
    checked = re.search(r"^cibuildwheel==(\S+)$", (ROOT / ".ci" / "package.txt").read_text(), re.M)[1]
    assert f"pypa/cibuildwheel@v{checked} " in (ROOT / ".github" / "workflows" / "release.yml").read_text()
    metadata = (ROOT / "pyproject.toml").read_text()
    built = re.findall(r"cp3(\d+)-\*", re.search(r'^build = "(.*)"$', metadata, re.M)[1])
    assert built == re.findall(r"Python :: 3\.(\d+)", metadata) and len(built) == 5


def test_the_workflow_has_every_step():
    steps = set(re.search(r'^\[ \$\{#steps\[@\]\} -gt 0 \] \|\| steps=\((.*)\)$', (ROOT / ".ci/run").read_text(), re.M)[1].split())
    matrix = re.search(r"^ +step: \[(.*)\]$", (ROOT / ".github/workflows/ci.yml").read_text(), re.M)[1]
    assert set(matrix.replace('"', "").replace(",", " ").split()) == steps and len(steps) > 10
