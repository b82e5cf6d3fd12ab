"""What loaders do by themselves now."""

import warnings


def worker_init_fn(worker_id: int) -> None:
    """Does nothing: loaders give each worker its part of a data pipe."""
    warnings.warn("Usage of backward_compatibility.worker_init_fn is deprecated as DataLoader automatically applies sharding in every worker")
