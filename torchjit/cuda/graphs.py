"""CUDA graphs: work of a device that is put down once and done again by one launch."""

from __future__ import annotations

import gc
import warnings
from typing import Any

from torchjit import _native
from torchjit.cuda.streams import Stream, StreamContext, current_stream, default_stream

_MODES = ("global", "thread_local", "relaxed")


def is_current_stream_capturing() -> bool:
    """Whether what the calling thread gives its current device to do becomes a graph."""
    from torchjit.cuda import is_available

    if not is_available():
        return False
    stream = current_stream()
    return _native.cuda_stream_capturing(stream.device_index, stream.cuda_stream)


def graph_pool_handle() -> Any:
    """Memory of the current device for graphs that never run at the same time: the argument pool of others."""
    return _native.cuda_graph_pool(-1)


class CUDAGraph:
    """Work of a device that was captured. replay() does it again, at the places that it was captured with: memory is read and written there,
    whatever it holds then, and that of tensors made in the capture is kept as long as the graph. Raises AssertionError where there is no device.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._graph: Any = _native.cuda_graph(-1)
        self._pool: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Has what is given on the current stream from now on become the graph's work, rather than be done.

        The stream must not be the default one. What a graph cannot hold raises RuntimeError and ends the capture, whatever the mode says: anything that
        waits for the device, copies to or from memory that is not pinned, checked indices and random numbers. Other streams are not captured.
        """
        if capture_error_mode not in _MODES:
            raise RuntimeError(f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got {capture_error_mode}")
        if current_stream() == default_stream():
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the default stream.)"
            )
        pool = graph_pool_handle() if pool is None else pool
        _native.cuda_graph_begin(self._graph, pool)
        self._pool = pool

    def capture_end(self) -> None:
        """Ends the capture. Raises RuntimeError where something was refused in it."""
        if _native.cuda_graph_end(self._graph) == 0:
            warnings.warn("The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream.", stacklevel=2)

    def replay(self) -> None:
        """Does the work on the current stream."""
        _native.cuda_graph_replay(self._graph)

    def reset(self) -> None:
        """Gives the work and its memory back. The graph can be captured anew."""
        _native.cuda_graph_reset(self._graph)
        self._pool = None

    def pool(self) -> Any:
        """The memory of the graph, which further graphs may share."""
        if self._pool is None:
            raise RuntimeError("pool() was called on a graph that has no memory: capture_begin() comes first")
        return self._pool

    def enable_debug_mode(self) -> None:
        """Raises NotImplementedError, as debug_dump does."""
        raise NotImplementedError("torch.cuda.CUDAGraph.enable_debug_mode is not implemented: graphs are not written down")

    def debug_dump(self, debug_path: str) -> None:
        """Raises NotImplementedError: graphs are not written down."""
        raise NotImplementedError("torch.cuda.CUDAGraph.debug_dump is not implemented: graphs are not written down")


class graph:
    """A context whose work on the device becomes a graph's."""

    default_capture_stream: Stream | None = None

    def __init__(self, cuda_graph: CUDAGraph, pool: Any = None, stream: Stream | None = None, capture_error_mode: str = "global") -> None:
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.capture_stream = stream
        self.stream_ctx = StreamContext(stream)
        self.cuda_graph = cuda_graph
        self.pool = pool
        self.capture_error_mode = capture_error_mode

    def __enter__(self) -> None:
        from torchjit.cuda import empty_cache, synchronize

        synchronize()
        gc.collect()
        empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, capture_error_mode=self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__(None, None, None)
            raise

    def __exit__(self, kind: Any, *exception: Any) -> None:
        try:
            if kind is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()  # the exception tells why
        finally:
            self.stream_ctx.__exit__(None, None, None)


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> Any:
    """The callables, modules or functions of tensors, as ones that run as graphs, forward and backward, for arguments like the sample ones.

    A tuple of callables, with a tuple of arguments for each, shares memory: they are to be called in their order, and backward in the opposite one. A
    module is returned itself; in the other of training and evaluation it runs as before. Results are overwritten by the next call.
    """
    import torchjit as torch

    several = isinstance(callables, tuple)
    parts = tuple(_Graphed(f, args) for f, args in zip(callables if several else (callables,), sample_args if several else (sample_args,), strict=True))
    pool = graph_pool_handle() if pool is None else pool
    torch.cuda.synchronize()
    with StreamContext(Stream()):
        for part in parts:
            for _ in range(num_warmup_iters):
                part.gradients(part.run(), allow_unused_input)
    torch.cuda.synchronize()
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool, allow_unused_input)
    made = tuple(part.callable() for part in parts)
    return made if several else made[0]


class _Graphed:
    """A callable, the tensors that its graphs read and write, and the graphs."""

    def __init__(self, function: Any, args: Any) -> None:
        import torchjit as torch

        self.function = function
        self.forward, self.backward = CUDAGraph(), CUDAGraph()
        is_module = isinstance(function, torch.nn.Module)
        if is_module and (function._backward_hooks or function._forward_hooks or function._forward_pre_hooks):
            raise RuntimeError("Modules must not have hooks registered at the time they are passed. However, registering hooks after passing them is allowed.")
        if is_module and any(b.requires_grad for b in function.buffers()):
            raise RuntimeError("In any module passed to make_graphed_callables, only parameters may be trainable: all buffers must have requires_grad=False.")
        if not all(isinstance(a, torch.Tensor) for a in args):
            raise TypeError("In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed.")
        self.args = tuple(args)
        self.parameters = tuple(function.parameters()) if is_module else ()
        self.inputs = self.args + self.parameters
        self.wanted = tuple(t for t in self.inputs if t.requires_grad)

    def run(self) -> tuple[Any, ...]:
        """The results, as a tuple."""
        results = self.function(*self.args)
        self.is_tuple = isinstance(results, tuple)
        return results if self.is_tuple else (results,)

    def gradients(self, results: tuple[Any, ...], allow_unused: bool, given: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """The gradients of what wants them, by those of the results, which hold anything where they are not given."""
        import torchjit as torch

        of = tuple(r for r in results if r.requires_grad)
        if not of or not self.wanted:
            return ()
        given = tuple(torch.empty_like(r) for r in of) if given is None else given
        return torch.autograd.grad(of, self.wanted, given, allow_unused=allow_unused)

    def capture_forward(self, pool: Any) -> None:
        with graph(self.forward, pool=pool):
            self.results = self.run()

    def capture_backward(self, pool: Any, allow_unused: bool) -> None:
        import torchjit as torch

        self.given = tuple(torch.empty_like(r) if r.requires_grad else None for r in self.results)
        self.found: dict[int, Any] = {}
        given = tuple(g for g in self.given if g is not None)
        if not given or not self.wanted:
            return
        with graph(self.backward, pool=pool):
            gradients = self.gradients(self.results, allow_unused, given)
        self.found = {id(t): g for t, g in zip(self.wanted, gradients, strict=True)}

    def callable(self) -> Any:
        """What runs the graphs: the module, or a function."""
        import torchjit as torch

        function, part, results_are_tuple = self.function, self, self.is_tuple

        class Replayed(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: Any) -> Any:
                for own, given in zip(part.args, inputs, strict=False):
                    if own.data_ptr() != given.data_ptr():
                        own.copy_(given)
                part.forward.replay()
                return tuple(r.detach() for r in part.results)

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                for own, given in zip(part.given, gradients, strict=True):
                    if own is not None and given is not None and own.data_ptr() != given.data_ptr():
                        own.copy_(given)
                    elif own is not None and given is None:
                        own.zero_()
                if part.found:
                    part.backward.replay()
                found = (part.found.get(id(t)) for t in part.inputs)
                return tuple(None if g is None else g.detach() for g in found)

        def run(*args: Any) -> Any:
            results = Replayed.apply(*args, *part.parameters)
            return tuple(results) if results_are_tuple else results[0]

        if not isinstance(function, torch.nn.Module):
            return run
        training, before = function.training, function.forward
        function.forward = lambda *args: run(*args) if function.training == training else before(*args)
        return function
