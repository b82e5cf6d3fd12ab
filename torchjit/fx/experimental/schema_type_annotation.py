"""Types of nodes by the signatures of what they call."""

from __future__ import annotations

import inspect
from typing import Any

import torchjit as torch
from torchjit._jit_internal import boolean_dispatched
from torchjit.fx import GraphModule, Transformer
from torchjit.fx.node import Argument, Target


class AnnotateTypesWithSchema(Transformer):
    """Gives nodes the types that modules of torch.nn and functions of torch are annotated to return, and attributes theirs."""

    def __init__(
        self, module: GraphModule, annotate_functionals: bool = True, annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(module)
        self.annotate_functionals = annotate_functionals
        self.annotate_modules = annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        kind = None
        module = getattr(target, "__module__", None)
        if self.annotate_functionals and module == torch.nn.functional.__name__:
            analyzed: Any = target
            if target in boolean_dispatched:
                choice = boolean_dispatched[target]
                if_true, if_false = choice["if_true"], choice["if_false"]
                # The result depends on a flag where the two ways differ.
                if _returned(if_true) != _returned(if_false):
                    return super().call_function(target, args, kwargs)
                analyzed = if_true
            kind = _returned(analyzed)
        proxy = super().call_function(target, args, kwargs)
        proxy.node.type = proxy.node.type if proxy.node.type else kind
        return proxy

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        kind = None
        assert isinstance(target, str)
        submodule = self.fetch_attr(target)
        name = getattr(submodule.__class__, "__name__", "")
        if self.annotate_modules and getattr(torch.nn, name, None) == submodule.__class__:
            kind = _returned(submodule.forward)
        proxy = super().call_module(target, args, kwargs)
        proxy.node.type = proxy.node.type if proxy.node.type else kind
        return proxy

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        proxy = super().get_attr(target, args, kwargs)
        if self.annotate_get_attrs:
            value: Any = self.module
            for atom in str(target).split("."):
                if not hasattr(value, atom):
                    raise RuntimeError(f"Node referenced nonexistent target {target}!")
                value = getattr(value, atom)
            if isinstance(value, torch.nn.Parameter):
                proxy.node.type = torch.nn.Parameter
            elif isinstance(value, torch.Tensor):
                proxy.node.type = torch.Tensor
        return proxy


def _returned(fn: Any) -> Any:
    """What a function is annotated to return, None where it is not."""
    annotation = inspect.signature(fn).return_annotation
    if annotation is inspect.Signature.empty:
        return None
    if isinstance(annotation, str):
        return torch.Tensor if annotation == "Tensor" else None
    return annotation
