"""Parts of a graph that are to run on devices with limited memory, and how long they take."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from torchjit.fx.node import Node, map_arg


def inputs_of(node: Node) -> list[Node]:
    """The nodes among the arguments of a node, each once, in order."""
    found: dict[Node, None] = {}
    map_arg(node.args, found.setdefault)
    map_arg(node.kwargs, found.setdefault)
    return list(found)


def is_given(node: Node) -> bool:
    """Whether a node is an input or an attribute, which belongs to every part that reads it."""
    return node.op in ("placeholder", "get_attr")


class Partition:
    """Nodes that run on one device, with the parts before and behind it."""

    def __init__(self, partition_id: int) -> None:
        self.nodes: set[Node] = set()
        self.partition_id: int = partition_id
        self.parents: set[Partition] = set()
        self.children: set[Partition] = set()
        self.bfs_level: int = -1
        self.used_mem_bytes: int = 0
        self.logical_device_ids: list[int] = []

    def __str__(self) -> str:
        return str(self.partition_id)

    def recalculate_mem_size(self) -> None:
        """Sets used_mem_bytes: what the nodes take, with what they read from other parts."""
        self.used_mem_bytes = sum(get_extra_size_of(node, self.nodes) for node in self.nodes)

    def add_node(self, node: Node) -> None:
        """Adds a node, and the inputs and attributes that it reads."""
        self.nodes.update(n for n in inputs_of(node) if is_given(n))
        self.nodes.add(node)
        self.recalculate_mem_size()

    def remove_node(self, node: Node) -> None:
        """Removes a node, and the inputs and attributes that nothing else reads."""
        if node in self.nodes:
            self.nodes.remove(node)
            for given in inputs_of(node):
                if is_given(given) and not any(user in self.nodes for user in given.users):
                    self.nodes.discard(given)
            self.recalculate_mem_size()


class Device(NamedTuple):
    """A device: its name, its memory and its number."""

    name: str
    available_mem_bytes: int
    logical_id: int


class NodeLatency(NamedTuple):
    """The seconds that a node takes for memory, and for computing."""

    mem_latency_sec: float
    computer_latency_sec: float


class PartitionLatency(NamedTuple):
    """The seconds along the slowest path through a part: for memory, for computing, and of both whichever is more, node by node."""

    mem_latency_sec: float
    computer_latency_sec: float
    overall_latency_sec: float


class PartitionMode(Enum):
    """How a graph is divided."""

    size_based = 0
    sparse_nn = 1
    cost_aware = 2
    kl_based = 3
    aot_based = 4


class PartitionerConfig(NamedTuple):
    """The devices, the way, and what the ways ask for."""

    devices: list[Device]
    mode: PartitionMode = PartitionMode.size_based
    transfer_rate_bytes_per_sec: float = 0.0
    node_to_latency_mapping: dict[Node, NodeLatency] = {}
    node_to_partition_mapping: dict[Node, int] = {}
    partition_to_logical_device_mapping: dict[int, list[int]] = {}
    saturate_host: bool = False


def get_extra_size_of(node: Node, nodes: set[Node]) -> int:
    """The bytes that a node adds to nodes: its own, and those of its inputs that are not among them."""
    total = 0
    for other in (*(n for n in inputs_of(node) if n not in nodes), node):
        size = getattr(other, "size_bytes", None)
        if size is None:
            raise RuntimeError("node has no size_bytes attr")
        total += size.total_size if other is node else size.output_size
    return total


def get_latency_of_one_partition(partition: Partition, node_to_latency_mapping: dict[Node, NodeLatency]) -> PartitionLatency:
    """The time of the slowest path through a part."""
    slowest: dict[Node, PartitionLatency] = {}

    def through(node: Node) -> PartitionLatency:
        if node not in slowest:
            cost = node_to_latency_mapping[node]
            behind = [through(user) for user in node.users if user in partition.nodes]
            after = max(behind, key=lambda latency: latency.overall_latency_sec, default=PartitionLatency(0.0, 0.0, 0.0))
            slowest[node] = PartitionLatency(
                after.mem_latency_sec + cost.mem_latency_sec, after.computer_latency_sec + cost.computer_latency_sec,
                after.overall_latency_sec + max(cost.mem_latency_sec, cost.computer_latency_sec),
            )  # fmt: skip
        return slowest[node]

    first = [n for n in partition.nodes if not is_given(n) and not any(i in partition.nodes and not is_given(i) for i in inputs_of(n))]
    return max(map(through, first), key=lambda latency: latency.overall_latency_sec, default=PartitionLatency(0.0, 0.0, 0.0))


def get_partition_to_latency_mapping(
    partitions: Iterable[Partition], node_to_latency_mapping: dict[Node, NodeLatency]
) -> dict[Partition, PartitionLatency]:
    """The times of parts."""
    return {partition: get_latency_of_one_partition(partition, node_to_latency_mapping) for partition in partitions}


def get_comm_latency_between(parent_partition: Partition, child_partition: Partition, transfer_rate_bytes_per_sec: float) -> float:
    """The seconds that it takes to move to a part what it reads from another one: none on one device."""
    here, there = parent_partition.logical_device_ids, child_partition.logical_device_ids
    if here and there and sorted(here) == sorted(there):
        return 0.0
    read = {n for node in child_partition.nodes for n in inputs_of(node) if n in parent_partition.nodes and not is_given(n)}
    return float(sum(getattr(n, "size_bytes").output_size for n in read) / transfer_rate_bytes_per_sec)  # noqa: B009


def get_latency_of_partitioned_graph(
    partitions: Iterable[Partition], partition_to_latency_mapping: dict[Partition, PartitionLatency], transfer_rate_bytes_per_sec: float
) -> float:
    """The seconds of the slowest path through all parts, with what is moved between them."""
    slowest: dict[Partition, float] = {}

    def through(partition: Partition) -> float:
        if partition not in slowest:
            behind = (through(child) + get_comm_latency_between(partition, child, transfer_rate_bytes_per_sec) for child in partition.children)
            slowest[partition] = partition_to_latency_mapping[partition].overall_latency_sec + max(behind, default=0.0)
        return slowest[partition]

    return max((through(partition) for partition in partitions if not partition.parents), default=0.0)
