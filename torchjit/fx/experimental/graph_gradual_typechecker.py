"""Types of the tensors in a graph: sizes are checked where they are known and stay open where they are not."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import nn
from torchjit.fx.experimental.refinement_types import Equality
from torchjit.fx.experimental.unification import Var
from torchjit.fx.node import Node, map_arg
from torchjit.fx.tensor_type import Dyn, TensorType, is_consistent, is_more_precise

try:
    import sympy
except ImportError:
    sympy = None

Rule = Callable[..., Any]

# What gives a node its type, by the function that it calls or the class of the module.
_INFERENCE_RULES: dict[Any, Rule] = {}
# What gives the conditions between the sizes of a node's input and its own.
_REFINEMENT_RULES: dict[Any, Rule] = {}
# What writes a node's sizes as expressions of those of its input.
_RULES: dict[Any, Rule] = {}


def _registration(rules: dict[Any, Rule], what: str) -> Callable[[Any], Callable[[Rule], Rule]]:
    def registers(call_target: Any) -> Callable[[Rule], Rule]:
        def register(rule: Rule) -> Rule:
            if call_target in rules:
                raise RuntimeError(f"{what} already registered for {call_target}!")
            rules[call_target] = rule
            return rule

        return register

    return registers


register_inference_rule: Callable[[Any], Callable[[Rule], Rule]] = _registration(_INFERENCE_RULES, "Inference rule")
register_refinement_rule: Callable[[Any], Callable[[Rule], Rule]] = _registration(_REFINEMENT_RULES, "Refinement rule")
register_algebraic_expressions_inference_rule: Callable[[Any], Callable[[Rule], Rule]] = _registration(_RULES, "Rule")


# ---- types ----


def expand_to_tensor_dim(t: Any, n: int) -> TensorType:
    """A type of n sizes: what is unknown becomes a tensor of n unknown sizes."""
    if t == Dyn:
        return TensorType((Dyn,) * n)
    if not isinstance(t, TensorType):
        raise TypeError(f"Cannot match the type {t}")
    if len(t.__args__) != n:
        raise TypeError(f"Cannot extend tensor. Tensor {t} has rank {len(t.__args__)}. It should have rank {n}")
    return t


def broadcast_types(t1: Any, t2: Any) -> tuple[Any, Any]:
    """Two types with equally many sizes, where a size of one has become that of the other."""
    if any(t == Dyn or isinstance(t, Var) for t in (t1, t2)):
        return t1, t2
    if not (isinstance(t1, TensorType) and isinstance(t2, TensorType)):
        raise TypeError(f"Cannot broadcast types {t1} and {t2}")
    rank = max(len(t1.__args__), len(t2.__args__))
    first, second = ([1] * (rank - len(t.__args__)) + list(t.__args__) for t in (t1, t2))
    pairs = [(b, b) if a == 1 else (a, a) if b == 1 else (a, b) for a, b in zip(first, second, strict=True)]
    return TensorType(tuple(a for a, _ in pairs)), TensorType(tuple(b for _, b in pairs))


def get_greatest_upper_bound(type1: Any, type2: Any) -> Any:
    """The type that says what either of two consistent types says."""
    if type1 == Dyn or type2 == Dyn:
        return type2 if type1 == Dyn else type1
    if not (isinstance(type1, TensorType) and isinstance(type2, TensorType)):
        return None
    if not is_consistent(type1, type2):
        raise TypeError(f"Inconsistent types {type1}, {type2}")
    pairs = zip(type1.__args__, type2.__args__, strict=True)
    return TensorType(tuple(a if is_more_precise(a, b) else b for a, b in pairs))


def calculate_out_dimension(d_in: Any, module_instance: Any, index: int) -> Any:
    """The size of an image behind a module with a window; index is 0 for the height, 1 for the width."""
    if d_in == Dyn:
        return Dyn
    if not isinstance(d_in, (int, sympy.Symbol) if sympy else int):
        raise TypeError(f"{d_in} in {module_instance} must be a number or Dyn. Received {type(d_in)}")

    def setting(name: str) -> Any:
        value = getattr(module_instance, name)
        return value if isinstance(value, int) else value[index]

    stride = module_instance.stride
    covered = setting("dilation") * (setting("kernel_size") - 1) + 1
    return (d_in + 2 * setting("padding") - covered) // (stride if isinstance(stride, int) else stride[0]) + 1


def _input(n: Node) -> Node:
    """The node that a node's first argument is."""
    assert isinstance(n.args[0], Node)
    return n.args[0]


def _tensor_input(n: Node) -> TensorType | None:
    """The type of a node's input; where that is unknown it gets as many sizes as the node has."""
    given = _input(n)
    if given.type == Dyn and isinstance(n.type, TensorType):
        given.type = expand_to_tensor_dim(given.type, len(n.type.__args__))
    return given.type if isinstance(given.type, TensorType) else None


def _made_of_input(n: Node, type_for: Callable[[TensorType], TensorType]) -> Any:
    """Gives a node the type that its input's asks for, together with what its own says; one whose input is unknown keeps its own."""
    given = _tensor_input(n)
    if given is not None:
        n.type = get_greatest_upper_bound(type_for(given), n.type)
    return n.type


# ---- what nodes give ----


@register_inference_rule(torch.add)
@register_inference_rule(operator.add)
def add_inference_rule(n: Node) -> Any:
    """Of two tensors that are broadcast, the less precise type; of a tensor and a number, the tensor's."""
    a, b = n.args[:2]
    assert isinstance(a, Node) and isinstance(b, Node)
    for number, other in ((a, b), (b, a)):
        if number.type is int and isinstance(other.type, TensorType):
            n.type = other.type
            return n.type
    first, second = broadcast_types(a.type, b.type)
    n.meta["broadcast"] = first != a.type or second != b.type
    if n.meta["broadcast"]:
        n.meta[str(a)], n.meta[str(b)] = first, second
    else:
        first, second = a.type, b.type
    if not is_consistent(first, second):
        raise TypeError(f"Cannot add arguments {a} ({a.type}) and {b} ({b.type}) in node {n}. Types should match ")
    n.type = second if is_more_precise(first, second) else first
    return n.type


@register_inference_rule(getattr)
def get_attr_inference_rule(n: Node, traced: Any) -> Any:
    """A tensor's shape is of no type that is known here."""
    if n.args[1] != "shape":
        raise TypeError(f"the type of the attribute {n.args[1]!r} is not known")
    n.type = Dyn
    return n.type


@register_inference_rule(torch.transpose)
def transpose_inference_rule(n: Node) -> Any:
    """Two sizes change their places."""
    t, (dim1, dim2) = _input(n).type, n.args[1:3]
    if t == Dyn:
        n.type = Dyn
        return n.type
    if not isinstance(t, TensorType) or not all(0 <= d < len(t.__args__) for d in (dim1, dim2)):
        raise TypeError(f"Cannot transpose {dim1} and {dim2} in type {t} for node {n}")
    sizes = list(t.__args__)
    sizes[dim1], sizes[dim2] = sizes[dim2], sizes[dim1]
    n.type = get_greatest_upper_bound(n.type, TensorType(sizes))
    return n.type


@register_inference_rule(torch.reshape)
def reshape_inference_rule(n: Node) -> Any:
    """The sizes that are asked for, where the numbers of elements that are known can be those of one tensor."""
    t, shape = _input(n).type, n.args[1]
    assert isinstance(shape, list)
    wanted = TensorType([Dyn if size == -1 else size for size in shape])
    if t != Dyn:
        known = isinstance(t, TensorType) and math.prod(size for size in t.__args__ if size != Dyn)
        asked = math.prod(shape)
        if known is False or known % asked and asked % known:
            raise TypeError(f"Cannot reshape in node {n} from {t} to {wanted}")
    n.type = wanted
    return wanted


@register_inference_rule(nn.BatchNorm2d)
def bn2d_inference_rule(n: Node, module_instance: Any) -> Any:
    """Images in batches with as many channels as the module normalizes."""
    given = _input(n)
    given.type, n.type = expand_to_tensor_dim(given.type, 4), expand_to_tensor_dim(n.type, 4)
    channels = module_instance.num_features
    if not all(is_consistent(t.__args__[1], channels) for t in (given.type, n.type)) or not is_consistent(given.type, n.type):
        raise TypeError(f"Cannot apply {module_instance} with input type {given.type} and existing type {n.type} on {n}")
    n.type = get_greatest_upper_bound(given.type, n.type)
    return n.type


@register_inference_rule(nn.Conv2d)
def conv2d_inference_rule(n: Node, module_instance: Any) -> Any:
    """Images with the module's channels and the sizes that its window leaves."""
    given = _input(n)
    given.type = expand_to_tensor_dim(given.type, 4)
    batch, channels, *image = given.type.__args__
    existing = expand_to_tensor_dim(n.type, 4)
    if not is_consistent(channels, module_instance.in_channels):
        raise TypeError(f"Cannot apply {module_instance} with input type {given.type} and existing type {n.type} on {n}")
    sizes = [calculate_out_dimension(size, module_instance, i) for i, size in enumerate(image)]
    n.type = get_greatest_upper_bound(TensorType((batch, module_instance.out_channels, *sizes)), existing)
    return n.type


@register_inference_rule(nn.ReLU)
def relu_inference_rule(n: Node, module_instance: Any) -> Any:
    """The input's type."""
    return _made_of_input(n, lambda given: given)


def maxpool2d_check(typ: TensorType, module_instance: Any) -> TensorType:
    """The type of pooled images."""
    *outer, height, width = typ.__args__
    if len(outer) not in (1, 2):
        raise TypeError(f"Wrong size {typ} for {module_instance}")
    sizes = [calculate_out_dimension(size, module_instance, i) for i, size in enumerate((height, width))]
    return TensorType((*outer, *sizes))


@register_inference_rule(nn.MaxPool2d)
def maxpool2d_inference_rule(n: Node, module_instance: Any) -> Any:
    """Images with the sizes that the window leaves."""
    return _made_of_input(n, lambda given: maxpool2d_check(given, module_instance))


def linear_check(tensor_type: TensorType, module_instance: Any) -> TensorType:
    """The type of rows that are multiplied with a module's weight."""
    *outer, features = tensor_type.__args__
    if not outer:
        raise TypeError(f"Type {tensor_type} must have rank 2 or more.")
    if not is_consistent(module_instance.in_features, features):
        raise TypeError(f"Inconsistent {module_instance.in_features} and {features} in {module_instance}")
    return TensorType((*outer, module_instance.out_features))


@register_inference_rule(nn.Linear)
def linear_inference_rule(n: Node, module_instance: Any) -> Any:
    """Rows with the module's features."""
    return _made_of_input(n, lambda given: linear_check(given, module_instance))


def adaptiveavgpool2d_check(tensor_type: TensorType, module_instance: Any) -> TensorType:
    """The type of images that are pooled to given sizes."""
    *outer, _, _ = tensor_type.__args__ if len(tensor_type.__args__) in (3, 4) else (None, None)
    if not outer:
        raise TypeError(f"Tensor ranks must be 3 or 4. Got {tensor_type}")
    size = module_instance.output_size
    height, width = (size, size) if isinstance(size, int) else size
    return TensorType((*outer, width if height is None else height, height if width is None else width))


@register_inference_rule(nn.AdaptiveAvgPool2d)
def adaptiveavgpool2d_inference_rule(n: Node, module_instance: Any) -> Any:
    """Images with the sizes that the module is told."""
    given = _tensor_input(n)
    if given is not None:
        n.type = get_greatest_upper_bound(n.type, adaptiveavgpool2d_check(given, module_instance))
    return n.type


def _flattened(n: Node) -> tuple[Any, Any]:
    """The first and the last of the dimensions that torch.flatten makes one of."""
    given: list[Any] = [*n.args[1:3], *(1, -1)[len(n.args[1:3]) :]]
    return given[0], given[1]


def flatten_check(tensor_type: TensorType, start_dim: int, end_dim: int) -> TensorType:
    """The type of a tensor of which some dimensions are made one."""
    sizes = list(tensor_type.__args__)
    rank = len(sizes)
    start = rank if start_dim == -1 else abs(start_dim)
    end = rank + end_dim + 1 if end_dim < 0 else end_dim + 1
    if not (0 <= start < rank and start < end <= rank):
        raise TypeError(f"Incompatable dimentions {start}, {end - 1} in type {tensor_type}")
    joined = Dyn if Dyn in sizes[start:end] else math.prod(sizes[start:end])
    return TensorType((*sizes[:start], joined, *sizes[end:]))


@register_inference_rule(torch.flatten)
def flatten_inference_rule(n: Node) -> Any:
    """Tensors of which some dimensions are made one."""
    start, end = _flattened(n)
    given = _tensor_input(n)
    if given is not None:
        n.type = get_greatest_upper_bound(flatten_check(given, start, end), n.type)
    return n.type


class GraphTypeChecker:
    """Gives each node of a recorded module a type, and fails where types do not fit."""

    def __init__(self, env: Any, traced: Any) -> None:
        self.env = env
        self.traced = traced

    def type_check(self) -> bool:
        """Goes through the nodes in order."""
        for n in self.traced.graph.nodes:
            self.type_check_node(n)
        return True

    def type_check_node(self, n: Node) -> Any:
        """Gives one node its type."""
        if n.type is None:
            n.type = Dyn
        if n.op == "get_attr":
            value = get_parameter(self.traced, n.target)
            if isinstance(value.data, torch.Tensor):
                n.type = TensorType(value.data.shape)
        elif n.op == "call_function":
            if n.target not in _INFERENCE_RULES:
                raise RuntimeError(f"No inference rule registered for target {n.target}!")
            return _INFERENCE_RULES[n.target](n, *([self.traced] if n.target is getattr else []))
        elif n.op == "call_module":
            module = self.traced.get_submodule(n.target)
            if type(module) not in _INFERENCE_RULES:
                raise RuntimeError(f"No inference rule registered for class {type(module)}!")
            return _INFERENCE_RULES[type(module)](n, module)
        elif n.op == "output":
            n.type = map_arg(n.args[0], lambda a: a.type)
        elif n.op != "placeholder":
            raise NotImplementedError(f"Method {n.op} not yet implemented")
        return n.type


def get_parameter(traced: Any, target: Any) -> Any:
    """The attribute that a path names."""
    path, _, name = target.rpartition(".")
    module = traced.get_submodule(path)
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


# ---- conditions between sizes ----


def _sizes(n: Node) -> tuple[list[Any], list[Any]] | None:
    """The sizes of a node's input and its own, where both are tensors."""
    given = _input(n).type
    if isinstance(given, TensorType) and isinstance(n.type, TensorType):
        return list(given.__args__), list(n.type.__args__)
    return None


def _equalities(before: list[Any], after: list[Any]) -> list[Equality]:
    return list(itertools.starmap(Equality, zip(before, after, strict=False)))


@register_refinement_rule(nn.Conv2d)
@register_refinement_rule(nn.Linear)
def first_equal(n: Node) -> list[Equality]:
    """The first size stays."""
    sizes = _sizes(n)
    return _equalities(sizes[0][:1], sizes[1][:1]) if sizes else []


@register_refinement_rule(nn.BatchNorm2d)
@register_refinement_rule(nn.ReLU)
def all_eq(n: Node) -> list[Equality]:
    """All sizes stay."""
    sizes = _sizes(n)
    return _equalities(*sizes) if sizes else []


@register_refinement_rule(nn.AdaptiveAvgPool2d)
@register_refinement_rule(nn.MaxPool2d)
def first_two_eq(n: Node) -> list[Equality]:
    """The first two sizes stay."""
    sizes = _sizes(n)
    return _equalities(sizes[0][:2], sizes[1][:2]) if sizes else []


@register_refinement_rule(torch.add)
@register_refinement_rule(operator.add)
def element_wise_eq(n: Node) -> list[Equality]:
    """A size that both operands have is the result's."""
    operands = n.args[:2]
    types: list[Any] = [a.type for a in operands if isinstance(a, Node)]
    if len(types) < 2 or not all(isinstance(t, TensorType) for t in (*types, n.type)):
        return []
    first, second = broadcast_types(*types)
    given: Any = n.type
    triples = zip(first.__args__, second.__args__, given.__args__, strict=False)
    return [Equality(a, c) for a, b, c in triples if a == b]


@register_refinement_rule(torch.flatten)
def flatten_refinement_rule(n: Node) -> list[Equality]:
    """The sizes around those that are made one stay."""
    sizes = _sizes(n)
    if not sizes:
        return []
    before, after = sizes
    start, end = _flattened(n)
    start = len(after) if start == -1 else start
    end = len(after) + end + 1 if end < 0 else end + 1
    return _equalities(after[:start], before[:start]) + _equalities(after[end:], before[end:])


@register_algebraic_expressions_inference_rule(nn.Conv2d)
def conv_rule(n: Node, module_instance: Any) -> Any:
    """The sizes of images behind a convolution, by those before it."""
    sizes = _sizes(n)
    if not sizes:
        return None
    image = [calculate_out_dimension(size, module_instance, i) for i, size in enumerate(sizes[0][2:])]
    n.type = TensorType((*sizes[1][:2], *image))
    return n.type


class Refine:
    """Finds out which unknown sizes of a graph are the same: unknown sizes become variables, nodes give conditions on them."""

    def __init__(self, traced: Any) -> None:
        self.constraints: list[Equality] = []
        self.traced = traced
        self.symbol_iter: itertools.count[int] = itertools.count()

    def refine(self) -> bool:
        """Notes the conditions of all nodes."""
        for n in self.traced.graph.nodes:
            self.refine_node(n)
        return True

    def symbolic_relations(self) -> bool:
        """Writes sizes as expressions of others; this needs sympy."""
        for n in self.traced.graph.nodes:
            self.infer_symbolic_relations(n)
        return True

    def replace_dyn_with_fresh_var(self, typ: Any) -> Any:
        """The type with a new variable for each unknown part."""
        if typ == Dyn:
            return Var(next(self.symbol_iter))
        return _mapped(self.replace_dyn_with_fresh_var, typ)

    def convert_to_sympy_symbols(self, typ: Any) -> Any:
        """The type with a symbol for each variable."""
        if sympy is None:
            return typ
        return sympy.symbols(str(typ)) if isinstance(typ, Var) else _mapped(self.convert_to_sympy_symbols, typ)

    def refine_node(self, n: Node) -> Any:
        """Notes the conditions of one node."""
        n.type = self.replace_dyn_with_fresh_var(Dyn if n.type is None else n.type)
        rule = _REFINEMENT_RULES.get(self._called(n))
        if rule is not None:
            self.constraints += rule(n)
        if n.op == "output":
            n.type = map_arg(n.args[0], lambda a: a.type)
        return n.type

    def infer_symbolic_relations(self, n: Node) -> Any:
        """Writes one node's sizes as expressions."""
        if sympy is None:
            return None
        n.type = self.convert_to_sympy_symbols(n.type)
        rule = _RULES.get(self._called(n))
        if rule is not None:
            return rule(n, *([self.traced.get_submodule(n.target)] if n.op == "call_module" else []))
        if n.op == "output":
            n.type = map_arg(n.args[0], lambda a: a.type)
        return n.type

    def _called(self, n: Node) -> Any:
        """The function or the class of the module that a node calls."""
        if n.op == "call_module":
            return type(self.traced.get_submodule(n.target))
        return n.target if n.op == "call_function" else None


def _mapped(change: Callable[[Any], Any], typ: Any) -> Any:
    """A type with its parts changed."""
    if isinstance(typ, TensorType):
        return TensorType(tuple(change(size) for size in typ.__args__))
    return type(typ)(change(t) for t in typ) if isinstance(typ, (list, tuple)) else typ
