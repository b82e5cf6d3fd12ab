"""Runs the samples of every operator of torch.testing's tables on the device cuda, in four types, with gradients, and compares them with the processor's.

    GOJIT_CUDA_DRIVER=... python tests/cuda_samples.py [PATTERN]

The last line is JSON: how many operators agree, those that meet an operator without a form for the device, and what is wrong about others.
"""

import json
import pathlib
import re
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torchjit as torch  # noqa: E402
from torchjit.testing._internal.common_methods_invocations import op_db  # noqa: E402

torch.backends.cudnn.allow_tf32 = False  # the processor computes in float32

TYPES = (torch.float32, torch.complex64, torch.int64, torch.bool)
# Each device draws numbers of its own; memory that nobody wrote holds anything.
RANDOM = re.compile("empty|rand|bernoulli|multinomial|dropout|normal|exponential|cauchy|geometric|fractional|rrelu")
# Results whose signs and phases nothing decides, and indices of elements that are equal to others: forms are compared.
UNDECIDED = {"svd", "linalg.svd", "linalg.eigh", "kthvalue"}
OF_PROCESSOR = {"linalg.lstsq": {"driver": "gels"}}  # what is given besides: devices know one driver, which is not the processor's default


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def moved(value):
    """Arguments on the device, with leaves of their own."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cuda").requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v) for v in value)
    if isinstance(value, dict):
        return {k: moved(v) for k, v in value.items()}
    return torch.device("cuda") if isinstance(value, torch.device) or value == "cpu" else value


def close(here, there, forms_alone):
    assert there.device.type == "cuda", f"a result is on {there.device}"
    assert (here.dtype, here.shape) == (there.dtype, there.shape), f"{there.dtype} {tuple(there.shape)}, the processor has {here.dtype} {tuple(here.shape)}"
    if not forms_alone:
        torch.testing.assert_close(there.cpu(), here.cpu(), equal_nan=True, rtol=1e-3, atol=1e-3, check_layout=False)


def total(results):
    return sum((t.abs() if t.is_complex() else t).sum() for t in results if t.requires_grad)


def compare(op, sample, differentiable):
    """Raises where a sample's results or gradients are others on the device."""
    kwargs = {**sample.kwargs, **OF_PROCESSOR.get(op.full_name, {})}
    here = (sample.input, sample.args, kwargs)
    try:
        want = tensors(op(here[0], *here[1], **here[2]))
    except Exception:
        return  # other tests tell of these
    there = moved(here)
    if op.full_name in ("triu_indices", "tril_indices"):
        there[2]["device"] = "cuda"
    got = tensors(op(there[0], *there[1], **there[2]))
    undecided = bool(RANDOM.search(op.name)) or op.full_name in UNDECIDED
    assert len(want) == len(got), f"{len(got)} results, the processor has {len(want)}"
    for a, b in zip(want, got, strict=True):
        close(a, b, undecided)
    leaves = [[t for t in tensors(x) if t.requires_grad] for x in (here, there)]
    if not differentiable or undecided or not any(t.requires_grad for t in want):
        return
    try:
        want = torch.autograd.grad(total(want), leaves[0], allow_unused=True)
    except RuntimeError:
        return
    for a, b in zip(want, torch.autograd.grad(total(got), leaves[1], allow_unused=True), strict=True):
        assert (a is None) == (b is None), "another input has a gradient"
        if a is not None:
            close(a, b, False)


def run(pattern=""):
    warnings.simplefilter("ignore")
    agree, refused, wrong = 0, {}, {}
    for op in op_db:
        if not re.search(pattern, op.full_name):
            continue
        for dtype in [d for d in TYPES if d in op.dtypes] or sorted(op.dtypes, key=str)[:1]:
            torch.manual_seed(0)
            differentiable = dtype in op.supported_backward_dtypes("cpu")
            for sample in op.sample_inputs("cpu", dtype, requires_grad=differentiable):
                try:
                    compare(op, sample, differentiable)
                except NotImplementedError as e:
                    refused.setdefault(op.full_name, str(e)[:100])
                except Exception as e:
                    wrong.setdefault(op.full_name, f"{dtype}: {type(e).__name__}: {e}"[:300])
        agree += op.full_name not in refused and op.full_name not in wrong
    return {"agree": agree, "refused": refused, "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
