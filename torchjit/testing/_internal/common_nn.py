"""Modules of torch.nn with arguments for their constructors and their calls, for tests to go through.

Each test is a dictionary: module_name, constructor_args, input_size or input_fn, for losses target_size or target_fn, and desc where a module has
several.
"""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing._internal._nn_losses import *  # noqa: F403
from torchjit.testing._internal._nn_tests import *  # noqa: F403
from torchjit.testing._internal._nn_tests import _test_bfloat16_ops as _test_bfloat16_ops
from torchjit.testing._internal._nn_tests import _test_module_empty_input as _test_module_empty_input


def _case(name: str, size: Any, *args: Any, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"module_name": name, "constructor_args": args, **more}
    made["input_fn" if callable(size) else "input_size"] = size
    return made


module_tests: list[dict[str, Any]] = [
    _case("Linear", (4, 10), 10, 8), _case("Linear", (4, 10), 10, 8, False, desc="no_bias"),
    *(_case(name, (2, 3, 4, 5)) for name in ("ReLU", "Sigmoid", "Tanh", "ReLU6", "Softsign", "LogSigmoid", "SiLU", "Mish", "GELU", "Hardswish",
      "Hardsigmoid", "Tanhshrink", "SELU", "Softplus", "CELU", "ELU", "LeakyReLU", "Identity")),
    _case("RReLU", (1, 2, 2), 0.1, 0.9, desc="with_up_down", test_cuda=False), _case("Threshold", (2, 3, 4, 5), 2.0, 1.0),
    _case("Hardtanh", (3, 2, 5)), _case("Hardshrink", (4, 3, 2, 4), 2.0), _case("Softshrink", (3, 2, 5)),
    _case("Softmax", (10, 20), 1), _case("Softmin", (10, 20), 1), _case("LogSoftmax", (10, 20), 1), _case("Softmax2d", (1, 3, 10, 20)),
    _case("PReLU", (2, 3, 4)), _case("PReLU", (2, 3, 4, 5), 3, desc="2d_multiparam"), _case("CrossMapLRN2d", (2, 3, 6, 6), 5, 5e-3, 1e-3, 2),
]  # fmt: skip

new_module_tests: list[dict[str, Any]] = [
    _case("BatchNorm1d", (4, 10), 10, desc="affine"), _case("BatchNorm1d", (4, 5, 3), 5, desc="3d_input"),
    _case("BatchNorm1d", (4, 10), 10, 1e-3, 0.3, False, desc="not_affine"), _case("BatchNorm2d", (2, 3, 6, 6), 3), _case("BatchNorm3d", (2, 3, 4, 4, 4), 3),
    _case("InstanceNorm1d", (4, 3, 15), 3, 1e-3, 0.3), _case("InstanceNorm2d", (2, 3, 6, 6), 3, 1e-3, 0.3), _case("LayerNorm", (4, 5, 5), [5], 1e-3),
    _case("GroupNorm", (4, 6, 5), 3, 6, 1e-3), _case("LocalResponseNorm", (1, 5, 7), 3),
    _case("Conv1d", (2, 4, 10), 4, 5, 3), _case("Conv1d", (2, 4, 10), 4, 5, 3, 2, desc="stride"), _case("Conv1d", (2, 4, 10), 4, 4, 3, 1, 1, 1, 2, desc="groups"),
    _case("Conv2d", (2, 3, 7, 5), 3, 4, (3, 2)), _case("Conv2d", (2, 3, 6, 6), 3, 4, (3, 3), (2, 2), (1, 1), desc="padding"),
    _case("Conv2d", (2, 4, 6, 5), 4, 6, (3, 2), 1, 0, 1, 2, desc="groups"), _case("Conv3d", (1, 2, 4, 5, 4), 2, 3, (2, 3, 2)),
    _case("ConvTranspose1d", (1, 3, 7), 3, 4, 3, 3, 1, 1), _case("ConvTranspose2d", (1, 3, 7, 6), 3, 4, 3, (3, 2), 1, (1, 1)),
    _case("ConvTranspose3d", (1, 2, 4, 5, 4), 2, 3, (2, 3, 2)),
    _case("MaxPool1d", (2, 10, 4), 4), _case("MaxPool2d", (1, 3, 7, 7), (3, 3), (2, 2), (1, 1)), _case("MaxPool3d", (2, 3, 5, 5, 5), (2, 2, 2)),
    _case("AvgPool1d", (2, 3, 6), 2), _case("AvgPool2d", (2, 3, 6, 6), (2, 2)), _case("AvgPool3d", (2, 3, 4, 4, 4), (2, 2, 2)),
    _case("LPPool1d", lambda: torch.rand(1, 3, 7) + 0.1, 1.5, 2), _case("LPPool2d", (1, 3, 7, 7), 2, 2, 2), _case("AdaptiveMaxPool1d", (1, 3, 5), 3),
    _case("AdaptiveMaxPool2d", (1, 3, 5, 6), 3, desc="single"), _case("AdaptiveAvgPool1d", (1, 3, 5), 3), _case("AdaptiveAvgPool2d", (1, 3, 5, 6), (3, 4), desc="tuple"),
    _case("AdaptiveAvgPool2d", (1, 3, 5, 6), (3, None), desc="tuple_none"), _case("AdaptiveAvgPool3d", (2, 3, 5, 2, 7), 3),
    _case("ReflectionPad1d", (2, 3, 8), (1, 2)), _case("ReflectionPad2d", (2, 3, 8, 8), (1, 2, 3, 4)), _case("ReplicationPad1d", (2, 3, 4), (1, 2)),
    _case("ReplicationPad2d", (2, 3, 4, 4), (1, 2, 3, 4)), _case("ZeroPad2d", (2, 3, 4, 4), (1, 2, 3, 4)), _case("ConstantPad1d", (2, 3, 4), (1, 2), 2.0),
    _case("ConstantPad2d", (2, 3, 4, 4), (1, 2, 3, 4), 2.0), _case("Embedding", lambda: torch.empty(2, 3, dtype=torch.long).random_(4), 4, 3),
    _case("EmbeddingBag", lambda: torch.empty(2, 3, dtype=torch.long).random_(4), 4, 3, desc="mean"), _case("Unfold", (2, 4, 3, 3), (2, 2), (1, 1), (0, 0), (1, 1)),
    _case("Fold", (2, 16, 4), (3, 3), (2, 2), (1, 1), (0, 0), (1, 1)), _case("PixelShuffle", (1, 9, 4, 4), 3), _case("PixelUnshuffle", (1, 1, 12, 12), 3),
    _case("Upsample", (1, 2, 4, 4), None, 2.0, "nearest", desc="nearest_2d"), _case("Upsample", (1, 2, 4, 4), None, 2.0, "bilinear", desc="bilinear_2d"),
    _case("Flatten", (2, 3, 4, 5)), _case("Unflatten", (2, 50), 1, torch.Size([2, 5, 5])), _case("GLU", (5, 6)), _case("ChannelShuffle", (2, 4, 3, 3), 2),
    _case("TransformerEncoderLayer", (2, 3, 4), 4, 2, 16, 0.0), _case("CosineSimilarity", (4, 10), 1, extra_args=((4, 10),)),
    _case("PairwiseDistance", (4, 10), extra_args=((4, 10),)),
]  # fmt: skip

criterion_tests: list[dict[str, Any]] = [
    *(_case(name, (5, 10), target_size=(5, 10)) for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")),
    *(_case("MSELoss", (5, 10), None, None, how, target_size=(5, 10), desc=how) for how in ("none", "sum")),
    _case("NLLLoss", lambda: torch.rand(15, 10).log(), target_fn=lambda: torch.empty(15, dtype=torch.long).random_(10)),
    _case("CrossEntropyLoss", (15, 10), target_fn=lambda: torch.empty(15, dtype=torch.long).random_(10)),
    _case("KLDivLoss", lambda: torch.rand(10, 10).log(), target_fn=lambda: torch.rand(10, 10)),
    _case("BCELoss", lambda: torch.rand(15, 10).clamp(1e-2, 1 - 1e-2), target_fn=lambda: torch.rand(15, 10).gt(0.5).float()),
    _case("BCEWithLogitsLoss", (15, 10), target_fn=lambda: torch.rand(15, 10).gt(0.5).float()),
    _case("HingeEmbeddingLoss", (10,), target_fn=lambda: torch.randn(10).sign()), _case("SoftMarginLoss", (5, 5), target_fn=lambda: torch.randn(5, 5).sign()),
    _case("MultiLabelSoftMarginLoss", (5, 10), target_fn=lambda: torch.rand(5, 10).mul(2).floor()),
    _case("MultiMarginLoss", (5, 10), target_fn=lambda: torch.empty(5, dtype=torch.long).random_(10)), _case("PoissonNLLLoss", (2, 3, 4, 5), target_fn=lambda: torch.randn(2, 3, 4, 5).floor().abs()),
]  # fmt: skip


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.autograd.gradcheck": "_get_numerical_jacobian _iter_tensors",
    "torchjit.autograd.variable": "Variable",
    "torchjit.testing._internal.common_utils": "is_iterable",
})  # fmt: skip
