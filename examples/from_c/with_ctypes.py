"""Runs a model through libtorchjit by ctypes, with neither torchjit nor torch: python with_ctypes.py LIBRARY MODEL."""

import ctypes
import json
import sys

lib = ctypes.CDLL(sys.argv[1])


class Error(ctypes.Structure):
    _fields_ = [("fault", ctypes.c_int32), ("line", ctypes.c_int32), ("column", ctypes.c_int32), ("message", ctypes.c_char_p), ("file", ctypes.c_char_p)]


class Argument(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("tensor", ctypes.c_uint64),
        ("integer", ctypes.c_int64), ("number", ctypes.c_double), ("text", ctypes.c_char_p),
    ]  # fmt: skip


JSON = 6
error = Error()


def check(fault: int) -> None:
    if fault:
        raise RuntimeError(error.message.decode())


model, result, text = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_char_p()
check(lib.tj_load(sys.argv[2].encode(), ctypes.byref(model), ctypes.byref(error)))
image = Argument(name=b"x", kind=JSON, text=json.dumps([[[[0.0] * 12] * 12]]).encode())
check(lib.tj_call(model, b"forward", ctypes.byref(image), 1, None, ctypes.byref(result), ctypes.byref(error)))
check(lib.tj_result_json(result, 0, ctypes.byref(text), ctypes.byref(error)))
print(json.loads(text.value)["shape"])
