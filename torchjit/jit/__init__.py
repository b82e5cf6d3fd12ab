"""torch.jit: compile Python functions and modules, save and load them."""

from __future__ import annotations

from typing import Any

from torchjit import _jit_internal as _marks
from torchjit import _native
from torchjit._jit_internal import (
    Attribute,
    Final,
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
from torchjit.jit import frontend
from torchjit.jit._async import Future, fork, wait
from torchjit.jit._freeze import freeze, optimize_for_inference, run_frozen_optimizations
from torchjit.jit._fuser import (
    enable_onednn_fusion,
    fuser,
    onednn_fusion_enabled,
    optimized_execution,
    set_fusion_strategy,
)
from torchjit.jit._inspect import ArchiveReport, inspect
from torchjit.jit._module import (
    RecursiveScriptClass,
    RecursiveScriptModule,
    ScriptModule,
    TopLevelTracedModule,
    script_method,
)
from torchjit.jit._script import CompilationUnit, ScriptFunction, last_executed_optimized_graph, script
from torchjit.jit._serialization import load, save
from torchjit.jit._trace import TracerWarning, trace, trace_module
from torchjit.jit._trace_check import TracingCheckError

_fork, _wait = fork, wait

__all__ = [
    "ArchiveReport", "Attribute", "CompilationUnit", "Error", "Final", "Future", "RecursiveScriptClass", "RecursiveScriptModule",
    "ScriptFunction", "ScriptModule", "TopLevelTracedModule", "TracerWarning", "TracingCheckError", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "frontend", "fuser", "ignore", "interface",
    "is_scripting", "is_tracing", "isinstance", "last_executed_optimized_graph", "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution",
    "run_frozen_optimizations",
    "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


class Error(RuntimeError):
    """An exception that a compiled program raised."""


_native.register_exception("Error", Error)
