"""Taking a pipe to the place where it was when it had given so many examples."""

from __future__ import annotations

from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, _SnapshotState
from torchjit.utils.data.graph_settings import apply_shuffle_seed


def _simple_graph_snapshot_restoration(datapipe: IterDataPipe[Any], n_iterations: int, rng: Any = None) -> None:
    """Reads and forgets examples of a pipe; its next iterator goes on behind them. rng is a generator whose numbers shuffle. Raises RuntimeError where there
    are less examples, and for a pipe that was taken to a place and has not gone on."""
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph if your graph has not been restored."
        )
    apply_shuffle_seed(datapipe, rng)
    iterator = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(iterator)
        except StopIteration as e:
            raise RuntimeError(f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of samples available.") from e
    datapipe._fast_forward_iterator, datapipe._snapshot_state = iterator, _SnapshotState.Restored
