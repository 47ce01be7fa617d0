"""Running what is left of a plan as one job array of ESPnet's, with progress."""

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from espnet_ctcrep.plans.runs import Run, is_done, progress

from espnet_ctcrep.utils.files import write_text

__all__ = ["run_array"]

POLL_SECONDS = 1.0
# Between two lines of progress at least this much time passes, whatever changes.
LINE_SECONDS = 10.0


def job_scripts(
    jobs_dir: Path, step: str, runs: Sequence[Run], plan_dir: Path, command: Sequence[str]
) -> None:
    """Write one shell script a run, `<step>.<n>.sh`, which a person can read and start alone."""
    for n, run in enumerate(runs, 1):
        stage = {"train": "11", "decode": "12"}[step]
        words = [
            *("ctcrep", "job", str(plan_dir), "--arm", run.arm, "--replicate", str(run.replicate)),
            *("--step", step, "--", *command),
            *("--stage", stage, "--stop_stage", stage),
            *("--arm", run.arm, "--replicate", str(run.replicate)),
        ]
        write_text(jobs_dir / f"{step}.{n}.sh", "exec " + shlex.join(words) + "\n")


def describe(step: str, runs: Sequence[Run], done: int, started: float) -> str:
    """A line such as `train: 2 of 6 done; baseline/r1 epoch 7 of 13; about 3 min left`."""
    parts = [f"{step}: {done} of {len(runs)} done"]
    if step == "train":
        fractions = 0.0
        for run in runs:
            at = progress(run)
            if is_done(run, step):
                fractions += 1
            elif at is not None:
                parts.append(f"{run.arm}/r{run.replicate} epoch {at.epoch} of {at.max_epoch}")
                fractions += (at.epoch - 1) / at.max_epoch
    else:
        fractions = float(done)
    if fractions > 0:
        left = (time.monotonic() - started) * (len(runs) - fractions) / fractions
        parts.append(f"about {max(1, round(left / 60))} min left")
    return "; ".join(parts)


def run_array(
    plan_dir: Path,
    step: str,
    runs: Sequence[Run],
    array_command: str,
    command: Sequence[str],
    max_jobs: int,
    say: Callable[[str], None],
) -> list[Run]:
    """Run one step for `runs` through `${cuda_cmd} JOB=1:N` and report as it goes.

    Args:
        plan_dir: the plan's directory; scripts and logs go to its `jobs/`.
        step: `train` or `decode`.
        runs: what is left to do.
        array_command: ESPnet's `run.pl`, `slurm.pl` or their like, with options.
        command: the recipe's command; the run's arm and replicate are appended to it.
        max_jobs: how many run side by side.
        say: prints one line.

    Returns:
        The runs that did not come to an end.
    """
    jobs_dir = plan_dir / "jobs"
    job_scripts(jobs_dir, step, runs, plan_dir, command)
    # run.pl can wait on standard input after a failure, so it gets none.
    array = subprocess.Popen(
        [
            *shlex.split(array_command),
            *("--max-jobs-run", str(max_jobs), f"JOB=1:{len(runs)}"),
            *(f"{jobs_dir}/{step}.JOB.log", "bash", f"{jobs_dir}/{step}.JOB.sh"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = said = time.monotonic()
    last = ""
    try:
        while array.poll() is None:
            time.sleep(POLL_SECONDS)
            line = describe(step, runs, sum(is_done(run, step) for run in runs), started)
            if line != last and time.monotonic() - said >= LINE_SECONDS:
                say(line)
                last, said = line, time.monotonic()
    except KeyboardInterrupt:
        array.terminate()
        array.wait()
        say("stopped; the same command goes on from here")
        sys.exit(130)
    left = [run for run in runs if not is_done(run, step)]
    say(f"{step}: {len(runs) - len(left)} of {len(runs)} done")
    for run in left:
        log = jobs_dir / f"{step}.{runs.index(run) + 1}.log"
        say(f"{step} of {run.arm}/r{run.replicate} failed; its log is {log}")
    return left
