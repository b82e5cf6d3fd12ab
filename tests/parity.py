"""Small programs of the language, with what PyTorch 1.13.1 printed: parity/AREA.txt, in the form of answers/.

A title begins with the behaviours of which the program is a case: `### BEHAVIOUR + BEHAVIOUR: the case`. A title without a colon is of none that
is followed by name. Each behaviour has at least LEAST cases. What is better here than in PyTorch has no case: test_ways.py and
test_untrusted_files.py have it.

    parity.py record [AREA ...]      writes the answers anew, with PyTorch itself
    parity.py compare [AREA ...]     prints what differs here

To record `testing`, PyTorch needs the package expecttest.

Besides what programs of answers/ know, these are known:

    error(function, *args)   calls it and prints the class and the first line of the exception, or "no error" and the result
    marked(function, *args)  the same, with the lines of the program that the message underlines
    graph(object)            prints its graph, or a graph itself, without the places in the source
    kinds(object)            prints how often which kind of node occurs in a graph, in its blocks and in its subgraphs
"""

import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import answers
import recorded

FOLDER = pathlib.Path(__file__).resolve().parent / "parity"
LEAST = 3
APART = ("fusion", "trace_names")  # programs that change settings of the process, or show numbers of names, which depend on what ran before
COMPILED = ("ScriptFunction", "CompilationUnit", "RecursiveScriptModule", "ScriptMethod")  # not shown
INTERPRETER = "The following operation failed in the TorchScript interpreter."


def areas():
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def behaviours():
    """How many cases each behaviour has."""
    titles = [title for area in areas() for title, _, _ in answers.sections(area, FOLDER)]
    return collections.Counter(name for title in titles if ": " in title for name in title.partition(": ")[0].split(" + "))


def headline(exception):
    """The class of an exception and the line of its message that says what is wrong."""
    lines = [line.strip() for line in str(exception).splitlines() if line.strip()]
    if lines and lines[0] == INTERPRETER:
        lines = lines[-1:]
    return f"{type(exception).__name__}: {lines[0] if lines else ''}"


def underlined(exception):
    """Each line of the message that is underlined, with its underline."""
    lines = str(exception).splitlines()
    return [text for above, line in zip(lines, lines[1:]) if re.search("~ *<--- HERE|~~", line) for text in (above, line)]


def called(function, args, kwargs):
    try:
        result = function(*args, **kwargs)
        print("no error:", type(result).__name__ if type(result).__name__ in COMPILED else result)
    except Exception as e:
        return e


def error(function, *args, **kwargs):
    exception = called(function, args, kwargs)
    if exception is not None:
        print(headline(exception))


def marked(function, *args, **kwargs):
    exception = called(function, args, kwargs)
    if exception is not None:
        print("\n".join([headline(exception), *underlined(exception)]))


def graph(shown):
    shown = getattr(shown, "graph", shown)
    print(re.sub(r" *# \S+:\d+:\d+$", "", str(shown), flags=re.M).rstrip())


def kinds(shown):
    print(sorted(collections.Counter(re.findall(r" = (\w+::\w+)|^ *(\w+::\w+)", str(getattr(shown, "graph", shown)), flags=re.M)).items()))


HELPERS = dict(error=error, marked=marked, graph=graph, kinds=kinds)


def run(module, program, title):
    with tempfile.TemporaryDirectory() as folder:
        return answers.run(module, program, title, folder, HELPERS)


def in_a_child(program, title):
    """What PyTorch prints for a program, in a process of its own, which it may end."""
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a fork of a process with threads may hang
            out.write(run("torch", program, title))
            out.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        return out.read() if status == 0 else f"the process ended with status {status}"


def record(names):
    import torch  # noqa: F401  (each child has it)

    for area in names:
        out = [f"### {title}\n{program}\n---\n{in_a_child(program, title)}\n" for title, program, _ in answers.sections(area, FOLDER)]
        (FOLDER / f"{area}.txt").write_text("\n".join(out))


def apart(title):
    """What a program of these areas prints here, in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    done = subprocess.run([sys.executable, __file__, "print", title], env=env, capture_output=True, text=True)
    return done.stdout.rstrip("\n") + done.stderr


def print_one(words):
    title = " ".join(words)
    print(next(run("torchjit", program, title) for area in APART for found, program, _ in answers.sections(area, FOLDER) if found == title))


def difference(title, program, answer):
    """None, or what is printed here instead of the answer."""
    is_apart = title in {found for area in APART for found, _, _ in answers.sections(area, FOLDER)}
    printed = apart(title) if is_apart else run("torchjit", program, title)
    try:
        recorded.check(answer, printed)
    except AssertionError:
        return printed


def compare(names):
    same = total = 0
    for area in names:
        for title, program, answer in answers.sections(area, FOLDER):
            found = difference(title, program, answer)
            total, same = total + 1, same + (found is None)
            if found is not None:
                print(f"\n=== {area}: {title}\n{program}\n--- PyTorch\n{answer}\n--- here\n{found}")
    print(f"{same} of {total} programs give PyTorch's answers")


if __name__ == "__main__":
    {"record": record, "compare": compare, "print": print_one}[sys.argv[1]](sys.argv[2:] or areas())
