"""Functions of torch.nn.functional that are not elementwise."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.testing._internal.opinfo.core import SampleInput
from torchjit.testing._internal.opinfo.definitions._table import ALL, DOUBLE, FLOAT, FLOAT_COMPLEX, NUMBER, op

_AD: dict[str, Any] = {"supports_forward_ad": True}


def _s(*args: Any, **kwargs: Any) -> SampleInput:
    return SampleInput(*args, **kwargs)


def _nn(name: str, types: Any, *makers: Any, **facts: Any) -> Any:
    return op("nn.functional." + name, types, *makers, **facts)


def _pool(name: str, dims: int, *makers: Any) -> list[Any]:
    size = (2, 3, 6, 6, 6)[: dims + 2]
    return [_nn(name, DOUBLE, lambda m: _s(m(*size), 2), lambda m: _s(m(*size), 3, stride=2, padding=1), lambda m: _s(m(*size[1:]), 2), *makers)]


def _conv(dims: int, transposed: bool) -> Any:
    image, kernel = (2, 4, 6, 6, 6)[: dims + 2], (3,) * dims
    grouped = (4, 2, *kernel)
    return _nn(
        f"conv{'_transpose' if transposed else ''}{dims}d", DOUBLE if transposed else (*DOUBLE, torch.bfloat16),
        lambda m: _s(m(*image), m(4, 4, *kernel), m(4)), lambda m: _s(m(*image), m(4, 4, *kernel), stride=2, padding=1), lambda m: _s(m(*image), m(*grouped), groups=2), lambda m: _s(m(*image[1:]), m(4, 4, *kernel)),
        aliases=[f"conv{'_transpose' if transposed else ''}{dims}d"], **_AD,
    )  # fmt: skip


def _loss(name: str, target: Any, types: Any = DOUBLE, **facts: Any) -> Any:
    return _nn(
        name, types, lambda m: _s(m(5, 4), target(m)), lambda m: _s(m(5, 4), target(m), reduction="sum"), lambda m: _s(m(5, 4), target(m), reduction="none"), **facts
    )


def _norm_arguments(m: Any) -> tuple[Any, Any]:
    return torch.zeros(3, dtype=m.dtype), torch.ones(3, dtype=m.dtype)


op_db: list[Any] = [
    *(_conv(dims, transposed) for transposed in (False, True) for dims in (1, 2, 3)),
    _nn("linear", FLOAT_COMPLEX, lambda m: _s(m(2, 5), m(3, 5), m(3)), lambda m: _s(m(2, 4, 5), m(3, 5)), lambda m: _s(m(5), m(3, 5)), **_AD),
    _nn("bilinear", FLOAT, lambda m: _s(m(2, 3), m(2, 4), m(5, 3, 4), m(5)), **_AD),
    *(one for dims in (1, 2, 3) for one in _pool(f"avg_pool{dims}d", dims)), *(one for dims in (1, 2, 3) for one in _pool(f"max_pool{dims}d", dims)),
    *(_nn(f"adaptive_{kind}_pool{dims}d", DOUBLE, lambda m, d=dims: _s(m(*(2, 3, 7, 7, 7)[: d + 2]), 3), lambda m, d=dims: _s(m(*(2, 3, 7, 7, 7)[: d + 2]), (2,) * d)) for kind in ("avg", "max") for dims in (1, 2, 3)),
    _nn("layer_norm", FLOAT, lambda m: _s(m(2, 3, 4), (4,)), lambda m: _s(m(2, 3, 4), (3, 4), m(3, 4), m(3, 4), 1e-3), **_AD), _nn("group_norm", FLOAT, lambda m: _s(m(2, 6, 3), 2), lambda m: _s(m(2, 6, 3), 3, m(6), m(6), 0.5), **_AD),
    _nn("instance_norm", DOUBLE, lambda m: _s(m(2, 3, 6)), lambda m: _s(m(2, 3, 6), weight=m(3), bias=m(3), eps=0.5)),
    _nn("batch_norm", DOUBLE, lambda m: _s(m(4, 3, 5), *_norm_arguments(m)), lambda m: _s(m(4, 3, 5), *_norm_arguments(m), weight=m(3), bias=m(3), training=True, momentum=0.5, eps=0.6), **_AD),
    _nn("local_response_norm", DOUBLE, lambda m: _s(m(2, 5, 4), 3), **_AD), _nn("normalize", FLOAT_COMPLEX, lambda m: _s(m(4, 5)), lambda m: _s(m(4, 5), p=1, dim=0), **_AD),
    *(_nn("pad", ALL if mode == "constant" else FLOAT, lambda m, mode=mode: _s(m(1, 3, 4, 5), (1, 2), **({} if mode == "constant" else {"mode": mode})) if mode == "constant" else _s(m(1, 3, 5), (1, 2), mode), variant_test_name=mode,
      supports_forward_ad=mode in ("constant", "circular")) for mode in ("constant", "reflect", "replicate", "circular")),
    _nn("unfold", FLOAT_COMPLEX, lambda m: _s(m(2, 3, 5, 5), 2), lambda m: _s(m(2, 3, 5, 5), (2, 3), 1, 1, 2), **_AD), _nn("fold", FLOAT_COMPLEX, lambda m: _s(m(2, 12, 16), (5, 5), 2), **_AD),
    *(_nn("interpolate", DOUBLE, lambda m, size=size, mode=mode: _s(m(*size), None, 2.0, mode), lambda m, size=size, mode=mode: _s(m(*size), 5, None, mode), variant_test_name=mode)
      for mode, size in (("nearest", (2, 3, 4, 4)), ("linear", (2, 3, 4)), ("bilinear", (2, 3, 4, 4)), ("bicubic", (2, 3, 4, 4)), ("trilinear", (1, 2, 3, 3, 3)), ("area", (2, 3, 4, 4)))),
    _nn("grid_sample", DOUBLE, lambda m: _s(m(2, 3, 4, 4), m(2, 3, 3, 2, low=-1, high=1), mode="bilinear", padding_mode="border", align_corners=True)),
    _nn("pixel_shuffle", ALL, lambda m: _s(m(1, 4, 2, 2), 2), **_AD), _nn("pixel_unshuffle", ALL, lambda m: _s(m(1, 1, 4, 4), 2), **_AD), _nn("channel_shuffle", FLOAT, lambda m: _s(m(1, 4, 2, 2), 2), **_AD),
    _nn("glu", FLOAT, lambda m: _s(m(4, 6)), lambda m: _s(m(4, 6), 0), **_AD), _nn("prelu", FLOAT, lambda m: _s(m(2, 3, 4), m(3)), lambda m: _s(m(5), m(1)), **_AD),
    _nn("softmin", FLOAT, lambda m: _s(m(5, 5), 1), **_AD), _nn("embedding", FLOAT, lambda m: _s(m(6, 3), m.index(6, 2, 4)), lambda m: _s(m(6, 3), m.index(6, 4), padding_idx=1), op=lambda w, i, **kw: torch.nn.functional.embedding(i, w, **kw), **_AD),
    _nn("embedding_bag", DOUBLE, lambda m: _s(m(6, 3), m.index(6, 2, 4), mode="sum"), lambda m: _s(m(6, 3), m.index(6, 5), offsets=torch.tensor([0, 2]), mode="mean"), op=lambda w, i, **kw: torch.nn.functional.embedding_bag(i, w, **kw)),
    _nn("one_hot", (torch.int64,), lambda m: _s(m.index(5, 3)), lambda m: _s(m.index(5, 3), 7), supports_autograd=False),
    *(_nn(name, DOUBLE, lambda m, n=n: _s(m(*(2, 3, 4, 4, 4)[:n]), p=0.5, training=True)) for name, n in (("dropout", 3), ("dropout2d", 4), ("dropout3d", 5), ("alpha_dropout", 3), ("feature_alpha_dropout", 4))),
    _nn("cosine_similarity", DOUBLE, lambda m: _s(m(4, 5), m(4, 5)), lambda m: _s(m(4, 5), m(4, 5), dim=0, eps=1e-6), **_AD), _nn("pairwise_distance", FLOAT_COMPLEX, lambda m: _s(m(4, 5), m(4, 5)), lambda m: _s(m(4, 5), m(4, 5), p=1, keepdim=True), **_AD),
    _nn("pdist", DOUBLE, lambda m: _s(m(4, 5)), lambda m: _s(m(4, 5), 1)), _nn("_scaled_dot_product_attention", DOUBLE, lambda m: _s(m(2, 4, 3), m(2, 5, 3), m(2, 5, 3)), **_AD),
    *(_loss(name, lambda m: m(5, 4), **_AD) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")),
    _loss("soft_margin_loss", lambda m: m.plain(5, 4).sign()), _loss("hinge_embedding_loss", lambda m: m.plain(5, 4).sign(), **_AD), _loss("poisson_nll_loss", lambda m: m.plain(5, 4).abs(), **_AD),
    _loss("kl_div", lambda m: m.simplex(5, 4).detach()), _loss("binary_cross_entropy_with_logits", lambda m: m.mask(5, 4).to(m.dtype)), _loss("multilabel_soft_margin_loss", lambda m: m.mask(5, 4).to(m.dtype)),
    _loss("nll_loss", lambda m: m.index(4, 5), **_AD), _loss("cross_entropy", lambda m: m.index(4, 5), **_AD), _loss("multi_margin_loss", lambda m: m.index(4, 5)), _loss("multilabel_margin_loss", lambda m: m.index(4, 5, 4)),
    _nn("binary_cross_entropy", DOUBLE, lambda m: _s(m(5, 4, low=0.1, high=0.9), m.mask(5, 4).to(m.dtype))), _nn("gaussian_nll_loss", DOUBLE, lambda m: _s(m(5, 4), m(5, 4), m.positive(5, 4)), **_AD),
    _nn("cosine_embedding_loss", DOUBLE, lambda m: _s(m(5, 4), m(5, 4), m.plain(5).sign()), **_AD), _nn("margin_ranking_loss", DOUBLE, lambda m: _s(m(5), m(5), m.plain(5).sign()), **_AD),
    _nn("triplet_margin_loss", DOUBLE, lambda m: _s(m(5, 4), m(5, 4), m(5, 4)), lambda m: _s(m(5, 4), m(5, 4), m(5, 4), margin=0.5, swap=True), **_AD), _nn("triplet_margin_with_distance_loss", DOUBLE, lambda m: _s(m(5, 4), m(5, 4), m(5, 4)), **_AD),
    _nn("ctc_loss", DOUBLE, lambda m: _s(m(10, 2, 5).log_softmax(2), torch.tensor([[1, 2, 3], [2, 1, 4]]), [10, 10], [3, 3])),
    op("native_layer_norm", FLOAT, lambda m: _s(m(2, 4), (4,), m(4), m(4), 1e-5), method_variant=None, inplace_variant=None, **_AD),
    op("native_batch_norm", DOUBLE, lambda m: _s(m(4, 3, 5), m(3), m(3), *_norm_arguments(m), True, 0.5, 1e-3), method_variant=None, inplace_variant=None, **_AD),
    op("constant_pad_nd", NUMBER, lambda m: _s(m(3, 4), (1, 2), 1), supports_out=False, method_variant=None, inplace_variant=None, **_AD),
]  # fmt: skip
