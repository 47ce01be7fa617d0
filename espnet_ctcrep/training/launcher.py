"""The launcher: the interpreter, except that `-m espnet2.bin.asr_train` runs our task.

ESPnet's asr.sh starts every Python program as `${python} -m module`. With
`--python "python3 -m espnet_ctcrep"` each of them comes through here, and all but ASR training
are handed to the interpreter as they stand.
"""

import os
import sys

from espnet_ctcrep.utils.errors import InputError

__all__ = ["main"]

TRAIN_MODULE = "espnet2.bin.asr_train"
# interpreter options that take their value from the next argument
OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def split_interpreter_options(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split `-u -X utf8 -m module args` into interpreter options and the rest."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-m", "-c", "-"):
        at += 2 if argv[at] in OPTIONS_WITH_VALUE else 1
    return argv[:at], argv[at:]


def main(argv: list[str]) -> int:
    """Run what `python argv…` would run; return the exit status where we did not exec."""
    options, rest = split_interpreter_options(argv)
    if rest[:2] != ["-m", TRAIN_MODULE]:
        os.execv(sys.executable, [sys.executable, *argv])
    if options:  # they act on an interpreter that starts, so start one that comes back here
        os.execv(sys.executable, [sys.executable, *options, "-m", "espnet_ctcrep", *rest])

    from espnet_ctcrep.training.task import ReproASRTask

    # ESPnet logs sys.argv as the command that was given.
    sys.argv = [TRAIN_MODULE, *rest[2:]]
    try:
        ReproASRTask.main(cmd=rest[2:])
    except InputError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0
