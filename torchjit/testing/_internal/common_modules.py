"""module_db: classes of torch.nn with arguments of constructors and calls, for tests that go through modules.

    class Tests(TestCase):
        @modules(module_db)
        def test_it(self, device, dtype, module_info, training): ...

    instantiate_device_type_tests(Tests, globals())
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torchjit as torch
from torchjit import _lazy
from torchjit.testing import make_tensor
from torchjit.testing._dtypes import floating_types
from torchjit.testing._internal._parametrize import _copy, _Made, _TestParametrizer
from torchjit.testing._internal.common_nn import criterion_tests, module_tests, new_module_tests
from torchjit.testing._internal.common_utils import GRADCHECK_NONDET_TOL
from torchjit.testing._internal.opinfo.core import DecorateInfo as DecorateInfo
from torchjit.testing._internal.opinfo.core import active_decorators

MODULE_NAMESPACES = [torch.nn.modules, torch.ao.nn.qat.modules, torch.ao.nn.quantizable.modules, torch.ao.nn.quantized.modules]
# Classes that no test can make alone.
MODULES_TO_SKIP = {torch.nn.Module, torch.nn.Container, torch.nn.NLLLoss2d, torch.ao.nn.quantized.MaxPool2d}
MODULE_CLASSES = [
    cls for place in MODULE_NAMESPACES for cls in (getattr(place, name) for name in place.__all__) if isinstance(cls, type) and cls not in MODULES_TO_SKIP
]  # fmt: skip
MODULE_CLASS_NAMES: dict[Any, str] = {}
for _place in MODULE_NAMESPACES:
    for _name in _place.__all__:
        MODULE_CLASS_NAMES.setdefault(
            getattr(_place, _name), f"{_place.__name__.partition('.')[2].replace('.modules', '')}.{_name}"
        )


def get_module_fully_qualified_name(module_cls: Any) -> str:
    """nn.Linear for torch.nn.Linear."""
    return MODULE_CLASS_NAMES.get(module_cls, f"nn.{module_cls.__name__}")


class TrainEvalMode(enum.Enum):
    """Whether modules are tested in training mode, in evaluation mode, or in both."""

    train_only = enum.auto()
    eval_only = enum.auto()
    train_and_eval = enum.auto()


class FunctionInput:
    """Arguments of a call."""

    __slots__ = ["args", "kwargs"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


class ModuleInput:
    """Arguments of a constructor and of a call, with what they are called, and a function that gives the result: of the module, its parameters and the arguments."""

    __slots__ = ["constructor_input", "desc", "forward_input", "reference_fn"]

    def __init__(self, constructor_input: FunctionInput, forward_input: FunctionInput | None = None, desc: str = "", reference_fn: Any = None) -> None:
        self.constructor_input, self.forward_input, self.desc, self.reference_fn = constructor_input, forward_input, desc, reference_fn


class ModuleInfo:
    """A class of modules: its samples, element types, and decorators of tests."""

    def __init__(
        self, module_cls: Any, *, module_inputs_func: Callable[..., list[ModuleInput]], skips: Sequence[Any] = (), decorators: Sequence[Any] | None = None,
        dtypes: Any = floating_types(), supports_gradgrad: bool = True, gradcheck_nondet_tol: float = 0.0, module_memformat_affects_out: bool = False,  # noqa: B008
        train_and_eval_differ: bool = False,
    ) -> None:  # fmt: skip
        self.module_cls, self.module_inputs_func = module_cls, module_inputs_func
        self.decorators = (*(decorators or ()), *skips)
        self.dtypes, self.supports_gradgrad, self.gradcheck_nondet_tol = dtypes, supports_gradgrad, gradcheck_nondet_tol
        self.module_memformat_affects_out, self.train_and_eval_differ = module_memformat_affects_out, train_and_eval_differ

    def get_decorators(self, test_class: str, test_name: str, device: str, dtype: Any) -> list[Any]:
        """The decorators of a test."""
        return active_decorators(self.decorators, test_class, test_name, device, dtype)

    @property
    def name(self) -> str:
        """nn.Linear for torch.nn.Linear."""
        return get_module_fully_qualified_name(self.module_cls)

    @property
    def formatted_name(self) -> str:
        """The name as part of a test's name."""
        return self.name.replace(".", "_")


class modules(_TestParametrizer):  # noqa: N801
    """A decorator for tests that get a class of modules, module_info, an element type, and training, in which mode the module is to be."""

    def __init__(self, module_info_list: Sequence[ModuleInfo], allowed_dtypes: Any = None, train_eval_mode: TrainEvalMode = TrainEvalMode.train_and_eval) -> None:
        self.module_info_list = list(module_info_list)
        self.allowed_dtypes = None if allowed_dtypes is None else set(allowed_dtypes)
        self.train_eval_mode = train_eval_mode

    def _get_training_flags(self, module_info: ModuleInfo) -> list[bool]:
        flags = {TrainEvalMode.train_only: [True], TrainEvalMode.eval_only: [False]}.get(self.train_eval_mode)
        return flags if flags is not None else [True, False] if module_info.train_and_eval_differ else [True]

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        if device_cls is None:
            raise RuntimeError(
                "The @modules decorator is only intended to be used in a device-specific context; use it with instantiate_device_type_tests()."
            )
        for info in self.module_info_list:
            for dtype in info.dtypes:
                if self.allowed_dtypes is not None and dtype not in self.allowed_dtypes:
                    continue
                for training in self._get_training_flags(info):
                    mode = "" if not info.train_and_eval_differ else "_train_mode" if training else "_eval_mode"
                    made = _copy(test)
                    for decorator in info.get_decorators(generic_cls.__name__, test.__name__, device_cls.device_type, dtype):
                        made = decorator(made)
                    yield made, info.formatted_name + mode, {"module_info": info, "dtype": dtype, "training": training}


# What differs between training and evaluation.
_DIFFERENT = {
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU", "InstanceNorm1d",
    "InstanceNorm2d", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer", "MultiheadAttention", "RNN", "GRU", "LSTM",
}  # fmt: skip
_RECURRENT = {"RNN": 1, "GRU": 1, "LSTM": 2, "RNNCell": 1, "GRUCell": 1, "LSTMCell": 2}


def _samples(cases: list[dict[str, Any]]) -> Callable[..., list[ModuleInput]]:
    def made(module_info: ModuleInfo, device: Any, dtype: Any, requires_grad: bool, training: bool, **kwargs: Any) -> list[ModuleInput]:
        def tensor(case: dict[str, Any], what: str) -> Any:
            if what + "_fn" in case:
                value = case[what + "_fn"]()
                return value.to(device, dtype).detach().requires_grad_(requires_grad and what == "input") if value.is_floating_point() else value.to(device)
            return make_tensor(case[what + "_size"], device=device, dtype=dtype, low=-2, high=2, requires_grad=requires_grad and what == "input")

        found = []
        for case in cases:
            args = [tensor(case, "input")]
            if "target_fn" in case or "target_size" in case:
                args.append(tensor(case, "target"))
            args.extend(make_tensor(size, device=device, dtype=dtype) for size in case.get("extra_args", ()))
            found.append(ModuleInput(FunctionInput(*case.get("constructor_args", ())), FunctionInput(*args), desc=case.get("desc", "")))
        return found

    return made


def _recurrent(name: str, states: int) -> ModuleInfo:
    def made(module_info: ModuleInfo, device: Any, dtype: Any, requires_grad: bool, training: bool, **kwargs: Any) -> list[ModuleInput]:
        cell = name.endswith("Cell")
        x = make_tensor((3, 5) if cell else (4, 3, 5), device=device, dtype=dtype, requires_grad=requires_grad)
        state = tuple(make_tensor((3, 6) if cell else (1, 3, 6), device=device, dtype=dtype, requires_grad=requires_grad) for _ in range(states))
        given = state if states > 1 else state[0]
        return [ModuleInput(FunctionInput(5, 6), FunctionInput(x)), ModuleInput(FunctionInput(5, 6), FunctionInput(x, given), desc="hidden")]

    cls = getattr(torch.nn, name)
    return ModuleInfo(cls, module_inputs_func=made, train_and_eval_differ=name in _DIFFERENT, gradcheck_nondet_tol=GRADCHECK_NONDET_TOL)


def _modules() -> list[ModuleInfo]:
    by_name: dict[str, list[dict[str, Any]]] = {}
    for case in (*module_tests, *new_module_tests, *criterion_tests):
        by_name.setdefault(case["module_name"], []).append(case)
    found = [
        ModuleInfo(getattr(torch.nn, name), module_inputs_func=_samples(cases), train_and_eval_differ=name in _DIFFERENT) for name, cases in by_name.items()
    ]
    return found + [_recurrent(name, states) for name, states in _RECURRENT.items()]


module_db: list[ModuleInfo] = _modules()


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.testing._internal.common_device_type": "precisionOverride skipCUDAIfCudnnVersionLessThan skipCUDAIfRocm skipMeta tol toleranceOverride",
    "torchjit.testing._internal.common_nn": "get_reduction nllloss_reference",
    "torchjit.testing._internal.common_utils": "freeze_rng_state set_single_threaded_if_parallel_tbb skipIfMps",
    "torchjit.testing._legacy": "floating_and_complex_types_and",
})  # fmt: skip
