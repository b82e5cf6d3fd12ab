"""`gojit serve` with batches of requests."""

import contextlib
import pathlib
import re
import shutil
import signal
import subprocess
import urllib.request

import pytest

import torchjit as torch
from torchjit import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="the server is built with Go, which is not installed")


@contextlib.contextmanager
def served(program, model, *options):
    """The address at which a process serves a model."""
    command = [program, "serve", f"model={model}", "--address", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        yield next(found[1] for line in server.stderr if (found := re.search(r"msg=serving address=(\S+)", line)))
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def test_requests_of_many_connections_share_calls(tmp_path):
    """One row for an MLP 512 wide, from 32 connections: the server takes about 2.3 times as long for a request without batches."""
    for program in ("gojit/cmd/gojit", "benchmarks/serve_load"):
        subprocess.run(["go", "build", "-o", tmp_path, f"./{program}"], cwd=ROOT, check=True, timeout=600)
    model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(512, 512), nn.ReLU())]).eval()
    torch.jit.script(model).save(tmp_path / "mlp.pt")

    def measured(rows):
        """Requests of a call, and microseconds of the server's processor time for a request."""
        with served(tmp_path / "gojit", tmp_path / "mlp.pt", "--threads", "1", "--max-batch", rows) as address:
            load = [tmp_path / "serve_load", "-url", f"http://{address}", "-model", "model", "-input", "input", "-shape", "1x512", "-binary"]
            load += ["-connections", "32", "-malformed", "0", "-seconds", "1"]
            said = subprocess.run(load, check=True, timeout=60, capture_output=True, text=True).stdout
            assert " 0 wrong, 0 refused" in said
            with urllib.request.urlopen(f"http://{address}/metrics") as answer:
                metrics = answer.read().decode()
        requests, calls = (float(re.search(rf'gojit_batch_requests_{name}{{model="model"}} (\S+)', metrics)[1]) for name in ("sum", "count"))
        return requests / calls, float(re.search(r"processor time of the server: (\S+) us", said)[1])

    single, alone = measured("1")
    several, together = measured("32")
    assert single == 1 and several > 4
    assert alone > 1.5 * together
