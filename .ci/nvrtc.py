"""Compiles texts of kernels with NVRTC for GPUs of several generations: `python .ci/nvrtc.py FOLDER`. An error or a warning is a failure, and so are elements and
reductions whose threads have no registers for all values, so that some are spilled to memory.

NVRTC is that of the package nvidia-cuda-nvrtc, which needs no GPU. The first line of a text has the options that it is compiled with.
"""

import concurrent.futures
import ctypes
import os
import pathlib
import re
import sys
import sysconfig

ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]


def compiler():
    folders = [pathlib.Path(sysconfig.get_path(p)) / "nvidia" for p in ("purelib", "platlib")]
    libraries = [f for folder in folders for f in folder.glob("*/lib/libnvrtc.so.*")]
    if not libraries:
        sys.exit("the package nvidia-cuda-nvrtc is not installed")
    for builtins in libraries[0].parent.glob("libnvrtc-builtins.so.*"):  # NVRTC looks for it by its name alone
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(libraries[0]))


def compile(nvrtc, text, options):
    """What NVRTC says: a code, 0 for success, and its messages."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    array = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    code = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code, log.value.decode().strip()


# What the assembler tells of each entry point.
ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)
TOLD = re.compile(r"^ptxas (info\b|\s*\.).*", re.M)
WITHOUT_SPILLS = {"elements", "reduce", "join"}


def main(folder):
    nvrtc = compiler()
    texts = sorted(pathlib.Path(folder).glob("*.cu"))

    def one(path, architecture):
        first, _, text = path.read_text().partition("\n")
        code, log = compile(nvrtc, text, [re.sub(r"(compute|sm)_\d+", architecture, o) for o in first.split()[1:]] + ["--ptxas-options=-v"])
        entries = ENTRY.findall(log)
        spilled = [f"{name} spills {spills} bytes" for name, spills, _ in entries if name in WITHOUT_SPILLS and int(spills)]
        told = "\n".join([*spilled, TOLD.sub("", log).strip()]).strip()
        if code or told or not entries:
            print(f"{path.name} for {architecture}: error {code}\n{told or log}")
        return bool(code or told or not entries)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(pool.map(one, *zip(*((path, architecture) for path in texts for architecture in ARCHITECTURES), strict=True)))
    print(f"{len(texts)} texts, {len(ARCHITECTURES)} architectures, {failed} failures")
    return 0 if texts and not failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
