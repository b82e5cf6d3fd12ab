"""Losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.compare import eq
from torchjit.onnx._symbolics.pointwise import clip, number
from torchjit.onnx.symbolic_helper import parse_args

_REDUCTIONS = ("none", "mean", "sum")


def reduce_loss(g: Any, loss: Any, reduction: int) -> Any:
    """A loss of elements by the number of a reduction."""
    if reduction == 0:
        return loss
    return g.op("ReduceMean", loss, keepdims_i=0) if reduction == 1 else helper._reducesum_helper(g, loss, keepdims_i=0)


def _loss(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of the loss of elements, whose operator has the reduction as its third argument."""

    def decorate(loss: Callable[..., Any]) -> Callable[..., Any]:
        def export(g: Any, x: Any, target: Any, reduction: Any, *rest: Any) -> Any:
            made = loss(g, x, target, *(helper._get_const(r, "f", "argument") for r in rest))
            return reduce_loss(g, made, helper._get_const(reduction, "i", "reduction"))

        symbolic(*names)(export)
        return export

    return decorate


@_loss("mse_loss")
def mse(g: Any, x: Any, target: Any) -> Any:
    difference = g.op("Sub", x, target)
    return g.op("Mul", difference, difference)


@_loss("l1_loss")
def l1(g: Any, x: Any, target: Any) -> Any:
    return g.op("Abs", g.op("Sub", x, target))


@_loss("smooth_l1_loss")
def smooth_l1(g: Any, x: Any, target: Any, beta: float) -> Any:
    distance = g.op("Abs", g.op("Sub", x, target))
    if beta == 0:
        return distance
    half = g.op("Div", g.op("Mul", number(g, 0.5, x), g.op("Mul", distance, distance)), number(g, beta, x))
    return g.op(
        "Where", g.op("Less", distance, number(g, beta, x)), half, g.op("Sub", distance, number(g, 0.5 * beta, x))
    )


@_loss("huber_loss")
def huber(g: Any, x: Any, target: Any, delta: float) -> Any:
    distance = g.op("Abs", g.op("Sub", x, target))
    near = g.op("Mul", number(g, 0.5, x), g.op("Mul", distance, distance))
    far = g.op("Mul", number(g, delta, x), g.op("Sub", distance, number(g, 0.5 * delta, x)))
    return g.op("Where", g.op("LessOrEqual" if g.opset >= 12 else "Less", distance, number(g, delta, x)), near, far)


@_loss("soft_margin_loss")
def soft_margin(g: Any, x: Any, target: Any) -> Any:
    return g.op("Softplus", g.op("Neg", g.op("Mul", x, target)))


@symbolic("kl_div")
@parse_args("v", "v", "i", "b")
def kl_div(g: Any, x: Any, target: Any, reduction: int, log_target: bool) -> Any:
    if log_target:
        loss = g.op("Mul", g.op("Exp", target), g.op("Sub", target, x))
    else:
        zero = number(g, 0.0, x)
        loss = g.op("Mul", target, g.op("Sub", g.op("Log", target), x))
        loss = g.op("Where", g.op("Greater", target, zero), loss, zero)
    return reduce_loss(g, loss, reduction)


@symbolic("binary_cross_entropy")
@parse_args("v", "v", "v", "i")
def binary_cross_entropy(g: Any, x: Any, target: Any, weight: Any, reduction: int) -> Any:
    """The logarithms are at least -100, as PyTorch's."""
    one, least = number(g, 1.0, x), number(g, -100.0, x)
    logs = [g.op("Max", g.op("Log", v), least) for v in (x, g.op("Sub", one, x))]
    loss = g.op("Neg", g.op("Add", g.op("Mul", target, logs[0]), g.op("Mul", g.op("Sub", one, target), logs[1])))
    if not helper._is_none(weight):
        loss = g.op("Mul", loss, weight)
    return reduce_loss(g, loss, reduction)


@symbolic("binary_cross_entropy_with_logits")
@parse_args("v", "v", "v", "v", "i")
def binary_cross_entropy_with_logits(g: Any, x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    one = number(g, 1.0, x)
    soft = g.op("Softplus", g.op("Neg", x))
    if not helper._is_none(pos_weight):
        factor = g.op("Add", g.op("Mul", g.op("Sub", pos_weight, one), target), one)
        soft = g.op("Mul", factor, soft)
    loss = g.op("Add", g.op("Mul", g.op("Sub", one, target), x), soft)
    if not helper._is_none(weight):
        loss = g.op("Mul", loss, weight)
    return reduce_loss(g, loss, reduction)


@symbolic("nll_loss", "nll_loss2d", "nll_loss_nd", since=12)
@parse_args("v", "v", "v", "i", "i")
def nll_loss(g: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    given = [x, target] + ([] if helper._is_none(weight) else [weight])
    return g.op("NegativeLogLikelihoodLoss", *given, reduction_s=_REDUCTIONS[reduction], ignore_index_i=ignore_index)


@symbolic("cross_entropy_loss", since=12)
@parse_args("v", "v", "v", "i", "i", "f")
def cross_entropy_loss(
    g: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, smoothing: float
) -> Any:
    if smoothing:
        helper._onnx_unsupported("cross_entropy_loss with label_smoothing", x)
    if helper._is_fp(target):
        helper._onnx_unsupported("cross_entropy_loss of probabilities", target)
    given = [x, target] + ([] if helper._is_none(weight) else [weight])
    return g.op("SoftmaxCrossEntropyLoss", *given, reduction_s=_REDUCTIONS[reduction], ignore_index_i=ignore_index)


@symbolic("hinge_embedding_loss")
@parse_args("v", "v", "f", "i")
def hinge_embedding_loss(g: Any, x: Any, target: Any, margin: float, reduction: int) -> Any:
    zero = number(g, 0.0, x)
    far = clip(g, g.op("Sub", number(g, margin, x), x), zero, None)
    same = eq(g, target, number(g, 1, target))
    other = eq(g, target, number(g, -1, target))
    return reduce_loss(g, g.op("Add", g.op("Where", same, x, zero), g.op("Where", other, far, zero)), reduction)


@symbolic("margin_ranking_loss")
@parse_args("v", "v", "v", "f", "i")
def margin_ranking_loss(g: Any, x: Any, other: Any, target: Any, margin: float, reduction: int) -> Any:
    distance = g.op("Mul", g.op("Neg", target), g.op("Sub", x, other))
    return reduce_loss(g, clip(g, g.op("Add", distance, number(g, margin, x)), number(g, 0.0, x), None), reduction)


@symbolic("cosine_embedding_loss")
@parse_args("v", "v", "v", "f", "i")
def cosine_embedding_loss(g: Any, x: Any, other: Any, target: Any, margin: float, reduction: int) -> Any:
    dims = [helper._rank(x, "cosine_embedding_loss") - 1]
    product = helper._reducesum_helper(g, g.op("Mul", x, other), axes_i=dims, keepdims_i=0)
    lengths = []
    for v in (x, other):
        squares = helper._reducesum_helper(g, g.op("Mul", v, v), axes_i=dims, keepdims_i=0)
        lengths.append(g.op("Add", squares, number(g, 1e-12, x)))
    cosine = g.op("Div", product, g.op("Sqrt", g.op("Mul", *lengths)))
    zero = number(g, 0.0, x)
    near = g.op("Sub", number(g, 1.0, x), cosine)
    far = clip(g, g.op("Sub", cosine, number(g, margin, x)), zero, None)
    parts = [g.op("Where", eq(g, target, number(g, n, target)), v, zero) for n, v in ((1, near), (-1, far))]
    return reduce_loss(g, g.op("Add", *parts), reduction)


@symbolic("triplet_margin_loss")
@parse_args("v", "v", "v", "f", "f", "f", "b", "i")
def triplet_margin_loss(
    g: Any, anchor: Any, positive: Any, negative: Any, margin: float, p: float, eps: float, swap: bool, reduction: int
) -> Any:  # fmt: skip
    from torchjit.onnx._symbolics.reduce import pairwise_distance

    near, far = (pairwise_distance(g, anchor, v, p, eps, False) for v in (positive, negative))
    if swap:
        far = g.op("Min", far, pairwise_distance(g, positive, negative, p, eps, False))
    distance = g.op("Add", g.op("Sub", near, far), number(g, margin, anchor))
    return reduce_loss(g, clip(g, distance, number(g, 0.0, anchor), None), reduction)
