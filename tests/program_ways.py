#!/usr/bin/env python3
"""Runs the calls of tests/programs in every way of running a program and prints what differs from the scripted program.

    python tests/program_ways.py [NAME ...]     all programs where none is named

Each call is run as conformance.py runs it; results, errors, output, arguments behind the call and gradients are compared. The last line
counts what was run, and what cannot be made in each way.
"""

import collections
import copy
import io
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import threading
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import conformance  # noqa: E402

torch = conformance.load_torch("torchjit")

ROUNDED = {"frozen", "optimized", "profiled", "unfused", "exported", "traced"}  # sums and products may be joined in other ways
NO_GRADIENTS = {"frozen", "optimized", "lite", "traced", "exported"}  # parameters are constants there, or traced without them
RANDOM = {"rand", "randn", "dropout", "bernoulli", "normal_", "uniform_", "multinomial", "randperm", "randint"}


def loaded(program, lite=False):
    if lite:
        from torchjit.jit import mobile

        if not hasattr(program, "_save_to_buffer_for_lite_interpreter"):
            program = loaded(program)  # a function becomes a module
        return mobile._load_for_lite_interpreter(io.BytesIO(program._save_to_buffer_for_lite_interpreter()))
    buffer = io.BytesIO()
    torch.jit.save(program, buffer)
    return torch.jit.load(io.BytesIO(buffer.getvalue()))


class Profiled:
    """A program under the profiling executor, specialized by former calls."""

    def __init__(self, program):
        self.program = program

    def __getattr__(self, name):
        return Profiled(getattr(self.program, name))

    def __call__(self, *args, **kwargs):
        old = torch._C._jit_set_profiling_executor(True)
        try:
            for _ in range(3):
                self.program(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            torch.manual_seed(0)
            return self.program(*args, **kwargs)
        finally:
            torch._C._jit_set_profiling_executor(old)


class Unfused(Profiled):
    def __getattr__(self, name):
        return Unfused(getattr(self.program, name))

    def __call__(self, *args, **kwargs):
        with torch.jit.fuser("fuser0"):
            return self.program(*args, **kwargs)


class Threaded(Profiled):
    """Runs the program in another thread, too."""

    def __getattr__(self, name):
        return Threaded(getattr(self.program, name))

    def __call__(self, *args, **kwargs):
        others = copy.deepcopy((args, kwargs))

        def other():
            for _ in range(3):
                try:
                    self.program(*copy.deepcopy(others[0]), **copy.deepcopy(others[1]))
                except Exception:
                    return

        thread = threading.Thread(target=other)
        thread.start()
        try:
            return self.program(*args, **kwargs)
        finally:
            thread.join()


def ways(make, entry, example):
    """Pairs of a name and what makes the program; make() is a new scripted program."""
    is_module = entry["kind"] == "module"
    yield "again", make
    yield "loaded", lambda: loaded(make())
    yield "loaded twice", lambda: loaded(loaded(make()))
    yield "lite", lambda: loaded(make(), lite=True)
    yield "profiled", lambda: Profiled(make())
    yield "unfused", lambda: Unfused(make())
    yield "threads", lambda: Threaded(make())
    if is_module:
        yield "copy", lambda: copy.deepcopy(make())
        if not entry.get("train"):
            yield "frozen", lambda: torch.jit.freeze(make().eval(), preserved_attrs=[m for m in entry.get("methods") or [] if m != "forward"])
            yield "optimized", lambda: torch.jit.optimize_for_inference(make().eval())
    if example and all(isinstance(x, torch.Tensor) for x in example):
        yield "traced", lambda: torch.jit.trace(make(), tuple(x.detach().clone() for x in example), check_trace=False)


def run(namespace, program, entry, case, arrays):
    store = conformance.Store()
    return conformance.run_case(torch, namespace, program, entry, case, arrays, store), store


def difference(expected, actual, way):
    """What differs between two records of calls, None for nothing."""
    (a, arrays_a), (b, arrays_b) = expected, actual
    if ("raises" in a) != ("raises" in b) or "raises" in a and a["raises"]["type"] != b["raises"]["type"]:
        return f"{b.get('raises') or 'no error'}, not {a.get('raises') or 'no error'}"[:300]
    if a.get("stdout") != b.get("stdout") and way not in ("profiled", "threads", "traced"):
        return f"prints {b.get('stdout')!r}, not {a.get('stdout')!r}"
    tolerance = (1e-4, 1e-5) if way in ROUNDED else (0, 0)
    for key in ("out", "args_after", "grads"):
        if key == "grads" and way in NO_GRADIENTS or key not in a and key not in b:
            continue
        if key not in a or key not in b:
            return f"{key}: {str(b.get(key))[:300]}, not {str(a.get(key))[:300]}"
        if why := conformance.compare(a[key], b[key], arrays_a, arrays_b, path=key, tol=tolerance):
            return str(why)[:300]
    return None


def differences(name, corpus, made, cannot):
    os.chdir(corpus)
    meta, arrays = conformance.read_meta(corpus, "script", name)
    namespace = conformance.load_program(f"script/{name}.py", name)
    source = pathlib.Path(f"script/{name}.py").read_text()
    for number, entry in enumerate(meta["entries"]):
        if entry["kind"] not in ("function", "module"):
            continue

        def make(entry=entry):
            return conformance.compile_entry(torch, namespace, entry, arrays)

        try:
            make()
        except Exception:
            continue  # the test of programs tells of these
        for case_number, case in enumerate(entry.get("cases", [])):
            where = f"{name}: entry {number} {entry.get('expr', '')[:60]}, call {case_number}"
            expected = run(namespace, make(), entry, case, arrays)
            stateful = make()
            run(namespace, stateful, entry, case, arrays)
            keeps = difference(expected, run(namespace, stateful, entry, case, arrays), "") is not None
            example = None
            if not case.get("method") and not case.get("kwargs"):
                example = [conformance.decode(torch, a, arrays, namespace) for a in case.get("args", [])]
            for way, maker in ways(make, entry, example):
                if case.get("method") and way in ("optimized", "traced", "lite") or case.get("kwargs") and way == "lite":
                    continue
                if way == "threads" and any(word in source for word in RANDOM) or keeps and way in ("profiled", "threads"):
                    continue
                try:
                    program = maker()
                except Exception:
                    cannot[way] += 1
                    continue
                made[way] += 1
                for _ in range(5 if way == "again" and not keeps else 1):
                    if why := difference(expected, run(namespace, program, entry, case, arrays), way):
                        yield f"{where}: {way}: {why}"
                        break


def main():
    warnings.simplefilter("ignore")
    made, cannot, found = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HERE / "data" / "corpus.tar.xz") as tar:
            tar.extractall(folder, filter="data")
        for source in (HERE / "programs").glob("*.py"):
            shutil.copy(source, pathlib.Path(folder) / "script")
        names = sys.argv[1:] or sorted(p.stem for p in (HERE / "programs").glob("*.py"))
        for name in names:
            for line in differences(name, folder, made, cannot):
                found += 1
                print(line, flush=True)
        os.chdir("/")
    print(f"{found} differences; ran {dict(made)}; cannot be made {dict(cannot)}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
