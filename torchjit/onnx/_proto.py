"""The wire format of protocol buffers, and the messages of ONNX in it: numbers of fields as in onnx.proto, version 3."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import torchjit as torch
from torchjit.onnx._type_utils import JitScalarType

# The numbers of kinds of attributes.
_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS, _TENSORS, _GRAPHS = range(1, 11)


def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1  # negative numbers are written as of 64 bits
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field: int, n: int) -> bytes:
    """A field of an integer."""
    return _varint(field << 3) + _varint(n)


def text(field: int, s: str | bytes) -> bytes:
    """A field of a string."""
    return message(field, s.encode() if isinstance(s, str) else s)


def message(field: int, body: bytes) -> bytes:
    """A field of a message, or of bytes."""
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _float(field: int, x: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", x)


def tensor(value: Any, name: str = "", external: tuple[str, int, int] | None = None) -> bytes:
    """TensorProto of a tensor's elements, or with external of where they lie: a file beside the model's, the offset and the length."""
    kind = JitScalarType.from_dtype(value.dtype)
    parts = [number(1, n) for n in value.shape]
    parts.append(number(2, int(kind.onnx_type())))
    if name:
        parts.append(text(8, name))
    if external is None:
        return b"".join([*parts, message(9, elements(value))])
    for key, said in zip(("location", "offset", "length"), external):
        parts.append(message(13, text(1, key) + text(2, str(said))))
    return b"".join([*parts, number(14, 1)])


def elements(value: Any) -> bytes:
    """The elements of a tensor in rows, as bytes."""
    plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    if plain.dtype is torch.bfloat16:
        plain = plain.view(torch.int16)
    return bytes(memoryview(plain)) if plain.numel() else b""


def attribute(name: str, kind: str, value: Any) -> bytes:
    """AttributeProto by the kind that a node says of it: f, i, s, t, g or a list of those. A graph is given as its message."""
    body = [text(1, name)]
    if kind == "f":
        body += [_float(2, value), number(20, _FLOAT)]
    elif kind == "i":
        body += [number(3, value), number(20, _INT)]
    elif kind == "s":
        body += [text(4, value), number(20, _STRING)]
    elif kind == "t":
        body += [message(5, tensor(value)), number(20, _TENSOR)]
    elif kind == "g":
        body += [message(6, value), number(20, _GRAPH)]
    elif kind == "fs":
        body += [*(_float(7, x) for x in value), number(20, _FLOATS)]
    elif kind == "is":
        body += [*(number(8, n) for n in value), number(20, _INTS)]
    elif kind == "ss":
        body += [*(text(9, s) for s in value), number(20, _STRINGS)]
    elif kind == "ts":
        body += [*(message(10, tensor(t)) for t in value), number(20, _TENSORS)]
    else:
        raise TypeError(f"the attribute '{name}' is of the kind '{kind}', which ONNX does not have")
    return b"".join(body)


def node(
    kind: str, domain: str, name: str, inputs: Iterable[str], outputs: Iterable[str], attributes: Sequence[bytes], doc: str = ""
) -> bytes:  # fmt: skip
    """NodeProto."""
    body = [text(1, v) for v in inputs] + [text(2, v) for v in outputs]
    body += [text(3, name)] if name else []
    body += [text(4, kind)] + [message(5, a) for a in attributes]
    body += [text(6, doc)] if doc else []
    return b"".join(body + ([text(7, domain)] if domain else []))


def tensor_type(element: int, sizes: Sequence[int | str] | None) -> bytes:
    """TypeProto of a tensor; a size that is a name is one that differs between runs."""
    body = number(1, element)
    if sizes is not None:
        dims = (number(1, d) if isinstance(d, int) else text(2, d) if d else b"" for d in sizes)
        body += message(2, b"".join(message(1, d) for d in dims))
    return message(1, body)


def sequence_type(element: bytes) -> bytes:
    """TypeProto of a sequence of values of a type."""
    return message(4, message(1, element))


def value_info(name: str, kind: bytes) -> bytes:
    """ValueInfoProto."""
    return text(1, name) + (message(2, kind) if kind else b"")


def graph(
    nodes: Iterable[bytes], name: str, initializers: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes]
) -> list[bytes]:
    """GraphProto, in pieces: its tensors may be most of the memory."""
    body = [message(1, n) for n in nodes]
    body.append(text(2, name))
    body += [message(5, t) for t in initializers]
    body += [message(11, v) for v in inputs]
    return body + [message(12, v) for v in outputs]


def model(graph_pieces: list[bytes], ir_version: int, producer: tuple[str, str], opsets: dict[str, int]) -> list[bytes]:
    """ModelProto, in pieces; opsets are the versions by domains."""
    head = number(1, ir_version) + text(2, producer[0]) + text(3, producer[1])
    size = _varint(7 << 3 | 2) + _varint(sum(map(len, graph_pieces)))
    versions = (
        message(8, (text(1, domain) if domain else b"") + number(2, version)) for domain, version in opsets.items()
    )
    return [head, size, *graph_pieces, *versions]
