"""One step of one run as a job: one owner, a ledger line for what became of it."""

import fcntl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.runs import Run, done_marker, ledger_path
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

__all__ = ["run_job"]


@contextmanager
def owned(run_dir: Path) -> Iterator[None]:
    """Hold the run for this process; the system lets go of it when the process ends."""
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / ".owner").open("a") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process is working on {run_dir}; wait for it or stop it"
            ) from None
        yield


def run_job(plan_dir: Path, run: Run, step: str, decoded: str, command: Sequence[str]) -> int:
    """Run `command` for one step of one run and record it.

    Args:
        plan_dir: the plan's directory.
        run: the run.
        step: `train` or `decode`.
        decoded: directory of the hypotheses inside the run.
        command: what to execute; its output goes where ours goes.

    Returns:
        The command's exit status.

    Raises:
        InputError: another process works on this run.
    """
    path = ledger_path(plan_dir)
    with owned(run.dir):
        if step == "train":
            event = "resumed" if (run.dir / "checkpoint.pth").exists() else "launched"
            ledger.append(path, event, run.arm, run.replicate, streams=vars(run.streams))
        status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        if status:
            ledger.append(path, "failed", run.arm, run.replicate, step=step, exit_status=status)
        else:
            write_text(done_marker(run, step, decoded), "")
    return status
