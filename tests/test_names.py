"""What modules that load names later list, and names of PyTorch's private modules that programs use."""

import importlib
import warnings

import pytest

import torchjit as torch

# Modules with names that are loaded when they are first used, with some of these.
LATER = {
    "torchjit": "nn Graph FloatTensor no_grad relu save",
    "torchjit.linalg": "norm svd cholesky_ex LinAlgError",
    "torchjit.fft": "fft ifftshift",
    "torchjit.special": "erf ndtri",
    "torchjit.functional": "split einsum istft F",
    "torchjit.return_types": "max linalg_eigh svd cummax_out",
    "torchjit.autograd": "functional profiler forward_ad",
    "torchjit.nn": "qat quantized grad",
    "torchjit.backends": "cudnn mkl",
    "torchjit.cuda": "FloatTensor nvtx memory_usage",
    "torchjit.jit": "mobile _recursive ONNXTracedModule",
    "torchjit.jit._script": "ScriptModule wrap_cpp_module",
    "torchjit.jit._trace": "TracedModule ONNXTracedModule verify",
    "torchjit.jit._state": "_python_cu _script_classes",
    "torchjit.jit._recursive": "get_jit_def _constant_types",
    "torchjit.jit.annotations": "TensorType dis",
    "torchjit._jit_internal": "SourceLoader is_tuple",
    "torchjit._C": "ScriptModule PyTorchFileReader _nn default_generator LiteScriptModule",
}


@pytest.mark.parametrize("name", LATER)
def test_dir_lists_what_is_loaded_later(name):
    module = importlib.import_module(name)
    listed = dir(module)
    assert listed == sorted(set(listed))
    assert set(LATER[name].split()) <= set(listed)
    assert [n for n in listed if not hasattr(module, n)] == []


def test_what_is_not_there_is_missed_by_pytorchs_name():
    with pytest.raises(AttributeError, match=r"^module 'torch.jit._script' has no attribute 'nothing'$"):
        torch.jit._script.nothing


class Twice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) * 2


def test_a_script_module_written_as_a_class_has_what_a_compiled_one_has():
    class Scale(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward(self, x):
            return 3 * x

    scale = Scale()
    assert scale.original_name == "Scale"
    assert "return torch.mul(x, 3)" in scale.code_with_constants[0]
    with pytest.raises(NotImplementedError):
        scale.forward_magic_method("__len__")


def test_the_python_side_of_a_module_can_be_made_anew():
    compiled = torch.jit.script(Twice())
    seen = []
    made = torch.jit.ScriptModule._construct(compiled._c, seen.append)
    assert seen == [made] and isinstance(made, torch.jit.RecursiveScriptModule)
    x = torch.rand(1, 2)
    assert torch.equal(made(x), compiled(x))
    compiled._reconstruct(torch.jit.script(torch.nn.ReLU())._c)
    assert torch.equal(compiled(-x), torch.zeros(1, 2))


def test_subclasses_change_what_a_call_of_a_module_does():
    class Counting(torch.nn.Linear):
        calls = slow = 0

        def __call__(self, *args):
            self.calls += 1
            return self._call_impl(*args)

        def _slow_forward(self, *args, **kwargs):
            self.slow += 1
            return super()._slow_forward(*args, **kwargs)

    m = Counting(2, 2)
    m(torch.ones(1, 2))
    assert (m.calls, m.slow) == (1, 0)
    torch.jit.trace(m, torch.ones(1, 2), check_trace=False)
    assert (m.calls, m.slow) == (2, 1)
    assert torch.nn.Module.__call__ is torch.nn.Module._call_impl


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda x: x.sigmoid(), None),
        (lambda x: x.sigmoid().exp(), "when the forward contains multiple autograd Nodes is deprecated"),
        (lambda x: [x.sigmoid()], "on a Module that does not return a single Tensor or a tuple of Tensors"),
        (lambda x: x.detach() + 1, None),
    ],
)
def test_backward_hooks_that_miss_gradients_warn(run, expected):
    class Run(torch.nn.Module):
        def forward(self, x):
            return run(x)

    m = Run()
    m.register_backward_hook(lambda *args: None)
    assert [len(hooks) for hooks in m._get_backward_hooks()] == [0, 1]
    x = torch.ones(2, requires_grad=True) * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m(x)
    assert [expected in str(w.message) for w in caught] == ([] if expected is None else [True])


def test_compiled_functions_of_python_are_known_by_their_operators():
    import math

    from torchjit.jit import _builtins, supported_ops

    assert (math.erf, "aten::erf") in _builtins._builtin_ops
    assert _builtins._builtin_table[id(math.erf)] == "aten::erf"
    assert _builtins._is_special_functional_bound_op(torch.functional.norm) and not _builtins._is_special_functional_bound_op(torch.add)
    assert supported_ops._is_math_fn(math.sin) and not supported_ops._is_math_fn(torch.sin)
    with pytest.raises(RuntimeError, match="Module for 3 not found"):
        supported_ops._is_math_fn(3)
    schema = torch.parse_schema("f(Tensor self, int dim=1) -> (Tensor a, Tensor b)")
    assert supported_ops._emit_args(5, schema.arguments) == "self : Tensor,\n     dim : int=1"
    assert supported_ops._emit_rets(schema.returns) == "Tuple[Tensor, Tensor]"


def test_states_of_the_executor_have_properties():
    state = torch._C.GraphExecutorState
    assert all(isinstance(p, property) for p in (state.graph, state.execution_plans, state.fallback, torch._C.ExecutionPlan.graph))
    f = torch.jit.script(lambda_free)
    f(torch.ones(2))
    plans = f.get_debug_state().execution_plans
    assert [type(plan.graph) for plan in plans.values()] == [torch._C.Graph]


def lambda_free(x):
    return x.sigmoid() * 2
