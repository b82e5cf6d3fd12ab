"""Measures whole networks, without gradients: processor time of one thread, page faults, and what a call leaves to Go's collector.

    python benchmarks/nets.py --peer /usr/bin/python3 --peer PYTHON_WITH_OTHER_ENGINES [--only PART_OF_A_NAME] [--rounds N] [--save]

A peer is a Python that has PyTorch, ONNX Runtime or OpenVINO, or several of them; the last two run what torchjit exports. Every way of every engine is a
process of its own; they take turns. The ratio is the time of the best way of all the others divided by that of our best way, by the least and by the median.
The results are compared first. --save keeps what is printed in the folder results, under the processor's name.
"""

import argparse
import contextlib
import datetime
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from peer import HERE, Worker, environment, lead, measure

WORK, ONNX = "nets_work.py", "onnx_work.py"
VARIABLES = {"OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}  # PyTorch 2 warns of scripts


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], cwd="/", capture_output=True).returncode == 0


def engines(peers):
    """Title, Python, module and ways of each engine; those that run ONNX have no ways."""
    found = [("torchjit", sys.executable, "torchjit", measure(sys.executable, WORK, "torchjit")[2])]
    for python in peers:
        if has(python, "torch"):
            version, _, ways = measure(python, WORK, "torch")
            found.append((f"torch {version}", python, "torch", ways))
        for module in ("onnxruntime", "openvino"):
            if has(python, module):
                found.append((f"{module} {measure(python, ONNX, module)}", python, module, []))
    return found


def export(name, file):
    """Writes a net as ONNX; says why where that fails."""
    command = [sys.executable, str(HERE / WORK), "torchjit", name, file]
    done = subprocess.run(command, env=environment("torchjit"), capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def workers(name, found, folder, stack, say):
    """By the title and the way: the processes that run a net."""
    file, started = str(folder / "net.onnx"), {}
    refused = export(name, file) if any(not ways for *_, ways in found) else ""
    if refused:
        say(f"  not exported as ONNX: {refused}")
    for title, python, module, ways in found:
        for way in ways:
            started[f"{title} {way}"] = stack.enter_context(Worker(python, WORK, module, name, way, **VARIABLES))
        if not ways and not refused:
            started[title] = stack.enter_context(Worker(python, ONNX, module, file, **VARIABLES))
    return started


def compare(name, found, rounds, say):
    with contextlib.ExitStack() as stack:
        started = workers(name, found, pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())), stack, say)
        results = {title: worker.ask("result") for title, worker in started.items()}
        wanted = next(iter(results.values()))
        largest = max(map(abs, wanted))
        for title, result in results.items():
            if any(abs(a - b) > 1e-4 * largest for a, b in zip(wanted, result, strict=True)):
                say(f"  {title}: another result")
        times = {title: [] for title in started}
        for _ in range(rounds):
            for title, worker in started.items():
                times[title] += worker.ask("time")
        for title, worker in started.items():
            faults, garbage = worker.ask("faults")
            of_go = f", {garbage / 1024:8.1f} KB" if title.startswith("torchjit") else ""
            say(f"  {title:24} least {min(times[title]) / 1e6:9.3f} ms, median {statistics.median(times[title]) / 1e6:9.3f} ms, {faults:7.1f} page faults{of_go}")
    if ahead := lead(times):
        say("  " + ", ".join(f"{what} {ratio:.2f}" for what, ratio in ahead.items()))


def processor():
    with open("/proc/cpuinfo") as f:
        told = dict(line.split(":", 1) for line in f.read().replace("\t", "").split("\n\n")[0].splitlines() if ":" in line)
    widest = next((kind for kind in ("amx_tile", "avx512_bf16", "avx512f", "avx2") if kind in told.get("flags", "").split()), "")
    return " ".join(filter(None, (told.get("model name", "unknown").strip(), f"family {told.get('cpu family', '?').strip()} model {told.get('model', '?').strip()}", widest)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], help="a Python that has PyTorch, ONNX Runtime or OpenVINO")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="measure only nets whose name has this")
    parser.add_argument("--save", action="store_true", help="keep what is printed")
    args = parser.parse_args()
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    found = engines(args.peer)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    say(f"{datetime.date.today()}, {commit}, {processor()}: {', '.join(title for title, *_ in found)}")
    for name in measure(sys.executable, WORK, "torchjit")[1]:
        if args.only in name:
            say(name)
            compare(name, found, args.rounds, say)
    if args.save:
        folder = HERE / "results"
        folder.mkdir(exist_ok=True)
        (folder / f"nets {re.sub(r'[^A-Za-z0-9]+', '-', processor())}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
