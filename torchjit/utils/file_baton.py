"""A lock between processes: a file that only one of them can make."""

from __future__ import annotations

import os
import time


class FileBaton:
    """A lock that one process holds while its file exists."""

    def __init__(self, lock_file_path: str, wait_seconds: float = 0.1) -> None:
        self.lock_file_path: str = lock_file_path
        self.wait_seconds: float = wait_seconds
        self.fd: int | None = None

    def try_acquire(self) -> bool:
        """Takes the lock, or returns False where another one holds it."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        return True

    def wait(self) -> None:
        """Returns when the file is gone."""
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)

    def release(self) -> None:
        """Gives up the lock."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        os.remove(self.lock_file_path)
