"""The snippets of the documents run: Python, Go and shell, with what they are said to print.

The snippets of a page run in its order in one folder, which has model.pt. A text block behind a snippet is what it prints. `<!-- not run: WHY -->` in the line before
a snippet leaves it out.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The programs on the page of errors are mistakes, which tests/test_messages.py makes.
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "errors.md")]
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>.+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$(?:\n+^```text\n(?P<prints>.*?)^```$)?", re.M | re.S)


def snippets(page):
    return [m for m in BLOCK.finditer(page.read_text()) if m["kind"] in ("python", "go", "sh")]


def run(command, folder, **env):
    path = os.pathsep.join([str(folder / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **env}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_python(blocks, folder):
    """Snippets of a page are one program; what each prints stands between lines of ours."""
    mark = "--- the next snippet\n"
    program = "\n".join(f"{block['text']}\nprint({mark!r}, end='')" for block in blocks)
    (folder / "page.py").write_text(program)
    return run([sys.executable, "page.py"], folder).split(mark)


def run_go(block, folder):
    """A whole program, in a module that uses this one."""
    place = folder / "program"
    shutil.copytree(ROOT / "tests" / "consumer", place, dirs_exist_ok=True)
    (place / "main.go").write_text(block["text"])
    subprocess.run(["go", "mod", "edit", "-replace", f"github.com/torchjit/torchjit={ROOT}"], cwd=place, check=True)
    run(["go", "build", "-C", "program", "-o", "../bin/program", "."], folder, CGO_ENABLED="0", GOWORK="off", GOFLAGS="-mod=mod")
    return run([folder / "bin" / "program"], folder)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "tests" / "data" / "digits_cnn.pt", tmp_path / "model.pt")
    command = tmp_path / "bin" / "gojit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchjit "$@"\n')
    command.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, folder):
    blocks = [block for block in snippets(page) if not block["why"]]
    python = [block for block in blocks if block["kind"] == "python"]
    printed = list(zip(python, run_python(python, folder))) if python else []
    for block in blocks:
        if block["kind"] == "sh":
            printed.append((block, run(["bash", "-euo", "pipefail", "-c", block["text"]], folder)))
        elif block["kind"] == "go":
            if shutil.which("go") is None:
                pytest.skip("there is no Go")
            printed.append((block, run_go(block, folder)))
    for block, found in printed:
        assert block["prints"] is None or found == block["prints"], block["text"]


def test_every_snippet_says_what_it_is():
    """Blocks without a language are trees and graphs; a snippet that is not run says why."""
    left_out = [f"{page.name}: {block['why']}" for page in PAGES for block in snippets(page) if block["why"]]
    kinds = {block["kind"] for page in PAGES for block in BLOCK.finditer(page.read_text())}
    assert kinds <= {"", "python", "go", "sh", "text"}
    assert len(left_out) <= 6, left_out


def test_links_lead_somewhere():
    """Links between pages, and to files of the repository."""
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
