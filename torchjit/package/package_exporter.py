"""Writes packages: torch.package.PackageExporter."""

from __future__ import annotations

import collections
import dataclasses
import enum
import importlib.machinery
import importlib.util
import io
import linecache
import os
import pathlib
import platform
import sys
import types
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from torchjit._archive import ReplacedFile, add_record
from torchjit.package import _mock, _pickling
from torchjit.package._digraph import DiGraph
from torchjit.package._mangling import check_not_mangled, demangle, is_mangled
from torchjit.package.find_file_dependencies import find_files_source_depends_on
from torchjit.package.glob_group import GlobGroup, GlobPattern
from torchjit.package.importer import Importer, OrderedImporter, sys_importer

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError", "PackagingErrorReason"]

# Whether compiled modules are refused in packages, as they are in PyTorch, where this is True.
_gate_torchscript_serialization = False

ActionHook = Callable[["PackageExporter", str], None]


class _ModuleProviderAction(enum.Enum):
    INTERN = 1
    EXTERN = 2
    MOCK = 3
    DENY = 4


class PackagingErrorReason(enum.Enum):
    """Why a module cannot be in a package."""

    IS_EXTENSION_MODULE = "Module is a C extension module. torch.package supports Python modules only."
    NO_DUNDER_FILE = "Module had no __file__ defined."
    SOURCE_FILE_NOT_FOUND = "Module had a __file__, but we could not find it in your filesystem."
    DEPENDENCY_RESOLUTION_FAILED = "Dependency resolution failed."
    NO_ACTION = "Module did not match against any action pattern. Extern, mock, or intern it."
    DENIED = "Module was denied by a pattern."


class EmptyMatchError(Exception):
    """A pattern that has to match a module, allow_empty=False, matched none."""


class PackagingError(Exception):
    """Modules cannot be in the package: the message lists them by reason; dependency_graph has what led to them."""

    def __init__(self, dependency_graph: DiGraph) -> None:
        broken: dict[PackagingErrorReason, list[str]] = {}
        for name, attrs in dependency_graph.nodes.items():
            if attrs.get("error") is not None:
                broken.setdefault(attrs["error"], []).append(name)
        text = "\n"
        for reason, names in broken.items():
            text += f"* {reason.value}\n"
            for name in names:
                text += f"    {name}\n"
                if (context := dependency_graph.nodes[name].get("error_context")) is not None:
                    text += f"      Context: {context}\n"
        self.dependency_graph = dependency_graph
        super().__init__(text)


@dataclasses.dataclass
class _Pattern:
    group: GlobGroup
    action: _ModuleProviderAction
    allow_empty: bool
    matched: bool = False


class PackageExporter:
    """Writes an archive of source, pickles and files, which PackageImporter loads.

    The modules that pickles and source need are looked up, and the first pattern that matches one says what becomes of it: intern puts
    its source into the archive and goes on with what it needs, extern leaves it to be imported where the package is loaded, mock puts
    something in its place that fails when it is used, deny fails. torch and the standard library are extern without a pattern.

    f is a path or a binary file; importer, or several in order, is where modules and the names of objects are looked up. Used as a
    context manager it is closed at the end; after an exception nothing is written to a path. Closing raises PackagingError where
    a module matches no pattern, is denied or has no source, EmptyMatchError where a pattern that must not be empty is.

    >>> import io
    >>> file = io.BytesIO()
    >>> with torch.package.PackageExporter(file) as exporter:
    ...     exporter.save_pickle("model", "weights.pkl", {"w": torch.ones(2)})
    >>> torch.package.PackageImporter(io.BytesIO(file.getvalue())).load_pickle("model", "weights.pkl")
    {'w': tensor([1., 1.])}
    """

    def __init__(self, f: str | os.PathLike[str] | BinaryIO, importer: Importer | Sequence[Importer] = sys_importer) -> None:
        self.buffer: Any = None
        self._replaced: ReplacedFile | None = None
        if isinstance(f, (str, os.PathLike)):
            self._replaced = ReplacedFile(f)
            self._name = pathlib.Path(f).stem or "archive"
            self._zip = zipfile.ZipFile(self._replaced.file, "w", zipfile.ZIP_STORED)
        else:
            self.buffer, self._name = f, "archive"
            self._zip = zipfile.ZipFile(f, "w", zipfile.ZIP_STORED)
        self._written: set[str] = set()
        self._storages: dict[int, tuple[str, Any]] = {}  # by address
        self._reductions: dict[int, tuple[Any, Any]] = {}  # objects by id, with what they are packed as
        self._scripted = 0
        self._ids = 0
        self.dependency_graph: DiGraph = DiGraph()
        self.patterns: list[_Pattern] = []
        self._extern_hooks: Any = collections.OrderedDict()
        self._mock_hooks: Any = collections.OrderedDict()
        self._intern_hooks: Any = collections.OrderedDict()
        if isinstance(importer, Importer):
            self.importer: Importer = importer
        elif isinstance(importer, collections.abc.Sequence):
            self.importer = OrderedImporter(*importer)
        else:
            raise TypeError(f"importer arg should be an Importer or a sequence of Importers, got {type(importer)} instead.")

    # What goes in.

    def save_source_file(self, module_name: str, file_or_directory: str, dependencies: bool = True) -> None:
        """Adds the source of a module from a file, or that of a package from a folder."""
        path = pathlib.Path(file_or_directory)
        if not path.is_dir():
            self.save_source_string(module_name, path.read_text(), path.name == "__init__.py", dependencies)
            return
        for file in sorted(path.rglob("*.py")):
            *folders, name = file.relative_to(path).with_suffix("").parts
            parts = folders if name == "__init__" else [*folders, name]
            self.save_source_string(".".join([module_name, *parts]), file.read_text(), name == "__init__", dependencies)

    def save_source_string(self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True) -> None:
        """Adds a module with the given source; dependencies: also what that imports, by the patterns."""
        self.dependency_graph.add_node(module_name, source=src, is_package=is_package, provided=True, action=_ModuleProviderAction.INTERN)
        if dependencies:
            for name in self._get_dependencies(src, module_name, is_package):
                self.dependency_graph.add_edge(module_name, name)
                self.add_dependency(name)

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Adds the source of a module that the importer finds."""
        if not isinstance(module_name, str):
            raise TypeError("save_module() expects a string input, did you perhaps mean to pass `__name__`?")
        self._intern_module(module_name, dependencies)

    def save_pickle(self, package: str, resource: str, obj: Any, dependencies: bool = True, pickle_protocol: int = 3) -> None:
        """Adds an object as the pickle `package/resource`; dependencies: also the modules that it names, by the patterns.

        An object may have a method __reduce_package__(exporter), which returns a function and its arguments: loading calls
        function(importer, *arguments) in place of what pickle does.
        """
        data = io.BytesIO()
        pickler = _pickling.PackagePickler(self, data, _pickling.protocol_checked(pickle_protocol))
        pickler.dump(obj)
        node = f"<{package}.{resource}>"
        self.dependency_graph.add_node(node, action=_ModuleProviderAction.INTERN, provided=True, is_pickle=True)
        self._write(self._filename(package, resource), data.getvalue())
        if dependencies:
            for name in pickler.modules:
                self.dependency_graph.add_edge(node, name)
                self.add_dependency(name)

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Adds a text as the file `package/resource`, in UTF-8."""
        self.save_binary(package, resource, text.encode("utf-8"))

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Adds bytes as the file `package/resource`."""
        self._write(self._filename(package, resource), binary)

    def get_unique_id(self) -> str:
        """A number that no earlier call has given, as a string."""
        self._ids += 1
        return str(self._ids - 1)

    # What becomes of modules.

    def intern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules whose names match (GlobGroup) go into the archive."""
        self._add_pattern(include, exclude, _ModuleProviderAction.INTERN, allow_empty)

    def extern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules whose names match are imported where the package is loaded."""
        self._add_pattern(include, exclude, _ModuleProviderAction.EXTERN, allow_empty)

    def mock(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules whose names match are replaced by ones whose names raise NotImplementedError when they are used."""
        self._add_pattern(include, exclude, _ModuleProviderAction.MOCK, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Modules whose names match are an error."""
        self._add_pattern(include, exclude, _ModuleProviderAction.DENY, True)

    def _add_pattern(self, include: GlobPattern, exclude: GlobPattern, action: _ModuleProviderAction, allow_empty: bool) -> None:
        self.patterns.append(_Pattern(GlobGroup(include, exclude=exclude), action, allow_empty))

    def _register(self, hooks: Any, hook: ActionHook) -> Any:
        from torchjit.utils.hooks import RemovableHandle

        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def register_extern_hook(self, hook: ActionHook) -> Any:
        """hook(exporter, module name) is called for each module that is extern when the exporter is closed. Returns a handle to remove it."""
        return self._register(self._extern_hooks, hook)

    def register_mock_hook(self, hook: ActionHook) -> Any:
        """register_extern_hook for modules that are mocked."""
        return self._register(self._mock_hooks, hook)

    def register_intern_hook(self, hook: ActionHook) -> Any:
        """register_extern_hook for modules that are interned."""
        return self._register(self._intern_hooks, hook)

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Says that the package needs a module: the first pattern that matches decides what becomes of it."""
        graph = self.dependency_graph
        if graph.nodes.get(module_name, {}).get("provided"):
            return
        if self._can_implicitly_extern(module_name) or module_name == "torch_package_importer":
            graph.add_node(module_name, action=_ModuleProviderAction.EXTERN, provided=True)
            return
        for pattern in self.patterns:
            if not pattern.group.matches(module_name):
                continue
            pattern.matched = True
            graph.add_node(module_name, action=pattern.action, provided=True)
            if pattern.action is _ModuleProviderAction.DENY:
                graph.add_node(module_name, error=PackagingErrorReason.DENIED)
            elif pattern.action is _ModuleProviderAction.INTERN:
                self._intern_module(module_name, dependencies)
            return
        graph.add_node(module_name, error=PackagingErrorReason.NO_ACTION)

    def _can_implicitly_extern(self, module_name: str) -> bool:
        top = module_name.partition(".")[0]
        return top in ("torch", "torchjit") or top in sys.stdlib_module_names and top != "__main__"

    def _intern_module(self, module_name: str, dependencies: bool) -> None:
        check_not_mangled(module_name)
        module = self.importer.import_module(module_name)
        self.dependency_graph.add_node(module_name, action=_ModuleProviderAction.INTERN, provided=True)
        is_package = hasattr(module, "__path__")
        source = self._get_source_of_module(module)
        if source is not None:
            self.save_source_string(module_name, source, is_package, dependencies)
            return
        file = getattr(module, "__file__", None)
        if file is None and is_package:
            return  # a namespace, which needs no file
        if file is None:
            reason = PackagingErrorReason.NO_DUNDER_FILE
        elif file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
            reason = PackagingErrorReason.IS_EXTENSION_MODULE
        else:
            reason = PackagingErrorReason.SOURCE_FILE_NOT_FOUND
            self.dependency_graph.add_node(module_name, error_context=f"filename: {file}")
        self.dependency_graph.add_node(module_name, is_package=is_package, error=reason)

    def _get_source_of_module(self, module: types.ModuleType) -> str | None:
        loader: Any = getattr(module, "__loader__", None)
        if is_mangled(module.__name__) and hasattr(loader, "get_source"):
            return loader.get_source(demangle(module.__name__))
        file = getattr(module, "__file__", None)
        if file is None or not file.endswith(".py"):
            return None
        return "".join(linecache.getlines(file, module.__dict__)) or (pathlib.Path(file).read_text() if os.path.exists(file) else None)

    def _get_dependencies(self, src: str, module_name: str, is_package: bool) -> list[str]:
        """The modules that a source imports, of those that the importer finds: a name from a package counts as a module where it is one."""
        package = module_name if is_package else module_name.rpartition(".")[0]
        try:
            imports = find_files_source_depends_on(src, package)
        except SyntaxError as e:
            self.dependency_graph.add_node(module_name, error=PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, error_context=str(e))
            return []
        found: dict[str, None] = {}
        for module, name in imports:
            if not module:
                continue
            inner = f"{module}.{name}"
            if name is not None and self._module_exists(inner):
                found[inner] = None
            elif self._module_exists(module):
                found[module] = None
        return list(found)

    def _module_exists(self, module_name: str) -> bool:
        try:
            return isinstance(self.importer.import_module(module_name), types.ModuleType)
        except Exception:
            return False

    # What was decided.

    def _nodes_with_action_type(self, action: _ModuleProviderAction) -> list[str]:
        nodes = self.dependency_graph.nodes
        return sorted(name for name, attrs in nodes.items() if attrs.get("action") is action and not attrs.get("is_pickle"))

    def externed_modules(self) -> list[str]:
        """The modules that are imported where the package is loaded."""
        return self._nodes_with_action_type(_ModuleProviderAction.EXTERN)

    def interned_modules(self) -> list[str]:
        """The modules that go into the archive."""
        return self._nodes_with_action_type(_ModuleProviderAction.INTERN)

    def mocked_modules(self) -> list[str]:
        """The modules that are replaced by mocks."""
        return self._nodes_with_action_type(_ModuleProviderAction.MOCK)

    def denied_modules(self) -> list[str]:
        """The modules that are denied."""
        return self._nodes_with_action_type(_ModuleProviderAction.DENY)

    def get_rdeps(self, module_name: str) -> list[str]:
        """What needs a module by itself; nothing where the package does not know it."""
        return list(self.dependency_graph.predecessors(module_name)) if module_name in self.dependency_graph else []

    def all_paths(self, src: str, dst: str) -> str:
        """How src comes to need dst, as a graph in the language of Graphviz."""
        return self.dependency_graph.all_paths(src, dst)

    def dependency_graph_string(self) -> str:
        """What needs what, as a graph in the language of Graphviz."""
        return self.dependency_graph.to_dot()

    # Writing.

    def _filename(self, package: str, resource: str) -> str:
        return f"{package.replace('.', '/')}/{resource}"

    def _write(self, filename: str, content: bytes) -> None:
        assert filename not in self._written, f"Tried to write file '{filename}', but it already exists in this archive. Please file a bug."
        check_not_mangled(filename)
        add_record(self._zip, f"{self._name}/{filename}", content)
        self._written.add(filename)

    def _keep(self, memory: Any) -> str:
        """Writes the memory of a tensor, once, and returns its key."""
        place = memory.data_ptr() if memory.numel() else -1 - len(self._storages)
        if place not in self._storages:
            key = str(len(self._storages))
            self._storages[place] = (key, memory)
            self._write(f".data/{key}.storage", bytes(memoryview(memory.contiguous())) if memory.numel() else b"")
        return self._storages[place][0]

    def _keep_bytes(self, content: bytes) -> str:
        """Writes memory that no tensor has, and returns its key."""
        key = str(len(self._storages))
        self._storages[-1 - len(self._storages)] = (key, None)
        self._write(f".data/{key}.storage", content)
        return key

    def _reduced(self, obj: Any) -> Any:
        """What a pickle has for an object that says how it is packed, None for others."""
        from torchjit.package import _scripted

        if id(obj) not in self._reductions:
            if _scripted.is_scripted(obj):
                reduced = _scripted.reduce(obj, self)
            elif hasattr(obj, "__reduce_package__"):
                reduced = obj.__reduce_package__(self)
            else:
                return None
            self._reductions[id(obj)] = (obj, reduced)
        return ("reduce_package", id(obj), *self._reductions[id(obj)][1])

    def close(self) -> None:
        """Decides what becomes of the modules, and completes the archive."""
        if any(attrs.get("error") is not None for attrs in self.dependency_graph.nodes.values()):
            self._give_up()
            raise PackagingError(self.dependency_graph)
        for pattern in self.patterns:
            if not pattern.allow_empty and not pattern.matched:
                self._give_up()
                raise EmptyMatchError(f"Exporter did not match any modules to {pattern.group}, which was marked as allow_empty=False")
        externed = self._write_modules()
        self._write(".data/extern_modules", ("\n".join(externed) + "\n").encode())
        self._write(".data/python_version", platform.python_version().encode())
        self._write(".data/version", b"6\n")
        self._zip.close()
        if self._replaced is not None:
            self._replaced.commit()

    def _write_modules(self) -> list[str]:
        """Writes the source of what is interned or mocked, and returns the names of what is extern."""
        externed = []
        for name, attrs in list(self.dependency_graph.nodes.items()):
            action = attrs.get("action")
            if action is _ModuleProviderAction.EXTERN:
                self._call(self._extern_hooks, name)
                externed.append(name)
            elif action is _ModuleProviderAction.MOCK:
                self._call(self._mock_hooks, name)
                if "_mock.py" not in self._written:
                    self._write("_mock.py", pathlib.Path(_mock.__file__).read_bytes())
                source = 'from _mock import MockedObject\n\n\ndef __getattr__(name):\n    return MockedObject(__name__ + "." + name, _suppress_err=True)\n'
                self._write_source(name, source, hasattr(self.importer.import_module(name), "__path__") if self._module_exists(name) else False)
            elif action is _ModuleProviderAction.INTERN:
                self._call(self._intern_hooks, name)
                if "source" in attrs:
                    self._write_source(name, attrs["source"], attrs["is_package"])
        return externed

    def _call(self, hooks: Any, name: str) -> None:
        for hook in hooks.values():
            hook(self, name)

    def _write_source(self, module_name: str, source: str, is_package: bool) -> None:
        path = module_name.replace(".", "/")
        self._write(f"{path}/__init__.py" if is_package else f"{path}.py", source.encode("utf-8"))

    def _give_up(self) -> None:
        self._zip.close()
        if self._replaced is not None:
            self._replaced.abandon()

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is None:
            self.close()
        else:
            self._give_up()
