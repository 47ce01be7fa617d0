"""What a plan came to: its scores, a count of its runs, and what may be claimed of them."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.lock import lock_time, read_lock
from espnet_ctcrep.plans.plan import Plan
from espnet_ctcrep.plans.runs import Run, ledger_path, planned_runs
from espnet_ctcrep.scoring.tables import RunScore, read_scores
from espnet_ctcrep.utils.errors import InputError

__all__ = ["PlanResult", "collect"]

CONFIRMATORY_REPLICATES = 3
SCORED = ("finished", "diverged")


@dataclass(frozen=True)
class PlanResult:
    """Scores, counts and label of a frozen plan.

    Attributes:
        plan: as it was fixed.
        scores: a row for every planned run and language, also where there is no score.
        counts: runs planned, finished, diverged, failed, missing, unplanned; the finished ones
            include those that diverged.
        label: confirmatory, exploratory or pilot, decided from lock and ledger.
        reasons: why it is not confirmatory; empty if it is.
    """

    plan: Plan
    scores: list[RunScore]
    counts: dict[str, int]
    label: str
    reasons: list[str]


def collect(plan_dir: Path) -> PlanResult:
    """Read everything that a report of this plan needs.

    Raises:
        InputError: no lock, a lock or ledger that was changed, scores that cannot be read.
    """
    plan_dir = Path(plan_dir)
    plan = read_lock(plan_dir)
    entries = ledger.read(ledger_path(plan_dir))
    last = {(e.arm, e.replicate): e for e in entries if e.event != "repaired"}
    runs = planned_runs(plan, plan_dir)
    scores: list[RunScore] = []
    states: Counter[str] = Counter()
    changed = 0
    for run in runs:
        entry = last.get((run.arm, run.replicate))
        state = _state(run, entry)
        rows = _rows(run, state, plan)
        if state in SCORED:
            # A number in the report is one that the ledger recorded when it was made.
            recorded = entry.fields.get("cer", {})
            changed += any(row.cer != recorded.get(row.language) for row in rows)
        states[state] += 1
        scores += rows
    unplanned = (_run_directories(plan_dir) | set(last)) - {(r.arm, r.replicate) for r in runs}
    counts = {
        "planned": len(runs),
        "finished": sum(states[s] for s in SCORED),
        **{s: states[s] for s in ("diverged", "failed", "missing")},
        "unplanned": len(unplanned),
    }
    few = plan.replicates < CONFIRMATORY_REPLICATES
    reasons = [
        f"{plan.replicates} replicates an arm are planned;"
        f" fewer than {CONFIRMATORY_REPLICATES} are a pilot"
    ] * few
    reasons += [f"{n} planned runs are {s}" for s in ("failed", "missing") if (n := states[s])]
    if unplanned:
        reasons.append(f"{len(unplanned)} runs were not planned")
    if changed:
        reasons.append(f"scores.csv of {changed} runs is not what the ledger recorded")
    reasons += _irregular(entries, lock_time(plan_dir))
    label = "pilot" if few else "exploratory" if reasons else "confirmatory"
    return PlanResult(plan, scores, counts, label, reasons)


def _state(run: Run, entry: ledger.Entry | None) -> str:
    """finished, diverged, failed or missing; scores without a ledger line do not count."""
    if entry is None:
        return "missing"
    if entry.event in SCORED and (run.dir / "scores.csv").exists():
        return entry.event
    return "failed" if entry.event == "failed" else "missing"


def _rows(run: Run, state: str, plan: Plan) -> list[RunScore]:
    """A row for each planned language; diverged ones by the plan's rule."""
    found = {}
    if state in SCORED:
        for row in read_scores(run.dir / "scores.csv"):
            if (row.arm, row.replicate) != (run.arm, run.replicate):
                raise InputError(
                    f"{run.dir / 'scores.csv'} is of {row.arm}/r{row.replicate}; score again"
                )
            diverged = row.cer is not None and row.cer >= plan.divergence_cer_at_least
            found[row.language] = replace(row, status="diverged") if diverged else row
    lost = "failed" if state == "failed" else "missing"
    seed = run.streams.init
    return [
        found.get(language) or RunScore(run.arm, run.replicate, language, status=lost, seed=seed)
        for language in plan.languages
    ]


def _irregular(entries: list[ledger.Entry], frozen: str) -> list[str]:
    """What the order of the ledger's lines takes from the claim of a plan made beforehand."""
    early, unlaunched, relaunched, rescored = set(), set(), set(), set()
    launched, scored = set(), set()
    for e in entries:
        run = (e.arm, e.replicate)
        if e.event == "launched":
            launched.add(run)
            if e.time < frozen:
                early.add(run)
            # A launch after a failure repeats the same seeds; after a score it is a choice.
            if run in scored:
                relaunched.add(run)
        elif e.event in SCORED:
            if run not in launched:
                unlaunched.add(run)
            if run in scored:
                rescored.add(run)
            scored.add(run)
    return [
        f"{len(found)} runs {what}"
        for found, what in (
            (early, "were launched before the plan was frozen"),
            (unlaunched, "were scored but never launched by the plan"),
            (relaunched, "were launched again after they had been scored"),
            (rescored, "were scored more than once, with another text or definition"),
        )
        if found
    ]


def _run_directories(plan_dir: Path) -> set[tuple[str, int]]:
    """Runs that have a directory, planned or not."""
    return {
        (path.parent.name, int(path.name[1:]))
        for path in plan_dir.glob("*/r*")
        if path.is_dir() and path.name[1:].isdecimal()
    }
