"""Running what is left of a plan as one job array of ESPnet's, with progress."""

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from espnet_ctcrep.plans.lock import read_lock
from espnet_ctcrep.plans.runs import Run, done_marker, planned_runs, progress
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

__all__ = ["run_array"]

STAGES = {"train": "11", "decode": "12"}
POLL_SECONDS = 1.0
# Between two lines of progress at least this much time passes, whatever changes.
LINE_SECONDS = 10.0


class Step:
    """One step of a plan's runs: which are to do, which are done, how far the others are."""

    def __init__(self, plan_dir: Path, name: str, decoded: str):
        self.plan_dir, self.name, self.decoded = plan_dir, name, decoded
        self.all = planned_runs(read_lock(plan_dir), plan_dir)
        self.todo = [run for run in self.all if not self.is_done(run)]

    def is_done(self, run: Run) -> bool:
        return done_marker(run, self.name, self.decoded).exists()

    def check_order(self) -> None:
        """Decoding needs trained runs."""
        if self.name == "decode":
            lacking = [r.name for r in self.todo if not done_marker(r, "train", "").exists()]
            if lacking:
                raise InputError(
                    f"{', '.join(lacking)} of {self.plan_dir} are not trained;"
                    " run with --stage 11 first"
                )

    def write_scripts(self, jobs_dir: Path, command: Sequence[str]) -> None:
        """One shell script a run, `<step>.<n>.sh`, that a person can read and start alone."""
        stage = STAGES[self.name]
        for n, run in enumerate(self.todo, 1):
            this = ["--arm", run.arm, "--replicate", str(run.replicate)]
            job = ["ctcrep", "job", "--step", self.name, "--decoded", self.decoded, *this]
            recipe = [*command, "--stage", stage, "--stop_stage", stage, *this]
            words = [*job, str(self.plan_dir), *recipe]
            write_text(jobs_dir / f"{self.name}.{n}.sh", f"exec {shlex.join(words)}\n")

    def fraction(self, run: Run) -> float:
        """How much of the step is done for this run, from 0 to 1."""
        if self.is_done(run):
            return 1.0
        at = progress(run) if self.name == "train" else None
        return 0.0 if at is None else (at.epoch - 1) / at.max_epoch

    def describe(self, before: float, started: float) -> str:
        """A line such as `train: 2 of 6 runs done; run 3 (base/r1) epoch 7 of 13; 3 min left`.

        Args:
            before: sum of the fractions when this call began.
            started: when it began, by the monotonic clock.
        """
        parts = [f"{self.name}: {sum(map(self.is_done, self.all))} of {len(self.all)} runs done"]
        for number, run in enumerate(self.all, 1):
            at = progress(run) if self.name == "train" and not self.is_done(run) else None
            if at is not None:
                parts.append(f"run {number} ({run.name}) epoch {at.epoch} of {at.max_epoch}")
        done = sum(map(self.fraction, self.todo))
        if done > before:
            pace = (time.monotonic() - started) / (done - before)
            parts.append(f"about {max(1, round(pace * (len(self.todo) - done) / 60))} min left")
        return "; ".join(parts)


def run_array(
    plan_dir: Path,
    step_name: str,
    array_command: str,
    command: Sequence[str],
    max_jobs: int,
    decoded: str,
    say: Callable[[str], None],
) -> int:
    """Do one step for every run that lacks it, through `${cuda_cmd} JOB=1:N`.

    Args:
        plan_dir: the plan's directory; scripts and logs go to its `jobs/`.
        step_name: `train` or `decode`.
        array_command: ESPnet's `run.pl`, `slurm.pl` or their like, with options.
        command: the recipe's command; stage, arm and replicate are appended to it.
        max_jobs: how many run side by side.
        decoded: directory of the hypotheses inside a run.
        say: prints one line.

    Returns:
        How many runs did not come to their end.

    Raises:
        InputError: runs that are to be decoded are not trained.
        KeyboardInterrupt: after the jobs were stopped.
    """
    step = Step(plan_dir, step_name, decoded)
    if not step.todo:
        say(f"{step_name}: all {len(step.all)} runs are done")
        return 0
    step.check_order()
    jobs_dir = plan_dir / "jobs"
    step.write_scripts(jobs_dir, command)
    array = subprocess.Popen(
        [
            *shlex.split(array_command),
            *("--max-jobs-run", str(max_jobs), f"JOB=1:{len(step.todo)}"),
            *(f"{jobs_dir}/{step_name}.JOB.log", "bash", f"{jobs_dir}/{step_name}.JOB.sh"),
        ],
        # run.pl can wait on standard input after a failure, so it gets none.
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = said = time.monotonic()
    before = sum(map(step.fraction, step.todo))
    last = step.describe(before, started)
    say(last)
    try:
        while array.poll() is None:
            time.sleep(POLL_SECONDS)
            if time.monotonic() - said >= LINE_SECONDS:
                line, said = step.describe(before, started), time.monotonic()
                if line != last:
                    say(line)
                    last = line
    except KeyboardInterrupt:
        array.terminate()
        array.wait()
        say("stopped; the same command goes on from here")
        raise
    failed = [run for run in step.todo if not step.is_done(run)]
    say(f"{step_name}: {len(step.all) - len(failed)} of {len(step.all)} runs done")
    for run in failed:
        log = jobs_dir / f"{step_name}.{step.todo.index(run) + 1}.log"
        say(f"{step_name} of {run.name} did not come to its end; see {log}")
    return len(failed)
