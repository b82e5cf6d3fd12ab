"""Small programs in language/*.txt, and what a torch module makes of them.

    language.py --module NAME --json OUT       run all with the module NAME
    language.py --module torch --record        write data/language.json.xz: what PyTorch answers

A file holds programs, each headed by `#### name`. A program is Python in which these are known:

    T(object, args...)   scripts an object; records its graph, code, schema and inlined graph; calls it with each args, a tuple or one argument
    S(object)            the same without calls
    R(function)          records what a Python function without parameters returns
"""

import argparse
import json
import lzma
import pathlib
import re
import sys
import tempfile
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import conformance  # noqa: E402

ANSWERS = HERE / "data" / "language.json.xz"
HEADER = "import torch\nfrom torch import nn, Tensor\nimport torch.nn.functional as F\nfrom typing import *\n"
TEXTS = ("graph", "code", "schema", "inlined_graph")


def programs():
    """Return {name: source} of all files."""
    found = {}
    for path in sorted((HERE / "language").glob("*.txt")):
        parts = re.split(r"^#### (\S+)\n", path.read_text(), flags=re.M)
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            assert name not in found, f"two programs are called {name}"
            found[name] = body if body.startswith("from __future__") else HEADER + body
    return found


class Recorder:
    """Runs one program and keeps what came of it as {key: text}."""

    def __init__(self, torch, name):
        self.torch, self.name, self.count, self.answers = torch, name, 0, {}

    def keep(self, key, text):
        self.answers[key] = conformance.sanitize(text, self.torch).replace("torchjit.", "torch.")

    def fail(self, key, error):
        info = conformance.exc_info(error, self.torch)
        self.keep(key + ":error", f"{info['type']}: {info['message']}")

    def script(self, obj):
        self.count += 1
        try:
            compiled = self.torch.jit.script(obj)
        except Exception as e:
            self.fail(str(self.count), e)
            return None
        for text in TEXTS:
            try:
                self.keep(f"{self.count}:{text}", str(getattr(compiled, text)))
            except Exception:
                continue
        return compiled

    def call(self, key, function, args):
        with conformance.Capture() as printed:
            try:
                self.keep(key + ":result", repr(function(*args)))
            except Exception as e:
                self.fail(key, e)
        if printed.text:
            self.keep(key + ":printed", printed.text)

    def script_and_call(self, obj, *calls):
        compiled = self.script(obj)
        for i, args in enumerate(calls if compiled is not None else ()):
            self.call(f"{self.count}.{i}", compiled, args if isinstance(args, tuple) else (args,))
        return compiled

    def python(self, function):
        self.count += 1
        self.call(str(self.count), function, ())

    def run(self, source):
        path = self.name + ".py"
        pathlib.Path(path).write_text(source)
        module = types.ModuleType(self.name)
        module.__file__ = path
        module.__dict__.update(S=self.script, T=self.script_and_call, R=self.python)
        sys.modules[self.name] = module
        try:
            exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
        except Exception as e:
            self.fail("import", e)
        return self.answers


def run_all(torch):
    """Return {name: answers}. The working directory gets the sources."""
    warnings.simplefilter("ignore")
    return {name: Recorder(torch, name).run(source) for name, source in programs().items()}


def comparable(key, text):
    """Return what of an answer must agree: of an error the class, the first paragraph and the words that are underlined."""
    text = re.sub("___torch_mangle_[0-9]+", "___torch_mangle", text)  # numbers depend on what ran before
    text = text.replace("enum.EnumMeta", "enum.EnumType")  # its name before Python 3.11
    if not key.endswith(":error"):
        return text
    return [conformance.headline(text), *(list(c) for c in conformance.carets(text))]


def is_about_the_library(key, text):
    """Tell whether a graph shows lines of torch's own Python files, which need not be ours."""
    return key.endswith("graph") and conformance.loc_in(text)


def differences(expected, actual):
    """Return the keys, as "program key", whose answers differ."""
    found = []
    for name, answers in expected.items():
        mine = actual.get(name, {})
        for key, text in answers.items():
            if not is_about_the_library(key, text) and (key not in mine or comparable(key, mine[key]) != comparable(key, text)):
                found.append(f"{name} {key}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="torch")
    parser.add_argument("--json")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    torch = conformance.load_torch(options.module)
    with tempfile.TemporaryDirectory() as folder:
        import os

        before = os.getcwd()
        os.chdir(folder)
        answers = run_all(torch)
        os.chdir(before)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(answers))
    if options.record:
        ANSWERS.write_bytes(lzma.compress(json.dumps(answers, indent=0).encode(), preset=9))


if __name__ == "__main__":
    main()
