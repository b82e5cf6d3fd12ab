"""Names of modules from packages: each importer has a prefix of its own, `<torch_package_0>`."""

from __future__ import annotations

import itertools
import re

_numbers = itertools.count()
_PREFIX = re.compile(r"<torch_package_\d+>")


class PackageMangler:
    """Gives names the prefix of one importer."""

    def __init__(self) -> None:
        self._prefix = f"<torch_package_{next(_numbers)}>"

    def mangle(self, name: str) -> str:
        """The name with the prefix."""
        return f"{self._prefix}.{name}"

    def demangle(self, mangled: str) -> str:
        """The name without the prefix of this importer."""
        own = self._prefix + "."
        return mangled[len(own) :] if mangled.startswith(own) else mangled

    def parent_name(self) -> str:
        """The prefix."""
        return self._prefix


def is_mangled(name: str) -> bool:
    """Whether a name has a prefix."""
    return _PREFIX.match(name) is not None


def demangle(name: str) -> str:
    """The name without its prefix, if it has one."""
    if not is_mangled(name):
        return name
    return name.partition(".")[2]


def get_mangle_prefix(name: str) -> str:
    """The prefix of a name, the name itself where it has none."""
    return name.partition(".")[0] if is_mangled(name) else name


def check_not_mangled(name: str) -> None:
    """Raises AssertionError where a name has a prefix."""
    assert not is_mangled(name), name
