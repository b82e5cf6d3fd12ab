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


def members() -> dict[str, Any]:
    """The classes and functions by name."""
    own: tuple[Any, ...] = (
        _UpgraderEntry, _UpgraderRange, _get_operator_version_map, _get_upgrader_ranges, _test_only_add_entry_to_op_version_map,
        _test_only_remove_entry_to_op_version_map,
    )  # fmt: skip
    return {x.__name__: x for x in own}
