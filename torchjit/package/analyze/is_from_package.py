"""Whether objects are from packages."""

from types import ModuleType
from typing import Any

from torchjit.package._mangling import is_mangled


def is_from_package(obj: Any) -> bool:
    """Whether a module, or the class of an object, was loaded from a package.

    >>> torch.package.is_from_package(nn.Linear(1, 1))
    False
    """
    return is_mangled(obj.__name__ if isinstance(obj, ModuleType) else type(obj).__module__)
