"""IterDataPipe and MapDataPipe: datasets that are made of others, one step each."""

from __future__ import annotations

import enum
import functools
import importlib
import importlib.util
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torchjit.utils.data.dataset import Dataset, IterableDataset

T_co = TypeVar("T_co", covariant=True)

_INVALIDATED = (
    "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: {}\n"
    "This may be caused multiple references to the same IterDataPipe. We recommend using `.fork()` if that is necessary."
)


def described(pipe: Any) -> str:
    """The name of a data pipe with what it was made of, for messages."""

    def show(x: Any) -> str:
        return getattr(x, "__name__", None) or (repr(x) if not isinstance(x, (IterDataPipe, MapDataPipe)) else str(x))

    parameters = sorted(name for name in inspect.signature(type(pipe).__init__).parameters if name in vars(pipe))
    fields = ", ".join(f"{name}={show(vars(pipe)[name])}" for name in parameters)
    return f"{type(pipe).__name__}({fields})"


class _PipeIterator:
    """An iterator of a data pipe, until the pipe gives another one."""

    def __init__(self, pipe: Any, inner: Any) -> None:
        self._pipe, self._inner, self._id = pipe, inner, pipe._valid_iterator_id

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        pipe = self._pipe
        if pipe._valid_iterator_id != self._id:
            raise RuntimeError(_INVALIDATED.format(described(pipe)))
        try:
            made = self._inner.__next__() if self._inner is not pipe else type(pipe).__next__(pipe)
        except StopIteration:
            raise
        except Exception as e:
            _note_pipe(e, pipe)
            raise
        pipe._number_of_samples_yielded += 1
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _SnapshotState(enum.Enum):
    """Whether a pipe was begun, or taken to a place from which the next iterator goes on."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


def _note_pipe(e: Exception, pipe: Any) -> None:
    """Adds to a message which pipe's __iter__ it comes from."""
    if getattr(pipe, "_is_child_datapipe", False) or not e.args:
        return
    text = str(e.args[0])
    if text.startswith("This iterator has been invalidated") or "thrown by __iter__ of" in text:
        return
    e.args = (f"{e.args[0]}\nThis exception is thrown by __iter__ of {described(pipe)}", *e.args[1:])


def _hooked(original: Any) -> Any:
    @functools.wraps(original)
    def __iter__(self: Any) -> Any:
        if self._snapshot_state is _SnapshotState.Restored:
            self._snapshot_state, forward, self._fast_forward_iterator = _SnapshotState.Iterating, self._fast_forward_iterator, None
            return forward
        self._snapshot_state = _SnapshotState.Iterating
        self._valid_iterator_id += 1
        self._number_of_samples_yielded = 0
        self.reset()
        return _PipeIterator(self, original(self))

    __iter__._hooked = True  # type: ignore[attr-defined]
    return __iter__


class _Functions:
    """What both kinds of data pipes have: functions by name, which make other pipes of this one."""

    functions: dict[str, Callable[..., Any]]
    getstate_hook: Any = None
    reduce_ex_hook: Any = None
    str_hook: Any = None
    repr_hook: Any = None

    @classmethod
    def set_getstate_hook(cls, hook_fn: Any) -> None:
        """hook_fn(attributes) gives what a pickle has of a pipe. None removes it; Exception where there is one."""
        if cls.getstate_hook is not None and hook_fn is not None:
            raise Exception("Attempt to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Any) -> None:
        """hook_fn(pipe) gives what __reduce_ex__ does, unless it raises NotImplementedError. None removes it; Exception where there is one."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise Exception("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    def __getstate__(self) -> Any:
        hook = type(self).getstate_hook
        return self.__dict__.copy() if hook is None else hook(self.__dict__)

    def __reduce_ex__(self, protocol: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(protocol)

    def __getattr__(self, attribute_name: str) -> Any:
        functions = type(self).functions
        if attribute_name in functions:
            return functools.partial(functions[attribute_name], self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute_name}")

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Adds a function of a data pipe under a name."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False) -> None:
        """Adds a class of data pipes as a function. Raises Exception where the name is taken."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        @functools.wraps(cls_to_register, updated=())
        def make(source: Any, *args: Any, **kwargs: Any) -> Any:
            return cls_to_register(source, *args, **kwargs)

        cls.functions[function_name] = make

    def __str__(self) -> str:
        hook = type(self).str_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __repr__(self) -> str:
        hook = type(self).repr_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __dir__(self) -> Any:
        return [*super().__dir__(), *self.functions]


class IterDataPipe(_Functions, IterableDataset[T_co]):
    """Examples one after the other, made from those of other pipes. Classes define __iter__; `functional_datapipe` gives them a name as functions.

    A pipe has one valid iterator: making another one ends the former, whose next example is a RuntimeError then. reset is called before each.

    >>> list(torch.utils.data.datapipes.iter.IterableWrapper(range(4)).map(lambda i: i * i).batch(2))
    [[0, 1], [4, 9]]
    """

    functions: dict[str, Callable[..., Any]] = {}
    _valid_iterator_id = 0
    _number_of_samples_yielded = 0
    _snapshot_state = _SnapshotState.NotStarted
    _fast_forward_iterator: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("__iter__")
        if own is not None and not getattr(own, "_hooked", False):
            cls.__iter__ = _hooked(own)  # type: ignore[method-assign]

    def __iter__(self) -> Iterator[T_co]:
        return self

    def reset(self) -> None:
        """Called before an iterator is made: classes forget there what they have begun."""


class MapDataPipe(_Functions, Dataset[T_co]):
    """Examples by key, made from those of other pipes. Classes define __getitem__ and __len__.

    >>> pipe = torch.utils.data.datapipes.map.SequenceWrapper([1, 2]).map(lambda i: i * i)
    >>> pipe[1], len(pipe)
    (4, 2)
    """

    functions: dict[str, Callable[..., Any]] = {}


class DataChunk(list[Any]):
    """A batch: a list that knows itself to be one."""

    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The batch as text."""
        return f"{indent}[{', '.join(str(i) for i in iter(self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The examples as they were given."""
        yield from self.items


class functional_datapipe:
    """A decorator that adds a class of data pipes as a function of its kind: source.name(...). Raises Exception where the name is taken.

    >>> @torch.utils.data.functional_datapipe("doubled")
    ... class Doubled(torch.utils.data.IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         return (2 * i for i in self.source)
    >>> list(torch.utils.data.datapipes.iter.IterableWrapper([1, 2]).doubled())
    [2, 4]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        if not issubclass(cls, (IterDataPipe, MapDataPipe)):
            raise TypeError("Can only decorate IterDataPipe or MapDataPipe")
        (IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe).register_datapipe_as_function(self.name, cls)
        return cls


class _DataPipeSerializationWrapper:
    """Holds a data pipe for a loader: it is pickled by dill where pickle cannot and dill is there."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> Any:
        try:
            return pickle.dumps(self._datapipe), False
        except (AttributeError, TypeError, pickle.PicklingError):
            if importlib.util.find_spec("dill") is None:
                raise
            return importlib.import_module("dill").dumps(self._datapipe), True

    def __setstate__(self, state: Any) -> None:
        data, by_dill = state
        self._datapipe = importlib.import_module("dill").loads(data) if by_dill else pickle.loads(data)

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from None


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe[Any]):
    """A held pipe of examples one after the other."""

    def __iter__(self) -> Iterator[Any]:
        yield from self._datapipe


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe[Any]):
    """A held pipe of examples by key."""

    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]


class DFIterDataPipe(IterDataPipe):
    """A pipe of data frames."""

    @staticmethod
    def _is_dfpipe(pipe: Any = None) -> bool:
        return True
