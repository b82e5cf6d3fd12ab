"""Writes what PyTorch 1.13 computes for the calls listed in cases_*.txt: one JSON file for each.

A line of a case file is `overload(arguments)`; the arguments are Python expressions over the named
inputs below. Run with a Python that has PyTorch 1.13.
"""
import glob
import json
import os
import re
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))


def inputs():
    torch.manual_seed(7)
    r = lambda *s: torch.randn(*s).mul(8).round().div(8)
    i = lambda hi, *s: torch.randint(0, hi, s)
    return {
        "a": r(2, 3), "b": r(2, 3), "c": r(3), "col": r(2, 1), "m": r(3, 4), "v": r(5), "x": r(2, 3, 4), "y": r(2, 4, 3),
        "sq": r(3, 3), "bsq": r(2, 3, 3), "spd": torch.eye(3) * 4 + torch.tensor([[0, 1, .5], [1, 0, .25], [.5, .25, 0]]),
        "pos": r(2, 3).abs() + 0.5, "unit": torch.tensor([[0.125, 0.5, 0.75], [0.25, 0.875, 0.625]]), "s": torch.tensor(1.5), "si": torch.tensor(2),
        "d": r(2, 3).double(), "h": r(2, 3).half(), "bf": r(2, 3).bfloat16(), "sd": torch.tensor(2.5, dtype=torch.float64),
        "n": torch.tensor([[3, -1, 4], [1, -5, 9]]), "k": torch.tensor([[2, 7, 1], [8, 2, 8]]), "u": torch.tensor([200, 7, 90], dtype=torch.uint8),
        "n32": torch.tensor([[3, -1, 4], [1, -5, 9]], dtype=torch.int32), "nv": torch.tensor([4, 0, 2, 2, 1]),
        "t": torch.tensor([[True, False, True], [False, True, True]]), "f": torch.tensor([[True, True, False], [False, False, True]]),
        "z": torch.complex(r(2, 3), r(2, 3)), "w": torch.complex(r(2, 3), r(2, 3)), "zv": torch.complex(r(3), r(3)),
        "nan": torch.tensor([[1.0, float("nan"), -2.0], [float("inf"), 0.0, -float("inf")]]),
        "e": torch.zeros(0, 3), "ev": torch.zeros(0), "dup": torch.tensor([[2.0, 1, 2, 3], [1, 1, 0, 3]]), "ndup": torch.tensor([3, 1, 3, 2, 1, 1]),
        "idx": torch.tensor([[0, 2, 1], [1, 0, 0]]), "iv": torch.tensor([1, 0, 1]), "i2": torch.tensor([2, 0]), "neg": torch.tensor([-1, 0]),
        "uq": torch.randperm(24).float().view(2, 3, 4) - 12,
        "img": r(1, 2, 5, 6), "imgs": r(2, 4, 7, 6), "vol": r(1, 2, 3, 4, 4), "seq": r(2, 3, 8), "k1": r(4, 3, 3), "k2": r(3, 2, 3, 3), "k2g": r(4, 2, 3, 3),
        "kd": r(4, 1, 3, 3), "k3": r(2, 2, 2, 2, 2), "kt1": r(3, 2, 3), "kt2": r(2, 3, 3, 3), "ktg": r(4, 2, 3, 2), "b2": r(2), "b3": r(3), "b4": r(4),
        "p2": r(2).abs() + 0.5, "p3": r(3).abs() + 0.5, "p4": r(4).abs() + 0.5, "emb": r(6, 3), "toks": i(6, 2, 4), "lab": i(3, 2), "labs": i(2, 2, 4),
        "sorted": torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0]), "img4": r(1, 4, 4, 4),
        "i0": r(4, 2, 3), "h0": r(1, 2, 5), "c0": r(1, 2, 5), "hb": r(2, 2, 5), "cb": r(2, 2, 5),
        "wi": r(20, 3), "wh": r(20, 5), "bi": r(20), "bh": r(20), "wi2": r(20, 3), "wh2": r(20, 5), "gi": r(15, 3), "gh": r(15, 5), "gbi": r(15), "gbh": r(15),
        "ri": r(5, 3), "rh": r(5, 5), "rbi": r(5), "rbh": r(5), "xc": r(2, 3), "hc": r(2, 5), "cc": r(2, 5),
        "q": r(2, 2, 3, 4), "kk": r(2, 2, 3, 4), "vv": r(2, 2, 3, 4), "am": torch.tensor([[True, False, False], [True, True, False], [True, True, True]]),
        "sig": torch.sin(torch.arange(16.0)),
    }


def dtype_name(d):
    return str(d)[6:]


def number(v):
    if isinstance(v, complex):
        return [number(v.real), number(v.imag)]
    if isinstance(v, float):
        return v if v == v and abs(v) != float("inf") else repr(v)
    return v


def data(t):
    flat = torch.view_as_real(t.resolve_conj()).reshape(-1) if t.is_complex() else t.reshape(-1)
    if t.dtype == torch.float64 or t.dtype == torch.complex128:
        return [number(v) for v in flat.tolist()]
    if t.is_floating_point() or t.is_complex():
        return [number(float("%.7g" % v)) for v in flat.tolist()]
    return [int(v) for v in flat.tolist()]


def encode(v, names):
    if isinstance(v, torch.Tensor):
        for name, known in names.items():
            if known is v:
                return {"ref": name}
        return {"t": dtype_name(v.dtype), "s": list(v.shape), "v": data(v.detach())}
    if isinstance(v, torch.dtype):
        return {"dtype": dtype_name(v)}
    if isinstance(v, bool) or v is None or isinstance(v, (int, str)):
        return v
    if isinstance(v, float):
        return {"f": number(v)}
    if isinstance(v, complex):
        return {"c": [v.real, v.imag]}
    if isinstance(v, torch.memory_format):
        return {"format": str(v)[6:]}
    return [encode(x, names) for x in v]


def overload(name):
    base, _, which = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), which or "default")


names = inputs()
for path in sorted(glob.glob(os.path.join(HERE, "cases_*.txt"))):
    calls = []
    for line in open(path):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, arguments = re.match(r"([\w.]+)\((.*)\)$", line).groups()
        scope = dict(names, torch=torch, inf=float("inf"), both=lambda *given, **named: (given, named))
        given, named = eval("both(" + arguments + ")", scope)
        schema = overload(name)._schema
        args = list(given)
        for formal in schema.arguments[len(given):]:
            if formal.name in named:
                args.append(named[formal.name])
            elif named and formal.has_default_value():
                args.append(formal.default_value)
            else:
                break
        case = {"op": name, "args": [encode(a, names) for a in args]}
        clones = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        positional = [a for a, f in zip(clones, schema.arguments) if not f.kwarg_only]
        keywords = {f.name: a for a, f in zip(clones, schema.arguments) if f.kwarg_only}
        if any(f.alias_info is not None and f.alias_info.is_write for f in schema.arguments):
            case["writes"] = True
        try:
            torch.manual_seed(5)
            out = overload(name)(*positional, **keywords)
            case["out"] = encode(out, {})
        except Exception as error:
            case["error"] = [type(error).__name__, str(error).split("\n")[0]]
        calls.append(case)
    used = json.dumps(calls)
    tensors = {n: encode(t, {}) for n, t in names.items() if '{"ref": "%s"}' % n in used}
    with open(path[:-4] + ".json", "w") as f:
        f.write('{"inputs":' + json.dumps(tensors, separators=(",", ":")) + ',\n"calls":[\n')
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in calls) + "\n]}\n")
