"""Builds the Go library in pybind/ into torchjit/_native; everything else is in pyproject.toml."""

import os
import shutil
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))


class GoBuild(build_ext):
    """Runs `go build -buildmode=c-shared`. Needs go, a C compiler and the Python headers."""

    def build_extension(self, ext: Extension) -> None:
        target = os.path.abspath(self.get_ext_fullpath(ext.name))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # This Python's headers come first: those of another one may be among the flags.
        flags = "-I" + sysconfig.get_path("include") + " " + os.environ.get("CGO_CFLAGS", "-O2")
        env = dict(os.environ, CGO_ENABLED="1", CGO_CFLAGS=flags)
        command = [
            "go",
            "build",
            "-trimpath",
            "-buildvcs=false",
            "-buildmode=c-shared",
            "-ldflags=-s -w -funcalign=64",
            "-o",
            target,
            "./pybind",
        ]
        try:
            subprocess.run(command, check=True, env=env, cwd=HERE)
        except FileNotFoundError:
            raise SystemExit("torchjit is built from source with Go 1.26 or newer: the program `go` was not found") from None
        header = os.path.splitext(target)[0] + ".h"
        if os.path.exists(header):
            os.remove(header)
        # For programs in C that link libtorchjit.
        include = os.path.join(os.path.dirname(target), "include")
        os.makedirs(include, exist_ok=True)
        shutil.copy(os.path.join(HERE, "cabi", "torchjit.h"), include)


class SourceWithModules(sdist):
    """Adds the Go modules that the build needs, so that a source distribution builds without a network."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        vendored = os.path.join(os.path.abspath(base_dir), "vendor")
        if not os.path.exists(vendored):  # a source distribution that is made of one has it
            subprocess.run(["go", "mod", "vendor", "-o", vendored], check=True, cwd=HERE)


setup(ext_modules=[Extension("torchjit._native", sources=[])], cmdclass={"build_ext": GoBuild, "sdist": SourceWithModules})
