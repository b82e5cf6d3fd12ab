"""The module that runs an exported program."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _advice, _native
from torchjit._pytorch_tensors import converted
from torchjit.export._inputs import Inputs
from torchjit.export._lowered import Lowered
from torchjit.export._program import ExportedGraph
from torchjit.export.graph_signature import InputKind, OutputKind
from torchjit.fx import _pytree as fx_pytree
from torchjit.fx._codegen import CodeGen, _PyTreeCodeGen, _PyTreeInfo
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node, map_arg
from torchjit.nn.modules import _hooks
from torchjit.utils import _pytree as pytree


def holder(program: Any) -> torch.nn.Module:
    """A module that has the tensors of a program at their paths: parameters, buffers, and constants as plain attributes."""
    root = torch.nn.Module()
    for spec in program.graph_signature.input_specs:
        if spec.target is None:
            continue
        prefix, _, name = spec.target.rpartition(".")
        owner = root
        for part in prefix.split(".") if prefix else []:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        tensor = program._tensor(spec.target)
        if spec.kind == InputKind.PARAMETER:
            owner.register_parameter(name, tensor if isinstance(tensor, torch.nn.Parameter) else torch.nn.Parameter(tensor))
        elif spec.kind == InputKind.BUFFER:
            owner.register_buffer(name, tensor, persistent=bool(spec.persistent))
        else:
            object.__setattr__(owner, name, tensor)
    return root


def _know_containers(spec: Any) -> None:
    """Tells generated code how to take apart the containers of a description."""
    if not spec.is_leaf() and spec.type not in fx_pytree.SUPPORTED_NODES:
        flatten = pytree.SUPPORTED_NODES[spec.type].flatten_fn
        fx_pytree.register_pytree_flatten_spec(spec.type, lambda x, _: list(flatten(x)[0]))
    for child in spec.children_specs:
        _know_containers(child)


class CallCodeGen(_PyTreeCodeGen):
    """The code of a graph that is called with positional and keyword arguments."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__(pytree_info)
        _know_containers(pytree_info.in_spec)

    def process_inputs(self, *args: Any, **kwargs: Any) -> Any:
        return pytree.tree_leaves((args, kwargs))

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        names, (_, keywords) = self.pytree_info.orig_args, self.pytree_info.in_spec.children_specs
        positional, named = names[: len(names) - keywords.num_children], names[len(names) - keywords.num_children :]
        definition = CodeGen.gen_fn_def(self, list(names), maybe_return_annotation)
        given = f"([{', '.join(positional)}], {{{','.join(f'{key!r}:{name}' for key, name in zip(keywords.context, named, strict=True))}}})"
        if free_vars:
            definition += f"\n    {', '.join(free_vars)}, = fx_pytree.tree_flatten_spec({given}, self._in_spec)"
        return definition


class ExportedModule(GraphModule):
    """Runs an exported program on the arguments that the captured module took.

    Its parameters and buffers are those of the program, under the same names. Its graph reads them as attributes, writes what the program
    writes by copy_, and returns what the user gets; it may be edited as any graph of torch.fx. A call runs the graph as a whole, as compiled code,
    where the library knows all of it: torch.jit.explain tells how, or why it runs node by node.
    """

    def __init__(self, root: torch.nn.Module, graph: Any, inputs: Inputs) -> None:
        super().__init__(torch.nn.Module(), ExportedGraph())
        for name in ("_modules", "_parameters", "_buffers", "_non_persistent_buffers_set"):
            getattr(self, name).update(getattr(root, name))
        for name, x in root.__dict__.items():
            if isinstance(x, torch.Tensor):
                object.__setattr__(self, name, x)
        object.__setattr__(self, "_inputs", inputs)
        self.graph = graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs of the program. Raises ValueError and RuntimeError for other arguments than those that it was captured for."""
        recorded = _native.is_tracing()
        if kwargs or not self._inputs.are_plain(args) or recorded:
            args, kwargs = converted(args), converted(kwargs)
            kwargs = self._inputs.checked(args, kwargs)
        else:
            self._inputs.check_plain(args)
        if recorded or "forward" in self.__dict__:
            return super().__call__(*args, **kwargs)
        try:
            hooked = self._forward_hooks or self._forward_pre_hooks or self.__dict__.get("_backward_hooks")
            if hooked or _hooks.global_forward_pre or _hooks.global_forward or _hooks.global_backward:
                return self._call_with_hooks(self._run, args, kwargs)
            return self._run(*args, **kwargs)
        except Exception as e:
            _advice.note_module(e, self)
            raise

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """forward, as compiled code where that can be."""
        lowered = self._lowered
        given = lowered.arguments(self, self._inputs.leaves(args, kwargs))
        if given is None:
            return self.forward(*args, **kwargs)
        return lowered.outputs(lowered.function()(*given))

    def recompile(self) -> Any:
        """Makes code and forward of the graph as it is now, and what calls run."""
        made = super().recompile()
        object.__setattr__(self, "_lowered", Lowered(self))
        return made

    def train(self, mode: bool = True) -> Any:
        raise NotImplementedError("Calling train() is not supported yet.")

    def eval(self) -> Any:
        raise NotImplementedError("Calling eval() is not supported yet.")

    def __deepcopy__(self, memo: Any) -> ExportedModule:
        from copy import deepcopy

        root = torch.nn.Module()
        root.__dict__.update({k: deepcopy(v, memo) for k, v in self.__dict__.items() if k not in ("_graph", "_inputs", "_lowered")})
        return ExportedModule(root, deepcopy(self._graph, memo), self._inputs)

    def __copy__(self) -> ExportedModule:
        return ExportedModule(self, self._graph, self._inputs)


def module_of(program: Any) -> ExportedModule:
    """The module that runs a program."""
    root = holder(program)
    for node in program.graph.nodes:
        if node.op == "get_attr":
            root.add_module(node.target, getattr(program.graph_module, node.target))
    made = ExportedModule(root, _unlifted(program), Inputs(program))
    return made


def _unlifted(program: Any) -> ExportedGraph:
    """The graph of a program in terms of the module's attributes."""
    graph = ExportedGraph()
    nodes: dict[Node, Node] = {}
    owners: dict[str, Node] = {}
    inputs: dict[str, Node] = {}
    placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
    for node, spec in zip(placeholders, program.graph_signature.input_specs, strict=True):
        if spec.target is None:
            nodes[node] = inputs[node.name] = graph.node_copy(node)
        else:
            if spec.target not in owners:
                owners[spec.target] = graph.create_node("get_attr", spec.target, name=spec.target.replace(".", "_"))
                owners[spec.target].meta = dict(node.meta)
            nodes[node] = owners[spec.target]
    for node in program.graph.nodes:
        if node.op not in ("placeholder", "output"):
            nodes[node] = graph.node_copy(node, nodes.__getitem__)
    given = program.graph.output_node().args[0]
    results = []
    for spec, x in zip(program.graph_signature.output_specs, given if isinstance(given, (list, tuple)) else [given], strict=True):
        x = map_arg(x, nodes.__getitem__)
        if spec.kind == OutputKind.USER_OUTPUT:
            results.append(x)
        else:
            target = owners[spec.target] if spec.kind == OutputKind.BUFFER_MUTATION else inputs[spec.target]
            graph.call_function(torch.ops.aten.copy_.default, (target, x))
    graph.output(tuple(results))
    graph.set_codegen(CallCodeGen(_PyTreeInfo(_argument_names(program), program.in_spec, program.out_spec)))
    return graph


def _argument_names(program: Any) -> list[str]:
    """The parameters of the module's forward: those that the captured one was called with."""
    given = program.module_call_graph[0].signature.forward_arg_names
    if given is not None:
        return list(given)
    args, kwargs = program.in_spec.children_specs
    return [*(f"arg_{i}" for i in range(len(args.children_specs))), *kwargs.context]
