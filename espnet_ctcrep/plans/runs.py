"""Run directories: where the runs of a plan are, and how far each has come."""

import re
from dataclasses import dataclass
from pathlib import Path

from espnet_ctcrep.determinism.streams import Streams, spawn_streams
from espnet_ctcrep.plans.plan import Plan
from espnet_ctcrep.utils.errors import InputError

__all__ = [
    "Progress",
    "Run",
    "done_marker",
    "find_run",
    "ledger_path",
    "planned_runs",
    "progress",
]

EPOCH_STARTED = re.compile(r"(\d+)/(\d+)epoch started")


@dataclass(frozen=True)
class Run:
    """One planned run: an arm, a replicate, its seeds and its directory."""

    arm: str
    replicate: int
    streams: Streams
    dir: Path

    @property
    def name(self) -> str:
        return f"{self.arm}/r{self.replicate}"


@dataclass(frozen=True)
class Progress:
    """The epoch that a run is in, of how many."""

    epoch: int
    max_epoch: int


def ledger_path(plan_dir: Path) -> Path:
    return Path(plan_dir) / "ledger.jsonl"


def planned_runs(plan: Plan, plan_dir: Path) -> list[Run]:
    """All runs of a plan; replicate 0 of every arm first, so that arms fill up together."""
    return [
        Run(arm, k, spawn_streams(plan.root_seed, k), Path(plan_dir) / arm / f"r{k}")
        for k in range(plan.replicates)
        for arm in plan.arms
    ]


def find_run(plan: Plan, plan_dir: Path, arm: str, replicate: int) -> Run:
    """The planned run of this arm and replicate.

    Raises:
        InputError: the plan has no such run.
    """
    for run in planned_runs(plan, plan_dir):
        if (run.arm, run.replicate) == (arm, replicate):
            return run
    raise InputError(
        f"plan {plan.name} has no run {arm}/r{replicate};"
        f" its arms are {', '.join(plan.arms)}, its replicates 0 to {plan.replicates - 1}"
    )


def done_marker(run: Run, step: str, decoded: str) -> Path:
    """The file that a job writes when a step (`train` or `decode`) came to its end."""
    return run.dir / "train.done" if step == "train" else run.dir / decoded / ".done"


def progress(run: Run) -> Progress | None:
    """How far training is by ESPnet's own log, or None before the first epoch."""
    try:
        log = (run.dir / "train.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = EPOCH_STARTED.findall(log)
    return Progress(int(found[-1][0]), int(found[-1][1])) if found else None
