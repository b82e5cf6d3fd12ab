"""`import torch` as another name of this package, for libraries that import it."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys
import types
from collections.abc import Sequence
from typing import Any

from torchjit import _absent


def _ours(name: str) -> str | None:
    """The module of this package that stands for another's: torch.x, or functorch.x."""
    first, _, rest = name.partition(".")
    package = {"torch": "torchjit", "functorch": "torchjit.functorch"}.get(first)
    return None if package is None else f"{package}.{rest}" if rest else package


class _TorchNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch and torch.x as the modules torchjit and torchjit.x, which stay what they are, and functorch.x as torchjit.functorch.x."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None) -> Any:
        ours = _ours(fullname)
        if ours is None:
            return None
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as e:
            if e.name != ours:
                raise
            why = _absent.reason(ours.partition(".")[2]) or "torchjit, which stands for torch here, does not have it"
            raise ModuleNotFoundError(f"No module named '{fullname}': {why}", name=fullname) from None
        # A package that imports modules of its own by their full names has made the other name already: the import system would take the
        # module's spec for this one then, and load the package again.
        sys.modules.pop(fullname, None)
        return importlib.machinery.ModuleSpec(fullname, self, loader_state=(module, module.__spec__), is_package=hasattr(module, "__path__"))

    def create_module(self, spec: Any) -> types.ModuleType:
        return spec.loader_state[0]

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system has made the spec of the other name that of the module. Libraries that replace functions by their paths ask for the name.
        spec = module.__spec__
        module.__name__, module.__spec__ = spec.name, spec.loader_state[1]  # type: ignore[union-attr]


def install_as_torch() -> None:
    """Makes `import torch` give this package from now on, in all modules: libraries that are written for PyTorch use it then.

        import torchjit
        torchjit.install_as_torch()
        import torchvision

    Call it before anything imports torch. Raises ImportError where PyTorch has been imported already.
    """
    import torchjit

    found = sys.modules.get("torch")
    if found is torchjit:
        return
    if found is not None:
        raise ImportError("install_as_torch() comes too late: PyTorch has been imported already")
    sys.meta_path.insert(0, _TorchNames())
    # Here importlib.metadata and pkg_resources find a distribution named torch, before one that is installed; the first place is the program's own folder.
    sys.path.insert(1, str(pathlib.Path(__file__).parent / "_metadata"))
    importlib.import_module("torch")
    # Libraries find the functions that go with an array by the first part of the module of its class.
    for cls in (torchjit.Tensor, torchjit.nn.Parameter, torchjit.nn.UninitializedParameter, torchjit.nn.UninitializedBuffer):
        cls.__module__ = "torch" + cls.__module__.removeprefix("torchjit")
