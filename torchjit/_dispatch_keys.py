"""What PyTorch's dispatcher is asked: torch._C.DispatchKey, DispatchKeySet and the functions of torch._C that take them, and torch.Tag.

Calls are not dispatched by keys here. What the functions tell is what the keys stand for: the layout and the device of a tensor, whether
gradients and autocasts are on, and whether an operator runs by a function of its own or by those that it is made of.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

from torchjit import _native

# Devices in the order of the bits of a set, and the kinds of functions that each of them may have.
_DEVICES = ("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "Meta", "PrivateUse1", "PrivateUse2", "PrivateUse3")
_KINDS = {"Dense": "", "Quantized": "Quantized", "Sparse": "Sparse", "NestedTensor": "NestedTensor", "AutogradFunctionality": "Autograd"}


def _numbers() -> dict[str, int]:
    """The numbers of the keys, as PyTorch 1.13 has them."""
    made = {
        "Undefined": 0, "Dense": 1, "Quantized": 6, "Sparse": 9, "NestedTensor": 12, "BackendSelect": 13, "Python": 14, "ADInplaceOrView": 22,
        "AutogradOther": 23, "AutogradFunctionality": 24, "PythonTLSSnapshot": 36,
    }  # fmt: skip
    number = 42
    for kind, prefix in _KINDS.items():
        made[f"StartOf{kind}Backends"] = number
        for device in _DEVICES:
            number += 1
            made[prefix + device] = number
        made[f"EndOf{kind}Backends"] = number
        number += 1
    made |= {name: number + i for i, name in enumerate((
        "Autograd", "CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ))}  # fmt: skip
    return made


class _Key(enum.Enum):
    __module__ = "torchjit"

    def __str__(self) -> str:
        return f"DispatchKey.{self.name}"

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


_enumeration: Any = _Key
DispatchKey: Any = _enumeration("DispatchKey", _numbers(), module="torchjit")

# The keys that a set has, in the order of the calls that they stand for: the last is the first that sees a call. Names that are no
# members of DispatchKey are known to sets alone.
_ORDER = (
    *_DEVICES, "FPGA", "ORT", "Vulkan", "Metal", *(f"Quantized{d}" for d in _DEVICES), "CustomRNGKeyId", "MkldnnCPU",
    *(f"Sparse{d}" for d in _DEVICES), "SparseCsrCPU", "SparseCsrCUDA", *(f"NestedTensor{d}" for d in _DEVICES), "BackendSelect", "Python",
    "Fake", "FuncTorchDynamicLayerBackMode", "Functionalize", "Named", "Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView",
    "AutogradOther", *(f"Autograd{d}" for d in _DEVICES), "AutogradNestedTensor", "Tracer", "AutocastCPU", "AutocastXPU", "AutocastCUDA",
    "PythonTLSSnapshot", "PythonDispatcher",
)  # fmt: skip
_PLACE = {name: i for i, name in enumerate(_ORDER)}


def _key_of(key: Any) -> Any:
    """A key by itself or by its name. Raises RuntimeError for the name of none."""
    if isinstance(key, DispatchKey):
        return key
    if not isinstance(key, str):
        raise TypeError(f"a dispatch key or the name of one expected, found {type(key).__name__}")
    if key not in DispatchKey.__members__:
        raise RuntimeError(f"could not parse dispatch key: {key}")
    return DispatchKey[key]


# What a key of a set is: a kind of function, and the device for which it is, if there is one for each device.
_PARTS = {prefix + device: (kind, device) for kind, prefix in _KINDS.items() for device in _DEVICES}


class DispatchKeySet:
    """Some keys. `|`, `&` and `-` make other sets; a key that stands for several, such as Autograd, is no part of one.

    A set keeps kinds of functions and devices: with the keys SparseCPU and Meta it has the keys CPU and SparseMeta, too.
    """

    __slots__ = ("_devices", "_kinds")

    def __init__(self, key: Any) -> None:
        kind, device = _PARTS.get(key.name, (key.name if key.name in _PLACE else "", ""))
        self._kinds, self._devices = frozenset({kind} - {""}), frozenset({device} - {""})

    @property
    def _names(self) -> list[str]:
        """The names of the keys, in their order."""
        kinds = self._kinds
        made = {k for k in kinds if k not in _KINDS} | {name for name, (k, d) in _PARTS.items() if k in kinds and d in self._devices}
        return sorted(made, key=_PLACE.__getitem__)

    def has(self, key: Any) -> bool:
        """Whether a key is in the set."""
        return key.name in self._names

    def highestPriorityTypeId(self) -> Any:
        """The key of the set whose function sees a call first; Undefined where the set has none."""
        last = (self._names or ["Undefined"])[-1]
        return DispatchKey.__members__.get(last, last)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return _made(self._kinds | other._kinds, self._devices | other._devices)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return _made(self._kinds & other._kinds, self._devices & other._devices)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return _made(self._kinds - other._kinds, self._devices)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and (self._kinds, self._devices) == (other._kinds, other._devices)

    def __hash__(self) -> int:
        return hash((self._kinds, self._devices))

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(self._names)})"


def _made(kinds: frozenset[str], devices: frozenset[str]) -> DispatchKeySet:
    made = DispatchKeySet.__new__(DispatchKeySet)
    made._kinds, made._devices = kinds, devices
    return made


def _set_of(names: Iterable[str]) -> DispatchKeySet:
    parts = [_PARTS.get(name, (name, "")) for name in names]
    return _made(frozenset(kind for kind, _ in parts), frozenset(device for _, device in parts if device))


class Tag(enum.Enum):
    """What is said of an overload: `torch.ops.aten.rand.default.tags`."""

    data_dependent_output = 0
    dynamic_output_shape = 1
    generated = 2
    inplace_view = 3
    nondeterministic_bitwise = 4
    nondeterministic_seeded = 5
    view_copy = 6

    def __repr__(self) -> str:
        return f"<Tag.{self.name}: {self.value}>"


Tag.__module__ = "torchjit"

# Operators whose results have as many elements as the values of their arguments say, and those whose results are numbers of tensors.
_OF_VALUES = frozenset((
    "argwhere", "masked_select", "linalg_lstsq", "_unique2", "nonzero", "unique_dim", "unique_consecutive", "unique_dim_consecutive", "one_hot",
    "bincount",
))  # fmt: skip
_OF_VALUES_WRITTEN = frozenset(("linalg_lstsq", "masked_select", "nonzero"))
_NUMBERS = frozenset(("_local_scalar_dense", "item", "allclose", "equal"))
_VIEWS_IN_PLACE = frozenset((
    "swapaxes_", "swapdims_", "transpose_", "detach_", "as_strided_", "squeeze_", "t_", "unsqueeze_", "resize_", "rename_",
))  # fmt: skip


def tags_of(schema: Any) -> list[Tag]:
    """The tags of an overload. None is `generated`: PyTorch says so of functions that its build writes."""
    namespace, _, name = schema.name.partition("::")
    if namespace != "aten":
        return []
    made = []
    if name in _NUMBERS:
        made.append(Tag.data_dependent_output)
    written = schema.overload_name.endswith("out")
    if name in _OF_VALUES and (not written or name in _OF_VALUES_WRITTEN) or name in ("index", "repeat_interleave") and schema.overload_name == "Tensor":
        made.append(Tag.dynamic_output_shape)
    if name in _VIEWS_IN_PLACE:
        made.append(Tag.inplace_view)
    if any(a.name == "generator" for a in schema.arguments) or not name.startswith("_no_grad") and any(
        name in _native.operators_with(word) for word in ("random", "dropout")
    ):
        made.append(Tag.nondeterministic_seeded)
    if name.endswith("_copy") and name not in ("index_copy", "_to_copy") and not written:
        made.append(Tag.view_copy)
    return made


def _dispatch_keys(t: Any) -> DispatchKeySet:
    """The keys of a tensor: what it is stored as, and what sees a call with it."""
    layout, device = str(t.layout), {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}[t.device.type]
    names = {device}
    gradient = "Autograd" + device
    if layout == "torch.sparse_coo":
        names = {"Sparse" + device}
    elif layout == "torch.sparse_csr":
        names, gradient = {"SparseCsr" + device}, "AutogradOther"
    elif t.is_quantized:
        names = {"Quantized" + device}
    if t.is_conj():
        names.add("Conjugate")
    if t.is_neg():
        names.add("Negative")
    if not t.is_inference():
        names |= {"ADInplaceOrView", gradient}
    if device != "Meta" and gradient != "AutogradOther":
        names.add("Autocast" + device)
    return _set_of(names)


def _dispatch_key_set(t: Any) -> str:
    """The text of the keys of a tensor."""
    return repr(_dispatch_keys(t))


def _dispatch_keyset_to_string(keys: DispatchKeySet) -> str:
    """The text of a set."""
    return repr(keys)


def _dispatch_key_name(key: Any) -> str:
    """The name of a key. Raises RuntimeError for the name of none."""
    return str(_key_of(key).name)


def _dispatch_key_parse(key: Any) -> Any:
    """The key of a name. Raises RuntimeError for the name of none."""
    return _key_of(key)


def _dispatch_num_backends() -> int:
    """How many devices have keys of their own."""
    return len(_DEVICES)


def _dispatch_tls_local_include_set() -> DispatchKeySet:
    """The keys that see each call of this thread, whatever its arguments."""
    import torchjit

    return _set_of({"BackendSelect"} if torchjit.is_inference_mode_enabled() else {"BackendSelect", "ADInplaceOrView"})


def _dispatch_tls_local_exclude_set() -> DispatchKeySet:
    """The keys that see no call of this thread: those of autocasts that are off, and of gradients in inference mode."""
    import torchjit

    names = {"AutocastXPU"}
    if not torchjit.is_autocast_cpu_enabled():
        names.add("AutocastCPU")
    if not torchjit.is_autocast_enabled():
        names.add("AutocastCUDA")
    if torchjit.is_inference_mode_enabled():
        names |= {"AutogradOther", "AutogradNestedTensor", *(f"Autograd{d}" for d in _DEVICES)}
    return _set_of(names)


def _dispatch_tls_is_dispatch_key_excluded(key: Any) -> bool:
    """Whether a key sees no call of this thread."""
    return _key_of(key).name in _dispatch_tls_local_exclude_set()._names


def _parts(alias: str) -> Iterator[str]:
    """The keys that a key stands for."""
    gradients = ("AutogradOther", *(f"Autograd{d}" for d in _DEVICES))
    kernels = [prefix + d for prefix in ("", "Quantized", "Sparse", "NestedTensor") for d in _DEVICES]
    if alias == "Autograd":
        yield from gradients
    elif alias == "CompositeImplicitAutogradNestedTensor":
        yield from (f"NestedTensor{d}" for d in _DEVICES)
    elif alias == "CompositeImplicitAutograd":
        yield from gradients
        yield from kernels
    elif alias == "CompositeExplicitAutograd":
        yield from (k for k in kernels if not k.startswith("NestedTensor"))
    elif alias == "CompositeExplicitAutogradNonFunctional":
        yield from (k for k in kernels if not k.startswith(("Sparse", "NestedTensor")))
    else:
        yield alias


def _dispatch_is_included_in_alias(key: Any, alias: Any) -> bool:
    """Whether a key is one of those that another one stands for."""
    return _key_of(key).name in _parts(_key_of(alias).name)


def _is_known(name: str) -> bool:
    base, _, overload = name.partition(".")
    from torchjit import _C

    return any(s.overload_name == overload for s in _C._jit_get_schemas_for_operator(base))


def _dispatch_has_kernel_for_dispatch_key(name: str, key: Any) -> bool:
    """Whether an operator has a function for a key: CompositeImplicitAutograd where it is made of others, CPU and Meta otherwise.

    Raises RuntimeError for an operator that is not known.
    """
    if not _is_known(name):
        raise RuntimeError(f"operator {name} does not exist")
    composite = name.removeprefix("aten::").partition(".")[0] in _native.operators_with("composite")
    if _key_of(key).name == "CompositeImplicitAutograd":
        return composite
    if composite or not _native.operator_is_implemented(name):
        return False
    return _key_of(key).name in ("CPU", "Meta")


def _dispatch_has_computed_kernel_for_dispatch_key(name: str, key: Any) -> bool:
    """Whether a call for a key runs an operator, by a function for that key or by one that stands for it."""
    if _dispatch_has_kernel_for_dispatch_key(name, key) or _dispatch_is_included_in_alias(key, "Autograd"):
        return True
    return _dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd") and _dispatch_is_included_in_alias(key, "CompositeImplicitAutograd")


def _dispatch_has_kernel_for_any_dispatch_key(name: str, keys: DispatchKeySet) -> bool:
    """Whether an operator has a function for one of the keys."""
    return any(_dispatch_has_kernel_for_dispatch_key(name, key) for key in keys._names if key in DispatchKey.__members__)
