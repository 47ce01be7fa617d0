"""The ledger of a plan, `ledger.jsonl`: every launch and its end, each line chained to the last."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from espnet_ctcrep.utils.errors import InputError

__all__ = ["Entry", "append", "read", "repair"]

EVENTS = ("launched", "resumed", "finished", "diverged", "failed", "repaired")
START = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line: what happened to which run, when."""

    seq: int
    time: str
    event: str
    arm: str
    replicate: int
    fields: dict[str, Any]
    hash: str


def _hash(line: dict[str, Any]) -> str:
    body = {k: v for k, v in line.items() if k != "hash"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _parse(raw: bytes, path: Path) -> list[Entry]:
    """Entries of whole lines; the chain is checked."""
    entries, previous = [], START
    for number, text in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            line = json.loads(text)
            intact = line["hash"] == _hash(line) and line["prev"] == previous
            intact = intact and line["seq"] == number
        except (ValueError, KeyError, TypeError):
            intact = False
        if not intact:
            raise InputError(
                f"{path}:{number}: the ledger was changed here; restore the file from a copy"
            )
        previous = line["hash"]
        names = ("seq", "time", "event", "arm", "replicate", "fields", "hash")
        entries.append(Entry(*(line[n] for n in names)))
    return entries


def read(path: Path) -> list[Entry]:
    """All entries, oldest first; none where there is no ledger yet.

    Raises:
        InputError: a line that was changed, removed or only half written.
    """
    path = Path(path)
    if not path.exists():
        return []
    with path.open("rb") as f:
        fcntl.flock(f, fcntl.LOCK_SH)  # a line that is being written is not a torn one
        raw = f.read()
    entries = _parse(raw, path)
    if not raw.endswith(b"\n") and raw:
        raise InputError(
            f"{path}:{len(entries) + 1}: the last line is half written (its writer was killed);"
            " start the plan again, which repairs it"
        )
    return entries


def append(path: Path, event: str, arm: str, replicate: int, **fields: Any) -> Entry:
    """Add one line, on disk when this returns; safe for processes that write side by side.

    A half-written last line, left by a writer that was killed, is moved to `<path>.torn` and
    the repair is recorded.

    Raises:
        InputError: the chain before it is broken.
    """
    if event not in EVENTS:
        raise ValueError(f"event={event!r} is none of {EVENTS}")
    with _last_entries(Path(path)) as (f, entries):
        return _write(f, entries, event, arm, replicate, fields)


def repair(path: Path) -> None:
    """Move a half-written last line away, as `append` does; nothing where there is none."""
    if Path(path).exists():
        with _last_entries(Path(path)):
            pass


@contextmanager
def _last_entries(path: Path) -> Iterator[tuple[IO[bytes], list[Entry]]]:
    """The file at its end, for this process alone, and its entries; a torn line is repaired."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        raw = f.read()
        whole, torn = raw[: raw.rfind(b"\n") + 1], raw[raw.rfind(b"\n") + 1 :]
        entries = _parse(whole, path)
        if torn:
            with path.with_name(path.name + ".torn").open("ab") as t:
                t.write(torn + b"\n")
            f.truncate(len(whole))
            entries.append(_write(f, entries, "repaired", "", 0, {"bytes": len(torn)}))
        yield f, entries


def _write(
    f: IO[bytes], entries: list[Entry], event: str, arm: str, replicate: int, fields: dict
) -> Entry:
    line = {
        "seq": len(entries) + 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "event": event,
        "arm": arm,
        "replicate": replicate,
        "fields": fields,
        "prev": entries[-1].hash if entries else START,
    }
    line["hash"] = _hash(line)
    f.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    f.flush()
    os.fsync(f.fileno())
    return Entry(line["seq"], line["time"], event, arm, replicate, fields, line["hash"])
