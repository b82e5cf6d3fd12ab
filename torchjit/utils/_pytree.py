"""torch.utils._pytree: nested containers as a list of leaves and a description.

Classes that are containers are registered. Paths to leaves are tuples of keys, and descriptions go to texts and back (`_pytree_text`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from torchjit import _lazy
from torchjit.utils._pytree_keys import GetAttrKey, MappingKey, SequenceKey

PyTree = Any
Context = Any


KeyPath = tuple[Any, ...]


class NodeDef(NamedTuple):
    """How containers of one type are taken apart and put together."""

    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[list[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


class _Serialized(NamedTuple):
    """What texts call a type, and how its context goes to JSON and back; without the functions it is JSON as it is."""

    name: str | None
    to_dumpable: Callable[[Any], Any] | None
    from_dumpable: Callable[[Any], Any] | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, _Serialized] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}


def _register_pytree_node(
    cls: Any, flatten_fn: Any, unflatten_fn: Any, *, serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None, flatten_with_keys_fn: Any = None,
) -> None:  # fmt: skip
    """Makes a type one of containers, or another one of it.

    flatten_fn gives (children, context), unflatten_fn(children, context) the container.
    """
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn, flatten_with_keys_fn)
    SUPPORTED_SERIALIZED_TYPES[cls] = _Serialized(serialized_type_name, to_dumpable_context, from_dumpable_context)
    if serialized_type_name is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def register_pytree_node(
    cls: Any, flatten_fn: Any, unflatten_fn: Any, *, serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None, flatten_with_keys_fn: Any = None,
) -> None:  # fmt: skip
    """Makes a class one of containers.

    flatten_fn(x) gives (children, context), unflatten_fn(children, context) the container; flatten_with_keys_fn(x) gives
    ([(key, child)], context) for paths. serialized_type_name is what texts and archives call the class; the context is JSON, or the two
    functions make it so. Raises ValueError for a class that is one of containers already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _register_pytree_node(
        cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name, to_dumpable_context=to_dumpable_context,
        from_dumpable_context=from_dumpable_context, flatten_with_keys_fn=flatten_with_keys_fn,
    )  # fmt: skip


def _register_namedtuple(cls: Any, *, serialized_type_name: str) -> None:
    """Says what texts call a class of named tuples."""
    SUPPORTED_SERIALIZED_TYPES[cls] = _Serialized(serialized_type_name, None, None)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized_type_name] = cls


def _numbered(x: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(SequenceKey(i), child) for i, child in enumerate(x)]


def _keyed(d: Any) -> list[tuple[Any, Any]]:
    return [(MappingKey(k), child) for k, child in d.items()]


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Any]:
    """The children of a dictionary and its keys; the others after it are named alike."""
    return list(d.values()), list(d)


def _dict_unflatten(values: list[Any], context: Any) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _list_flatten(d: list[Any]) -> tuple[list[Any], Any]:
    return d, None


def _list_unflatten(values: list[Any], context: Any) -> list[Any]:
    return list(values)


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Any]:
    return list(d), None


def _tuple_unflatten(values: list[Any], context: Any) -> tuple[Any, ...]:
    return tuple(values)


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Any]:
    return list(d), type(d)


def _namedtuple_unflatten(values: list[Any], context: Any) -> Any:
    return context(*values)


def _odict_flatten(d: OrderedDict[Any, Any]) -> tuple[list[Any], Any]:
    return list(d.values()), list(d)


def _odict_unflatten(values: list[Any], context: Any) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values, strict=True))


def _register_builtin() -> None:
    register = register_pytree_node
    register(
        dict, _dict_flatten, _dict_unflatten, serialized_type_name="builtins.dict", flatten_with_keys_fn=lambda d: (_keyed(d), list(d)),
    )  # fmt: skip
    register(list, _list_flatten, _list_unflatten, serialized_type_name="builtins.list", flatten_with_keys_fn=lambda d: (_numbered(d), None))
    register(tuple, _tuple_flatten, _tuple_unflatten, serialized_type_name="builtins.tuple", flatten_with_keys_fn=lambda d: (_numbered(d), None))
    register(
        namedtuple, _namedtuple_flatten, _namedtuple_unflatten, serialized_type_name="collections.namedtuple", to_dumpable_context=_name_of_tuple,
        from_dumpable_context=SERIALIZED_TYPE_TO_PYTHON_TYPE.__getitem__,
        flatten_with_keys_fn=lambda d: ([(GetAttrKey(f), getattr(d, f)) for f in d._fields], type(d)),
    )  # fmt: skip
    register(
        OrderedDict, _odict_flatten, _odict_unflatten, serialized_type_name="collections.OrderedDict", flatten_with_keys_fn=lambda d: (_keyed(d), list(d)),
    )  # fmt: skip
    register(
        defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d)]), lambda v, c: defaultdict(c[0], zip(c[1], v, strict=True)), serialized_type_name="collections.defaultdict",
        to_dumpable_context=lambda c: {"default_factory_module": c[0].__module__, "default_factory_name": c[0].__qualname__, "dict_context": c[1]},
        from_dumpable_context=_default_context, flatten_with_keys_fn=lambda d: (_keyed(d), [d.default_factory, list(d)]),
    )  # fmt: skip
    register(
        deque,
        lambda d: (list(d), d.maxlen),
        lambda v, n: deque(v, maxlen=n),
        serialized_type_name="collections.deque",
        flatten_with_keys_fn=lambda d: (_numbered(d), d.maxlen),
    )


def _name_of_tuple(cls: Any) -> str:
    if cls not in SUPPORTED_SERIALIZED_TYPES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serializated_type_name. Please register using "
            "`_register_namedtuple`."
        )
    return SUPPORTED_SERIALIZED_TYPES[cls].name  # type: ignore[return-value]


def _default_context(form: dict[str, Any]) -> list[Any]:
    """The factory and the keys of a defaultdict. Its factory is one of Python's own types: nothing is imported for a text."""
    import builtins

    module, name = form["default_factory_module"], form["default_factory_name"]
    factory = getattr(builtins, name, None) if module == "builtins" else None
    if not isinstance(factory, type):
        raise ValueError(f"the factory {module}.{name} of a defaultdict is none of Python's own types")
    return [factory, form["dict_context"]]


_register_builtin()


def _is_namedtuple_instance(pytree: Any) -> bool:
    kind = type(pytree)
    named = isinstance(pytree, tuple) and isinstance(getattr(kind, "_fields", None), tuple) and kind.__bases__ == (tuple,)
    return named and kind.__module__ != "torch.return_types"


def _get_node_type(pytree: Any) -> Any:
    if _is_namedtuple_instance(pytree):
        return namedtuple
    kind = type(pytree)
    if kind.__module__ == "torch.return_types" and kind not in SUPPORTED_NODES:
        # The class of an operator's named results is a container of its own.
        _register_pytree_node(kind, lambda d: (list(d), None), lambda v, _: kind(v))
    return kind


def _is_leaf(pytree: Any) -> bool:
    return _get_node_type(pytree) not in SUPPORTED_NODES


class TreeSpec:
    """What a nested container is without its leaves."""

    def __init__(self, typ: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = typ, context, children_specs
        self.num_leaves: int = sum(spec.num_leaves for spec in children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves there are."""
        return 1 + sum(spec.num_nodes for spec in self.children_specs)

    def is_leaf(self) -> bool:
        return False

    def child(self, index: int) -> TreeSpec:
        return self.children_specs[index]

    def children(self) -> list[TreeSpec]:
        return list(self.children_specs)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What tree holds in the places of the leaves. Raises ValueError where tree is no such container."""
        kind = _get_node_type(tree)
        if kind is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        children = list(children)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children!r}, but got {len(children)!r}.")
        if isinstance(tree, dict):
            mine = self.context if self.type is not defaultdict else self.context[1]
            if set(tree) != set(mine):
                raise ValueError(f"Node keys mismatch; missing key(s): {set(mine) - set(tree)}; extra key(s): {set(tree) - set(mine)}.")
            children = [tree[k] for k in mine]
        elif context != self.context and self.type is not deque:
            raise ValueError(f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, but got {context!r}.")
        return [x for child, spec in zip(children, self.children_specs, strict=True) for x in spec.flatten_up_to(child)]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The container with these leaves."""
        return tree_unflatten(list(leaves), self)

    def __repr__(self, indent: int = 0) -> str:
        children = ", ".join(repr(c) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def __eq__(self, other: object) -> bool:
        theirs = (other.type, other.context, other.children_specs)  # type: ignore[attr-defined]
        return (self.type, self.context, self.children_specs) == theirs

    __hash__ = None  # type: ignore[assignment]


class LeafSpec(TreeSpec):
    """A leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])
        self.num_leaves = 1

    @property
    def num_nodes(self) -> int:
        return 1

    def is_leaf(self) -> bool:
        return True

    def flatten_up_to(self, tree: Any) -> list[Any]:
        return [tree]

    def __repr__(self, indent: int = 0) -> str:
        return "*"


def tree_flatten(pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and what holds them. What is_leaf holds for is a leaf, too."""
    if _is_leaf(pytree) or is_leaf is not None and is_leaf(pytree):
        return [pytree], LeafSpec()
    kind = _get_node_type(pytree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(pytree)
    leaves: list[Any] = []
    specs = []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(values: list[Any], spec: TreeSpec) -> Any:
    """The container with other leaves. Raises ValueError for another number of them."""
    if not isinstance(spec, TreeSpec):
        raise ValueError(f"tree_unflatten(values, spec): Expected `spec` to be instance of TreeSpec but got item of type {type(spec)}.")
    if len(values) != spec.num_leaves:
        raise ValueError(
            f"tree_unflatten(values, spec): `values` has length {len(values)} but the spec refers to a pytree that holds "
            f"{spec.num_leaves} items ({spec})."
        )
    if isinstance(spec, LeafSpec):
        return values[0]
    children, at = [], 0
    for child in spec.children_specs:
        children.append(tree_unflatten(values[at : at + child.num_leaves], child))
        at += child.num_leaves
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterator[Any]:
    """The leaves from left to right."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of arguments."""
    return tree_leaves((*args, *kwargs.values()))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """What holds the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(fn: Any, pytree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The container with fn(leaf) for every leaf; with rests, fn(leaf, what they hold in its place, ...)."""
    leaves, spec = tree_flatten(pytree, is_leaf)
    return tree_unflatten([fn(*x) for x in zip(leaves, *(spec.flatten_up_to(r) for r in rests), strict=True)], spec)


def tree_map_(fn: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Calls fn as tree_map does, and returns the container as it is."""
    tree_map(fn, tree, *rests, is_leaf=is_leaf)
    return tree


def _asked(ty: Any) -> Callable[[Any], bool]:
    """Whether a leaf is of a type, of one of several, or what a function holds for."""
    if callable(ty) and not isinstance(ty, type):
        return ty
    return lambda x: isinstance(x, ty)


def map_only(ty: Any) -> Any:
    """Makes a function leave everything alone that is not of a type."""
    wanted = _asked(ty)
    return lambda fn: lambda x: fn(x) if wanted(x) else x


def tree_map_only(ty: Any, fn: Any, pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """tree_map for the leaves of a type, or those that a function ty holds for."""
    return tree_map(map_only(ty)(fn), pytree, is_leaf=is_leaf)


def tree_map_only_(ty: Any, fn: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """tree_map_ for the leaves of a type."""
    return tree_map_(map_only(ty)(fn), tree, is_leaf=is_leaf)


def tree_all(pred: Any, pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_leaves(pytree, is_leaf)))


def tree_any(pred: Any, pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for a leaf."""
    return any(map(pred, tree_leaves(pytree, is_leaf)))


def tree_all_only(ty: Any, pred: Any, pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for all leaves of a type."""
    return all(pred(x) for x in tree_leaves(pytree, is_leaf) if isinstance(x, ty))


def tree_any_only(ty: Any, pred: Any, pytree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for a leaf of a type."""
    return any(pred(x) for x in tree_leaves(pytree, is_leaf) if isinstance(x, ty))


def _with_paths(path: KeyPath, tree: Any, is_leaf: Callable[[Any], bool] | None) -> Iterator[tuple[KeyPath, Any]]:
    if _is_leaf(tree) or is_leaf is not None and is_leaf(tree):
        yield path, tree
        return
    keys = SUPPORTED_NODES[_get_node_type(tree)].flatten_with_keys_fn
    if keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in keys(tree)[0]:
        yield from _with_paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with its path. Raises ValueError for a container whose keys are not known."""
    return list(_with_paths((), tree, is_leaf))


def tree_flatten_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves, each with its path, and what holds them."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The container with func(path, leaf) for every leaf; with rests, func(path, leaf, what they hold in its place, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    given = zip(*zip(*found, strict=True), *(spec.flatten_up_to(r) for r in rests), strict=True) if found else ()
    return tree_unflatten([func(*x) for x in given], spec)


def keystr(kp: KeyPath) -> str:
    """A path as Python writes it."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _broadcast_to_and_flatten(pytree: Any, spec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None) -> list[Any] | None:
    """The leaves of pytree, each as often as the spec has leaves in its place; None where they do not fit."""
    if _is_leaf(pytree) or is_leaf is not None and is_leaf(pytree):
        return [pytree] * spec.num_leaves
    if isinstance(spec, LeafSpec) or _get_node_type(pytree) != spec.type:
        return None
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(pytree)
    if len(children) != len(spec.children_specs) or context != spec.context:
        return None
    result: list[Any] = []
    for child, child_spec in zip(children, spec.children_specs, strict=True):
        flat = _broadcast_to_and_flatten(child, child_spec, is_leaf)
        if flat is None:
            return None
        result += flat
    return result


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {"torchjit.utils._pytree_text": "treespec_dumps treespec_loads treespec_pprint"})
