"""torch._utils_internal: paths that PyTorch's tests and tools ask for."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import torchjit
from torchjit._sources import get_source_lines_and_file as get_source_lines_and_file

torch_parent = os.path.dirname(os.path.dirname(os.path.abspath(torchjit.__file__)))
USE_RTLD_GLOBAL_WITH_LIBTORCH = False
USE_GLOBAL_DEPS = True
TEST_MASTER_ADDR = "127.0.0.1"
TEST_MASTER_PORT = 29500


def get_file_path(*path_components: str) -> str:
    """The path of a file beside the package."""
    return os.path.join(torch_parent, *path_components)


def get_file_path_2(*path_components: str) -> str:
    """The path of a file."""
    return os.path.join(*path_components)


def get_writable_path(path: str) -> str:
    """The path where it can be written, else a new folder."""
    return path if os.access(path, os.W_OK) else tempfile.mkdtemp(suffix=os.path.basename(path))


def resolve_library_path(path: str) -> str:
    """The path without links."""
    return os.path.realpath(path)


def prepare_multiprocessing_environment(path: Any) -> None:
    """Does nothing: processes find the package as this one has."""
