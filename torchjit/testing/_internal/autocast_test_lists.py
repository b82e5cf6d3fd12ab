"""Calls of operators by what an autocast does with them: in the lower precision, in float32, or in the widest type of the arguments."""

from __future__ import annotations

from typing import Any

import torchjit as torch


def _of(dtype: Any, device: Any) -> Any:
    def make(*size: int) -> Any:
        return torch.randn(size, dtype=dtype, device=device)

    return make


def _convolutions(make: Any) -> list[Any]:
    """Convolutions with their arguments, in one, two and three dimensions."""
    calls: list[Any] = []
    for dims in (1, 2, 3):
        x, w, b = make(4, 4, *(6,) * dims), make(4, 4, *(3,) * dims), make(4)
        calls.append((f"conv{dims}d", (x, w, b)))
        calls.append((f"conv_transpose{dims}d", (x, w, b)))
    return calls


def _products(make: Any) -> list[Any]:
    a, b, c = make(4, 4), make(4, 4), make(2, 4, 4)
    return [
        ("addbmm", (a, c, c)), ("addmm", (a, a, b)), ("baddbmm", (c, c, c)), ("bmm", (c, c)), ("mm", (a, b)), ("matmul", (a, b)),
    ]  # fmt: skip


class AutocastCPUTestLists:
    """The calls for autocasts of the processor."""

    def __init__(self, dev: Any) -> None:
        full, half = _of(torch.float32, dev), _of(torch.bfloat16, dev)
        a, low = full(8), half(8)
        self.methods_expect_builtin_promote = [(f"__{op}__", (a, low), torch.bool if op in ("eq", "ne", "lt", "le", "gt", "ge") else torch.float32)
                                               for op in ("eq", "ge", "gt", "le", "lt", "ne", "add", "div", "mul")]  # fmt: skip
        self.torch_expect_builtin_promote = [(op, (a, low), torch.bool) for op in ("eq", "ge", "gt", "le", "lt", "ne")] + [
            (op, (a, low), torch.float32) for op in ("add", "div", "mul")
        ]
        self.torch_need_autocast_promote = [("cat", ([half(2, 3), full(2, 3)],)), ("stack", ([half(2, 3), full(2, 3)],)),
                                            ("index_copy", (half(4, 3), 0, torch.tensor([0, 1], device=dev), half(2, 3)))]  # fmt: skip
        self.torch_bf16 = [call for call in _convolutions(full) if "transpose" not in call[0]] + _products(full)
        self.nn_bf16: list[Any] = [("linear", (full(4, 8), full(3, 8)), {})]
        self.torch_fp32 = [("poisson_nll_loss", (half(4, 4), half(4, 4), True, False, 1e-8, 1)), ("cosine_embedding_loss", (half(4, 8), half(4, 8), half(4).sign())),
                           ("hinge_embedding_loss", (half(4), half(4).sign())), ("margin_ranking_loss", (half(4), half(4), half(4).sign()))]  # fmt: skip
        self.nn_fp32 = [("avg_pool3d", (half(1, 2, 4, 4, 4), 2)), ("binary_cross_entropy", (half(4).sigmoid(), half(4).sigmoid())),
                        ("reflection_pad1d", (half(1, 2, 4), (1, 1)))]  # fmt: skip


class AutocastTestLists:
    """The calls for autocasts of CUDA devices."""

    def __init__(self, dev: Any) -> None:
        full, half = _of(torch.float32, dev), _of(torch.float16, dev)
        a, low = full(8), half(8)
        positive = low.abs().clamp(max=0.9)
        self.torch_expect_builtin_promote = [(op, (a, low), torch.bool) for op in ("eq", "ge", "gt", "le", "lt", "ne")] + [
            (op, (a, low), torch.float32) for op in ("add", "div", "mul")
        ]
        self.methods_expect_builtin_promote = [(f"__{op}__", (a, low), torch.bool if op in ("eq", "ne", "lt", "le", "gt", "ge") else torch.float32)
                                               for op in ("eq", "ge", "gt", "le", "lt", "ne", "add", "div", "mul")]  # fmt: skip
        self.torch_fp16 = [*_convolutions(full), *_products(full), ("mv", (full(4, 4), full(4))), ("prelu", (full(4, 4), full(1))), ("addmv", (full(4), full(4, 4), full(4)))]
        self.torch_fp32 = [*((op, (positive,)) for op in ("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh", "tan")),
                           ("pow", (positive, 2)), ("softmax", (half(4, 4), 0)), ("log_softmax", (half(4, 4), 0)), ("layer_norm", (half(4, 8), (8,))),
                           ("norm", (half(4, 4),)), ("cumsum", (low, 0)), ("cumprod", (low, 0)), ("prod", (low,)), ("sum", (low,)), ("dist", (low, low))]  # fmt: skip
        self.torch_need_autocast_promote = [("addcdiv", (a, low, low.abs() + 1)), ("addcmul", (a, a, low)), ("atan2", (a, low)), ("cat", ([low, a],)), ("cross", (full(4, 3), half(4, 3))),
                                            ("dot", (a, low)), ("stack", ([low, a],)), ("tensordot", (full(2, 2, 2), half(2, 2, 2)))]  # fmt: skip
        self.nn_fp16 = [("linear", (full(4, 8), full(3, 8), full(3)))]
        self.nn_fp32 = [("softplus", (low,)), ("nll_loss", (half(4, 4), torch.tensor([0, 1, 2, 3], device=dev))), ("mse_loss", (low, low)), ("smooth_l1_loss", (low, low))]
        self.linalg_fp16 = [("linalg_vecdot", (low, low)), ("linalg_multi_dot", ([full(4, 4), full(4, 4)],))]
        self.methods_fp16 = [("__matmul__", (full(4, 4), full(4, 4)))]
        self.methods_fp32 = [("__pow__", (positive, 1.5))]
        self.banned = [("binary_cross_entropy", (low.sigmoid(), low.sigmoid()), torch._C._nn)]
