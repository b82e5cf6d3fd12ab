"""Public names that are no operators: their docstrings have examples that run, and say what is true of their arguments."""

import doctest
import importlib
import inspect
import warnings

import docstrings
import pytest

import torchjit as torch
from torchjit import _native

# Modules, and their names that are not looked at: what only declares or checks something, old names of others, classes that are not made by users.
MODULES = {
    "nn": "Container factory_kwargs",
    "nn.functional": "Tensor BroadcastingList1 BroadcastingList2 BroadcastingList3 assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function_unary has_torch_function "
    "has_torch_function_variadic upsample upsample_bilinear upsample_nearest",
    "nn.init": "handle_torch_function has_torch_function_unary constant dirac eye kaiming_normal kaiming_uniform no_grad normal orthogonal sparse uniform xavier_normal xavier_uniform",
    "nn.utils": "clip_grad_norm fuse_conv_bn_weights fuse_linear_bn_weights",
    "nn.utils.rnn": "PackedSequence PackedSequence_ bind invert_permutation",
    "optim": "",
    "optim.lr_scheduler": "EPOCH_DEPRECATION_WARNING LRScheduler",
    "utils.data": "DataChunk _DatasetKind",
    "jit": "ArchiveReport Error Explanation RecursiveScriptClass ScriptFunction ScriptWarning TracerWarning TracingCheckError enable_onednn_fusion set_module",
    "autograd": "Node Variable set_grad_enabled",
    "autograd.functional": "",
    "distributions": "register_kl",
}

# Modules of which some names have examples.
OTHERS = dict.fromkeys(["", "amp", "export", "fx", "library", "onnx", "package", "profiler", "quantization", "random", "testing", "utils.benchmark"], "")


def public():
    """The classes and functions that the modules have, by their names, but for operators, which test_documentation.py has."""
    seen = set()
    for name, left_out in {**OTHERS, **MODULES}.items():
        module = importlib.import_module(f"torchjit.{name}".rstrip("."))
        for member in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            if member in left_out.split():
                continue
            x = getattr(module, member)
            if callable(x) and not isinstance(x, _native.Function) and (getattr(x, "__module__", None) or "").startswith("torch") and id(x) not in seen:
                seen.add(id(x))
                yield f"{name}.{member}".lstrip("."), x


def text_of(x):
    """An object's own docstring."""
    text = x.__dict__.get("__doc__") if isinstance(x, type) else x.__doc__
    return inspect.cleandoc(text) if isinstance(text, str) else ""


DOCUMENTED = {name: text_of(x) for name, x in public()}
WITH_EXAMPLES = {name: text for name, text in DOCUMENTED.items() if ">>>" in text}


def test_every_name_has_an_example():
    assert [name for name in DOCUMENTED if name.rpartition(".")[0] in MODULES and name not in WITH_EXAMPLES] == []
    assert len(WITH_EXAMPLES) > 500


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_give_what_they_show(name):
    torch.manual_seed(0)
    found = doctest.DocTestParser().get_doctest(WITH_EXAMPLES[name], docstrings.names(), name, None, 0)
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed, _ = doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert not failed, "".join(said)


@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if name.startswith(("nn.functional.", "nn.")) and ">>> x = " in WITH_EXAMPLES[name]])
def test_types_dimensions_and_gradients_are_as_said(name):
    facts = docstrings.facts(WITH_EXAMPLES[name])
    if not name.startswith("nn.utils."):
        assert facts and facts in " ".join(WITH_EXAMPLES[name].split())
