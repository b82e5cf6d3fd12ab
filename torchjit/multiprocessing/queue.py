"""Queues between processes: Python's, whose messages may hold tensors, which are copied."""

from multiprocessing.queues import JoinableQueue as JoinableQueue
from multiprocessing.queues import Queue as Queue
from multiprocessing.queues import SimpleQueue as SimpleQueue

__all__ = ["JoinableQueue", "Queue", "SimpleQueue"]
