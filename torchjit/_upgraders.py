"""Which operators have changed what they mean, as torch._C tells it: archives of older versions are read with the old meaning."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchjit import _native

_upgrades = _native.function("_C._operator_upgrades")


class _UpgraderEntry(NamedTuple):
    """A change of an operator: from which version of archives on it means what it means now, and what it was before."""

    bumped_at_version: int
    upgrader_name: str
    old_schema: str


class _UpgraderRange(NamedTuple):
    """The versions of archives, both ends included, in which an operator meant the same."""

    min_version: int
    max_version: int


# What programs add for tests.
_added: dict[str, list[_UpgraderEntry]] = {}


def _get_operator_version_map() -> dict[str, list[_UpgraderEntry]]:
    """The changes of each operator, by its name with the overload, the oldest first."""
    found = {operator: [_UpgraderEntry(*entry)] for operator, *entry in zip(*_upgrades(), strict=True)}
    for operator, entries in _added.items():
        found[operator] = found.get(operator, []) + entries
    return found


def _get_upgrader_ranges(operator: str) -> list[_UpgraderRange]:
    """The ranges of versions in which an operator, given with its overload, had other meanings than now."""
    ranges, start = [], 0
    for entry in _get_operator_version_map().get(operator, []):
        ranges.append(_UpgraderRange(start, entry.bumped_at_version - 1))
        start = entry.bumped_at_version
    return ranges


def _test_only_add_entry_to_op_version_map(operator: str, entry: _UpgraderEntry) -> None:
    """Has _get_operator_version_map tell of a further change; no archive is read otherwise."""
    _added.setdefault(operator, []).append(entry)


def _test_only_remove_entry_to_op_version_map(operator: str) -> None:
    """Takes back what _test_only_add_entry_to_op_version_map has added."""
    _added.pop(operator, None)


# ---- their programs ----

# The graphs by name: empty until an archive is read or a program adds some.
_graphs: dict[str, Any] = {}


def _generate_upgraders_graph() -> dict[str, Any]:
    """What each operator did before it changed, as graphs by the names that _get_operator_version_map has."""
    import torchjit
    from torchjit._upgrader_programs import PROGRAMS

    unit = torchjit.jit.CompilationUnit()
    for source in PROGRAMS.values():
        unit.define(source, {"torch": torchjit}.get)
    return {name: getattr(unit, name).graph for name in PROGRAMS}


# Whether an archive has been read whose reading has not added the graphs yet.
_archive_read = [False]


def note_archive() -> None:
    """Has the graphs there from now on, as when PyTorch reads an archive."""
    _archive_read[0] = _archive_read[0] or not _complete[0]


_complete = [False]


def _use_upgraders() -> dict[str, Any]:
    if _archive_read[0]:
        _archive_read[0], _complete[0] = False, True
        for name, graph in _generate_upgraders_graph().items():
            _graphs.setdefault(name, graph)
    return _graphs


def _get_upgraders_map_size() -> int:
    """How many graphs _dump_upgraders_map gives."""
    return len(_use_upgraders())


def _dump_upgraders_map() -> dict[str, Any]:
    """The graphs of _generate_upgraders_graph once an archive has been read, and those that _test_only_populate_upgraders has added."""
    return dict(_use_upgraders())


def _test_only_populate_upgraders(content: dict[str, str]) -> None:
    """Adds graphs, by name, from their texts; a name that is there keeps its graph. No archive is read otherwise."""
    from torchjit import _C

    known = _use_upgraders()
    for name, text in content.items():
        graph = _C.parse_ir(text)
        known.setdefault(name, graph)


def _test_only_remove_upgraders(content: dict[str, str]) -> None:
    """Takes the graphs of these names out of _dump_upgraders_map."""
    for name in content:
        _use_upgraders().pop(name, None)


def _jit_pass_replace_old_ops_with_upgraders(graph: Any) -> None:
    """Leaves a graph as it is: one that is here means what its operators mean now, for archives are upgraded while they are read."""
    if not isinstance(graph, _Graph()):
        raise TypeError(f"_jit_pass_replace_old_ops_with_upgraders(): incompatible function arguments. Expected a Graph, not {type(graph).__name__}")


def _Graph() -> Any:
    from torchjit import _C

    return _C.Graph


_by_upgraders = [False]


def _calculate_package_version_based_on_upgraders(val: bool) -> None:
    """Keeps a setting that, as in PyTorch 1.13, changes nothing: an archive's version always follows from the changes of its operators."""
    _by_upgraders[0] = bool(val)


def _get_version_calculator_flag() -> bool:
    """What _calculate_package_version_based_on_upgraders has set."""
    return _by_upgraders[0]


def members() -> dict[str, Any]:
    """The classes and functions by name."""
    own: tuple[Any, ...] = (
        _UpgraderEntry, _UpgraderRange, _get_operator_version_map, _get_upgrader_ranges, _test_only_add_entry_to_op_version_map,
        _test_only_remove_entry_to_op_version_map, _generate_upgraders_graph, _get_upgraders_map_size, _dump_upgraders_map,
        _test_only_populate_upgraders, _test_only_remove_upgraders, _jit_pass_replace_old_ops_with_upgraders,
        _calculate_package_version_based_on_upgraders, _get_version_calculator_flag,
    )  # fmt: skip
    return {x.__name__: x for x in own}
