"""From the bytes of files to objects, by the extensions of their names."""

from __future__ import annotations

import importlib
import io
import json
import os.path
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.utils.data.datapipes.utils.common import StreamWrapper

__all__ = [
    "Decoder", "ImageHandler", "MatHandler", "audiohandler", "basichandlers", "extension_extract_fn", "handle_extension", "imagehandler",
    "mathandler", "videohandler",
]  # fmt: skip

# What extensions mean.
_TEXTS = ("txt", "text", "transcript")
_NUMBERS = ("cls", "cls2", "class", "count", "index", "inx", "id")
_JSON = ("json", "jsn")
_PICKLES = ("pyd", "pickle")
_TENSORS = ("pt",)
_PICTURES = ("jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm")
_VIDEOS = ("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv")
_SOUNDS = ("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma")

# Kinds of images: what they become, of which elements, in which mode.
imagespecs: dict[str, tuple[str, str | None, str]] = {
    f"{prefix}{mode}{suffix}": (kind, None if kind == "pil" else "uint8" if suffix else "float", mode)
    for prefix, kind in (("", "numpy"), ("torch", "torch"))
    for mode in ("l", "rgb", "rgba")
    for suffix in ("", "8")
}
imagespecs.update(
    {
        "torch": ("torch", "float", "rgb"), "pill": ("pil", None, "l"), "pil": ("pil", None, "rgb"), "pilrgb": ("pil", None, "rgb"),
        "pilrgba": ("pil", None, "rgba"),
    }
)  # fmt: skip


def basichandlers(extension: str, data: Any) -> Any:
    """Texts, numbers, JSON, pickles and tensors from bytes; None for other extensions."""
    if extension in _TEXTS:
        return data.decode("utf-8")
    if extension in _NUMBERS:
        try:
            return int(data)
        except ValueError:
            return None
    if extension in _JSON:
        return json.loads(data)
    if extension in _PICKLES:
        return pickle.loads(data)
    if extension in _TENSORS:
        return torch.load(io.BytesIO(data))
    return None


def handle_extension(extensions: str, f: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    """A handler that calls a function for keys that end in one of several extensions, which stand in a text, and gives None for others."""
    wanted = [e.split(".") for e in extensions.lower().split()]

    def g(key: str, data: Any) -> Any:
        parts = key.lower().split(".")
        if any(parts[-len(e) :] == e for e in wanted):
            return f(data)
        return None

    return g


def _imported(module: str, package: str, use: str, conda: str | None = None) -> Any:
    """A module, or ModuleNotFoundError that says what it is for."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ModuleNotFoundError(
            f"Package `{package}` is required to be installed for {use}."
            f"Please use `pip install {package}` or `conda install {conda or package}`to install the package"
        ) from None


class ImageHandler:
    """Decodes images by Pillow to what a name says: arrays ("l", "rgb", "rgba": floats from 0 to 1; with "8" behind: bytes), tensors with the channels
    first ("torchrgb", ...) or Pillow's images ("pil", "pill", "pilrgb", "pilrgba")."""

    def __init__(self, imagespec: str) -> None:
        assert imagespec in imagespecs, f"unknown image specification: {imagespec}"
        self.imagespec: str = imagespec.lower()

    def __call__(self, extension: str, data: bytes) -> Any:
        if extension.lower() not in _PICTURES:
            return None
        np = _imported("numpy", "numpy", "default image decoder")
        pictures = _imported("PIL.Image", "Pillow", "default image decoder")
        kind, elements, mode = imagespecs[self.imagespec]
        with io.BytesIO(data) as stream:
            image = pictures.open(stream)
            image.load()
            image = image.convert(mode.upper())
        if kind == "pil":
            return image
        array = np.asarray(image)
        assert array.dtype == np.uint8, f"numpy image array should be type uint8, but got {array.dtype}"
        if kind == "numpy":
            return array if elements == "uint8" else array.astype("f") / 255.0
        channels_first = torch.tensor(array.transpose(2, 0, 1))
        return channels_first if elements == "uint8" else channels_first.to(torch.float32) / 255.0


def imagehandler(imagespec: str) -> ImageHandler:
    """ImageHandler."""
    return ImageHandler(imagespec)


def videohandler(extension: str, data: bytes) -> Any:
    """Videos by torchvision; None for other extensions."""
    if extension not in _VIDEOS:
        return None
    reader = _imported("torchvision.io", "torchvision", "default video file loader", "torchvision -c pytorch")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as file:
            file.write(data)
        return reader.read_video(path)


def audiohandler(extension: str, data: bytes) -> Any:
    """Sounds by torchaudio; None for other extensions."""
    if extension not in _SOUNDS:
        return None
    reader = _imported("torchaudio", "torchaudio", "default audio file loader", "torchaudio -c pytorch")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as file:
            file.write(data)
        return reader.load(path)


class MatHandler:
    """Decodes files of MATLAB by SciPy."""

    def __init__(self, **loadmat_kwargs: Any) -> None:
        self.sio = _imported("scipy.io", "scipy", "mat file")
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: bytes) -> Any:
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return self.sio.loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: Any) -> MatHandler:
    """MatHandler."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """What stands behind the last point of a path."""
    return os.path.splitext(pathname)[1].lstrip(".")


class Decoder:
    """Decodes files by their names: the last handler that gives something for a key decides; where none does, bytes stay. Keys that begin with
    an underscore and values that are neither bytes nor streams are kept as they are, the former as text."""

    def __init__(self, *handler: Any, key_fn: Callable[[str], str] = extension_extract_fn) -> None:
        self.handlers = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Any) -> None:
        """Adds handlers, which are asked first."""
        if handler:
            self.handlers = [*self.handlers, *handler]

    @staticmethod
    def _is_stream_handle(data: Any) -> bool:
        return isinstance(data.file_obj if isinstance(data, StreamWrapper) else data, (io.BufferedIOBase, io.RawIOBase))

    def decode1(self, key: str, data: Any) -> Any:
        """What one file is."""
        if not data:
            return data
        if Decoder._is_stream_handle(data):
            stream, data = data, data.read()
            stream.close()
        extension = self.key_fn(key)
        for f in reversed(self.handlers):
            result = f(extension, data)
            if result is not None:
                return result
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """What the files of pairs of a path and its file, of one pair, or of a dict are."""
        result = {}
        for key, value in data.items() if isinstance(data, dict) else [data] if isinstance(data, tuple) else data or ():
            if key[:2] == "__":
                result[key] = value.decode("utf-8") if isinstance(value, bytes) else value
                continue
            result[key] = self.decode1(key, value)
        return result

    def __call__(self, data: Any) -> dict[str, Any]:
        return self.decode(data)
