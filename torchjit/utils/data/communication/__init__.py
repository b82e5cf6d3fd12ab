"""Queues between pipes and those who read them."""

from torchjit.utils.data.communication import queue as queue

__all__ = ["queue"]
