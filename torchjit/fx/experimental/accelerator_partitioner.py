"""Divides a graph between devices with limited memory: Partitioner().partition_graph gives a module with a submodule for each part."""

from __future__ import annotations

import operator
from collections import deque
from itertools import combinations
from typing import Any, NamedTuple

from torchjit.fx.experimental.partitioner_utils import (
    Device,
    NodeLatency,
    Partition,
    PartitionerConfig,
    PartitionMode,
    get_extra_size_of,
    get_latency_of_partitioned_graph,
    get_partition_to_latency_mapping,
    inputs_of,
    is_given,
)
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.fx.passes.graph_manipulation import get_size_of_all_nodes
from torchjit.fx.passes.split_module import split_module
from torchjit.nn import Module


class DAGNode:
    """A part of a divided module: the node that calls it, what it reads, who reads it, its devices and its size."""

    def __init__(
        self, submodule_node: Node, input_nodes: list[Node], output_nodes: list[Node], logical_device_ids: list[int], size_bytes: int
    ) -> None:
        self.submodule_node: Node = submodule_node
        self.input_nodes: list[Node] = input_nodes
        self.output_nodes: list[Node] = output_nodes
        self.logical_device_ids: list[int] = logical_device_ids
        self.size_bytes: int = size_bytes

    def __str__(self) -> str:
        return str(self.submodule_node)


class DAG:
    """The parts of a divided module."""

    def __init__(self) -> None:
        self.nodes: list[DAGNode] = []

    def create_node(
        self, submodule_node: Node, input_nodes: list[Node], output_nodes: list[Node], logical_devices: list[int], size_bytes: int
    ) -> None:
        """Adds a part."""
        self.nodes.append(DAGNode(submodule_node, input_nodes, output_nodes, logical_devices, size_bytes))


class PartitionResult(NamedTuple):
    """What partition_graph gives: the parts, and the module with a submodule for each."""

    dag: DAG
    module_with_submodules: GraphModule


def _runs(node: Node) -> bool:
    return node.op not in ("placeholder", "get_attr", "output")


def reset_partition_device(partitions: list[Partition]) -> None:
    """Takes the devices from parts."""
    for partition in partitions:
        partition.logical_device_ids = []


def set_parents_and_children(partitions: list[Partition]) -> None:
    """Says which parts read from which."""
    for partition in partitions:
        partition.parents, partition.children = set(), set()
    for partition in partitions:
        for node in partition.nodes:
            if is_given(node):
                continue
            for other in partitions:
                if other is not partition and any(user in other.nodes for user in node.users):
                    partition.children.add(other)
                    other.parents.add(partition)


def reorganize_partitions(partitions: list[Partition]) -> None:
    """Numbers parts anew, and says which read from which."""
    for i, partition in enumerate(partitions):
        partition.partition_id = i
    set_parents_and_children(partitions)


def get_node_to_partition_mapping(partitions: list[Partition]) -> dict[Node, int]:
    """The number of the part of each node."""
    return {node: partition.partition_id for partition in partitions for node in partition.nodes}


def get_bfs_level_partition(partitions: list[Partition]) -> None:
    """Sets bfs_level: how many parts at most stand between a part and the inputs."""
    waiting = deque((partition, 0) for partition in partitions if not partition.parents)
    for partition in partitions:
        partition.bfs_level = -1
    while waiting:
        partition, level = waiting.popleft()
        if level > partition.bfs_level and level <= len(partitions):
            partition.bfs_level = level
            waiting.extend((child, level + 1) for child in partition.children)


def check_dependency(partition: Partition) -> bool:
    """Whether a part reads what depends on itself."""
    seen, waiting = {partition}, deque([partition])
    while waiting:
        for child in waiting.popleft().children:
            if child is partition:
                return True
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


def combine_two_partitions(partition_0: Partition, partition_1: Partition, partitions: list[Partition]) -> None:
    """Puts one part in the place of two."""
    joined = Partition(len(partitions))
    joined.nodes = partition_0.nodes | partition_1.nodes
    joined.recalculate_mem_size()
    partitions.append(joined)
    partitions.remove(partition_0)
    partitions.remove(partition_1)
    reorganize_partitions(partitions)


def get_logical_id_to_device(devices: list[Device]) -> dict[int, Device]:
    """The devices by their numbers."""
    return {device.logical_id: device for device in devices}


def get_device_partition_stats(
    partitions: list[Partition], devices: list[Device]
) -> tuple[dict[Device, list[Partition]], dict[Device, int], list[Partition]]:
    """The parts on each device, the memory that it has left, and the parts without a device."""
    on: dict[Device, list[Partition]] = {device: [] for device in devices}
    left = {device: device.available_mem_bytes for device in devices}
    by_id, without = get_logical_id_to_device(devices), []
    for partition in partitions:
        if not partition.logical_device_ids:
            without.append(partition)
        for number in partition.logical_device_ids:
            on[by_id[number]].append(partition)
            left[by_id[number]] -= partition.used_mem_bytes
    return on, left, without


def get_device_to_partitions_mapping(partitions: list[Partition], devices: list[Device]) -> bool:
    """Gives devices to the parts that have none, the largest first; False where they do not fit."""

    def bytes_with(partition: Partition, others: list[Partition]) -> int:
        nodes = set[Node]().union(partition.nodes, *(other.nodes for other in others))
        return sum(get_extra_size_of(node, nodes) for node in nodes)

    on, _, without = get_device_partition_stats(partitions, devices)
    for partition in sorted(without, key=lambda p: -p.used_mem_bytes):
        for device in sorted(devices, key=lambda d: (len(on[d]), d.logical_id)):
            if bytes_with(partition, on[device]) <= device.available_mem_bytes:
                on[device].append(partition)
                partition.logical_device_ids = [device.logical_id]
                break
        else:
            return False
    return True


_NO_MAPPING = "Cannot Get a Valid Partition to Logical Device Mapping"


class Partitioner:
    """Divides a graph between devices."""

    def __init__(self) -> None:
        self.partitions: list[Partition] = []
        self.node_to_partition: dict[Node, int] = {}
        self.devices: list[Device] = []
        self.graph_module: Any = None
        self.torch_module: Any = None

    def partition_graph(self, fx_module: GraphModule, torch_module: Module, partitioner_config: PartitionerConfig) -> PartitionResult:
        """Divides a graph whose nodes have size_bytes, as get_size_of_all_nodes sets it.

        Raises RuntimeError where the devices have too little memory.
        """
        config = partitioner_config
        self.graph_module, self.torch_module, self.devices = fx_module, torch_module, config.devices
        if not self.devices:
            raise RuntimeError("No devices")
        for node in fx_module.graph.nodes:
            if node.op == "output":
                break
            if getattr(node, "size_bytes", None) is None:
                get_size_of_all_nodes(fx_module)
                break
        nodes = {node for node in fx_module.graph.nodes if node.op != "output"}
        total = sum(get_extra_size_of(node, nodes) for node in nodes)
        largest = max(self.devices, key=lambda device: device.available_mem_bytes)
        if config.mode is PartitionMode.aot_based:
            self.aot_based_partition(config.node_to_partition_mapping, config.partition_to_logical_device_mapping)
        elif total <= largest.available_mem_bytes:
            self.find_single_partition(total, logical_device_id=largest.logical_id)
        elif total > sum(device.available_mem_bytes for device in self.devices):
            raise RuntimeError("Devices have no enough memory for the module")
        elif config.mode is PartitionMode.size_based:
            self.size_based_partition()
        else:
            available = self.devices[0].available_mem_bytes
            if any(device.available_mem_bytes != available for device in self.devices):
                raise RuntimeError("All devices must have same memory size!")
            if config.mode is PartitionMode.sparse_nn:
                self.sparse_nn_partition(available)
            elif config.mode is PartitionMode.cost_aware:
                self.cost_aware_partition(config.transfer_rate_bytes_per_sec, config.node_to_latency_mapping)
            else:
                self.kl_based_partition(config.transfer_rate_bytes_per_sec, config.node_to_latency_mapping)
        if config.saturate_host:
            self.saturate_host()
        divided = self.do_partition()
        return PartitionResult(self.dump_dag(divided), divided)

    def find_single_partition(self, total_size_of_graph: int, logical_device_id: int = 0) -> None:
        """One part of all nodes."""
        partition = self.create_partition()
        for node in self.graph_module.graph.nodes:
            if node.op != "output":
                partition.nodes.add(node)
        partition.used_mem_bytes = total_size_of_graph
        partition.logical_device_ids = [logical_device_id]
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def create_partition(self) -> Partition:
        """A new part."""
        partition = Partition(len(self.partitions))
        self.partitions.append(partition)
        return partition

    def create_single_node_partition(self, node: Node) -> None:
        """A new part of one node."""
        self.create_partition().add_node(node)

    def size_based_partition(self) -> None:
        """Fills one device after the other with the nodes in order; what is left over goes where there is room and nothing waits for itself."""
        free = list(self.devices)
        left: dict[Partition, int] = {}
        current: Partition | None = None

        def start(node: Node) -> Partition:
            needed = get_extra_size_of(node, set())
            device = next((d for d in free if d.available_mem_bytes >= needed), None)
            if device is None:
                raise RuntimeError(str(node) + "is too large to fit any device")
            free.remove(device)
            made = self.create_partition()
            made.logical_device_ids = [device.logical_id]
            left[made] = device.available_mem_bytes
            return made

        for node in self.graph_module.graph.nodes:
            if not _runs(node):
                continue
            if current is None:
                current = start(node)
            elif left[current] < get_extra_size_of(node, current.nodes):
                if free:
                    current = start(node)
                else:
                    self._place_anywhere(node, left)
                    continue
            before = current.used_mem_bytes
            current.add_node(node)
            left[current] -= current.used_mem_bytes - before
        reorganize_partitions(self.partitions)
        self._join_left_over()
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def _place_anywhere(self, node: Node, left: dict[Partition, int]) -> None:
        for partition in sorted(left, key=lambda p: -left[p]):
            before = partition.used_mem_bytes
            partition.add_node(node)
            set_parents_and_children(self.partitions)
            if partition.used_mem_bytes - before <= left[partition] and not check_dependency(partition):
                left[partition] -= partition.used_mem_bytes - before
                return
            partition.remove_node(node)
            set_parents_and_children(self.partitions)
        self.create_single_node_partition(node)

    def _join_left_over(self) -> None:
        """Joins the parts without a device as far as one device holds them, and gives them devices."""
        room = max(device.available_mem_bytes for device in self.devices)
        joined = True
        while joined:
            joined = False
            for a, b in combinations([p for p in self.partitions if not p.logical_device_ids], 2):
                if self._can_join(a, b, room):
                    combine_two_partitions(a, b, self.partitions)
                    joined = True
                    break
        if not get_device_to_partitions_mapping(self.partitions, self.devices):
            raise RuntimeError(_NO_MAPPING)

    def _can_join(self, a: Partition, b: Partition, room: int) -> bool:
        """Whether two parts fit in one device and neither waits for the other by way of a third."""
        nodes = a.nodes | b.nodes
        if sum(get_extra_size_of(node, nodes) for node in nodes) > room:
            return False
        for first, second in ((a, b), (b, a)):
            waiting, seen = deque(child for child in first.children if child is not second), set[Partition]()
            while waiting:
                partition = waiting.popleft()
                if partition is second:
                    return False
                if partition not in seen:
                    seen.add(partition)
                    waiting.extend(partition.children)
        return True

    def saturate_host(self) -> None:
        """Puts copies of all parts on the devices that are free, as often as they fit."""
        used = {number for partition in self.partitions for number in partition.logical_device_ids}
        free = [device for device in self.devices if device.logical_id not in used]
        while free:
            placed: dict[Partition, Device] = {}
            for partition in sorted(self.partitions, key=lambda p: -p.used_mem_bytes):
                found = next((d for d in free if d not in placed.values() and d.available_mem_bytes >= partition.used_mem_bytes), None)
                if found is None:
                    return
                placed[partition] = found
            for number, partition in enumerate(self.partitions):
                device = placed[partition]
                spare = sorted(placed.values(), key=lambda d: d.logical_id)
                if spare[number].available_mem_bytes >= partition.used_mem_bytes:
                    device = spare[number]
                partition.logical_device_ids.append(device.logical_id)
                free.remove(device)

    def do_partition(self) -> GraphModule:
        """The module with a submodule for each part."""
        return split_module(self.graph_module, self.torch_module, lambda node: self.node_to_partition[node])

    def dump_dag(self, module_with_submodules: GraphModule) -> DAG:
        """The parts, as the divided module calls them."""
        dag = DAG()
        for node in module_with_submodules.graph.nodes:
            if node.op == "output":
                break
            if is_given(node) or node.target is operator.getitem:
                continue
            readers = list(node.users) if len(node.users) > 1 else [node]  # as in PyTorch, a node with one reader stands for it
            partition = self.partitions[int(node.name.rsplit("_", 1)[-1])]
            dag.create_node(node, inputs_of(node), readers, partition.logical_device_ids, partition.used_mem_bytes)
        return dag

    def sparse_nn_partition(self, available_mem_bytes: int) -> None:
        """Embeddings share devices that nothing else is on, as many in one as fit; other nodes fill those that are left in order."""
        embeddings = self.create_partition()
        chosen = {node for node in self.graph_module.graph.nodes if self._is_embedding(node)}
        for wanted in (chosen, {node for node in self.graph_module.graph.nodes if _runs(node)} - chosen):
            current = embeddings if wanted is chosen else self.create_partition()
            for node in self.graph_module.graph.nodes:
                if node not in wanted:
                    continue
                if get_extra_size_of(node, set()) > available_mem_bytes:
                    raise RuntimeError(str(node) + "is too large to fit any device")
                if current.used_mem_bytes + get_extra_size_of(node, current.nodes) > available_mem_bytes:
                    current = self.create_partition()
                current.add_node(node)
        self.partitions = [partition for partition in self.partitions if partition.nodes]
        self._order_partitions(available_mem_bytes)
        self._give_devices()

    def _order_partitions(self, available: int) -> None:
        """Divides parts that wait for each other."""
        reorganize_partitions(self.partitions)
        for partition in list(self.partitions):
            if check_dependency(partition):
                self.partitions.remove(partition)
                for node in self.graph_module.graph.nodes:
                    if node in partition.nodes and _runs(node):
                        self.create_single_node_partition(node)
                reorganize_partitions(self.partitions)

    def _is_embedding(self, node: Node) -> bool:
        from torchjit import nn

        if node.op != "call_module":
            return False
        return isinstance(self.torch_module.get_submodule(str(node.target)), (nn.Embedding, nn.EmbeddingBag))

    def _give_devices(self) -> None:
        reset_partition_device(self.partitions)
        while not get_device_to_partitions_mapping(self.partitions, self.devices):
            reset_partition_device(self.partitions)
            room = self.devices[0].available_mem_bytes
            pair = next(((a, b) for a, b in combinations(self.partitions, 2) if self._can_join(a, b, room)), None)
            if pair is None:
                raise RuntimeError(_NO_MAPPING)
            combine_two_partitions(*pair, self.partitions)
        reorganize_partitions(self.partitions)
        get_bfs_level_partition(self.partitions)
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def _latency(self, rate: float, latencies: dict[Node, NodeLatency]) -> float:
        return get_latency_of_partitioned_graph(self.partitions, get_partition_to_latency_mapping(self.partitions, latencies), rate)

    def cost_aware_partition(self, transfer_rate_bytes_per_sec: float, node_to_latency_mapping: dict[Node, NodeLatency]) -> None:
        """Begins with a part for each node, and joins two of them as long as that makes the whole faster."""
        self.partitions = []
        for node in self.graph_module.graph.nodes:
            if _runs(node):
                self.create_single_node_partition(node)
        room = self.devices[0].available_mem_bytes
        if any(partition.used_mem_bytes > room for partition in self.partitions):
            raise RuntimeError("The largest node is too large to fit any device")
        set_parents_and_children(self.partitions)
        best = self._latency(transfer_rate_bytes_per_sec, node_to_latency_mapping)
        while len(self.partitions) > 1:
            found: tuple[float, Any] = (best, None)
            for a, b in combinations(self.partitions, 2):
                if not self._can_join(a, b, room):
                    continue
                kept = list(self.partitions)
                combine_two_partitions(a, b, self.partitions)
                latency = self._latency(transfer_rate_bytes_per_sec, node_to_latency_mapping)
                if latency <= found[0] and (found[1] is None or latency < found[0]):
                    found = (latency, (a, b))
                self.partitions = kept
                reorganize_partitions(self.partitions)
            if found[1] is None:
                break
            best = found[0]
            first, second = found[1]
            combine_two_partitions(first, second, self.partitions)
        self._give_devices()

    def kl_based_partition(self, transfer_rate_bytes_per_sec: float, node_to_latency_mapping: dict[Node, NodeLatency]) -> None:
        """Divides by size, and then moves nodes between neighbours, or swaps two, as long as that makes the whole faster."""
        self.size_based_partition()
        best = self._latency(transfer_rate_bytes_per_sec, node_to_latency_mapping)
        better = True
        while better:
            better = False
            for a, b in combinations(list(self.partitions), 2):
                moves = [((a, n, b, None)) for n in sorted(a.nodes, key=str) if _runs(n)] + [((b, n, a, None)) for n in sorted(b.nodes, key=str) if _runs(n)]
                swaps = [(a, m, b, n) for m in sorted(a.nodes, key=str) if _runs(m) for n in sorted(b.nodes, key=str) if _runs(n)]
                for source, node, target, other in (*moves, *swaps):
                    self._move(source, node, target, other)
                    latency = self._latency(transfer_rate_bytes_per_sec, node_to_latency_mapping) if self._is_possible(a, b) else best
                    if latency < best:
                        best, better = latency, True
                        break
                    self._move(target, node, source, other)
        reorganize_partitions(self.partitions)
        get_bfs_level_partition(self.partitions)
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def _move(self, source: Partition, node: Node, target: Partition, other: Node | None) -> None:
        source.remove_node(node)
        target.add_node(node)
        if other is not None:
            target.remove_node(other)
            source.add_node(other)
        set_parents_and_children(self.partitions)

    def _is_possible(self, *changed: Partition) -> bool:
        by_id = get_logical_id_to_device(self.devices)
        for partition in changed:
            if not partition.nodes or any(partition.used_mem_bytes > by_id[number].available_mem_bytes for number in partition.logical_device_ids):
                return False
        return not any(map(check_dependency, self.partitions))

    def aot_based_partition(self, node_to_partition_mapping: dict[Node, int], partition_to_logical_device_mapping: dict[int, list[int]]) -> None:
        """Divides as it is told."""
        made: dict[int, Partition] = {}
        for node in self.graph_module.graph.nodes:
            if _runs(node):
                number = node_to_partition_mapping[node]
                if number not in made:
                    made[number] = Partition(number)
                    made[number].logical_device_ids = list(partition_to_logical_device_mapping[number])
                made[number].add_node(node)
        self.partitions = [made[number] for number in sorted(made)]
        set_parents_and_children(self.partitions)
        self.node_to_partition = dict(node_to_partition_mapping)
