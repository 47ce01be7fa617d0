"""A lock file that keeps two set-ups apart."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["locked"]


@contextmanager
def locked(path: Path) -> Iterator[IO[str]]:
    """Hold the lock `path`; its folder is made if it is not there.

    The system drops the lock when the last holder ends, however it ends. A child process that
    inherits the yielded file holds it too, so a pip that outlives a killed set-up is waited for.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another set-up of {path.parent} to end", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
