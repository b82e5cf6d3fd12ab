"""torch.sparse: there are no sparse tensors. Names of their types can be looked at, which says of no tensor that it is one; the rest raises
NotImplementedError."""

from __future__ import annotations

from typing import Any

__all__ = ["addmm", "log_softmax", "mm", "sampled_addmm", "softmax", "sum"]


class _SparseType(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch.sparse.{cls.__name__}: torchjit has no sparse tensors")

    def __instancecheck__(cls, value: Any) -> bool:
        return False


for _name in ("BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"):
    globals()[_name + "Tensor"] = _SparseType(_name + "Tensor", (), {"__module__": "torch.sparse"})


def _missing(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch.sparse.{name}: torchjit has no sparse tensors")

    function.__name__ = name
    return function


addmm, log_softmax, mm, sampled_addmm, softmax, sum = map(_missing, __all__)  # noqa: A001
