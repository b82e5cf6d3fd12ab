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
    """Work of a device that was captured. replay() does it again, with the tensors that it was captured with: their memory is read and written, whatever it
    holds then, and that of tensors made in the capture is kept as long as the graph. Raises AssertionError where there is no device.
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
    raise NotImplementedError("torch.cuda.make_graphed_callables is not implemented")
