"""A client of the KServe v2 protocol that others wrote, tritonclient, talks to `gojit serve` and `python -m torchjit serve` as to any server of the protocol."""

import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

http = pytest.importorskip("tritonclient.http", reason="tritonclient[http] is not installed")

from tritonclient.utils import InferenceServerException  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = np.load(ROOT / "tests/data/digits_cnn.npz")


@pytest.fixture(scope="module", params=["gojit", "python -m torchjit"])
def client(request, tmp_path_factory):
    if request.param == "gojit":
        program = [tmp_path_factory.mktemp("bin") / "gojit"]
        subprocess.run(["go", "build", "-o", *program, "./gojit/cmd/gojit"], cwd=ROOT, check=True, timeout=600)
    else:
        program = [sys.executable, "-m", "torchjit"]
    command = [*program, "serve", f"digits={ROOT}/tests/data/digits_cnn.pt", "--address", "127.0.0.1:0", "--max-batch", "64"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        address = next(found[1] for line in server.stderr if (found := re.search(r"msg=serving address=(\S+)", line)))
        with http.InferenceServerClient(address, concurrency=8) as connected:
            yield connected
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def image(rows, binary=True):
    given = http.InferInput("x", list(rows.shape), "FP32")
    given.set_data_from_numpy(rows, binary_data=binary)
    return given


def test_server_and_model_are_described(client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("digits")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    assert [i["name"] for i in client.get_model_metadata("digits")["inputs"]] == ["x"]
    assert client.get_model_config("digits")["name"] == "digits"
    assert [m["name"] for m in client.get_model_repository_index()] == ["digits"]


@pytest.mark.parametrize("binary_in", [True, False])
@pytest.mark.parametrize("binary_out", [True, False])
@pytest.mark.parametrize("packed", [None, "gzip", "deflate"])
def test_answers_are_those_of_pytorch(client, binary_in, binary_out, packed):
    outputs = [http.InferRequestedOutput("output", binary_data=binary_out)]
    found = client.infer(
        "digits", [image(RECORDED["in0"], binary_in)], outputs=outputs, request_id="7", request_compression_algorithm=packed, response_compression_algorithm=packed
    )
    np.testing.assert_allclose(found.as_numpy("output"), RECORDED["out0"], rtol=1e-4, atol=1e-5)
    assert found.get_response()["id"] == "7"


def test_requests_at_a_time(client):
    rows = RECORDED["in0"]
    sent = [client.async_infer("digits", [image(rows[i : i + 1])]) for i in range(len(rows))]
    found = np.concatenate([request.get_result().as_numpy("output") for request in sent])
    np.testing.assert_allclose(found, RECORDED["out0"], rtol=1e-3, atol=1e-4)


def test_mistakes_are_the_clients_exception(client):
    for inputs, model, status in (([image(np.zeros((3, 3), "float32"))], "digits", "422"), ([], "digits", "400"), ([image(RECORDED["in0"])], "nothing", "404")):
        with pytest.raises(InferenceServerException) as caught:
            client.infer(model, inputs)
        assert status in str(caught.value.status()) and caught.value.message()
