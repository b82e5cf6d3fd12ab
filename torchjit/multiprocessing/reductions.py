"""How tensors and storages go to other processes: by pickles, which copy them."""

from __future__ import annotations

from typing import Any


class StorageWeakRef:
    """The identity of a storage, which does not keep its memory: a key of dictionaries."""

    def __init__(self, storage: Any) -> None:
        import weakref

        self.cdata: Any = storage._cdata
        self._alive = weakref.ref(storage)

    def expired(self) -> bool:
        """Whether the storage object is gone."""
        return self._alive() is None

    def __hash__(self) -> int:
        return hash(self.cdata)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageWeakRef) and self.cdata == other.cdata


def reduce_tensor(tensor: Any) -> Any:
    """The function and the arguments that make a tensor again, as pickle has them."""
    return tensor.__reduce_ex__(2)


def reduce_storage(storage: Any) -> Any:
    """The function and the arguments that make a storage again, as pickle has them."""
    return storage.__reduce_ex__(2)


def init_reductions() -> None:
    """Nothing is to be registered: pickle knows tensors and storages."""
