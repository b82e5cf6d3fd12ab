"""torch.cuda.jiterator: functions of elements in CUDA C++. They can be made, and called where there is a CUDA device: never in this version."""

from __future__ import annotations

import re
from typing import Any

_TEMPLATE = re.compile(r"\s*template\s*<[^>]*>\s*(?P<result>[\w:]+)\s+(?P<name>\w+)\s*\(.*?\)\s*\{.*\}\s*", re.DOTALL)


class _JittedFunction:
    def __init__(self, code_string: str, return_by_ref: bool, num_outputs: int, **kwargs: Any) -> None:
        self.code_string, self.return_by_ref, self.num_outputs, self.kwargs_dict = code_string, return_by_ref, num_outputs, kwargs
        assert return_by_ref or num_outputs == 1, "Return by value only works for single output. "
        found = _TEMPLATE.fullmatch(code_string)
        if found is None:
            raise Exception(f"Couldn't parse code, please check correctness:\n {code_string}")
        self.kernel_name = found["name"]
        self.is_cuda_available = False

    def __call__(self, *tensors: Any, **kwargs: Any) -> Any:
        raise AssertionError("Jiterator is only supported on CUDA and ROCm GPUs, none are available.")


def _create_jit_fn(code_string: str, **kwargs: Any) -> _JittedFunction:
    """A function of the text of a template of one element's result; keyword arguments are numbers with their defaults."""
    return _JittedFunction(code_string, return_by_ref=False, num_outputs=1, **kwargs)


def _create_multi_output_jit_fn(code_string: str, num_outputs: int, **kwargs: Any) -> _JittedFunction:
    """The same with results in references, which are the last parameters."""
    return _JittedFunction(code_string, return_by_ref=True, num_outputs=num_outputs, **kwargs)
