"""Runs the cases of a part in a process of its own, and survives it.

A part is a module of this package with a class `Part`:

- `Part(seed, folder)`: `folder` is a directory of its own for scratch files;
- `run(i)` runs case `i`, which follows from the seed and `i` alone; it returns None, or what is wrong in one line;
- `describe(i)` is case `i` as a text from which a person can repeat it; it does not run the case;
- `count(i)`, optional, is the number of calls or files that case `i` stands for (1).

A worker process writes the number of a case before it runs it. One that dies, or that stays in a case for longer than
`HANG` seconds, is a finding too; the next worker goes on after that case.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HANG = 30.0  # seconds that a case may take
MEMORY = 6 << 30  # bytes that a worker may have resident
RESTART = {"ownership": 1_000, "programs": 4_000}  # cases after which a worker makes room for a fresh one: what is compiled stays, as in PyTorch
RESTART_OTHERS = 20_000
PROGRESS = struct.Struct("<qqqd")  # case, cases that are done, their counts, when the case began

# What a part asks of the environment of its workers: of one after the other where there are several. Collections that follow each other closely
# find addresses of what has gone. Large blocks that malloc keeps need not be cleared by the kernel again for each file.
COLLECTING = {"GOGC": "5", "GODEBUG": "clobberfree=1"}
ENVIRONMENTS = {
    "operators": [{"GOJIT_CHECK": "guard", "GOMEMLIMIT": "2GiB"}],
    "ownership": [{"GOJIT_CHECK": "guard"}, COLLECTING],
    "programs": [{}, COLLECTING],
    "files": [{"GOMEMLIMIT": "2GiB", "MALLOC_MMAP_THRESHOLD_": str(256 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}],
}


@dataclass
class Finding:
    case: int
    kind: str  # "death", "hang", "memory" or "answer"
    text: str
    what: str  # the case as text

    def __str__(self) -> str:
        return f"case {self.case}: {self.kind}: {self.text.splitlines()[0] if self.text else ''}\n    {self.what}"


@dataclass
class Report:
    part: str
    seed: int
    cases: int = 0
    count: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    def __str__(self) -> str:
        rate = self.count / self.seconds if self.seconds else 0.0
        return f"{self.part}: {self.count} calls in {self.seconds:.0f} s ({rate:.0f}/s), seed {self.seed}, {len(self.findings)} findings"


class Worker:
    """One process that runs cases from `first` on, with a page of memory that tells how far it is."""

    def __init__(self, part: str, seed: int, first: int, last: int, folder: str):
        self.page = tempfile.NamedTemporaryFile(dir=folder, suffix=".progress")
        self.page.write(bytes(PROGRESS.size))
        self.page.flush()
        self.log = open(os.path.join(folder, "log"), "w+b")
        self.findings = open(os.path.join(folder, f"findings-{first}"), "w+b")
        scratch = os.path.join(folder, "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        os.mkdir(scratch)
        code = "from tests.attack.supervisor import work; work()"
        arguments = [part, str(seed), str(first), str(last), scratch, self.page.name, self.findings.name]
        environments = ENVIRONMENTS.get(part, [{}])
        wanted = environments[first // RESTART.get(part, RESTART_OTHERS) % len(environments)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **wanted}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment, start_new_session=True,
        )

    def progress(self) -> tuple[int, int, int, float]:
        self.page.seek(0)
        return PROGRESS.unpack(self.page.read(PROGRESS.size))

    def resident(self) -> int:
        try:
            with open(f"/proc/{self.process.pid}/statm") as f:
                return int(f.read().split()[1]) * resource.getpagesize()
        except (OSError, IndexError):
            return 0

    def stop(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def last_words(self) -> str:
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").splitlines()
        for line in lines:
            if line.startswith(("fatal error", "panic", "unexpected fault", "SIG", "runtime:", "[signal")):
                return line
        return lines[-1] if lines else "no output"

    def close(self) -> list[Finding]:
        self.findings.seek(0)
        found = [Finding(**json.loads(line)) for line in self.findings.read().decode().splitlines()]
        for f in (self.page, self.log, self.findings):
            f.close()
        return found


def describe(part: str, seed: int, case: int, folder: str) -> str:
    """The text of a case, made in a process of its own: making it must not end this one."""
    code = "import sys; from tests.attack.supervisor import load; print(load(sys.argv[1])(int(sys.argv[2]), sys.argv[3]).describe(int(sys.argv[4])))"
    scratch = tempfile.mkdtemp(dir=folder)
    try:
        done = subprocess.run([sys.executable, "-c", code, part, str(seed), scratch, str(case)], capture_output=True, text=True, timeout=60)
        return done.stdout.strip() or f"no description: {done.stderr.strip()[-300:]}"
    except subprocess.TimeoutExpired:
        return "no description within 60 s"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def attack(part: str, seconds: float, seed: int, cases: int | None = None, first: int = 0, tell=lambda finding: None) -> Report:
    """Runs cases of a part until the time is over or `cases` of them are done; `tell` is called with each finding."""
    report = Report(part, seed)
    began = time.monotonic()
    last = first + cases if cases is not None else 1 << 62
    with tempfile.TemporaryDirectory(prefix=f"attack-{part}-") as folder:
        while first < last and time.monotonic() - began < seconds:
            worker = Worker(part, seed, first, min(last, first + RESTART.get(part, RESTART_OTHERS)), folder)
            kind, started = watch(worker, began + seconds)
            case, done, count, _ = worker.progress()
            report.cases, report.count = report.cases + done, report.count + count
            found = worker.close()
            if kind in ("death", "hang", "memory"):
                words = worker_words(worker, kind, folder) if started else "the worker did not start: " + worker_words(worker, kind, folder)
                found.append(Finding(case, kind, words, describe(part, seed, case, folder) if started else ""))
                if not started:
                    case = last
            report.findings += found
            for finding in found:
                tell(finding)
            first = case + 1
    report.seconds = time.monotonic() - began
    return report


def worker_words(worker: Worker, kind: str, folder: str) -> str:
    with open(os.path.join(folder, "log"), "rb") as f:
        worker.log = f
        words = worker.last_words()
    return f"{words} (status {worker.process.returncode})" if kind == "death" else words


def watch(worker: Worker, deadline: float) -> tuple[str, bool]:
    """Waits for the end of a worker and says how it ended, and whether it had begun a case."""
    case, since = -1, time.monotonic()
    while True:
        try:
            status = worker.process.wait(0.2)
            started = worker.progress()[3] != 0
            return ("done" if status == 0 else "death"), started
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        current, _, _, begun = worker.progress()
        if (current, begun) != case:
            case, since = (current, begun), now
        allowed = HANG if begun else 2 * HANG  # to start
        if now - since > allowed:
            worker.stop()
            return "hang", begun != 0
        if worker.resident() > MEMORY:
            worker.stop()
            return "memory", begun != 0
        if now > deadline:
            worker.stop()
            return "time", begun != 0


def load(part: str):
    return importlib.import_module(f"tests.attack.{part}").Part


def work() -> None:
    """The worker process: runs the cases of its command line."""
    part, seed, first, last, scratch, page, findings = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background begin with it ignored
    attacker = load(part)(int(seed), scratch)
    count = getattr(attacker, "count", lambda i: 1)
    with open(page, "r+b") as f:
        progress = mmap.mmap(f.fileno(), PROGRESS.size)
    done = total = 0
    with open(findings, "a") as out:
        for i in range(int(first), int(last)):
            PROGRESS.pack_into(progress, 0, i, done, total, time.time())
            wrong = attacker.run(i)
            done, total = done + 1, total + count(i)
            if wrong is not None:
                out.write(json.dumps({"case": i, "kind": "answer", "text": wrong, "what": attacker.describe(i)}) + "\n")
                out.flush()
        PROGRESS.pack_into(progress, 0, int(last) - 1, done, total, time.time())
    os._exit(0)
