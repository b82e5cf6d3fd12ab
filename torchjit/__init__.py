"""torchjit: a TorchScript-compatible just-in-time compiler with PyTorch's Python interface.

`import torchjit as torch` runs TorchScript programs unchanged. Every operator of the library is a
function here: `torchjit.relu(x)` calls aten::relu. Submodules are loaded when first used.
"""

from __future__ import annotations

import copyreg as _copyreg
import sys as _sys
from typing import Any

from torchjit import _absent, _documentation, _native, _operator_names
from torchjit import _host as _host
from torchjit._asarray import asarray
from torchjit._creation import as_tensor, from_dlpack, from_numpy, tensor
from torchjit._functions import (
    _assert,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    chain_matmul,
    einsum,
    meshgrid,
    nonzero,
    split,
    unravel_index,
)
from torchjit._settings import *  # noqa: F403
from torchjit._tensor import Tensor
from torchjit._types import (
    Generator,
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    dtype,
    dtypes,
    finfo,
    iinfo,
    layout,
    memory_format,
    preserve_format,
    qscheme,
    qschemes,
    strided,
)
from torchjit.torch_version import __version__ as __version__  # noqa: E402


def _reduce_function(f: Any) -> Any:
    from torchjit import _pickled_functions

    return _pickled_functions.reduce(f)


_copyreg.pickle(_native.Function, _reduce_function)
_native.cuda_package_folders([f for f in _sys.path if isinstance(f, str)])  # where libraries of CUDA may be, which are looked for when a device is
_copyreg.pickle(_native.Method, _reduce_function)
_documentation.install()
_absent.install()
torch = _sys.modules[__name__]  # torch.torch is torch
globals().update(dtypes)
globals().update(qschemes)
legacy_contiguous_format = contiguous_format

# What PyTorch's build has; here everything that computes is this library.
has_cuda = has_cudnn = has_mkl = has_mkldnn = has_mps = has_openmp = False
has_lapack = has_spectral = True


def get_default_device() -> device:
    """The device on which functions make tensors where none is said: the processor.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    return device("cpu")


def compiled_with_cxx11_abi() -> bool:
    """Whether PyTorch's C++ strings are those of C++11: there is no C++ here."""
    return False


# Names that live in submodules, which are loaded when the name is first used.
_ELSEWHERE = {
    name: "torchjit.autograd.grad_mode"
    for name in ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_grad_enabled")
}
_ELSEWHERE["save"] = _ELSEWHERE["load"] = "torchjit.serialization"
_STORAGE_NAMES = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
_ELSEWHERE.update({name + kind: "torchjit.storage" for name in _STORAGE_NAMES for kind in ("Tensor", "Storage")})
_ELSEWHERE.update({name: "torchjit.storage" for name in ("StorageBase", "TypedStorage", "UntypedStorage")})
_ELSEWHERE.update({prefix + kind: "torchjit.storage" for prefix in ("ComplexFloat", "ComplexDouble", "QUInt8", "QInt8", "QInt32") for kind in ("Storage",)})
_ELSEWHERE["Storage"] = "torchjit.storage"
_ELSEWHERE.update(
    {
        name: "torchjit.amp.autocast_mode"
        for name in (
            "autocast", "clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
            "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_enabled", "set_autocast_cpu_enabled", "set_autocast_cpu_dtype",
            "set_autocast_gpu_dtype", "set_autocast_cache_enabled", "autocast_increment_nesting", "autocast_decrement_nesting",
        )
    }
)  # fmt: skip
_ELSEWHERE.update(
    {
        name: "torchjit._C"
        for name in (
            "Gradient", "MobileOptimizerType", "CONV_BN_FUSION", "INSERT_FOLD_PREPACK_OPS", "REMOVE_DROPOUT", "FUSE_ADD_RELU", "HOIST_CONV_PACKED_PARAMS",
        )
    }
)  # fmt: skip
_ELSEWHERE.update(
    {
        name: "torchjit._C"
        for name in (
            "import_ir_module_from_buffer", "init_num_threads", "merge_type_from_type_comment", "parse_type_comment", "read_vitals", "set_vital",
            "unify_type_list", "vitals_enabled",
        )
    }
)  # fmt: skip
_ELSEWHERE.update({name: "torchjit._sparse" for name in ("dsmm", "hsmm", "saddmm", "spmm")})
_ELSEWHERE.update({name: "torchjit.storage" for name in ("_storage_classes", "_string_classes", "_tensor_classes")})
_ELSEWHERE["classproperty"] = "torchjit._utils"
_ELSEWHERE["vmap"] = "torchjit.func._vmap"
_ELSEWHERE["cond"] = "torchjit._higher_order_ops"
_ELSEWHERE["SymInt"] = "torchjit.export._symbolic"
_ELSEWHERE.update(
    {
        name: "torchjit._checks"
        for name in (
            "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type", "_check_value",
            "_check_with", "_constrain_as_size", "_sym_sqrt", "SymBool", "SymFloat", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
        )
    }
)  # fmt: skip
_ELSEWHERE["_import_dotted_name"] = "torchjit._utils"
_ELSEWHERE["classes"] = "torchjit._classes"
_ELSEWHERE["set_printoptions"] = "torchjit._tensor_str"
_ELSEWHERE["install_as_torch"] = "torchjit._alias"
_ELSEWHERE["to_dlpack"] = "torchjit.utils.dlpack"
_ELSEWHERE.update({name: "torchjit._removed" for name in ("eig", "lstsq", "matrix_rank", "solve")})
_ELSEWHERE.update({name: "torchjit._types" for name in ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn")})
_ELSEWHERE.update({f"sparse_{kind}_tensor": "torchjit._sparse" for kind in ("coo", "compressed", "csr", "csc", "bsr", "bsc")})
_ELSEWHERE["lobpcg"] = "torchjit._lobpcg"
_ELSEWHERE.update({name: "torchjit._lowrank" for name in ("svd_lowrank", "pca_lowrank")})
_ELSEWHERE.update({name: "torchjit.functional" for name in ("align_tensors", "cdist", "lu", "norm", "stft", "tensordot", "unique", "unique_consecutive")})
_SUBMODULES = (
    "__future__", "_linalg_utils", "_subclasses", "monitor", "nested", "amp", "ao", "autograd", "backends", "cpu", "cuda", "distributed", "distributions", "export", "fft", "func", "functional", "futures", "fx", "hub", "jit", "library", "linalg", "masked", "multiprocessing", "nn", "onnx",
    "ops", "quasirandom", "optim", "overrides", "package", "profiler", "quantization", "random", "return_types", "safetensors", "serialization", "signal", "sparse", "special", "storage", "testing", "torch_version", "types", "_utils", "_utils_internal",
    "utils", "version", "__config__", "_jit_internal", "_C", "_decomp", "_export", "_higher_order_ops", "_ops", "_sources", "_VF", "_lowrank", "_prims", "_prims_common", "_refs", "_six", "_tensor_str",
)  # fmt: skip


# Functions of torch._C that stand here as well; its classes do, too.
_OF_PROGRAMS = ("parse_ir", "parse_schema", "import_ir_module", "fork", "wait")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        import importlib

        return importlib.import_module("torchjit." + name)
    if name in _ELSEWHERE:
        import importlib

        value = globals()[name] = getattr(importlib.import_module(_ELSEWHERE[name]), name)
        return value
    f = None if name.startswith("__") or _operator_names.is_of_python(name) else _native.operator("aten::" + name)
    if f is None and name[:1].isupper() or name in _OF_PROGRAMS:
        # Classes of graphs and types stand here as well as in torch._C.
        import importlib

        f = getattr(importlib.import_module("torchjit._C"), name, None)
    if f is None:
        import importlib

        raise importlib.import_module("torchjit._advice").MissingName(f"module 'torch' has no attribute '{name}'", name, __dir__)
    globals()[name] = f
    return f


def __dir__() -> list[str]:
    import importlib

    classes = {name for name in dir(importlib.import_module("torchjit._C")) if name[:1].isupper()}
    known = {*globals(), *_SUBMODULES, *_ELSEWHERE, *_OF_PROGRAMS, *classes}
    return [name for name in _operator_names.listed(known) if not name.startswith("__") or name in globals()]
