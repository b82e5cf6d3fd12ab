"""Modules of PyTorch that are not here on purpose: importing one says why.

They serve other processes, other machines or a compiler of C++. The error is ModuleNotFoundError, so that programs that try find out as ever.
"""

from __future__ import annotations

import sys
from typing import Any

_PROCESSES = "torchjit works in one process (torch.distributed.is_available() is False)"
_CUDA = "torch.cuda has what torchjit has of CUDA: it copies within one process, and writes no marks for NVIDIA's profilers"
_CPP = "torchjit has no C++ in it that an extension could be built against; operators are made in Python with torch.library"
_REASONS = {
    "distributed": _PROCESSES,
    "testing._internal.distributed": _PROCESSES,
    "testing._internal.common_distributed": _PROCESSES,
    "testing._internal.dist_utils": _PROCESSES,
    "testing._internal.common_fsdp": _PROCESSES,
    "cuda": _CUDA,
    "utils._cuda_trace": _CUDA,
    "_lazy": "torchjit has no lazy tensors; torch.jit.trace and torch.jit.script make graphs",
    "backends._nnapi": "torchjit runs models itself: there is no NNAPI to send them to",
    "backends._coreml": "torchjit runs models itself: there is no Core ML to send them to",
    "backends.xeon": "torchjit starts no other processes with settings of threads: GOMAXPROCS and torch.set_num_threads say how many it uses",
    "utils.hipify": _CPP,
    "utils._cpp_extension_versioner": _CPP,
    "utils.benchmark.utils.cpp_jit": _CPP,
    "utils.benchmark.utils.valgrind_wrapper": "torchjit counts no instructions by Valgrind: Timer.blocked_autorange measures time",
    "utils.benchmark.examples": "the examples of PyTorch's benchmarks are no part of torchjit",
    "utils._crash_handler": "torchjit writes no minidumps",
    "utils._freeze": "torchjit freezes no Python modules into C",
    "utils.cpp_backtrace": "torchjit has no stack of C++ to show",
    "utils.tensorboard": "torchjit writes no files of TensorBoard",
    "contrib": "torchjit writes no files of TensorBoard",
    "fx.experimental.migrate_gradual_types": "types of fx graphs are inferred without z3 here: see torch.fx.experimental.graph_gradual_typechecker",
    "fx.passes.backends": "torchjit fuses operators itself: there are no other fusers to give graphs to",
    "fx.passes.tests": "PyTorch's own tests are no part of torchjit",
    "_prims.nvfuser_executor": "torchjit fuses operators itself: there is no nvFuser to give graphs to",
    "_prims.nvfuser_prims": "torchjit fuses operators itself: there is no nvFuser to give graphs to",
    "onnx._internal.diagnostics": "the exporter tells of what it refuses by exceptions: it writes no SARIF",
    "masked.maskedtensor": "MaskedTensor is one class here: torch.masked",
    "_namedtensor_internals": "torchjit has no named tensors",
    "_meta_registrations": "shapes on the device meta come from the operators themselves",
    "_torch_docs": "documentation is made of the records of operators: help(torch.softmax)",
    "_tensor_docs": "documentation is made of the records of operators: help(torch.Tensor.softmax)",
    "_storage_docs": "documentation of storages stands at their classes",
}  # fmt: skip


def reason(name: str) -> str | None:
    """Why there is no module of a name below the package, None where there is no reason."""
    while name:
        if name in _REASONS:
            return _REASONS[name]
        name = name.rpartition(".")[0]
    return None


class Finder:
    """The last of the finders of modules: it finds none, and says why one is not here."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> None:
        """Raises ModuleNotFoundError for a module that is not here on purpose."""
        if fullname.startswith("torchjit."):
            why = reason(fullname[len("torchjit.") :])
            if why is not None:
                raise ModuleNotFoundError(f"No module named '{fullname}': {why}", name=fullname)


def install() -> None:
    """Puts the finder behind all others."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
