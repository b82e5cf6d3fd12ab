"""torch.utils.cpp_extension: extensions in C++ cannot be built, since there is no C++ to build them against. Operators are made in Python.

    lib = torch.library.Library("mine", "DEF")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")

The functions that only look at the machine work; those that build raise RuntimeError.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from typing import Any, NoReturn

CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("torchjit has no C++ that an extension could be built against: make operators in Python with torch.library")


load = load_inline = CppExtension = CUDAExtension = _refuse


class BuildExtension:
    """Raises RuntimeError: see torch.utils.cpp_extension."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()

    @classmethod
    def with_options(cls, **options: Any) -> Any:
        """Raises RuntimeError."""
        _refuse()


def include_paths(cuda: bool = False) -> list[str]:
    """Where headers are: none but those of the C library of this package are there."""
    return []


def library_paths(cuda: bool = False) -> list[str]:
    """Where libraries to link with are: nowhere."""
    return []


def check_compiler_ok_for_platform(compiler: str) -> bool:
    """Whether a compiler of C++ is there."""
    return shutil.which(compiler) is not None


def is_ninja_available() -> bool:
    """Whether ninja is there."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raises RuntimeError where ninja is not there."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions")


def get_default_build_root() -> str:
    """The folder of extensions that PyTorch builds."""
    import tempfile

    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache if os.path.isdir(os.path.dirname(cache)) else tempfile.gettempdir(), "torch_extensions")


EXEC_EXT = ""
LIB_EXT = sysconfig.get_config_var("SHLIB_SUFFIX") or ".so"
