"""Products of matrices."""

from __future__ import annotations

from typing import Any

from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.activation import last_softmax
from torchjit.onnx._symbolics.creation import named
from torchjit.onnx._symbolics.shape import diagonal
from torchjit.onnx.symbolic_helper import parse_args


@symbolic("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def matmul(g: Any, x: Any, other: Any) -> Any:
    return g.op("MatMul", x, other)


@symbolic("linear")
def linear(g: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """Gemm of matrices, else MatMul with the transposed weight."""
    has_bias = bias is not None and not helper._is_none(bias)
    if helper._get_tensor_rank(x) == 2 and has_bias:
        return g.op("Gemm", x, weight, bias, beta_f=1.0, alpha_f=1.0, transB_i=1)
    turned = g.op("Transpose", weight, perm_i=[1, 0])
    product = g.op("MatMul", x, turned)
    return g.op("Add", bias, product) if has_bias else product


def _of(value: Any) -> float:
    return float(helper._get_const(value, "f", "factor"))


@symbolic("addmm")
def addmm(g: Any, x: Any, a: Any, b: Any, beta: Any = None, alpha: Any = None) -> Any:
    factors = {"beta_f": 1.0 if beta is None else _of(beta), "alpha_f": 1.0 if alpha is None else _of(alpha)}
    if helper._get_tensor_rank(a) in (2, None) and helper._is_fp(a):
        return g.op("Gemm", a, b, x, **factors)
    return _scaled_sum(g, x, g.op("MatMul", a, b), beta, alpha)


def _scaled_sum(g: Any, x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if alpha is not None and helper._scalar(alpha) != 1:
        product = g.op("Mul", product, alpha)
    if beta is not None and helper._scalar(beta) != 1:
        x = g.op("Mul", x, beta)
    return g.op("Add", x, product)


@symbolic("baddbmm", "addmv")
def baddbmm(g: Any, x: Any, a: Any, b: Any, beta: Any = None, alpha: Any = None) -> Any:
    return _scaled_sum(g, x, g.op("MatMul", a, b), beta, alpha)


@symbolic("addbmm")
def addbmm(g: Any, x: Any, a: Any, b: Any, beta: Any = None, alpha: Any = None) -> Any:
    return _scaled_sum(g, x, helper._reducesum_helper(g, g.op("MatMul", a, b), axes_i=[0], keepdims_i=0), beta, alpha)


@symbolic("addr")
def addr(g: Any, x: Any, a: Any, b: Any, beta: Any = None, alpha: Any = None) -> Any:
    return _scaled_sum(g, x, outer(g, a, b), beta, alpha)


@symbolic("outer", "ger")
def outer(g: Any, x: Any, other: Any) -> Any:
    return g.op("Mul", helper._unsqueeze_helper(g, x, [1]), other)


@symbolic("inner", since=12)
def inner(g: Any, x: Any, other: Any) -> Any:
    ranks = [helper._rank(v, "inner") for v in (x, other)]
    if 0 in ranks:
        return g.op("Mul", x, other)
    names = "abcdefgh"[: sum(ranks) - 2]
    left, right = names[: ranks[0] - 1], names[ranks[0] - 1 :]
    return g.op("Einsum", x, other, equation_s=f"{left}z,{right}z->{names}")


@symbolic("tensordot", since=12)
@parse_args("v", "v", "is", "is")
def tensordot(g: Any, x: Any, other: Any, dims: list[int], others: list[int]) -> Any:
    ranks = [helper._rank(v, "tensordot") for v in (x, other)]
    left = list("abcdefgh"[: ranks[0]])
    right = list("ijklmnop"[: ranks[1]])
    for a, b in zip(dims, others):
        right[b] = left[a]
    summed = {left[a] for a in dims}
    kept = [n for n in left + right if n not in summed]
    return g.op("Einsum", x, other, equation_s=f"{''.join(left)},{''.join(right)}->{''.join(kept)}")


@symbolic("trace")
def trace(g: Any, x: Any) -> Any:
    return helper._reducesum_helper(g, diagonal(g, x, 0, 0, 1), axes_i=[0], keepdims_i=0)


@symbolic("logdet", since=11)
def logdet(g: Any, x: Any) -> Any:
    return g.op("Log", g.op("Det", x))


@symbolic("einsum", since=12)
def einsum(g: Any, equation: Any, tensors: Any, path: Any = None) -> Any:
    text = helper._parse_arg(equation, "s").replace(" ", "")
    return g.op("Einsum", *helper._unpack_list(tensors), equation_s=text)


@symbolic("bilinear", since=12)
def bilinear(g: Any, x: Any, other: Any, weight: Any, bias: Any = None) -> Any:
    made = g.op("Einsum", x, weight, other, equation_s="...i,oij,...j->...o")
    return made if bias is None or helper._is_none(bias) else g.op("Add", made, bias)


@symbolic("cross", "linalg_cross")
def cross(g: Any, x: Any, other: Any, dim: Any = None) -> Any:
    given = None if dim is None or helper._is_none(dim) else helper._get_const(dim, "i", "dim")
    at = helper._get_dim_for_cross(x, given)
    if at is None:
        helper._onnx_unsupported("cross of tensors whose sizes are not known", x)

    def turned(v: Any, order: list[int]) -> Any:
        return g.op("Gather", v, g.constant(order), axis_i=at)

    first = g.op("Mul", turned(x, [1, 2, 0]), turned(other, [2, 0, 1]))
    return g.op("Sub", first, g.op("Mul", turned(x, [2, 0, 1]), turned(other, [1, 2, 0])))


@symbolic("det", "linalg_det", since=11)
def det(g: Any, x: Any) -> Any:
    return g.op("Det", x)


@symbolic("_scaled_dot_product_attention", "scaled_dot_product_attention")
def attention(g: Any, *args: Any) -> Any:
    """The weighted sum of values, by softmax of the products of queries and keys."""
    given = named(g, args)
    query, key, value = given["query"], given["key"], given["value"]
    rank = helper._rank(key, "attention")
    rate = given.get("dropout_p")
    if rate is not None and helper._scalar(rate):
        helper._onnx_unsupported("attention with dropout", query)
    width = g.cast(helper._size_helper(g, query, -1 + rank), helper._dtype(query))
    scores = g.op(
        "MatMul",
        g.op("Div", query, g.op("Sqrt", width)),
        g.op("Transpose", key, perm_i=[*range(rank - 2), rank - 1, rank - 2]),
    )
    mask = given.get("attn_mask")
    causal = given.get("is_causal")
    if causal is not None and helper._parse_arg(causal, "b"):
        helper._onnx_unsupported("attention with is_causal=True", query)
    if mask is not None and not helper._is_none(mask):
        if helper._is_bool(mask):
            mask = g.op(
                "Where", mask, g.constant(0.0, helper._dtype(query)), g.constant(float("-inf"), helper._dtype(query))
            )
        scores = g.op("Add", scores, mask)
    weights = last_softmax(g, "Softmax", scores, -1)
    made = g.op("MatMul", weights, value)
    return (made, weights) if g.original_node.outputsSize() == 2 else made
