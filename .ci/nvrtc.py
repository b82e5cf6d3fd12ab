"""Compiles texts of kernels with NVRTC for GPUs of several generations: `python .ci/nvrtc.py FOLDER [GOLDEN [--write]]`. An error or a warning is a failure, and so
are elements and reductions whose threads have no registers for all values, so that some are spilled to memory. With a golden file what the assembler tells of
each entry point must be what stands there: the most registers, bytes that are spilled and bytes of shared memory of all texts that have it, and how many threads
of a multiprocessor that leaves, of those that it has.

NVRTC is that of the package nvidia-cuda-nvrtc, which needs no GPU. The first line of a text has the options that it is compiled with.
"""

import collections
import concurrent.futures
import ctypes
import difflib
import os
import pathlib
import re
import sys
import sysconfig

# From which architecture on there is what a text needs, and the instructions that are to be in it then, and in no other text.
FROM = re.compile(r"#define FROM_ARCHITECTURE (\d+)")
TENSOR_CORES = "mma.sync.aligned"
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
    """What NVRTC says: a code, 0 for success, its messages, and the instructions that it made, as PTX."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    array = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    code = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    ptx = ctypes.create_string_buffer(1)
    if code == 0:
        nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code, log.value.decode().strip(), ptx.value.decode()


# What the assembler tells of each entry point.
ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?", re.S)
TOLD = re.compile(r"^ptxas (info\b|\s*\.).*", re.M)
WITHOUT_SPILLS = {"elements", "reduce", "join"}
# Threads, and kilobytes of shared memory, that a multiprocessor has. All have 65536 registers, given out to warps by 256; a block has 256 threads.
UNITS = {"sm_75": (1024, 64), "sm_80": (2048, 164), "sm_90": (2048, 228), "sm_100": (2048, 228), "sm_120": (1536, 100)}
BLOCK = 256


def occupancy(architecture, registers, shared):
    """How many percent of a multiprocessor's threads can be there at once."""
    threads, kilobytes = UNITS[architecture]
    warp = -(-registers * 32 // 256) * 256
    blocks = min(threads // BLOCK, 65536 // (warp * (BLOCK // 32)), kilobytes * 1024 // (shared + 1024))
    return 100 * blocks * BLOCK // threads


def table(told):
    """The golden file: an entry point on each architecture, and the most of all texts."""
    lines = ["entry architecture registers spilled shared threads%"]
    for (name, architecture), found in sorted(told.items(), key=lambda t: (t[0][0], ARCHITECTURES.index(t[0][1]))):
        registers, spilled, shared = (max(column) for column in zip(*found, strict=True))
        lines.append(f"{name} {architecture} {registers} {spilled} {shared} {min(occupancy(architecture, r, s) for r, _, s in found)}")
    return "\n".join(lines) + "\n"


def main(folder, golden=None, write=None):
    nvrtc = compiler()
    all_told = collections.defaultdict(list)
    texts = sorted(pathlib.Path(folder).glob("*.cu"))

    def one(path, architecture):
        first, _, text = path.read_text().partition("\n")
        needed = FROM.search(text)
        if needed and int(architecture.removeprefix("sm_")) < int(needed[1]):
            return False
        code, log, ptx = compile(nvrtc, text, [re.sub(r"(compute|sm)_\d+", architecture, o) for o in first.split()[1:]] + ["--ptxas-options=-v"])
        entries = ENTRY.findall(log)
        spilled = [f"{name} spills {spills} bytes" for name, spills, _, _ in entries if name in WITHOUT_SPILLS and int(spills)]
        for name, spills, registers, shared in entries:
            all_told[name + ("_mma" if needed else ""), architecture].append((int(registers), int(spills), int(shared or 0)))
        if code == 0 and (TENSOR_CORES in ptx) != bool(needed):
            spilled.append(f"{'no' if needed else 'an'} instruction of tensor cores")
        told = "\n".join([*spilled, TOLD.sub("", log).strip()]).strip()
        if code or told or not entries:
            print(f"{path.name} for {architecture}: error {code}\n{told or log}")
        return bool(code or told or not entries)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(pool.map(one, *zip(*((path, architecture) for path in texts for architecture in ARCHITECTURES), strict=True)))
    print(f"{len(texts)} texts, {len(ARCHITECTURES)} architectures, {failed} failures")
    if golden and write == "--write":
        pathlib.Path(golden).write_text(table(all_told))
    elif golden:
        different = list(difflib.unified_diff(pathlib.Path(golden).read_text().splitlines(), table(all_told).splitlines(), golden, "found", lineterm="", n=0))
        print("\n".join(different))
        failed += bool(different)
    return 0 if texts and not failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
