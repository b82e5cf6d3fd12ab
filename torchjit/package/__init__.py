"""torch.package: archives of Python code, objects and files.

A package holds the source of the modules that its objects need, so that they load where those modules are not installed. Archives are
PyTorch's: either library loads what the other wrote, as long as the code asks for nothing that the other lacks.

**Loading runs code.** import_module executes the source in the archive, and load_pickle calls what the pickle names: load packages only
from those whose programs you would run.
"""

from torchjit.package import analyze as analyze
from torchjit.package.analyze.is_from_package import is_from_package
from torchjit.package.file_structure_representation import Directory
from torchjit.package.glob_group import GlobGroup
from torchjit.package.importer import Importer, ObjMismatchError, ObjNotFoundError, OrderedImporter, sys_importer
from torchjit.package.package_exporter import EmptyMatchError, PackageExporter, PackagingError
from torchjit.package.package_importer import PackageImporter

__all__ = [
    "Directory", "EmptyMatchError", "GlobGroup", "Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "PackageExporter",
    "PackageImporter", "PackagingError", "is_from_package", "sys_importer",
]  # fmt: skip
