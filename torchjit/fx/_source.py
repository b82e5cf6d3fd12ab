"""Running generated code: its text stays readable for tracebacks, its globals can be written as imports."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable
from typing import Any

from torchjit.fx._codegen import _is_from_torch
from torchjit.fx._names import _custom_builtins
from torchjit.fx.node import _find_module_of_method
from torchjit.package._mangling import is_mangled
from torchjit.package.importer import Importer


class _EvalCacheLoader:
    """Gives linecache the text of code that was made at run time."""

    def __init__(self) -> None:
        self.eval_cache: dict[str, str] = {}
        self.next_id = 0
        self._numbers = itertools.count()

    def cache(self, src: str, globals: dict[str, Any]) -> str:
        """Keeps the text under a file name of its own, which it gives; the globals say who has it."""
        key = self._get_key()
        self.eval_cache[key] = src
        # linecache asks the module's loader by these names.
        globals.update({"__name__": key, "__loader__": self})
        linecache.lazycache(key, globals)
        return key

    def get_source(self, module_name: str) -> str | None:
        """The text that was kept under a name."""
        return self.eval_cache.get(module_name)

    def _get_key(self) -> str:
        self.next_id = next(self._numbers)
        return f"<eval_with_key>.{self.next_id}"


_loader = _EvalCacheLoader()


def _exec_with_source(src: str, globals: dict[str, Any]) -> None:
    key = _loader.cache(src, globals)
    exec(compile(src, key, "exec", dont_inherit=True), globals)


def _forward_from_src(src: str, globals: dict[str, Any]) -> Callable[..., Any]:
    """The function forward that a text defines."""
    own = globals.copy()
    _exec_with_source(src, own)
    forward = own["forward"]
    del own["forward"]
    return forward


def _import_statement(name: str, obj: Any, importer: Importer) -> str:
    """A statement that binds name to obj, which the importer finds if it is from a package. Raises where obj is not what its name means."""
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if _is_from_torch(obj) and getattr(obj, "__name__", None) is None:
        return f"from torch import {name}"
    module, attribute = _find_module_of_method(obj), obj.__name__
    if is_mangled(module):
        module, attribute = importer.get_name(obj)
        return f"from {module} import {attribute} as {name}"
    found = sys.modules.get(obj.__module__) if getattr(obj, "__module__", None) else None
    if found is not None and getattr(found, attribute, None) is not obj:
        import pickle

        raise pickle.PicklingError(f"Can't pickle {obj}: it's not found as {module}.{attribute}")
    return f"from {module} import {attribute} as {name}"


def _format_import_block(globals: dict[str, Any], importer: Importer) -> str:
    """The statements that give generated code its globals."""
    return "\n".join(dict.fromkeys(_import_statement(name, obj, importer) for name, obj in globals.items()))
