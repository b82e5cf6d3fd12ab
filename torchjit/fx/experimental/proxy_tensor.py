"""make_fx: functions as graphs of the operators that run below autograd."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torchjit as torch
from torchjit import _creation
from torchjit._subclasses.fake_tensor import FakeTensorMode
from torchjit.fx import PH, Tracer
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.passes.shape_prop import _extract_tensor_metadata
from torchjit.fx.proxy import Proxy
from torchjit.utils import _pytree as pytree
from torchjit.utils._python_dispatch import TorchDispatchMode, no_modes

__all__ = ["PythonKeyTracer", "dispatch_trace", "make_fx", "DecompositionInterpreter"]


class PythonKeyTracer(Tracer):
    """Records what a ProxyTorchDispatchMode tells it: modules are called, and their parameters are what they are."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.proxies: dict[int, Any] = {}  # of tensors, by id
        self.known: list[Any] = []  # the tensors, which keep their ids
        self.constants: set[int] = set()  # of those numbers that the program computes of Python's data alone

    def call_module(self, m: Any, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, torch.nn.Parameter):
            path = self.tensor_attrs.get(a)
            if path is None:
                path = self.tensor_attrs[a] = self._keep("_param_constant", a)
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)

    def track(self, tensor: Any, proxy: Any) -> None:
        """Has a proxy stand for a tensor from here on."""
        self.proxies[id(tensor)] = proxy
        self.known.append(tensor)

    def proxy_of(self, x: Any) -> Any:
        """The proxy of a tensor, or what is given where it has none."""
        return self.proxies.get(id(x), x) if isinstance(x, torch.Tensor) else x

    def track_results(self, made: Any, proxy: Any) -> None:
        """Has the parts of a proxy stand for the parts of a result."""
        if isinstance(made, torch.Tensor):
            self.track(made, proxy)
            proxy.node.meta["tensor_meta"] = _extract_tensor_metadata(made)
            proxy.node.meta["val"] = _without_elements(made)
        elif isinstance(made, (tuple, list)):
            for i, x in enumerate(made):
                self.track_results(x, proxy[i])


def _without_elements(x: Any) -> Any:
    with torch.no_grad():
        return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records every operator as a node of a tracer's graph, and runs it. In place of operators in the table their functions run."""

    def __init__(self, tracer: PythonKeyTracer, decomposition_table: dict[Any, Callable[..., Any]] | None = None) -> None:
        self.tracer: PythonKeyTracer = tracer
        self.decomposition_table = decomposition_table or {}

    def __enter__(self) -> Any:
        _creation.recorders.append(self)
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        _creation.recorders.remove(self)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func in self.decomposition_table:
            with self:
                made = self.decomposition_table[func](*args, **kwargs)
            if made is not NotImplemented:
                return made
        tracer = self.tracer
        if func is torch.ops.aten._local_scalar_dense.default and tracer.proxy_of(args[0]) is not args[0]:
            if id(args[0]) in tracer.constants:
                return func(*args)
            raise RuntimeError(
                "It appears that you're trying to get value out of a tracing tensor - erroring out! "
                "It's likely that this is caused by data-dependent control flow or similar."
            )
        proxies = pytree.tree_map(tracer.proxy_of, args), pytree.tree_map(tracer.proxy_of, kwargs)
        name = func.overloadpacket.__name__
        proxy = tracer.create_proxy("call_function", func, *proxies, name=tracer.graph._target_to_str(name))
        made = func(*args, **kwargs)
        with no_modes():
            tracer.track_results(made, proxy)
        given = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if func is torch.ops.aten.lift_fresh_copy.default or given and all(id(x) in tracer.constants for x in given):
            tracer.constants.update(id(x) for x in pytree.tree_leaves(made) if isinstance(x, torch.Tensor) and x.numel() <= 1)
        elif name.endswith("_") or "out" in kwargs:
            tracer.constants.difference_update(map(id, given))
        return made


@contextlib.contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """A context in which nothing is recorded."""
    with no_modes():
        yield


def dispatch_trace(root: Callable[..., Any], tracer: Tracer, concrete_args: tuple[Any, ...] | None = None) -> GraphModule:
    """The module of the graph that a tracer records of a function."""
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """The names of the parameters that take count positional arguments."""
    parameters = list(inspect.signature(f).parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return [f"arg{i}" for i in range(count)]
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]


def _function_of(names: list[str], body: Callable[..., Any]) -> Any:
    """A function with parameters of the names that gives what body does."""
    space = {"body": body}
    exec(f"def wrapped({', '.join(names)}):\n    return body({', '.join(names)})\n", space)
    return space["wrapped"]


def make_fx(
    f: Callable[..., Any], decomposition_table: dict[Any, Callable[..., Any]] | None = None, tracing_mode: str = "real"
) -> Callable[..., GraphModule]:
    """A function that calls f with tensors and gives the GraphModule of the operators that ran below autograd, of backward passes too.

    Arguments are tensors and containers of such; other leaves are constants of the graph. Tensors that f uses besides them become
    attributes of the module. decomposition_table has functions that run in place of operators, by overloads of torch.ops. With the mode
    "real" f runs with the tensors themselves, with "fake" with tensors without elements. Raises NotImplementedError for "symbolic", AssertionError for other modes,
    RuntimeError where f asks for the value of a tensor that is recorded.
    """
    assert tracing_mode in ("real", "fake", "symbolic")
    if tracing_mode == "symbolic":
        raise NotImplementedError("make_fx has no symbolic sizes: torch.export gives programs that have")

    def wrapped(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        mode = ProxyTorchDispatchMode(tracer, decomposition_table)
        fake = FakeTensorMode() if tracing_mode == "fake" else None
        if fake is not None:
            args = pytree.tree_map(lambda x: fake.from_tensor(x) if isinstance(x, torch.Tensor) else x, args)
        leaves, _ = pytree.tree_flatten(args)

        def body(*proxies: Any) -> Any:
            for proxy, x in zip(pytree.tree_flatten(proxies)[0], leaves, strict=True):
                if isinstance(x, torch.Tensor) and isinstance(proxy, Proxy):
                    tracer.track_results(x, proxy)
            with fake or contextlib.nullcontext(), mode:
                made = f(*args)
            return pytree.tree_map(tracer.proxy_of, made)

        function = _function_of(_parameter_names(f, len(args)), body)
        function.__name__ = getattr(f, "__name__", type(f).__name__)
        return dispatch_trace(function, tracer, tuple(pytree.tree_map(lambda _: PH, args)))

    return wrapped


class DecompositionInterpreter(torch.fx.Interpreter):
    """Runs a module and records it anew into a graph, with the table's functions in place of operators."""

    def __init__(self, module: GraphModule, new_graph: Graph, decomposition_table: dict[Any, Callable[..., Any]] | None = None) -> None:
        super().__init__(module)
        self.new_graph: Graph = new_graph
        self.tracer: PythonKeyTracer = PythonKeyTracer()
        self.tracer.root, self.tracer.graph, self.tracer.tensor_attrs = module, new_graph, {}
        self.mode: ProxyTorchDispatchMode = ProxyTorchDispatchMode(self.tracer, decomposition_table)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        made = super().placeholder(target, args, kwargs)
        proxy = Proxy(self.new_graph.placeholder(target), self.tracer)
        self.tracer.track_results(made, proxy)
        return made

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        made = super().get_attr(target, args, kwargs)
        self.tracer.track_results(made, Proxy(self.new_graph.get_attr(target), self.tracer))
        return made

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        made = super().output(target, args, kwargs)
        with no_modes():
            nodes = pytree.tree_map(lambda x: getattr(self.tracer.proxy_of(x), "node", x), made)
        self.new_graph.output(nodes)
        return made

    def run(self, *args: Any, **kwargs: Any) -> Any:
        with self.mode:
            return super().run(*args, **kwargs)
