"""What a plan came to: its scores, a count of its runs, and what may be claimed of them."""

from pathlib import Path

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.lock import lock_time, read_lock
from espnet_ctcrep.plans.plan import Plan
from espnet_ctcrep.plans.runs import Run, ledger_path, planned_runs
from espnet_ctcrep.scoring.tables import RunScore, read_scores
from espnet_ctcrep.utils.errors import InputError

__all__ = ["PlanResult", "collect"]

CONFIRMATORY_REPLICATES = 3


class PlanResult:
    """Scores, counts and label of a frozen plan.

    Attributes:
        plan: as it was fixed.
        scores: a row for every planned run and language, also where there is no score.
        counts: runs planned, finished, diverged, failed, missing, unplanned.
        label: confirmatory, exploratory or pilot, decided from lock and ledger.
        reasons: why it is not confirmatory; empty if it is.
    """

    def __init__(self, plan_dir: Path):
        self.plan: Plan = read_lock(plan_dir)
        entries = ledger.read(ledger_path(plan_dir))
        runs = planned_runs(self.plan, plan_dir)
        last = {(e.arm, e.replicate): e.event for e in entries if e.event != "repaired"}
        self.scores: list[RunScore] = []
        states: list[str] = []
        for run in runs:
            state = self._state(run, last.get((run.arm, run.replicate)))
            states.append(state)
            self.scores += self._rows(run, state)
        planned = {(run.arm, run.replicate) for run in runs}
        unplanned = _run_directories(plan_dir) | set(last)
        self.counts = {
            "planned": len(runs),
            "finished": sum(s in ("finished", "diverged") for s in states),
            **{s: states.count(s) for s in ("diverged", "failed", "missing")},
            "unplanned": len(unplanned - planned),
        }
        self.reasons = self._reasons(entries, lock_time(plan_dir))
        if self.plan.replicates < CONFIRMATORY_REPLICATES:
            self.label = "pilot"
        else:
            self.label = "exploratory" if self.reasons else "confirmatory"

    def _state(self, run: Run, event: str | None) -> str:
        """finished, diverged, failed or missing; scores without a ledger line do not count."""
        if event in ("finished", "diverged") and (run.dir / "scores.csv").exists():
            return event
        return "failed" if event == "failed" else "missing"

    def _rows(self, run: Run, state: str) -> list[RunScore]:
        seed = run.streams.init
        found = {}
        if state in ("finished", "diverged"):
            for row in read_scores(run.dir / "scores.csv"):
                if (row.arm, row.replicate) != (run.arm, run.replicate):
                    raise InputError(
                        f"{run.dir / 'scores.csv'} is of {row.arm}/r{row.replicate}; score again"
                    )
                found[row.language] = row
        lost = "failed" if state == "failed" else "missing"
        return [
            found.get(language)
            or RunScore(run.arm, run.replicate, language, status=lost, seed=seed)
            for language in self.plan.languages
        ]

    def _reasons(self, entries: list[ledger.Entry], frozen: str) -> list[str]:
        reasons = []
        if self.plan.replicates < CONFIRMATORY_REPLICATES:
            reasons.append(
                f"{self.plan.replicates} replicates an arm are planned;"
                f" fewer than {CONFIRMATORY_REPLICATES} are a pilot"
            )
        if early := [e for e in entries if e.event == "launched" and e.time < frozen]:
            reasons.append(f"{len(early)} runs were launched before the plan was frozen")
        for state in ("failed", "missing"):
            if self.counts[state]:
                reasons.append(f"{self.counts[state]} planned runs are {state}")
        if self.counts["unplanned"]:
            reasons.append(f"{self.counts['unplanned']} runs were not planned")
        ends = [(e.arm, e.replicate) for e in entries if e.event in ("finished", "diverged")]
        if again := {end for end in ends if ends.count(end) > 1}:
            reasons.append(f"{len(again)} runs were scored more than once")
        starts = [(e.arm, e.replicate) for e in entries if e.event == "launched"]
        if again := {start for start in starts if starts.count(start) > 1}:
            reasons.append(f"{len(again)} runs were launched from the start more than once")
        return reasons


def _run_directories(plan_dir: Path) -> set[tuple[str, int]]:
    """Runs that have a directory, planned or not."""
    return {
        (path.parent.name, int(path.name[1:]))
        for path in Path(plan_dir).glob("*/r*")
        if path.is_dir() and path.name[1:].isdigit()
    }


def collect(plan_dir: Path) -> PlanResult:
    """Read everything that a report of this plan needs.

    Raises:
        InputError: no lock, a lock or ledger that was changed, scores that cannot be read.
    """
    return PlanResult(Path(plan_dir))
