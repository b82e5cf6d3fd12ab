"""Runs the modules of benchmarks/compiled.py on the device cuda, eager and scripted: forward, backward and a step of an optimizer, compared with the processor's.

    GOJIT_CUDA_DRIVER=... python tests/cuda_modules.py [PATTERN]

Inputs are smaller than there. The last line is JSON: the modules that agree, those that meet an operator without a form for the device, and what is wrong
about others.
"""

import copy
import inspect
import json
import pathlib
import re
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import compiled  # noqa: E402

import torchjit as torch  # noqa: E402

torch.backends.cudnn.allow_tf32 = False  # the processor computes in float32

RANDOM = re.compile("Dropout|RReLU|FractionalMaxPool")  # each device draws numbers of its own
SMALLER = {
    "images": lambda channels=64, size=8, batch=2: torch.randn(batch, channels, 8, 8), "rows": lambda width=256, count=3: torch.randn(min(count, 3), width),
    "lines": lambda channels=64, length=16, batch=2: torch.randn(batch, channels, 16), "volumes": lambda channels=16, size=6, batch=1: torch.randn(1, channels, 6, 6, 6),
    "sequence": lambda width=64, length=3, batch=2: torch.randn(3, 2, width), "tokens": lambda: torch.randint(0, 1000, (2, 8)),
}  # fmt: skip


def table():
    """The rows of benchmarks/compiled.py with smaller inputs; those whose inputs are written out stay."""
    for name, small in SMALLER.items():
        setattr(compiled, name, small)
    rows = []
    for name, make, arguments in compiled.table():
        inside = inspect.getsource(arguments) if name in ("NLLLoss2d", "MultiLabelMarginLoss", "GaussianNLLLoss", "CrossEntropyLoss", "NLLLoss", "MultiMarginLoss", "CosineEmbeddingLoss", "FractionalMaxPool2d", "LayerNorm") else ""
        if inside:
            arguments = {
                "NLLLoss2d": lambda: [torch.randn(2, 64, 8, 8), torch.randint(0, 64, (2, 8, 8))], "MultiLabelMarginLoss": lambda: [torch.randn(3, 8), torch.tensor([[1, 2, -1, 0, 0, 0, 0, 0]] * 3)],
                "GaussianNLLLoss": lambda: [torch.randn(3, 8), torch.randn(3, 8), torch.rand(3, 8) + 0.1], "FractionalMaxPool2d": lambda: [torch.randn(1, 2, 28, 28)], "LayerNorm": lambda: [torch.randn(2, 3, 256)], "CosineEmbeddingLoss": lambda: [torch.randn(3, 8), torch.randn(3, 8), torch.ones(3)],
            }.get(name, lambda: [torch.randn(3, 256), torch.randint(0, 256, (3,))])  # fmt: skip
        rows.append((name, make, arguments))
    return rows


def step(module, arguments):
    """What a step of training gives: the result, gradients of inputs, and parameters and buffers behind it."""
    given = [a.detach().clone().requires_grad_() if a.is_floating_point() else a for a in arguments]
    parameters = list(module.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9) if parameters else None
    result = compiled.first_tensor(module(*given))
    if result.requires_grad:
        (result * torch.linspace(0.1, 1, result.numel(), device=result.device).reshape(result.shape)).sum().backward()
    if optimizer:
        optimizer.step()
    return [result.detach(), *[a.grad for a in given if a.grad is not None], *[p.detach() for p in parameters], *module.buffers()]


def compare(make, make_arguments, scripted, is_random):
    torch.manual_seed(0)
    module, arguments = make(), make_arguments()
    if not is_random:
        for m in module.modules():
            if isinstance(m, torch.nn.Dropout):
                m.p = 0.0
            elif isinstance(m, torch.nn.MultiheadAttention):
                m.dropout = 0.0
    away = copy.deepcopy(module).to("cuda")
    if scripted:
        module, away = torch.jit.script(module), torch.jit.script(away)
    for again in range(2):  # the second call runs code that was made for the first
        want = step(module, arguments)
        got = step(away, [a.to("cuda") for a in arguments])
        assert len(want) == len(got), f"{len(got)} tensors, the processor has {len(want)}"
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            assert a.device.type == "cuda", f"tensor {i} is on {a.device}"
            if not is_random:
                torch.testing.assert_close(a.cpu(), b, rtol=2e-3, atol=2e-4 * max(1.0, float(b.abs().max()) if b.numel() else 1.0), equal_nan=True, msg=f"tensor {i} of step {again} is {a.flatten()[:3].tolist()}, not {b.flatten()[:3].tolist()}")


def run(pattern=""):
    warnings.simplefilter("ignore")
    agree, refused, wrong = [], {}, {}
    for name, make, make_arguments in table():
        if not re.search(pattern, name):
            continue
        for scripted in (False, True):
            title = f"{name}, scripted" if scripted else name
            if scripted:
                try:
                    torch.jit.script(make())
                except Exception:
                    continue  # the compiler does not take it
            try:
                compare(make, make_arguments, scripted, bool(RANDOM.search(name)))
                agree.append(title)
            except NotImplementedError as e:
                refused[title] = str(e).partition("' with")[0].partition("'")[2] or str(e)
            except Exception as e:
                wrong[title] = f"{type(e).__name__}: {e}"[:300]
    return {"agree": agree, "refused": refused, "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
