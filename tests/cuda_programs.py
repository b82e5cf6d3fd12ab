"""Runs the calls of tests/programs on the device cuda, arguments and modules copied there, and those of the archives that PyTorch saved, loaded there, and compares them with the processor's.

    GOJIT_CUDA_DRIVER=... python tests/cuda_programs.py [NAME ...]

The last line is JSON, for both: how many calls agree, those that meet an operator without a form for the device, those whose program makes tensors of the processor
itself and mixes them with the arguments, and what is wrong about others.
"""

import copy
import json
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import conformance  # noqa: E402
import program_ways  # noqa: E402

torch = program_ways.torch
torch.backends.cudnn.allow_tf32 = False  # the processor computes in float32
MIXED = re.compile("Expected all tensors to be on the same device|should be either on cpu or on the same device")
REFUSED = re.compile(r"Could not run '([\w:.]+)' with arguments from the 'CUDA' backend")


def moved(value, where):
    """The value with its tensors on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(where)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(v, where) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v, where) for v in value)
    if isinstance(value, dict):
        return {k: moved(v, where) for k, v in value.items()}
    return value


def written_back(there, here):
    """Has what a call has done to arguments be done to those that they were copied from."""
    if isinstance(here, torch.Tensor) and isinstance(there, torch.Tensor) and not here.requires_grad:
        if there.shape != here.shape:
            here.resize_(there.shape)
        here.copy_(there)
    elif isinstance(here, list) and isinstance(there, list):
        for a, b in zip(there, here, strict=False):
            written_back(a, b)
        here[:] = [*here[: len(there)], *moved(there[len(here) :], "cpu")]
    elif isinstance(here, dict) and isinstance(there, dict):
        for k in there:
            if isinstance(here.get(k), torch.Tensor):
                written_back(there[k], here[k])
            else:
                here[k] = moved(there[k], "cpu")
        for k in [k for k in here if k not in there]:
            del here[k]


class Away:
    """A program that runs on the device."""

    def __init__(self, program):
        self.program = program.to("cuda") if hasattr(program, "parameters") else program

    def __getattr__(self, name):
        found = getattr(self.program, name)
        return Away(found) if callable(found) and not hasattr(found, "parameters") else found

    def __call__(self, *args, **kwargs):
        there = moved((args, kwargs), "cuda")
        result = self.program(*there[0], **there[1])
        written_back(list(there[0]), list(args))
        return moved(result, "cpu")


class Found:
    """What became of calls."""

    def __init__(self):
        self.agree, self.refused, self.mixed, self.wrong = 0, {}, [], {}

    def call(self, where, namespace, entry, case, arrays, here, there):
        """Compares a call of what here() gives with that of what there() gives."""
        try:
            expected = program_ways.run(namespace, here(), entry, copy.deepcopy(case), arrays)
        except Exception:
            return  # other tests tell of these
        actual = program_ways.run(namespace, Away(there()), entry, copy.deepcopy(case), arrays)
        raised = actual[0].get("raises", {}).get("message", "")
        if "raises" not in expected[0] and (found := REFUSED.search(raised)):
            self.refused[where] = found[1]
        elif "raises" not in expected[0] and MIXED.search(raised):
            self.mixed.append(where)
        elif why := program_ways.difference(expected, actual, "traced"):
            self.wrong[where] = why
        else:
            self.agree += 1

    def program(self, name, folder):
        meta, arrays = conformance.read_meta(folder, "script", name)
        namespace = conformance.load_program(f"script/{name}.py", name)
        source = pathlib.Path(f"script/{name}.py").read_text()
        for number, entry in enumerate(meta["entries"]):
            if entry["kind"] not in ("function", "module") or any(word in source for word in program_ways.RANDOM):
                continue

            def compiled(entry=entry):
                return conformance.compile_entry(torch, namespace, entry, arrays)

            for i, case in enumerate(entry.get("cases", [])):
                self.call(f"{name}: entry {number}, call {i}", namespace, entry, case, arrays, compiled, compiled)

    def archive(self, name, folder):
        """Loads an archive to the device and to the processor."""
        meta, arrays = conformance.read_meta(folder, "pt", name)
        for number, entry in enumerate(meta["entries"]):

            def loaded(where, entry=entry):
                return torch.jit.load(entry["path"], map_location=where)

            for i, case in enumerate(entry.get("cases", [])):
                self.call(f"{name}: entry {number}, call {i}", {}, entry, case, arrays, lambda: loaded("cpu"), lambda: loaded("cuda"))


def run(names=()):
    """Programs and archives of some names, or all."""
    warnings.simplefilter("ignore")
    programs, archives = Found(), Found()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HERE / "data" / "corpus.tar.xz") as tar:
            tar.extractall(folder, filter="data")
        for source in (HERE / "programs").glob("*.py"):
            shutil.copy(source, pathlib.Path(folder) / "script")
        kinds = (programs.program, sorted((HERE / "programs").glob("*.py"))), (archives.archive, sorted((pathlib.Path(folder) / "pt").glob("*.json")))
        for compare, paths in kinds:
            for path in paths:
                if not names or path.stem in names:
                    program_ways.os.chdir(folder)
                    compare(path.stem, folder)
        program_ways.os.chdir("/")
    return {"programs": vars(programs), "archives": vars(archives)}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:])))
