"""Runs the sample calls of every operator (attack/samples.txt) on the device cuda and compares them with the processor's.

    GOJIT_CUDA_DRIVER=... python tests/cuda_records.py [PATTERN]

The last lines are JSON: the operators that agree, those without a form for the device, those whose samples the processor refuses, and what is wrong about others.
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

# Which draw random numbers, of each device its own: types, shapes and devices are compared.
RANDOM = re.compile(
    r"(^|_)(rand|randn|randint|randperm|normal|uniform|bernoulli|multinomial|poisson|exponential|geometric|cauchy|log_normal|binomial|rrelu|gamma|dirichlet|random)_?(_like|$)|dropout|"
    r"^normal|^rand|^_sample_dirichlet|^(log_)?normal_"
)
# What does not depend on elements alone, or has nothing to do with devices; tensors that are sparse or quantized, which are the processor's.
LEFT_OUT = re.compile(
    r"data_ptr|^(cpu|cuda|to|_to_copy|device|(new_)?empty.*|.*_pin_memory.*|_debug_.*|record_stream|resize.*|set_.*|_resize.*|_cast_.*)$|sparse|hspmm|quantize_per|^_make_per|mkldnn|packed_params|^nested|fbgemm|^q_"
)
# Tensors that PyTorch asks to be the processor's, by the names of arguments.
OF_PROCESSOR = {"aten::_pack_padded_sequence": {"lengths"}, "aten::_pad_packed_sequence": {"batch_sizes"}, "aten::lstm.data": {"batch_sizes"}, "aten::gru.data": {"batch_sizes"}}
# What is given besides: devices know one way to solve by least squares, which is not the processor's default.
GIVEN = {"aten::linalg_lstsq": {"driver": "gels"}}
# Results whose signs and phases nothing decides.
UP_TO_SIGNS = {"aten::linalg_svd", "aten::_linalg_svd", "aten::svd", "aten::linalg_eigh", "aten::_linalg_eigh", "aten::symeig"}


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


def sizes_of(x):
    """The absolute values of tensors."""
    return x.abs() if isinstance(x, torch.Tensor) else [sizes_of(y) for y in x]


def named(operator, args, keywords):
    """Arguments by position, and by name those that are given so."""
    arguments = operator._schema.arguments
    n = next((i for i, a in enumerate(arguments) if a.kwarg_only), len(arguments))
    return args[:n], {**{a.name: x for a, x in zip(arguments[n:], args[n:], strict=False)}, **keywords}


def difference(name, operator, args, keywords):
    """What is wrong about a call on the device: None, "refused" or a text. skipped where the processor refuses it."""
    calls, is_random = {}, RANDOM.search(name[6:].partition(".")[0])
    args, keywords = named(operator, args, {**keywords, **GIVEN.get(name, {})})
    names, makes = [a.name for a in operator._schema.arguments], not has([*args, *keywords.values()], operators.T)
    if makes and "device" not in names:
        return "skipped"
    for device in ("cpu", "cuda"):
        place = {n: "cpu" if n in OF_PROCESSOR.get(name, ()) else device for n in names}
        given = [made(a, 5 + 11 * i, place[names[i]]) for i, a in enumerate(args)]
        keyed = {k: made(a, 3, place[k]) for k, a in keywords.items()}
        if makes:
            keyed["device"] = torch.device(device)
            given = given[: names.index("device")]
        try:
            calls[device] = operator(*given, **keyed), given
        except Exception as e:
            if device == "cpu":
                return "skipped"
            if isinstance(e, NotImplementedError):
                return "refused" if re.search(r"Could not run 'aten::\w+(\.\w+)?' with arguments from the 'CUDA' backend|has no form for the device", str(e)) else f"{type(e).__name__}: {e}"
            return f"{type(e).__name__}: {e}".partition("\n")[0][:200]
    here, there = (operators.tensors(calls[device][0]) for device in ("cpu", "cuda"))
    away = [t for t in there if t.device.type != "cuda"]
    if away and all(t.device.type == "cpu" for t in away) and (makes or operators.tensors(calls["cuda"][1])) and name not in OF_PROCESSOR:
        return f"a result is on {away[0].device}"
    if is_random:
        forms = [[(t.dtype, t.shape) for t in ts] for ts in (here, there)]
        return None if forms[0] == forms[1] else f"result: {forms[1]}, the processor has {forms[0]}"
    for i in (0, 1):
        both = [on_processor(calls[device][i]) for device in ("cuda", "cpu")]
        if name in UP_TO_SIGNS and i == 0:
            both = [sizes_of(x) for x in both]
        text = operators.differ(*both, True)
        if text:
            return ("result" if i == 0 else "argument") + f": {text}"
    return None


def run(pattern=""):
    warnings.simplefilter("ignore")
    agree, refused, skipped, wrong = set(), set(), set(), {}
    for name, calls in operators.samples().items():
        if not name.startswith("aten::") or not re.search(pattern, name) or LEFT_OUT.search(name[6:]):
            continue
        for overload, args, keywords in calls:
            if has([*args, *keywords.values()], (operators.Q, operators.S, operators.Written)):
                continue
            try:
                operator = getattr(getattr(torch.ops.aten, name[6:]), overload or "default")
            except AttributeError:
                continue
            full = f"{name}.{overload}" if overload else name
            if os.environ.get("CUDA_RECORDS_VERBOSE"):
                print(full, file=sys.stderr, flush=True)
            found = difference(full, operator, args, keywords)
            if found is None:
                agree.add(full)
            elif found == "refused":
                refused.add(full)
            elif found == "skipped":
                skipped.add(full)
            else:
                wrong.setdefault(full, found)
    met = agree | refused | wrong.keys()
    return {"agree": sorted(agree - refused - wrong.keys()), "refused": sorted(refused - wrong.keys()), "skipped": sorted(skipped - met), "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
