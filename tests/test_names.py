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
        getattr(torch.jit._script, "nothing")  # noqa: B009


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


def test_tensors_can_show_storages():
    storage = torch.FloatStorage([5, 6, 7, 8])
    for args, expected in [
        ((storage,), [5, 6, 7, 8]), ((storage, 1, (2,)), [6, 7]), ((storage, 0, (2, 2), (1, 2)), [[5, 7], [6, 8]]), ((storage.untyped(),), [5, 6, 7, 8]),
    ]:  # fmt: skip
        t = torch.zeros(1)
        assert t.set_(*args) is t and t.tolist() == expected and t.storage().data_ptr() == storage.data_ptr()
    assert torch.zeros(3).set_().shape == (0,)
    assert torch.zeros(1).new(storage).storage().data_ptr() == torch.FloatTensor(storage).data_ptr() == torch.Tensor(storage).data_ptr() == storage.data_ptr()
    grown = torch.zeros(1).set_(torch.FloatStorage(1), 0, (2, 2))
    assert grown.shape == (2, 2)
    with pytest.raises(RuntimeError, match="^Expected a Storage of type float or an UntypedStorage, but got type Int for argument 1 'storage'$"):
        torch.zeros(1).set_(torch.IntStorage([1]))


def test_classes_of_storages_know_their_instances():
    storage = torch.ones(2).storage()
    assert isinstance(storage, torch.FloatStorage) and not isinstance(storage, torch.IntStorage) and not isinstance(storage, torch.cuda.FloatStorage)
    assert type(torch.FloatStorage(2)) is torch.TypedStorage and torch.FloatStorage.dtype is torch.float32
    assert torch.ones(2).storage_type() is torch.FloatStorage
    assert not isinstance(storage.untyped(), torch.TypedStorage) and isinstance(storage.untyped(), torch.storage._StorageBase)
    assert torch.TypedStorage(wrap_storage=torch.UntypedStorage([0, 0, 128, 63]), dtype=torch.float32).tolist() == [1.0]
    assert torch.IntStorage.from_buffer(b"\0\0\0\1", "big").tolist() == [1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: torch.FloatStorage(2, 3), "RuntimeError: Too many positional arguments"),
        (lambda: torch.FloatStorage(dtype=torch.int8), "RuntimeError: Keyword argument 'dtype' cannot be specified"),
        (lambda: torch.FloatStorage(wrap_storage=3), "TypeError: Argument 'wrap_storage' must be UntypedStorage, but got <class 'int'>"),
        (lambda: torch.TypedStorage(wrap_storage=torch.UntypedStorage(4)), "RuntimeError: Argument 'dtype' must be specified"),
        (lambda: torch.UntypedStorage(2.5), "RuntimeError: torch.UntypedStorage(): Expected a sequence type, but got float"),
        (lambda: torch.FloatStorage(2)["a"], "RuntimeError: can't index a <class 'torchjit.storage.TypedStorage'> with <class 'str'>"),
        (lambda: torch.FloatStorage(2)[2], "IndexError: index 2 out of range for storage of size 2"),
        (lambda: torch.FloatStorage(2).copy_(torch.FloatStorage(3)), "RuntimeError: size does not match"),
        (lambda: torch.FloatStorage.from_buffer(b"1234"), "RuntimeError: function missing required argument 'byte_order' (pos 2)"),
        (lambda: torch.FloatStorage.from_buffer(b"123", "little"), "ValueError: buffer size (3) must be a multiple of element size (4)"),
    ],
)
def test_storages_refuse_other_arguments(make, error):
    with pytest.raises((RuntimeError, TypeError, IndexError, ValueError)) as found:
        make()
    assert f"{type(found.value).__name__}: {str(found.value).splitlines()[-1]}" == error


def test_files_in_the_format_before_zip_archives_can_be_written():
    import io
    import pickle

    shared = torch.arange(6.0)
    objects = {"a": shared, "b": shared[2:4], "c": nn_state(), "d": torch.zeros(0, dtype=torch.int64), "e": "text"}
    file = io.BytesIO()
    torch.save(objects, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert [pickle.load(file) for _ in range(3)] == [
        0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}},
    ]  # fmt: skip
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["e"] == "text" and torch.equal(loaded["a"], shared) and torch.equal(loaded["c"]["weight"], objects["c"]["weight"])
    loaded["b"].zero_()
    assert loaded["a"].tolist() == [0, 1, 0, 0, 4, 5]
    assert pickle.loads(pickle.dumps(torch.FloatStorage([1, 2]))).tolist() == [1, 2]


def nn_state():
    torch.manual_seed(0)
    return torch.nn.Linear(2, 2).state_dict()


def test_the_parts_of_saving_can_be_called(tmp_path):
    import io
    import pickle

    S = torch.serialization
    path = tmp_path / "a.pt"
    with S._open_zipfile_writer(path) as archive:
        S._save({"x": torch.ones(2)}, archive, pickle, 2)
    with S._open_zipfile_reader(path) as archive:
        assert not S._is_torchscript_zip(archive) and "data/0" in archive.get_all_records()
    with S._open_file_like(path, "rb") as file:
        assert S._is_zipfile(file) and S._should_read_directly(file) and S._check_seekable(file) and not S._is_compressed_file(file)
    assert torch.load(path)["x"].tolist() == [1, 1]
    buffer = io.BytesIO()
    assert not S._should_read_directly(buffer) and not S._is_path(buffer)
    S._legacy_save([torch.ones(1)], buffer, pickle, 2)
    buffer.seek(0)
    assert S._legacy_load(buffer, None, pickle) == [torch.ones(1)]
    with pytest.raises(RuntimeError, match="Expected 'r' or 'w' in mode but got x"):
        S._open_file_like(buffer, "x")
    with pytest.raises(AttributeError, match="^'object' object has no attribute 'seek'. You can only torch.load from a file that is seekable."):
        torch.load(object())
    assert S._get_restore_location({"cpu": "meta"})(torch.ones(2).storage(), "cpu").device.type == "meta"
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available"):
        S._cuda_deserialize(torch.ones(2).storage(), "cuda:0")
