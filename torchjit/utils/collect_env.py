"""torch.utils.collect_env: what to tell of a machine in a report."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

import torchjit as torch

__all__ = ["SystemEnv", "get_env_info", "pretty_str", "get_pretty_env_info", "main"]


class SystemEnv(NamedTuple):
    """What is known of the machine; None where it could not be found out."""

    torch_version: Any
    is_debug_build: Any
    cuda_compiled_version: Any
    gcc_version: Any
    clang_version: Any
    cmake_version: Any
    os: Any
    libc_version: Any
    python_version: Any
    python_platform: Any
    is_cuda_available: Any
    cuda_runtime_version: Any
    cuda_module_loading: Any
    nvidia_driver_version: Any
    nvidia_gpu_models: Any
    cudnn_version: Any
    pip_version: Any
    pip_packages: Any
    conda_packages: Any
    hip_compiled_version: Any
    hip_runtime_version: Any
    miopen_runtime_version: Any
    caching_allocator_config: Any
    is_xnnpack_available: Any


def run(command: str | list[str]) -> tuple[int, str, str]:
    """Runs a command: its exit status, its output and its errors."""
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def run_and_read_all(run_lambda: Any, command: Any) -> str | None:
    """What a command prints, None where it fails."""
    status, out, _ = run_lambda(command)
    return out if status == 0 else None


def run_and_return_first_line(run_lambda: Any, command: Any) -> str | None:
    """The first line that a command prints, None where it fails."""
    out = run_and_read_all(run_lambda, command)
    return None if out is None else out.split("\n")[0]


def run_and_parse_first_match(run_lambda: Any, command: Any, regex: str) -> str | None:
    """What the first group of an expression matches in what a command prints, None where there is none."""
    import re

    out = run_and_read_all(run_lambda, command)
    found = re.search(regex, out) if out is not None else None
    return found.group(1) if found else None


def _version(program: str, regex: str) -> str | None:
    return run_and_parse_first_match(run, [program, "--version"], regex) if shutil.which(program) else None


def get_os(run_lambda: Any = run) -> str:
    """The operating system with its processor."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"{platform.system()} {platform.release()}"
    return f"{name} ({platform.machine()})"


def get_libc_version() -> str:
    """The C library."""
    return "-".join(platform.libc_ver()) if platform.system() == "Linux" else "N/A"


def get_python_platform() -> str:
    """The platform as Python calls it."""
    return platform.platform()


def get_pip_packages(run_lambda: Any = run) -> tuple[str, str]:
    """How packages were asked for, and the relevant ones."""
    wanted = ("torch", "numpy", "mypy")
    found = {f"{d.name}=={d.version}" for d in importlib.metadata.distributions() if d.name and any(w in d.name for w in wanted)}
    return f"pip{sys.version_info.major}", "\n".join(sorted(found))


def get_gpu_info(run_lambda: Any = run) -> str | None:
    """The CUDA devices, a line for each, None where there are none."""
    return "\n".join(f"GPU {i}: {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())) or None


def get_env_info() -> SystemEnv:
    """What is known of this machine."""
    pip_version, pip_packages = get_pip_packages()
    bits = 64 if sys.maxsize > 2**32 else 32
    return SystemEnv(
        torch_version=torch.__version__, is_debug_build=str(getattr(torch.version, "debug", False)), cuda_compiled_version="None",
        gcc_version=_version("gcc", r"gcc (.*)"), clang_version=_version("clang", r"clang version (.*)"),
        cmake_version=_version("cmake", r"cmake (.*)"), os=get_os(), libc_version=get_libc_version(),
        python_version=f"{sys.version} ({bits}-bit runtime)".replace("\n", ""), python_platform=get_python_platform(), is_cuda_available=str(torch.cuda.is_available()),
        cuda_runtime_version=None, cuda_module_loading="N/A", nvidia_driver_version=None, nvidia_gpu_models=get_gpu_info(), cudnn_version=torch.backends.cudnn.version(),
        pip_version=pip_version, pip_packages=pip_packages, conda_packages=None, hip_compiled_version="N/A", hip_runtime_version="N/A",
        miopen_runtime_version="N/A", caching_allocator_config="", is_xnnpack_available=str(False),
    )  # fmt: skip


_LINES = """
PyTorch version: {torch_version}
Is debug build: {is_debug_build}
CUDA used to build PyTorch: {cuda_compiled_version}
ROCM used to build PyTorch: {hip_compiled_version}

OS: {os}
GCC version: {gcc_version}
Clang version: {clang_version}
CMake version: {cmake_version}
Libc version: {libc_version}

Python version: {python_version}
Python platform: {python_platform}
Is CUDA available: {is_cuda_available}
CUDA runtime version: {cuda_runtime_version}
CUDA_MODULE_LOADING set to: {cuda_module_loading}
GPU models and configuration: {nvidia_gpu_models}
Nvidia driver version: {nvidia_driver_version}
cuDNN version: {cudnn_version}
HIP runtime version: {hip_runtime_version}
MIOpen runtime version: {miopen_runtime_version}
Is XNNPACK available: {is_xnnpack_available}

Versions of relevant libraries:
{pip_packages}
{conda_packages}
""".strip()


def pretty_str(envinfo: SystemEnv) -> str:
    """The text of a report on what is known."""
    found: dict[str, Any] = envinfo._asdict()
    for name in ("pip_packages", "conda_packages"):
        found[name] = found[name] or "No relevant packages"
    if "\n" in (found["nvidia_gpu_models"] or ""):
        found["nvidia_gpu_models"] = f"\n{found['nvidia_gpu_models']}\n"
    for name, value in found.items():
        found[name] = "Could not collect" if value is None else {True: "Yes", False: "No"}[value] if isinstance(value, bool) else value
    for name, source in (("pip_packages", envinfo.pip_version), ("conda_packages", "conda")):
        found[name] = "\n".join(f"[{source}] {line}" for line in found[name].split("\n"))
    return _LINES.format(**found)


def get_pretty_env_info() -> str:
    """The text of a report on this machine."""
    return pretty_str(get_env_info())


def main() -> None:
    """Prints the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
