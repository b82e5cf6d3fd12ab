"""What is set in all data pipes of a graph."""

from __future__ import annotations

import warnings
from typing import Any

import torchjit as torch
from torchjit.utils.data.datapipes.datapipe import MapDataPipe
from torchjit.utils.data.graph import traverse_dps

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph: dict[int, tuple[Any, Any]]) -> list[Any]:
    """The pipes of a graph, each once."""
    found: dict[int, Any] = {}

    def visit(part: dict[int, tuple[Any, Any]]) -> None:
        for number, (pipe, sources) in part.items():
            if number not in found:
                found[number] = pipe
                visit(sources)

    visit(graph)
    return list(found.values())


def _pipes(datapipe: Any) -> list[Any]:
    return get_all_graph_pipes(traverse_dps(datapipe))


def apply_sharding(datapipe: Any, num_of_instances: int, instance_id: int) -> Any:
    """Has the pipes that filter for one of several workers filter for this one."""
    for p in _pipes(datapipe):
        if hasattr(p, "is_shardable") and p.is_shardable() and hasattr(p, "apply_sharding"):
            p.apply_sharding(num_of_instances, instance_id)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Switches the shuffling of pipes on or off. With True there has to be a pipe that shuffles: one is added with a warning where there is none."""
    if shuffle is None:
        return datapipe
    shufflers = [p for p in _pipes(datapipe) if hasattr(p, "set_shuffle") and hasattr(p, "set_seed")]
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. "
            "Be aware that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for p in shufflers:
        p.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Gives the pipes that use chance seeds from a generator."""
    for p in _pipes(datapipe):
        if hasattr(p, "set_seed") and not isinstance(p, MapDataPipe):
            p.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Any) -> Any:
    """apply_random_seed."""
    return apply_random_seed(datapipe, rng)
