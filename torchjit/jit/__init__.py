"""torch.jit: compile Python functions and modules, save and load them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from torchjit import _jit_internal as _marks
from torchjit import _lazy, _native
from torchjit._jit_internal import (
    Attribute,
    Final,
    _IgnoreContextManager,
    _overload,
    _overload_method,
    _unwrap_optional,
    annotate,
    export,
    ignore,
    interface,
    is_scripting,
    is_tracing,
    isinstance,  # noqa: A004
    script_if_tracing,
    unused,
)
from torchjit.jit import _state as _state
from torchjit.jit import frontend
from torchjit.jit._async import Future, fork, wait
from torchjit.jit._await import _Await, _awaitable, _awaitable_nowait, _awaitable_wait
from torchjit.jit._decomposition_utils import _register_decomposition
from torchjit.jit._explain import Explanation, explain
from torchjit.jit._freeze import freeze, optimize_for_inference, run_frozen_optimizations
from torchjit.jit._fuser import (
    enable_onednn_fusion,
    fuser,
    onednn_fusion_enabled,
    optimized_execution,
    set_fusion_strategy,
)
from torchjit.jit._inspect import ArchiveReport, inspect
from torchjit.jit._ir_utils import _InsertPoint
from torchjit.jit._module import (
    RecursiveScriptClass,
    RecursiveScriptModule,
    ScriptModule,
    TopLevelTracedModule,
    script_method,
)
from torchjit.jit._profile import line_profile
from torchjit.jit._script import CompilationUnit, ScriptFunction, last_executed_optimized_graph, script
from torchjit.jit._serialization import jit_module_from_flatbuffer, load, save, save_jit_module_to_flatbuffer
from torchjit.jit._trace import (
    TracerWarning,
    _flatten,
    _get_trace_graph,
    _hide_source_ranges,
    _unique_state_dict,
    trace,
    trace_module,
)
from torchjit.jit._trace_check import TracingCheckError

# `from __future__ import annotations` has taken the name of this module.
annotations: Any = importlib.import_module("torchjit.jit.annotations")  # type: ignore[no-redef]

_fork, _wait = fork, wait
_isinstance = isinstance
_script_if_tracing = script_if_tracing
_set_fusion_strategy = set_fusion_strategy
TracedModule = TopLevelTracedModule

__all__ = [
    "ArchiveReport", "Attribute", "CompilationUnit", "Error", "Explanation", "Final", "Future", "RecursiveScriptClass", "RecursiveScriptModule",
    "ScriptFunction", "ScriptModule", "ScriptWarning", "TopLevelTracedModule", "TracerWarning", "TracingCheckError", "annotate", "enable_onednn_fusion", "explain", "export", "export_opnames", "fork", "freeze", "frontend", "fuser", "ignore", "interface",
    "is_scripting", "is_tracing", "isinstance", "line_profile", "last_executed_optimized_graph", "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution",
    "run_frozen_optimizations",
    "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy", "set_module", "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


class Error(RuntimeError):
    """An exception that a compiled program raised."""


_native.register_exception("Error", Error)


class ScriptWarning(Warning):
    """A warning about how a program is compiled."""


class strict_fusion:  # noqa: N801
    """A context in a program whose operators are expected to be fused. Outside of programs it does nothing.

    >>> @torch.jit.script
    ... def f(x):
    ...     with torch.jit.strict_fusion():
    ...         return x.relu() + 1
    >>> f(torch.ones(1))
    tensor([2.])
    """

    def __init__(self) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        pass


def set_module(obj: Any, mod: str) -> None:
    """Sets the module that an object says it is of."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def export_opnames(m: Any) -> list[str]:
    """The names of the operators that the bytecode of a compiled module's methods calls, with their overloads, sorted.

    >>> torch.jit.export_opnames(torch.jit.script(nn.ReLU()))
    ['aten::relu', 'aten::relu_']
    """
    return sorted(_native.bytecode_operators(m._c))


if TYPE_CHECKING:
    from torchjit.jit import mobile as mobile
    from torchjit.jit import quantized as quantized
    from torchjit.jit import supported_ops as supported_ops
    from torchjit.jit import unsupported_tensor_ops as unsupported_tensor_ops
else:
    __getattr__: _lazy.Getter
    __dir__: _lazy.Lister
    __getattr__, __dir__ = _lazy.names(__name__, {
        **_lazy.modules(__name__, """
            _builtins _callables _check _dataclass_impls _decompositions _executor_state _freeze _inspect _ir_utils _logging _module_dicts _monkeytype_config
            _passes _pickle _recursive _trace_check mobile quantized supported_ops unsupported_tensor_ops
        """),
        "torchjit.jit._profile": "_ScriptProfile",
        "torchjit.jit._trace": "ONNXTracedModule",
    })  # fmt: skip
