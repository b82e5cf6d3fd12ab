#!/usr/bin/env python3
"""Runs the programs of user_programs/ and writes what their main() returns.

    python3 user_programs.py MODULE [NAME ...] > results.json

MODULE takes torch's place (torchjit, or torch to record data/user_programs.json). A program that raises
is recorded as {"raised": ...}. Floats are rounded to what a different order of additions may change.
"""

import importlib.util
import json
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from conformance import load_torch  # noqa: E402


def plain(torch, value):
    """value as JSON: tensors become their type, shape and flat values."""
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": [plain(torch, v) for v in value.detach().flatten().tolist()]}
    if isinstance(value, dict):
        return [[plain(torch, k), plain(torch, v)] for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(torch, v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def run(torch, path):
    """What main() of the program returns, or the last lines of its exception."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    program = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = program
    try:
        spec.loader.exec_module(program)
        return plain(torch, program.main())
    except Exception:
        return {"raised": traceback.format_exc()}


def main():
    name, *only = sys.argv[1:]
    torch = load_torch(name)
    torch.set_num_threads(1)
    paths = [p for p in sorted((HERE / "user_programs").glob("*.py")) if not only or p.stem in only]
    json.dump({p.stem: run(torch, p) for p in paths}, sys.stdout)


if __name__ == "__main__":
    main()
