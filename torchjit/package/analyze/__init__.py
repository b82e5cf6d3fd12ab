"""What packages need: is_from_package, trace_dependencies, find_first_use_of_broken_modules."""

from torchjit.package.analyze.find_first_use_of_broken_modules import find_first_use_of_broken_modules
from torchjit.package.analyze.is_from_package import is_from_package
from torchjit.package.analyze.trace_dependencies import trace_dependencies

__all__ = ["find_first_use_of_broken_modules", "is_from_package", "trace_dependencies"]
