"""Files of safetensors: the bytes of the package safetensors, names, what is refused."""

import base64

import pytest

import torchjit as torch
from torchjit.safetensors import load, load_file, load_model, safe_open, save, save_file, save_model

# What safetensors.numpy.save gave for the tensors of the first test.
WRITTEN = base64.b64decode(
    "AAEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJmb3JtYXQiOiJwdCJ9LCJhIjp7ImR0eXBlIjoiSTY0Iiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRzIjpbMCwxNl19LCJiIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlszXSwiZGF0YV9vZmZzZXRzIjpbMTYsMjhdfSwiZSI6eyJkdHlwZSI6IkYzMiIsInNoYXBlIjpbMCwyXSwiZGF0YV9vZmZzZXRzIjpbMjgsMjhdfSwiZiI6eyJkdHlwZSI6IkJPT0wiLCJzaGFwZSI6WzFdLCJkYXRhX29mZnNldHMiOlsyOCwyOV19fSAgAQAAAAAAAAACAAAAAAAAAAAAAAAAAIA/AAAAQAE="
)


def tensors():
    return {
        "b": torch.arange(3.0),
        "a": torch.tensor([1, 2]),
        "e": torch.zeros(0, 2),
        "f": torch.tensor([True]),
    }


def test_the_bytes_are_those_of_the_package():
    assert save(tensors(), {"format": "pt"}) == WRITTEN
    read = load(WRITTEN)
    assert list(read) == ["a", "b", "e", "f"] and all(torch.equal(read[k], t) and read[k].dtype is t.dtype for k, t in tensors().items())


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "int8", "int16", "int32", "uint8", "bool"])
def test_element_types(name):
    x = torch.tensor([[1, 0], [2, 3]]).to(getattr(torch, name))
    assert torch.equal(load(save({"x": x}))["x"], x)


def test_files(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(tensors(), path, {"made": "here"})
    load_file(path)["b"].add_(1)  # the file stays as it is
    with safe_open(path, framework="pt") as f:
        assert f.keys() == ["a", "b", "e", "f"] and f.metadata() == {"made": "here"}
        assert f.get_tensor("b").tolist() == [0.0, 1.0, 2.0] and f.get_slice("b")[1:].tolist() == [1.0, 2.0]


def test_models_with_one_tensor_under_two_names(tmp_path):
    first, second = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]), torch.nn.Linear(2, 2)
    first[1].weight = first[0].weight
    save_model(first, tmp_path / "m")
    other = torch.nn.ModuleList([second, torch.nn.Linear(2, 2)])
    assert load_model(other, tmp_path / "m") == ([], [])
    assert torch.equal(other[1].weight, first[0].weight) and torch.equal(other[1].bias, first[1].bias)


@pytest.mark.parametrize(
    "given, error, text",
    [
        (lambda x: {"a": x[:2], "b": x[2:]}, RuntimeError, "Some tensors share memory"),
        (lambda x: {"a": x.view(2, 2).t()}, ValueError, "non contiguous tensor: .a."),
        (lambda x: {"a": x.to(torch.complex64)}, ValueError, "complex64"),
        (lambda x: {"a": 3}, ValueError, "Key .a. is invalid, expected torch.Tensor but received"),
        (lambda x: [x], ValueError, "Expected a dict"),
    ],
)
def test_refused(given, error, text):
    with pytest.raises(error, match=text):
        save(given(torch.ones(4)))


@pytest.mark.parametrize("data", [b"", b"abc", WRITTEN[:-1], WRITTEN + b"x", b"\xff" * 16, WRITTEN.replace(b"[0,16]", b"[1,17]")])
def test_damaged(data):
    with pytest.raises(RuntimeError, match="Error while deserializing header"):
        load(data)
