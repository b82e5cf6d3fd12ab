"""From indices to batches."""

from __future__ import annotations

from typing import Any


class _BaseDatasetFetcher:
    """Makes batches of a dataset; with auto_collation what it is asked for is a batch of indices."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset, self.auto_collation, self.collate_fn, self.drop_last = dataset, auto_collation, collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of some indices."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Asks for examples by their indices, for all of a batch at once where the dataset has `__getitems__`."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if getattr(self.dataset, "__getitems__", None):
            return self.collate_fn(self.dataset.__getitems__(possibly_batched_index))
        return self.collate_fn([self.dataset[i] for i in possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Takes the next examples, as many as there are indices. Raises StopIteration where none is left, or with drop_last not enough are."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        examples: list[Any] = []
        for _ in possibly_batched_index:
            try:
                examples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not examples or (self.drop_last and len(examples) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(examples)
