"""Messages of common mistakes: messages/NAME.txtar holds a program and what people see of it. UPDATE_GOLDEN=1 writes the messages anew."""

import contextlib
import io
import os
import pathlib
import pickle
import re
import runpy
import traceback

import pytest

import torchjit as torch
from torchjit import _native

FOLDER = pathlib.Path(__file__).resolve().parent / "messages"
ROOT = str(pathlib.Path(torch.__file__).resolve().parent)


def sections(path):
    """The text before the sections of an archive, and the sections by name."""
    parts = re.split(r"^-- (\S+) --\n", path.read_text(), flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def shown(program, folder):
    """What Python prints below the traceback of a program that fails."""
    (folder / "program.py").write_text(program)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_path(str(folder / "program.py"))
        except Exception as e:
            text = "".join(traceback.format_exception_only(e))
        else:
            pytest.fail("the program does not fail")
    text = text.replace(str(folder) + os.sep, "").replace(ROOT, "torchjit")
    text = re.sub(r'"\S+/site-packages/(\S+)", line \d+', r'"\1", line N', text)
    text = re.sub(r"0x[0-9a-f]+", "0x...", text)
    return re.sub(r"(torchjit/\S+\.py\", line )\d+", r"\1N", text)


UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
PATHS = sorted(FOLDER.glob("*.txtar"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_message(path, tmp_path):
    title, parts = sections(path)
    found = shown(parts["program.py"], tmp_path)
    if UPDATE:
        parts["message"] = found
        path.write_text(title + "".join(f"-- {name} --\n{text}" for name, text in parts.items()))
    else:
        assert found == parts["message"]
    assert re.search(r"^TJ\d\d\d: ", found, re.M), "the message has no code"


def codes(path):
    """The codes in the message of a mistake."""
    return re.findall(r"^(TJ\d\d\d): ", sections(path)[1]["message"], re.M)


INTRODUCTION = """# Errors

What people see below the message of a common mistake has a code, which is explained here: in Python as a note of the exception, from Go by `errs.AdviceOf(err)` and `errs.CodeOf(err)`, and from the command `gojit`. Messages
themselves are PyTorch's where PyTorch has the error. This page is made of `gojit/internal/mistake/mistakes.txt` and `tests/messages` by `UPDATE_GOLDEN=1 python -m pytest tests/test_messages.py`.
"""


def page():
    """docs/errors.md."""
    kinds = _native.mistakes()
    out = [INTRODUCTION, "| code | mistake |\n|---|---|\n" + "".join(f"| [{code}](#{code.lower()}) | {title} |\n" for code, title, _, _ in kinds)]
    for code, title, cure, more in kinds:
        out.append(f'<a id="{code.lower()}"></a>\n\n## {code}: {title}\n\n{cure[0].upper() + cure[1:]}.\n' + (f"\n{more}\n" if more else ""))
        for path in PATHS:
            if code in codes(path):
                about, parts = sections(path)
                message = "\n".join(line for line in parts["message"].rstrip().splitlines() if not line.startswith("TJ"))
                out.append(f"{about.strip()}\n\n```python\n{parts['program.py'].strip()}\n```\n\n```\n{message.strip()}\n```\n")
                break
    return "\n".join(out)


def test_every_code_has_a_page_and_nearly_every_one_a_program():
    target = FOLDER.parent.parent / "docs" / "errors.md"
    if UPDATE:
        target.write_text(page())
    assert target.read_text() == page(), "run: UPDATE_GOLDEN=1 python -m pytest tests/test_messages.py"
    known = {code for code, *_ in _native.mistakes()}
    shown_codes = {code for path in PATHS for code in codes(path)}
    assert shown_codes <= known and len(PATHS) >= 60
    assert known - shown_codes == set(), "codes without a program"


# Mistakes of which only Python knows all: an ignored function, a call of NumPy.
NEED_PYTHON = {"ignored_result", "numpy_inside"}
SCRIPTED = re.compile(r"^@torch\.jit\.script\ndef (\w+)", re.M)
COMMAND = [path for path in PATHS if SCRIPTED.search(sections(path)[1]["program.py"]) and path.stem not in NEED_PYTHON]


@pytest.mark.parametrize("path", COMMAND, ids=lambda path: path.stem)
def test_the_command_says_the_same(path, tmp_path, capfd):
    """The command compiles the function, or calls it with the inputs of the archive; TestMistakesAreSaidAsInPython does so from Go."""
    _, parts = sections(path)
    file, function = tmp_path / "program.py", SCRIPTED.search(parts["program.py"])[1]
    file.write_text(parts["program.py"].replace("import torchjit as torch", "import torch"))
    if "inputs" in parts:
        assert _native.command(["compile", str(file), function, "-o", str(tmp_path / "f.pt")]) == 0
        status = _native.command(["run", str(tmp_path / "f.pt"), "--", *parts["inputs"].splitlines()])
    else:
        status = _native.command(["graph", str(file), function])
    printed = capfd.readouterr().err
    lines = parts["message"].splitlines()
    assert status == (2 if path.stem.startswith("call_") else 1)
    assert all(line in printed for line in lines if line.startswith("TJ")), printed
    if status == 1:
        headline = [line for line in lines if re.match(r"[\w.]*Error: ", line)][-1].partition(": ")[2] or next(line for line in lines[1:] if line.strip())
        assert headline in printed and all(line.strip() in printed for line in lines if "<--- HERE" in line), printed


def test_most_mistakes_are_tried_by_the_command():
    assert len(COMMAND) >= 40


def test_errors_hold_no_modules():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    try:
        net(torch.ones(1, 3))
    except RuntimeError as e:
        error = e
    copied = pickle.loads(pickle.dumps(error))
    assert copied.__notes__ == error.__notes__ and error.__notes__[0] == "in 0 (Linear)"
    assert not any(isinstance(value, torch.nn.Module) for value in vars(error).values())


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))])

    def forward(self, x):
        return x


class Reaching(torch.nn.Module):
    """A module that calls what lies deeper than its own submodules."""

    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block.body[0](x)


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_errors_name_the_whole_way_to_a_module(compiled, hooked):
    net = torch.nn.Sequential(torch.nn.ReLU(), Reaching())
    if compiled:
        net = torch.jit.script(net)
    if hooked:
        for module in net.modules():
            module.register_forward_hook(lambda module, args, result: None)
    with pytest.raises(RuntimeError) as raised:
        net(torch.ones(1, 3))
    assert raised.value.__notes__[0] == "in 1.block.body.0.1 (Linear)"


def test_hooks_that_fail_name_their_module():
    net = torch.nn.Sequential(torch.nn.ReLU())
    net[0].register_forward_hook(lambda module, args, result: result.view(1000))
    with pytest.raises(RuntimeError) as raised:
        net(torch.ones(1, 3))
    assert raised.value.__notes__[0] == "in 0 (ReLU)"


def test_missing_names_are_plain_errors():
    assert not hasattr(torch, "sigmiod")
    with pytest.raises(AttributeError) as raised:
        torch.sigmiod  # noqa: B018
    assert type(pickle.loads(pickle.dumps(raised.value))) is AttributeError


def test_listed_names_are_there():
    assert [name for name in dir(torch) if not hasattr(torch, name)] == []


def test_ways_to_modules():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(3, 3))

        def forward(self, x):
            try:
                return self.inner(x)
            except RuntimeError:
                pass
            return x.view(-1, 1000)  # fails in Twice itself

    with pytest.raises(RuntimeError) as raised:
        torch.nn.Sequential(Twice())(torch.ones(2, 2))
    assert raised.value.__notes__[0] == "in 0 (Twice)"
