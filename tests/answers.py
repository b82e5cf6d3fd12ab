"""Short programs with what PyTorch 1.13.1 printed: answers/GROUP.txt.

`python answers.py torch GROUP ...` records the answers anew, with PyTorch itself: those of `func` and `signal` with 2.15, of `export` and `pytree`
with 2.7.1, since 1.13.1 has no torch.export. A section begins with `### title`; the program follows, then a line `---` and what it printed.
"""

import contextlib
import importlib
import io
import pathlib
import re
import sys
import tempfile
import types
import warnings

FOLDER = pathlib.Path(__file__).resolve().parent / "answers"


def sections(group, folder=FOLDER):
    """(title, program, answer) of every section of a file."""
    parts = re.split(r"^### ", (folder / f"{group}.txt").read_text(), flags=re.M)
    for part in parts[1:]:
        title, _, rest = part.partition("\n")
        program, _, answer = rest.partition("\n---\n")
        yield title, program.rstrip("\n"), answer.rstrip("\n")


def run(module, program, title, folder, names=None):
    """What a program, which knows the names, prints with a module for torch. An exception that ends it is printed too."""
    torch = importlib.import_module(module)
    if module != "torch":
        program = re.sub(r"^( *)import torch$", rf"\1import {module} as torch", program, flags=re.M)
        program = re.sub(r"^( *)(import|from) torch\b(?! *$)", rf"\1\2 {module}", program, flags=re.M)
        program = re.sub(rf"^( *)import {module}\.(\S+)$", rf"\1import {module}.\2", program, flags=re.M)
    path = pathlib.Path(folder) / "program.py"
    path.write_text(program + "\n")
    name = "answers_" + re.sub(r"\W", "_", title)
    made = sys.modules[name] = types.ModuleType(name)
    made.__file__ = str(path)
    made.__dict__.update(torch=torch, nn=torch.nn, F=torch.nn.functional, **(names or {}))
    torch.manual_seed(0)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir("."), warnings.catch_warnings():  # a program may change the folder
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, str(path), "exec"), made.__dict__)
        except Exception as e:
            print(f"{type(e).__name__}: {e}")
        finally:
            del sys.modules[name]
    return normalized(printed.getvalue(), module, str(folder))


def normalized(text, module, folder):
    """Text without what differs between two runs of the same program."""
    text = text.replace(folder + "/", "").replace(module, "torch")
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("note: ")).rstrip("\n")


def main():
    for group in sys.argv[2:]:
        out = []
        for title, program, _ in list(sections(group)):
            with tempfile.TemporaryDirectory() as folder:
                out.append(f"### {title}\n{program}\n---\n{run(sys.argv[1], program, title, folder)}\n")
        (FOLDER / f"{group}.txt").write_text("\n".join(out))


if __name__ == "__main__":
    main()
