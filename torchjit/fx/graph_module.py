"""Modules whose forward is the code of a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import torchjit as torch
from torchjit.fx._codegen import PythonCode, _PyTreeCodeGen, check_names
from torchjit.fx._compatibility import compatibility
from torchjit.fx._source import (  # noqa: F401
    _EvalCacheLoader,
    _exec_with_source,
    _format_import_block,
    _forward_from_src,
    _loader,
)  # fmt: skip
from torchjit.fx.graph import Graph
from torchjit.nn import Module
from torchjit.package.importer import sys_importer

__all__ = ["reduce_graph_module", "GraphModule"]

_CHILDLESS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


@compatibility(is_backward_compatible=True)
def reduce_graph_module(body: dict[Any, Any], import_block: str) -> Module:
    """The GraphModule of a pickle: its attributes, and the imports that its code needs."""
    source = body.get("_code") or body.get("code")
    forward = _forward_from_src(f"{import_block}\n{source}", {})
    return _deserialize_graph_module(forward, body)


@compatibility(is_backward_compatible=True)
def reduce_package_graph_module(importer: Any, body: dict[Any, Any], generated_module_name: str) -> Module:
    """The GraphModule of a package: its attributes, and the module there that has its code."""
    return _deserialize_graph_module(importer.import_module(generated_module_name).forward, body)


def _deserialize_graph_module(forward: Any, body: dict[Any, Any]) -> Module:
    """A GraphModule whose graph is traced from the function that its code is."""
    from torchjit.fx._symbolic_trace import Tracer

    class CodeOnlyModule(Module):
        def __init__(self, body: dict[Any, Any]) -> None:
            super().__init__()
            self.__dict__ = body

    CodeOnlyModule.forward = forward
    root = CodeOnlyModule(body)
    tracer_cls = body.get("_tracer_cls") or Tracer

    class KeepModules(tracer_cls):  # type: ignore[misc,valid-type]
        def is_leaf_module(self, _: Module, __: str) -> bool:
            return True  # what was called in the graph was called as a whole

    graph = KeepModules().trace(root, **(body.get("_tracer_extras") or {}))
    graph._tracer_cls = tracer_cls
    gm = GraphModule(root, graph, class_name=body.get("_graphmodule_cls_name") or "GraphModule")
    for name, value in body.items():
        if not hasattr(gm, name):
            setattr(gm, name, value)
    return gm


def _owner(module: Any, target: str, source: Any = None) -> Any:
    """The submodule that has the last part of a dotted path; empty modules are made on the way.

    None where the module shares an owner with source, which then has the attribute already.
    """
    for part in target.split(".")[:-1]:
        source = getattr(source, part) if source is not None else None
        found = getattr(module, part, None)
        if found is not None and found is source:
            return None
        if found is None:
            found = Module()
            setattr(module, part, found)
        module = found
    return module


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Gives to_module what from_module has at a dotted path."""
    owner = _owner(to_module, target, from_module)
    if owner is None:
        return
    value: Any = from_module
    for part in target.split("."):
        value = getattr(value, part)
    _set_attribute(owner, target, value)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Gives to_module an object at a dotted path."""
    _set_attribute(_owner(to_module, target), target, from_obj)


def _set_attribute(owner: Any, target: str, value: Any) -> None:
    name = target.rpartition(".")[2]
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


class _WrappedCall:
    """The call of a GraphModule, which shows the generated code around a line that fails."""

    def __init__(self, cls: Any, cls_call: Any) -> None:
        self.cls, self.cls_call = cls, cls_call

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        number = frame_summary.lineno or 1
        lines = linecache.getlines(frame_summary.filename)
        return "\n".join(
            [
                traceback.format_exc(),
                "Call using an FX-traced Module, "
                f"line {frame_summary.lineno} of the traced Module's generated forward function:",
                "".join(lines[number - 2 : number]),
                "~" * len(frame_summary.line or "") + "~~~ <--- HERE",
                "\n".join(lines[number : number + 2]),
            ]
        )

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            above: Any = super(self.cls, obj)
            return above.__call__(*args, **kwargs)
        except Exception as e:
            innermost = traceback.extract_tb(e.__traceback__)[-1]
            if "eval_with_key" in innermost.filename:
                print(self._generate_error_message(innermost), file=sys.stderr)
                raise e.with_traceback(None) from None
            raise


@compatibility(is_backward_compatible=True)
class GraphModule(Module):
    """A module whose forward is generated from its graph: assigning graph, or recompile after changing it, makes it anew.

    >>> traced = torch.fx.symbolic_trace(nn.ReLU())
    >>> isinstance(traced, torch.fx.GraphModule), traced(torch.tensor([-1.0, 2.0]))
    (True, tensor([0., 2.]))
    """

    def __new__(cls: type[GraphModule], *args: Any, **kwargs: Any) -> GraphModule:
        # Every object has a class of its own, since its forward is the class's.
        for base in cls.__mro__:
            if base.__name__ == "GraphModuleImpl":
                return super().__new__(cls)

        class GraphModuleImpl(cls):  # type: ignore[misc,valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    @compatibility(is_backward_compatible=True)
    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        """The module of a graph with what that reads and calls of root: a module, or a dictionary by dotted path."""
        self.__class__.__name__ = class_name
        super().__init__()
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training: bool = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, str(node.target))
        elif isinstance(root, dict):
            self._assign_targets(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        # A class that cannot be found again by its name cannot be pickled.
        tracer_cls = graph._tracer_cls
        self._tracer_cls = tracer_cls if tracer_cls and "<locals>" not in tracer_cls.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}

    def _assign_targets(self, root: dict[str, Any], graph: Graph) -> None:
        targets: list[str] = []
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
                targets.append(str(node.target))
        for target in sorted(targets, key=lambda t: t.count(".")):  # an owner before what it has
            _assign_attr(root[target], self, target)

    # The graph is for Python alone.
    __jit_unused_properties__: list[str] = ["graph"]

    @property
    def graph(self) -> Graph:
        """The graph. After changing it, call recompile."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        assert isinstance(g, Graph), f"Expected a Graph instance, but got {type(g)}"
        self._graph = g
        g.owning_module = self
        self.recompile()

    @compatibility(is_backward_compatible=False)
    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Writes the module as a package: its code, a file of its state, files of submodules that have no short text."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        code = self._graph.python_code(root_module="self")
        lines = [f"\nimport {torch.__package__} as torch", _format_import_block(code.globals, sys_importer), ""]
        lines += [f"from {torch.__package__}.nn import *", f"class {module_name}(torch.nn.Module):", "    def __init__(self):"]
        lines += ["        super().__init__()"]
        apart = []
        for name, module in self.named_children():
            text = f"{module!r}"
            if type(module).__name__ not in _CHILDLESS:
                apart.append(name)
                path = folder / f"{name}.pt"
                torch.save(module, path)
                text = f"torch.load(r'{path}') # {text}".replace("\r", " ").replace("\n", " ")
            lines.append(f"        self.{name} = {text}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(
                    f"        self.register_buffer('{name}', torch.empty({list(buffer.shape)}, dtype={buffer.dtype}))"
                )
        for name, parameter in self._parameters.items():
            if parameter is not None:
                lines.append(
                    f"        self.{name} = torch.nn.Parameter(torch.empty({list(parameter.shape)}, dtype={parameter.dtype}))"
                )
        lines.append(f"        self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
        forward = "\n".join("    " + line if line else line for line in code.src.split("\n"))
        (folder / "module.py").write_text("\n".join(lines) + "\n" + forward + "\n")
        (folder / "__init__.py").write_text("from .module import *")
        if apart:
            warnings.warn(
                f"Was not able to save the following children modules as reprs -saved as pickled files instead: {apart}"
            )

    @compatibility(is_backward_compatible=True)
    def add_submodule(self, target: str, m: Module) -> bool:
        """Puts m at a dotted path, with empty modules on the way; False where something else stands there."""
        module: Any = self
        *prefix, field = target.split(".")
        for item in prefix:
            found = getattr(module, item, None)
            if found is None:
                found = Module()
                setattr(module, item, found)
            if not isinstance(found, Module):
                return False
            module = found
        module.add_module(field, m)
        return True

    @compatibility(is_backward_compatible=True)
    def delete_submodule(self, target: str) -> bool:
        """Takes out the submodule at a dotted path; False where there is none."""
        module: Any = self
        *prefix, field = target.split(".")
        for item in prefix:
            module = getattr(module, item, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, field, None), Module):
            return False
        delattr(module, field)
        return True

    @compatibility(is_backward_compatible=True)
    def delete_all_unused_submodules(self) -> None:
        """Takes out the submodules that no node reads or calls, nor holds what one reads or calls."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = str(node.target).split(".")
            used.update(itertools.accumulate(parts, lambda a, b: f"{a}.{b}"))
            if node.op == "call_module":
                try:
                    called = self.get_submodule(str(node.target))
                except AttributeError:
                    continue
                used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    @property
    def code(self) -> str:
        """The text of forward."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    @compatibility(is_backward_compatible=True)
    def recompile(self) -> PythonCode:
        """Makes code and forward of the graph as it is now."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        check_names(self._graph.nodes)
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        cls: Any = type(self)
        cls.forward = _forward_from_src(self._code, python_code.globals)
        if "_wrapped_call" not in vars(cls):
            # A __call__ of the class that the user wrote is called in the place of Module's.
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        return python_code

    def __reduce__(self) -> Any:
        body = self.__dict__.copy()
        python_code = self.recompile()
        import_block = _format_import_block(python_code.globals, sys_importer)
        del body["_graph"]
        return reduce_graph_module, (body, import_block)

    def __reduce_package__(self, exporter: Any) -> Any:
        body = self.__dict__.copy()
        imports = _format_import_block(self.recompile().globals, exporter.importer)
        body["_graphmodule_cls_name"] = self.__class__.__name__
        del body["_graph"]
        name = f"fx-generated._{exporter.get_unique_id()}"
        exporter.save_source_string(name, re.sub(r"\btorchjit\b(?! as )", "torch", imports.replace("import torchjit as torch", "import torch")) + self.code)
        return reduce_package_graph_module, (body, name)

    def __deepcopy__(self, memo: Any) -> GraphModule:
        copied = Module()
        copied.__dict__ = copy.deepcopy(self.__dict__)
        result = GraphModule(copied, copied.__dict__["_graph"])
        for name in ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            if name in self.__dict__:
                setattr(result, name, copy.deepcopy(self.__dict__[name], memo))
        return result

    def __copy__(self) -> GraphModule:
        return GraphModule(self, self.graph)

    @compatibility(is_backward_compatible=False)
    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False, colored: bool = False
    ) -> str:
        """The module as a class, with comments on where nodes come from, and those of its GraphModules in it; it is printed too.

        Where nodes have metadata of values, their types and sizes are shown, with strides and devices if asked for.
        """
        if any("val" in n.meta for n in self._graph.nodes):
            from torchjit.export._readable import readable

            text = readable(self, self._get_name(), include_stride, include_device)
        else:
            text = self._readable()
        if print_output:
            print(text)
        return text

    def _readable(self) -> str:
        code = self._graph.python_code(root_module="self", verbose=True).src.lstrip("\n")
        lines = [f"class {self._get_name()}(torch.nn.Module):", *(("    " + line) if line else line for line in code.split("\n"))]
        inner = [m._readable() for m in self.children() if isinstance(m, GraphModule)]
        return "\n".join(["\n".join(lines), *("\n".join("    " + line for line in text.split("\n")) for text in inner)])

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    def _replicate_for_data_parallel(self) -> Any:
        replica = self.__copy__()
        replica._is_replica = True
        return replica
