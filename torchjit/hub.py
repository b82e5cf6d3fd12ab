"""torch.hub: models by name from a folder with a hubconf.py, and weights by address.

`load(folder, model, source="local")` runs the folder's hubconf.py, which is code: load only what you trust. Repositories are not
fetched: `source="github"` raises NotImplementedError.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from torchjit import _lazy

MODULE_HUBCONF = "hubconf.py"
VAR_DEPENDENCY = "dependencies"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK = 1 << 20
_folder: list[str | None] = [None]

# Names of settings in the environment.
DEFAULT_CACHE_DIR = "~/.cache"
ENV_GITHUB_TOKEN = "GITHUB_TOKEN"
ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"
READ_DATA_CHUNK = 8192  # bytes that are read at once



def get_dir() -> str:
    """The folder for what is fetched: set_dir's, else hub in $TORCH_HOME, which is torch in $XDG_CACHE_HOME or ~/.cache."""
    if _folder[0] is not None:
        return _folder[0]
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    return os.path.expanduser(os.environ.get("TORCH_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch"))


def set_dir(d: str) -> None:
    """Sets the folder for what is fetched."""
    _folder[0] = os.path.expanduser(d)


def _hubconf(folder: Any, source: str) -> Any:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError('torch.hub does not fetch repositories in this version of torchjit: fetch it yourself and use source="local"')
    path = pathlib.Path(folder) / MODULE_HUBCONF
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"no {MODULE_HUBCONF} in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    _check_dependencies(module)
    return module


def _check_module_exists(name: str) -> bool:
    """Whether a module can be imported; torch is this library."""
    return name == "torch" or importlib.util.find_spec(name) is not None


def _check_dependencies(m: Any) -> None:
    """Raises RuntimeError where modules are missing that a hubconf.py names."""
    missing = [name for name in getattr(m, VAR_DEPENDENCY, None) or () if not _check_module_exists(name)]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")


def _load_attr_from_module(module: Any, func_name: str) -> Any:
    """What a module has by a name, None where it has nothing."""
    return getattr(module, func_name, None)


def _load_entry_from_hubconf(m: Any, model: Any) -> Callable[..., Any]:
    """The entry point of a hubconf.py. Raises RuntimeError where there is none, ValueError for what is no name."""
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    _check_dependencies(m)
    entry = _load_attr_from_module(m, model)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return entry


def _load_local(hubconf_dir: Any, model: str, *args: Any, **kwargs: Any) -> Any:
    """What the entry point of a folder's hubconf.py gives for the arguments."""
    return _load_entry_from_hubconf(_hubconf(hubconf_dir, "local"), model)(*args, **kwargs)


def _remove_if_exists(path: str) -> None:
    """Removes a file or a folder, where there is one."""
    if os.path.isfile(path):
        os.remove(path)
    elif os.path.exists(path):
        shutil.rmtree(path)


def _is_legacy_zip_format(filename: str) -> bool:
    """Whether a file is a zip archive that holds one file, as torch.hub's were, and no archive of torch.save's."""
    if not zipfile.is_zipfile(filename):
        return False
    with zipfile.ZipFile(filename) as archive:
        found = archive.infolist()
    return len(found) == 1 and not found[0].is_dir()


def load(
    repo_or_dir: Any, model: str, *args: Any, source: str = "github", trust_repo: Any = None, force_reload: bool = False, verbose: bool = True,
    skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """What the entry point `model` of a folder's hubconf.py gives for the arguments.

    Raises ValueError for another source, RuntimeError for an entry point that is not there and for missing dependencies.
    """
    return _load_entry_from_hubconf(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def list(github: Any, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None, source: str = "github") -> Any:
    """The names of the entry points of a folder (source="local")."""
    module = _hubconf(github, source)
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(  # noqa: A001
    github: Any, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None, source: str = "github"
) -> str | None:
    """The description of an entry point (source="local")."""
    return _load_entry_from_hubconf(_hubconf(github, source), model).__doc__


class _Progress:
    """tqdm where that is not installed: what is done, and of how much, on one line of stderr."""

    def __init__(self, iterable: Any = None, total: float | None = None, disable: bool = False, **kwargs: Any) -> None:
        self._iterable, self.total, self.disable = iterable, total, disable
        self.n: float = 0

    def __iter__(self) -> Any:
        for item in self._iterable:
            yield item
            self.update(1)

    def update(self, n: float = 1) -> None:
        """Adds to what is done."""
        self.n += n
        if not self.disable:
            sys.stderr.write(f"\r{100 * self.n / self.total:.1f}%" if self.total else f"\r{self.n}")
            sys.stderr.flush()

    def set_description(self, desc: str | None = None, refresh: bool = True) -> None:
        """Does nothing: there is no room for it."""

    def close(self) -> None:
        """Ends the line."""
        if not self.disable and self.n:
            sys.stderr.write("\n")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _progress() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Progress
    return tqdm


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {}, {"tqdm": _progress})


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Writes what an address gives to a file, which is there only when it is whole and its SHA-256 begins with hash_prefix.

    Raises RuntimeError where it does not. With progress a line shows how far it is.
    """
    target = pathlib.Path(dst).expanduser()
    digest = hashlib.sha256()
    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as answer, tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as f:
        try:
            size = answer.headers.get("Content-Length")
            with _progress()(total=int(size) if size else None, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024) as bar:
                while chunk := answer.read(_CHUNK):
                    f.write(chunk)
                    digest.update(chunk)
                    bar.update(len(chunk))
            f.close()
            if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            shutil.move(f.name, target)
        finally:
            f.close()
            pathlib.Path(f.name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False, file_name: str | None = None
) -> Any:
    """torch.load of what an address gives, which is kept in model_dir (get_dir()/checkpoints).

    With check_hash the name of the file ends with the beginning of its SHA-256, as in `weights-0123abcd.pth`.
    """
    from torchjit.serialization import load as load_file

    folder = model_dir if model_dir is not None else os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    return load_file(path, map_location=map_location)
