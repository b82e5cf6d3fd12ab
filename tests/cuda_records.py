"""Runs the sample calls of every operator (attack/samples.txt) on the device cuda and compares them with the processor's.

    GOJIT_CUDA_DRIVER=... python tests/cuda_records.py [PATTERN]

The last lines are JSON: the operators that agree, those without a form for the device, and what is wrong about others.
"""

import json
import os
import pathlib
import re
import sys
import warnings

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

from attack import operators  # noqa: E402

import torchjit as torch  # noqa: E402

torch.backends.cudnn.allow_tf32 = False  # the processor computes in float32

RANDOM = re.compile(
    r"(^|_)(rand|normal|uniform|bernoulli|multinomial|poisson|exponential|geometric|cauchy|log_normal|binomial|rrelu|dropout|gamma|dirichlet|seed|random)|"
    r"alpha_dropout|fractional"
)
# What does not depend on elements alone, or has nothing to do with devices.
LEFT_OUT = re.compile(r"data_ptr|^aten::(cpu|cuda|to|_to_copy|device|empty.*|new_empty.*|.*_pin_memory.*|_debug_.*|record_stream|resize.*|set_.*|_resize.*)$|sparse|quant|mkldnn|packed|nested|fbgemm|^aten::q_")


def made(value, number, device):
    """An argument of a sample."""
    if isinstance(value, operators.T):
        filling = "positive" if value.dtype in operators.FLOATS else "normal"
        return operators.tensor(value.dtype, value.shape, "plain", filling, number, value.top).to(device)
    if isinstance(value, (list, tuple)):
        return type(value)(made(v, number + 7 * i, device) for i, v in enumerate(value))
    return value


def has(value, kinds):
    return isinstance(value, kinds) or isinstance(value, (list, tuple)) and any(has(v, kinds) for v in value)


def on_processor(x):
    if isinstance(x, torch.Tensor):
        return x.cpu()
    if isinstance(x, (list, tuple)):
        return type(x)(on_processor(y) for y in x) if type(x) in (list, tuple) else tuple(on_processor(y) for y in x)
    return x


def difference(operator, args, keywords):
    """What is wrong about a call on the device: None, "refused" or a text. skipped where the processor refuses it."""
    calls = {}
    for device in ("cpu", "cuda"):
        given = [made(a, 5 + 11 * i, device) for i, a in enumerate(args)]
        named = {k: made(a, 3, device) for k, a in keywords.items()}
        try:
            calls[device] = operator(*given, **named), given
        except Exception as e:
            if device == "cpu":
                return "skipped"
            if isinstance(e, NotImplementedError):
                name = operator.name().split(".")[0] if callable(operator.name) else str(operator)
                return "refused" if re.search(r"Could not run 'aten::\w+(\.\w+)?' with arguments from the 'CUDA' backend|has no form for the device", str(e)) else f"{type(e).__name__}: {e} ({name})"
            return f"{type(e).__name__}: {e}".partition("\n")[0][:200]
    away = [t for t in operators.tensors(calls["cuda"][0]) if t.device.type != "cuda"]
    if away and all(t.device.type == "cpu" for t in away) and operators.tensors(calls["cuda"][1]):
        return f"a result is on {away[0].device}"
    for i in (0, 1):
        text = operators.differ(on_processor(calls["cuda"][i]), on_processor(calls["cpu"][i]), True)
        if text:
            return ("result" if i == 0 else "argument") + f": {text}"
    return None


def run(pattern=""):
    warnings.simplefilter("ignore")
    agree, refused, wrong = set(), set(), {}
    for name, calls in operators.samples().items():
        if not name.startswith("aten::") or not re.search(pattern, name) or RANDOM.search(name[6:]) or LEFT_OUT.search(name):
            continue
        if operators.EXCLUDED.match(name) or operators.UNDECIDED.search(name[6:]):
            continue
        for overload, args, keywords in calls:
            values = [*args, *keywords.values()]
            if has(values, (operators.Q, operators.S, operators.Written)) or not has(values, operators.T):
                continue
            try:
                operator = getattr(getattr(torch.ops.aten, name[6:]), overload or "default")
            except AttributeError:
                continue
            full = f"{name}.{overload}" if overload else name
            if os.environ.get("CUDA_RECORDS_VERBOSE"):
                print(full, file=sys.stderr, flush=True)
            found = difference(operator, args, keywords)
            if found is None:
                agree.add(full)
            elif found == "refused":
                refused.add(full)
            elif found != "skipped":
                wrong.setdefault(full, found)
    return {"agree": sorted(agree - refused - wrong.keys()), "refused": sorted(refused - wrong.keys()), "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
