"""Long commands run with their output in a log and one line of progress on the terminal."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

__all__ = ["SetupError", "run_logged"]

# What pip prints when it has to give up on a package, the most telling first.
GIVEN_UP = (
    re.compile(r"No matching distribution found for (\S+)"),
    re.compile(r"[Ff]ailed (?:to build|building wheel for) '?([\w.-]+)"),
    re.compile(r"Cannot install (\S+)"),
)
BEGUN = re.compile(r"^\s*(?:Collecting|Obtaining|Downloading|Building wheel for) (\S+)", re.MULTILINE)
STEP = re.compile(r"^\s*(Collecting|Downloading|Building|Installing|Unpacking)\b.*", re.MULTILINE)
SECONDS_BETWEEN_LINES = 20.0  # where the output is no terminal


class SetupError(Exception):
    """What is wrong; what to do. Printed alone."""


def run_logged(title: str, command: Sequence[str], log: Path, lock: IO[str]) -> None:
    """Run `command`, append what it prints to `log`, and show that it goes on.

    The child inherits `lock`. Raises SetupError with the package that could not be had, as far as
    pip said so, and the last lines.
    """
    began = time.monotonic()
    with log.open("a", encoding="utf-8", errors="replace") as out:
        print(f"\n$ {' '.join(command)}", file=out, flush=True)
        start = out.tell()
        child = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=clean_environment(),
            pass_fds=[lock.fileno()],
        )
        try:
            watch(child, title, log, start, began)
        except KeyboardInterrupt:
            child.terminate()
            child.wait()
            raise
    printed = text_after(log, start)
    if child.returncode != 0:
        last = "\n".join(f"  {line}" for line in printed.strip().splitlines()[-6:])
        raise SetupError(
            f"{title} failed: {reason(printed, child.returncode)}; check the network and the disk, "
            f"then run scripts/setup.sh again (all of the output: {log})\n{last}"
        )
    print(f"{title}: done in {time.monotonic() - began:.0f} s", flush=True)


def clean_environment() -> dict[str, str]:
    """The caller's variables without those that would send packages elsewhere."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_QUIET"}
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    # a user's pip.conf may say `user = true`, which fails in an environment
    return kept | {"PYTHONUNBUFFERED": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0"}


def watch(child: subprocess.Popen, title: str, log: Path, start: int, began: float) -> None:
    """Wait for `child`; meanwhile show the time passed and pip's latest step."""
    live = sys.stdout.isatty()
    print(title, end="" if live else " …\n", flush=True)
    shown = began
    while True:
        try:
            child.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if live or now - shown >= SECONDS_BETWEEN_LINES:
                shown = now
                steps = list(STEP.finditer(text_after(log, start)))
                step = steps[-1].group().strip() if steps else ""
                line = f"{title}: {now - began:.0f} s  {step}"
                line = line[: shutil.get_terminal_size().columns - 1]
                print(f"\r\033[K{line}" if live else line, end="" if live else "\n", flush=True)
        else:
            break
    if live:
        print("\r\033[K", end="")


def text_after(log: Path, start: int) -> str:
    """What `log` holds after its first `start` bytes."""
    with log.open("rb") as f:
        f.seek(start)
        return f.read().decode("utf-8", errors="replace")


def reason(printed: str, status: int) -> str:
    """The package that could not be had, from pip's output."""
    if "No space left on device" in printed:
        return "the disk is full"
    for pattern in GIVEN_UP:
        if found := pattern.findall(printed):
            return f"could not get {found[-1].rstrip(',')}"
    if begun := BEGUN.findall(printed):
        return f"could not get {begun[-1]}"
    return f"it ended with status {status}"
