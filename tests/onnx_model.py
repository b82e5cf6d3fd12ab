"""Reads the files that torch.onnx.export writes, without the package onnx: messages by the numbers of their fields."""

import struct
from types import SimpleNamespace

from torchjit import nn


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """The values of a message by the numbers of their fields: ints, floats and bytes, in lists."""
    found, at = {}, 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            value -= (value >> 63) << 64
        elif key & 7 == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            assert key & 7 == 2, key
            size, at = _varint(data, at)
            value, at = bytes(data[at : at + size]), at + size
            assert len(value) == size
        found.setdefault(key >> 3, []).append(value)
    return found


def _text(message, field):
    return message.get(field, [b""])[0].decode()


def _tensor(data):
    f = fields(data)
    return SimpleNamespace(
        dims=f.get(1, []),
        kind=f[2][0],
        name=_text(f, 8),
        raw=f.get(9, [b""])[0],
        external=[(_text(e, 1), _text(e, 2)) for e in map(fields, f.get(13, []))],
    )


def _value(data):
    f = fields(data)
    kind = fields(f[2][0])
    if 4 in kind:
        return _text(f, 1), "sequence", None
    tensor = fields(kind[1][0])
    dims = [fields(d) for d in fields(tensor[2][0]).get(1, [])] if 2 in tensor else None
    return _text(f, 1), tensor[1][0], None if dims is None else [d[1][0] if 1 in d else _text(d, 2) for d in dims]


def _attribute(data):
    f = fields(data)
    read = {1: lambda: f[2][0], 2: lambda: f[3][0], 3: lambda: f[4][0].decode(), 4: lambda: _tensor(f[5][0]), 5: lambda: graph(f[6][0]),
            6: lambda: f.get(7, []), 7: lambda: f.get(8, []), 8: lambda: [s.decode() for s in f.get(9, [])]}  # fmt: skip
    return _text(f, 1), read[f[20][0]]()


def _node(data):
    f = fields(data)
    return SimpleNamespace(
        op=_text(f, 4), name=_text(f, 3), domain=_text(f, 7), inputs=[s.decode() for s in f.get(1, [])],
        outputs=[s.decode() for s in f.get(2, [])],
        attributes=dict(map(_attribute, f.get(5, []))),
    )  # fmt: skip


def graph(data):
    f = fields(data)
    return SimpleNamespace(
        nodes=list(map(_node, f.get(1, []))), initializers=list(map(_tensor, f.get(5, []))), inputs=list(map(_value, f.get(11, []))),
        outputs=list(map(_value, f.get(12, []))),
    )  # fmt: skip


def model(data):
    """The graph of a model's file, with the versions of its domains and of the format."""
    f = fields(data)
    made = graph(f[7][0])
    made.opsets = {_text(o, 1): o[2][0] for o in map(fields, f[8])}
    made.ir_version, made.producer = f[1][0], _text(f, 2)
    return made


class Of(nn.Module):
    """A module of a function."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)
