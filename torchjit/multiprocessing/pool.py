"""Pools of processes: Python's, whose messages may hold tensors, which are copied."""

from multiprocessing.pool import Pool as Pool

__all__ = ["Pool"]
