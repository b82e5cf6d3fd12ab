"""Runs a program of this folder under torchjit or under PyTorch."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Some machines export these, and OpenBLAS then runs at half its speed.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# One thread, and the machine's widest vectors: PyTorch would not use those of AVX-512, and ends where there are none.
KERNELS = {"OPENBLAS_NUM_THREADS": "1"} | ({"ATEN_CPU_CAPABILITY": "avx512"} if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text().split() else {})


def environment(module, **variables):
    """The environment for a program under a module: one thread, and these variables besides."""
    found = {k: v for k, v in os.environ.items() if k not in SLOWING}
    found.update(OMP_NUM_THREADS="1", PYTHONPATH=str(HERE.parent) if module == "torchjit" else "", **variables)
    return found


def measure(python, work, module, *args, **variables):
    """What `work MODULE ARGS` prints, as JSON, with one thread and these environment variables besides."""
    command = [python, str(HERE / work), module, *args]
    done = subprocess.run(command, env=environment(module, **variables), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} with {module} failed:\n{done.stderr}")
    return json.loads(done.stdout)


class Worker:
    """A program `work MODULE ARGS` that answers each line with one of JSON, so that two can be measured in turn."""

    def __init__(self, python, work, module, *args, **variables):
        self.name = f"{python} with {module}"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([python, str(HERE / work), module, *args], env=environment(module, **variables), **pipes)

    def ask(self, question):
        print(question, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def compare(ours, theirs, only, rounds):
    """For each row that both workers know and whose name has `only`: the ratio, and the nanoseconds of both. They are measured in turn; rows
    that the peer refuses are left out, those that we refuse are printed."""
    found = {}
    for name in [n for n in theirs.ask("") if only in n]:
        rows = []
        for _ in range(rounds):
            a, b = ours.ask(name), theirs.ask(name)
            if isinstance(a, str) or isinstance(b, str):
                if not isinstance(b, str):
                    print(f"{name:60} fails: {a}")
                break
            rows.append((b / a, a, b))
        else:
            found[name] = tuple(statistics.median(r[i] for r in rows) for i in range(3))
    return found


def lead(times):
    """By "least" and "median": the time of the best way of the others divided by that of torchjit's best, of times by titles; none where nobody else is."""
    ours, theirs = ([found for title, found in times.items() if title.startswith("torchjit") == mine] for mine in (True, False))
    return {what: min(map(of, theirs)) / min(map(of, ours)) for what, of in (("least", min), ("median", statistics.median)) if theirs}
