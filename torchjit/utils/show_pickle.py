"""torch.utils.show_pickle: what a pickle says, without making objects of classes."""

from __future__ import annotations

import fnmatch
import io
import pickle
import pprint
import sys
import zipfile
from typing import Any

__all__ = ["FakeObject", "FakeClass", "DumpUnpickler", "main"]


class FakeObject:
    """What a class was to make of arguments."""

    def __init__(self, module: str, name: str, args: Any) -> None:
        self.module: str = module
        self.name: str = name
        self.args = args
        self.state = None

    def __repr__(self) -> str:
        state = "" if self.state is None else f"(state={self.state!r})"
        return f"{self.module}.{self.name}{self.args!r}{state}"

    def __setstate__(self, state: Any) -> None:
        self.state = state


class FakeClass:
    """A class or function by its name."""

    def __init__(self, module: str, name: str) -> None:
        self.module: str = module
        self.name: str = name
        self.__new__ = self.fake_new  # type: ignore[method-assign, assignment]

    def __repr__(self) -> str:
        return f"{self.module}.{self.name}"

    def __call__(self, *args: Any) -> FakeObject:
        return FakeObject(self.module, self.name, args)

    def fake_new(self, *args: Any) -> FakeObject:
        """What __new__ was to make."""
        return FakeObject(self.module, self.name, args[1:])


_PythonUnpickler: Any = pickle._Unpickler  # of which typeshed knows little


class DumpUnpickler(_PythonUnpickler):
    """Reads a pickle without calling anything that it names."""

    def __init__(self, file: Any, *, catch_invalid_utf8: bool = False, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self.catch_invalid_utf8 = catch_invalid_utf8

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in for a class."""
        return FakeClass(module, name)

    def persistent_load(self, pid: Any) -> Any:
        """A stand-in for an object that is kept elsewhere."""
        return FakeObject("pers", "obj", (pid,))

    dispatch: dict[int, Any] = dict(pickle._Unpickler.dispatch)

    def load_binunicode(self) -> None:
        """A string, which may be no text."""
        length = int.from_bytes(self.read(4), "little")
        data = self.read(length)
        try:
            self.append(str(data, "utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            if not self.catch_invalid_utf8:
                raise
            self.append(FakeObject("UnicodeDecodeError", "", (data,)))

    dispatch[pickle.BINUNICODE[0]] = load_binunicode

    @classmethod
    def dump(cls, in_stream: Any, out_stream: Any) -> Any:
        """Prints what a pickle says, and returns it."""
        value = cls(in_stream).load()
        pprint.pprint(value, stream=out_stream)
        return value


def main(argv: list[str], output_stream: Any = None) -> int:
    """Prints a pickle: a file, or FILE@NAME for a part of an archive, where the name may be a pattern. Returns the exit status."""
    if len(argv) != 2:
        sys.stderr.write("usage: show_pickle FILE or FILE@NAME of an archive\n")
        return 2
    path, _, wanted = argv[1].partition("@")
    out = output_stream or sys.stdout
    if not wanted:
        with open(path, "rb") as f:
            DumpUnpickler.dump(f, out)
        return 0
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name == wanted or fnmatch.fnmatch(name, wanted)]
        if not names:
            raise Exception(f"Could not find member matching {wanted} in {path}")
        DumpUnpickler.dump(io.BytesIO(archive.read(names[0])), out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
