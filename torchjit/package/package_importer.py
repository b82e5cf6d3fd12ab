"""Loads packages: torch.package.PackageImporter."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import inspect
import io
import linecache
import os
import types
import weakref
from collections.abc import Callable
from typing import Any, BinaryIO

from torchjit import _native
from torchjit.package._directory_reader import DirectoryReader
from torchjit.package._mangling import PackageMangler, demangle
from torchjit.package._pickling import PackageUnpickler
from torchjit.package.file_structure_representation import Directory, _create_directory_from_file_list
from torchjit.package.glob_group import GlobPattern
from torchjit.package.importer import Importer, import_environment
from torchjit.serialization import placing
from torchjit.storage import TypedStorage

__all__ = ["PackageImporter"]

# The modules that packages hold, by the name that their classes have: Python does not know them.
_modules_of_packages: weakref.WeakValueDictionary[str, types.ModuleType] = weakref.WeakValueDictionary()
_file_of_others = inspect.getfile


def _file_of(obj: Any) -> str:
    """inspect.getfile that knows the classes of modules in packages, so that their source is found."""
    if inspect.isclass(obj) and obj.__module__ in _modules_of_packages:
        return str(_modules_of_packages[obj.__module__].__file__)
    return _file_of_others(obj)


setattr(inspect, "getfile", _file_of)  # noqa: B010 - typeshed says more of what it takes


class _PackageResourceReader:
    """The files beside a module, for importlib.resources."""

    def __init__(self, importer: PackageImporter, fullname: str) -> None:
        self._importer, self._package = importer, demangle(fullname)

    def open_resource(self, resource: str) -> Any:
        return io.BytesIO(self._importer.load_binary(self._package, resource))

    def resource_path(self, resource: str) -> str:
        raise FileNotFoundError(resource)

    def is_resource(self, name: str) -> bool:
        return self._importer._reader.has_record(f"{self._package.replace('.', '/')}/{name}")

    def contents(self) -> list[str]:
        folder = self._package.replace(".", "/") + "/"
        return list(dict.fromkeys(r[len(folder) :].partition("/")[0] for r in self._importer._records if r.startswith(folder)))


class PackageImporter(Importer):
    """Loads modules, objects and files from an archive that a PackageExporter of this library or of PyTorch has written.

    Its modules are its own: they are not in sys.modules, import each other from the archive, and two importers of an archive have
    different classes. What they import as torch is this library. **Loading runs the code of the archive**: open those only whose
    programs you would run.

    file_or_buffer is a path, that of a folder into which a package was unpacked, or a binary file. Raises ImportError where the package
    needs a module from outside for which module_allowed(name) is False.

    >>> import io
    >>> file = io.BytesIO()
    >>> with torch.package.PackageExporter(file) as exporter:
    ...     exporter.save_text("model", "labels.txt", "cat dog")
    >>> torch.package.PackageImporter(io.BytesIO(file.getvalue())).load_text("model", "labels.txt")
    'cat dog'
    """

    def __init__(self, file_or_buffer: str | os.PathLike[str] | BinaryIO | Any, module_allowed: Callable[[str], bool] = lambda name: True) -> None:
        from torchjit.jit._records import PyTorchFileReader

        self.filename: str = "<binary>"
        if isinstance(file_or_buffer, (str, os.PathLike)):
            self.filename = os.fspath(file_or_buffer)
            self._reader: Any = DirectoryReader(self.filename) if os.path.isdir(self.filename) else PyTorchFileReader(self.filename)
        elif hasattr(file_or_buffer, "get_record"):
            self._reader = file_or_buffer
        else:
            self._reader = PyTorchFileReader(file_or_buffer)
        self.zip_reader = self._reader
        self._records = self._reader.get_all_records()
        self._mangler = PackageMangler()
        self.modules: dict[str, types.ModuleType] = {}
        self._memories: dict[str, Any] = {}  # what the pickle that is being loaded has met
        self.extern_modules: list[str] = self._read_extern()
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(f"package '{file_or_buffer}' needs the external module '{name}' but that module has been disallowed")
        self._sources: dict[str, str] = {}  # records by module
        self._packages: set[str] = set()
        for record in self._records:
            if not record.startswith(".data/"):
                self._add_record(record)
        self.patched_builtins = dict(vars(builtins), __import__=self.__import__)

    def _read_extern(self) -> list[str]:
        content = self._reader.get_record(".data/extern_modules")
        try:
            return [name for name in content.decode("utf-8").splitlines() if name]
        except UnicodeDecodeError as e:
            raise RuntimeError(f"the record .data/extern_modules of the package is damaged: {e}") from e

    def _add_record(self, record: str) -> None:
        """Notes the module that a record is, and the packages that its folders are."""
        parts = record.removesuffix(".py").split("/")
        if record.endswith(".py"):
            is_package = parts[-1] == "__init__"
            self._sources[".".join(parts[:-1] if is_package else parts)] = record
        for i in range(1, len(parts)):
            self._packages.add(".".join(parts[:i]))

    # Modules.

    def import_module(self, name: str, package: str | None = None) -> types.ModuleType:
        """A module of the package, or one of those from outside that it needs. Its code runs when it is first asked for.

        Raises ModuleNotFoundError for others.
        """
        if name.startswith("."):
            name = importlib.util.resolve_name(name, demangle(package or ""))
        name = self._mangler.demangle(name)
        if name in self.modules:
            return self.modules[name]
        parent, _, last = name.rpartition(".")
        if self._is_external(name):
            module = import_environment(name)
            if parent in self._packages:
                setattr(self.import_module(parent), last, module)
            return module
        above = self.import_module(parent) if parent else None
        if name in self.modules:  # the parent has imported it
            return self.modules[name]
        if name not in self._sources and name not in self._packages:
            if above is not None and not hasattr(above, "__path__"):
                raise ModuleNotFoundError(f"No module named {name!r}; {parent!r} is not a package", name=name)
            raise ModuleNotFoundError(
                f'No module named "{name}" in self-contained archive "{self.filename}" and the module is also not in the list of allowed '
                f"external modules: {self.extern_modules or ['']}",
                name=name,
            )
        return self._load(name, above, last)

    def _is_external(self, name: str) -> bool:
        """Whether a module is extern, in one that is, or has one in it, and is not in the archive.

        This library under its own name is: what its native code imports comes through the __import__ of the program that calls it.
        """
        if name in self._sources:
            return False
        parts = name.split(".")
        if parts[0] in ("builtins", "torchjit") or any(".".join(parts[:i]) in self.extern_modules for i in range(1, len(parts) + 1)):
            return True
        return name not in self._packages and any(extern.startswith(name + ".") for extern in self.extern_modules)

    def _load(self, name: str, above: types.ModuleType | None, last: str) -> types.ModuleType:
        """Makes a module and runs its source. above is the package that has it, as its attribute last: from the start, for those that import each other."""
        is_package = name in self._packages
        spec = importlib.machinery.ModuleSpec(name, self, origin="<package_importer>", is_package=is_package)  # type: ignore[arg-type]
        module = importlib.util.module_from_spec(spec)
        file = self._mangler.mangle(name.replace(".", "/") + ("/__init__.py" if is_package else ".py"))
        module.__name__ = self._mangler.mangle(name)
        module.__file__ = file if name in self._sources else None
        vars(module)["__cached__"] = None
        vars(module).update(__builtins__=self.patched_builtins, __torch_package__=True)
        self.modules[name] = _modules_of_packages[module.__name__] = module
        if above is not None:
            setattr(above, last, module)
        if name not in self._sources:
            return module
        source = self.get_source(name)
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        try:
            exec(compile(source, file, "exec", dont_inherit=True), vars(module))
        except BaseException:
            del self.modules[name]
            raise
        return self.modules[name]

    def create_module(self, spec: Any) -> None:
        """None: modules are made as always."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Raises ImportError: modules of packages come from import_module."""
        raise ImportError(f"{module.__name__} is in a package: ask its importer's import_module for it")

    def __import__(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> types.ModuleType:
        """What `import` does in the modules of the package."""
        if level:
            package = globals.get("__package__") or demangle(globals["__name__"]).rpartition(".")[0]
            name = importlib.util.resolve_name("." * level + name, demangle(package))
        module = self.import_module(name)
        if not fromlist:
            return module if level else self.import_module(name.partition(".")[0])
        for part in fromlist:
            if part == "*":
                self.__import__(name, fromlist=[p for p in getattr(module, "__all__", ())])
            elif not hasattr(module, part) and hasattr(module, "__path__"):
                try:
                    self.import_module(f"{name}.{part}")
                except ModuleNotFoundError as e:
                    if e.name not in (f"{name}.{part}", "torchjit" + f"{name}.{part}"[len("torch") :]):
                        raise
        return module

    def get_source(self, module_name: str) -> str:
        """The source of a module of the package."""
        return self._reader.get_record(self._sources[demangle(module_name)]).decode("utf-8")

    def get_resource_reader(self, fullname: str) -> Any:
        """Reads the files beside a module for importlib.resources; None for modules that are no packages."""
        return _PackageResourceReader(self, fullname) if demangle(fullname) in self._packages else None

    # Files and objects.

    def load_binary(self, package: str, resource: str) -> bytes:
        """The bytes of the file `package/resource`."""
        return self._reader.get_record(self._path(package, resource))

    def load_text(self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text of the file `package/resource`."""
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location: Any = None) -> Any:
        """The object that was saved as `package/resource`, made anew: its classes come from the package. map_location: as that of torch.load."""
        storages: dict[str, Any] = {}
        put = placing(map_location)
        outer, self._memories = self._memories, {}

        def read(kind: Any, key: str, count: int, location: str) -> Any:
            if key not in storages:
                memory = self._memory(key)
                if memory.numel() < count * kind.itemsize:
                    raise RuntimeError(f".data/{key}.storage has {memory.numel()} bytes, but {count} elements of {kind} need {count * kind.itemsize}")
                storages[key] = put(TypedStorage._over(kind, memory[: count * kind.itemsize]), location)
            return storages[key]

        try:
            return PackageUnpickler(self, io.BytesIO(self.load_binary(package, resource)), read).load()
        finally:
            self._memories = outer

    def _memory(self, key: str) -> Any:
        """The memory that the package has under a key, the same one for all that is loaded at once."""
        if key not in self._memories:
            content = bytearray(self._reader.get_record(f".data/{key}.storage"))
            self._memories[key] = _native.tensor_from_buffer(content)
        return self._memories[key]

    def _path(self, package: str, resource: str) -> str:
        folder = self._mangler.demangle(package).replace(".", "/") + "/"
        if not any(record.startswith(folder) for record in self._records):
            self.import_module(package)  # says that it is missing
        return folder + resource

    def id(self) -> str:
        """What the names of the modules of this importer begin with."""
        return self._mangler.parent_name()

    def file_structure(self, *, include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
        """The files whose paths match (GlobGroup) as a tree."""
        return _create_directory_from_file_list(self.filename, self._records, include, exclude)

    def python_version(self) -> str | None:
        """The version of Python that wrote the package, None where it does not say."""
        path = ".data/python_version"
        return self._reader.get_record(path).decode("utf-8").strip() if self._reader.has_record(path) else None
