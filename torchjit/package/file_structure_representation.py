"""The files of a package as a tree."""

from __future__ import annotations

from torchjit.package.glob_group import GlobGroup, GlobPattern

__all__ = ["Directory"]


class Directory:
    """A file, or a folder with what is in it."""

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name: str = name
        self.is_dir: bool = is_dir
        self.children: dict[str, Directory] = {}

    def _get_dir(self, dirs: list[str]) -> Directory:
        here = self
        for name in dirs:
            here = here.children.setdefault(name, Directory(name, True))
            if not here.is_dir:
                raise RuntimeError(f"{name} is a file, not a folder")
        return here

    def _add_file(self, file_path: str) -> None:
        *dirs, name = file_path.split("/")
        self._get_dir(dirs).children[name] = Directory(name, False)

    def has_file(self, filename: str) -> bool:
        """Whether there is a file or folder at a path, "model/weights.pkl"."""
        first, _, rest = filename.partition("/")
        child = self.children.get(first)
        return child is not None and (not rest or child.has_file(rest))

    def __str__(self) -> str:
        lines = [f"─── {self.name}"]
        self._lines("    ", lines)
        return "\n".join(lines) + "\n"

    def _lines(self, indent: str, lines: list[str]) -> None:
        ordered = sorted(self.children.values(), key=lambda d: (not d.is_dir, d.name))
        for i, child in enumerate(ordered):
            last = i == len(ordered) - 1
            lines.append(indent + ("└── " if last else "├── ") + child.name)
            child._lines(indent + ("    " if last else "│   "), lines)


def _create_directory_from_file_list(filename: str, file_list: list[str], include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
    """The tree of those files whose paths match."""
    group = GlobGroup(include, exclude=exclude, separator="/")
    top = Directory(filename, True)
    for file in file_list:
        if group.matches(file):
            top._add_file(file)
    return top
