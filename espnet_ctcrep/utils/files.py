"""Files written whole or not at all, and Kaldi-style tables read with line numbers."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from espnet_ctcrep.utils.errors import InputError

__all__ = ["atomic_open", "read_table", "write_text"]


@contextmanager
def atomic_open(path: Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file beside `path` and rename it onto `path` when the block ends well.

    The temporary name is unique, so what a killed writer leaves never blocks the next one.
    After an exception `path` is untouched and the temporary file is gone.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding = None if "b" in mode else "utf-8"
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, mode, encoding=encoding, newline=None if "b" in mode else "") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        Path(name).chmod(0o644)  # mkstemp gives 0600, and other people read results
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, whole or not at all."""
    with atomic_open(path) as f:
        f.write(text)


def read_table(path: Path) -> dict[str, str]:
    """Read a Kaldi table (`text`, `wav.scp`, `utt2lang`): first field -> rest of the line.

    The rest may be empty. Raises InputError for a missing file, bytes that are not UTF-8, an
    empty line, or a key that occurs twice.
    """
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as e:
        raise InputError(f"cannot read {path}: {e.strerror}") from e
    table: dict[str, str] = {}
    # Split at line feeds only: str.splitlines() also splits at characters that occur in text.
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n") if raw else [], 1):
        try:
            key, _, rest = line.decode("utf-8").rstrip("\r").partition(" ")
        except UnicodeDecodeError as e:
            raise InputError(f"{path}:{number} is not UTF-8; convert the file") from e
        if not key:
            raise InputError(f"{path}:{number} is empty or starts with a space; remove the line")
        if key in table:
            raise InputError(f"{path}:{number} repeats the id {key}; keep one of the lines")
        table[key] = rest
    return table
