"""Queues in one thread, and between threads."""

from __future__ import annotations

import threading
import time
from typing import Any


class LocalQueue:
    """A queue in one thread. It counts its calls, and what all queues have, for tests."""

    ops = 0
    stored = 0
    uid = 0
    empty = 0

    def __init__(self, name: str = "unnamed") -> None:
        self.items: list[Any] = []
        self.name, self.uid = name, LocalQueue.uid
        LocalQueue.uid += 1

    def put(self, item: Any, block: bool = True) -> None:
        LocalQueue.ops += 1
        LocalQueue.stored += 1
        self.items.append(item)

    def get(self, block: bool = True, timeout: float = 0) -> Any:
        LocalQueue.ops += 1
        if not self.items:
            LocalQueue.empty += 1
            raise Exception("LocalQueue is empty")
        LocalQueue.stored -= 1
        return self.items.pop()


class ThreadingQueue:
    """A queue between threads."""

    def __init__(self, name: str = "unnamed") -> None:
        self.lock = threading.Lock()
        self.items: list[Any] = []
        self.name = name

    def put(self, item: Any, block: bool = True) -> None:
        with self.lock:
            self.items.append(item)

    def get(self, block: bool = True, timeout: float = 0) -> Any:
        while True:
            with self.lock:
                if self.items:
                    return self.items.pop()
            if not block:
                raise Exception("Not available")
            time.sleep(1e-6)
