"""Modules that hold names of another module: `from torch.optim.adamw import AdamW` where AdamW stands with its kin."""

from __future__ import annotations

import sys
import types


def provide(package: str, table: dict[str, str]) -> None:
    """Makes submodules of a package of names that the package has. The table gives the names, with spaces, by submodule."""
    provide_from(package, package, table)


def provide_from(module: str, package: str, table: dict[str, str]) -> None:
    """Makes submodules of a package of names that a module has."""
    source, owner = sys.modules[module], sys.modules[package]
    for name, members in table.items():
        full = f"{package}.{name}"
        made = types.ModuleType(full, f"{members.replace(' ', ', ')}: see {module}.")
        for member in members.split():
            setattr(made, member, getattr(source, member))
        sys.modules[full] = made
        setattr(owner, name, made)


def again(package: str, of: str) -> None:
    """Makes the modules of another package, which have been imported, modules of this one too: names in files that were written when they stood here."""
    for name, module in list(sys.modules.items()):
        if name.startswith(of + "."):
            sys.modules.setdefault(package + name[len(of) :], module)
