"""Loads models that PyTorch trained and saved, runs them without PyTorch, and shows its recorded answers beside ours."""

import json
import pathlib
import sys
import time

import numpy as np

import torchjit as torch

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"


def decode(x, arrays):
    """An argument as it is written in models.json."""
    if isinstance(x, dict) and "T" in x:
        return torch.from_numpy(np.array(arrays[x["T"]["ref"]]))
    return x["i"] if isinstance(x, dict) and "i" in x else x


def plain(x, arrays):
    """A recorded answer as NumPy arrays and Python values."""
    if isinstance(x, dict) and "T" in x:
        return np.array(arrays[x["T"]["ref"]])
    for key in ("l", "t"):
        if isinstance(x, dict) and key in x:
            return [plain(item, arrays) for item in x[key]]
    return x["i"] if isinstance(x, dict) and "i" in x else x


def ours(x):
    if isinstance(x, torch.Tensor):
        return x.detach().numpy()
    return [ours(item) for item in x] if isinstance(x, (list, tuple)) else x


def difference(a, b):
    """The largest absolute difference between two answers; infinite where they differ in kind."""
    if isinstance(a, list):
        return max((difference(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
    if isinstance(a, np.ndarray):
        return float(np.abs(a.astype(float) - np.asarray(b).astype(float)).max()) if a.shape == b.shape else float("inf")
    return 0.0 if a == b else float("inf")


def show(x):
    if isinstance(x, np.ndarray):
        return "classes " + str(x.argmax(-1).tolist()) if x.ndim >= 2 else str(np.round(x, 4).tolist())
    return "; ".join(show(item) for item in x) if isinstance(x, list) and x and isinstance(x[0], np.ndarray) else repr(x)


def main():
    models = json.loads((DATA / "models.json").read_text())
    worst = 0.0
    for name, record in models.items():
        begin = time.perf_counter()
        model = torch.jit.load(str(DATA / f"{name}.pt"))
        print(f"\n{name}.pt: loaded in {(time.perf_counter() - begin) * 1e3:.1f} ms, methods {record_methods(record)}")
        with np.load(DATA / f"{name}.npz") as npz:
            arrays = {k: npz[k] for k in npz.files}
        for case in record["cases"]:
            method = case.get("method", "forward")
            args = [decode(a, arrays) for a in case["args"]]
            got = ours(getattr(model, method)(*args))
            want = plain(case["expect"]["out"], arrays)
            apart = difference(want, got)
            worst = max(worst, apart)
            print(f"  {method}({', '.join(describe(a) for a in args)})")
            print(f"    torchjit: {show(got)}\n    PyTorch:  {show(want)}\n    largest difference {apart:.1e}")
    model = torch.jit.load(str(DATA / "digits_cnn.pt"))
    print("\ndigits_cnn.forward.graph\n" + str(model.graph) + "\ndigits_cnn.forward.code\n" + model.code)
    print("PyTorch itself was not imported:", "torch" not in sys.modules)
    if worst > 1e-3:
        sys.exit(f"the answers differ by {worst}")


def record_methods(record):
    return ", ".join(dict.fromkeys(c.get("method", "forward") for c in record["cases"]))


def describe(x):
    return f"{x.dtype} {tuple(x.shape)}" if isinstance(x, torch.Tensor) else repr(x)


if __name__ == "__main__":
    main()
