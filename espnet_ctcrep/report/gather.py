"""Run-level scores ordered by arm, endpoint and replicate, with what is lost said."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from espnet_ctcrep.scoring.tables import RunScore
from espnet_ctcrep.utils.errors import InputError

__all__ = ["MACRO", "PRIMARY", "WORST", "Arm", "Endpoint", "Run", "gather"]

MACRO, WORST = "macro_cer", "worst_cer"
PRIMARY = (MACRO, WORST)
STATUSES = ("ok", "failed", "missing", "diverged")


@dataclass(frozen=True)
class Run:
    """One training run: its CER (percent) by language, and why a language has none.

    lost: language -> failed, missing or diverged (without a value).
    diverged: languages at or above the divergence threshold, or marked so.
    """

    replicate: int
    seed: int | None
    cer: dict[str, float]
    lost: dict[str, str]
    diverged: tuple[str, ...]

    @property
    def status(self) -> str:
        """diverged, failed or missing if any language is, in this order; else ok."""
        states = {*self.lost.values(), *(["diverged"] if self.diverged else [])}
        return next((s for s in ("diverged", "failed", "missing") if s in states), "ok")


@dataclass(frozen=True)
class Endpoint:
    """One endpoint of one arm, by replicate.

    scores: CER in percent. lost: replicate -> (status, languages without a CER).
    diverged: replicates that diverged, with a score or without.
    worst: for worst_cer, replicate -> the language that is the worst.
    """

    scores: dict[int, float]
    lost: dict[int, tuple[str, tuple[str, ...]]]
    diverged: tuple[int, ...]
    worst: dict[int, str]

    @property
    def unscored_divergence(self) -> tuple[int, ...]:
        return tuple(r for r, (status, _) in self.lost.items() if status == "diverged")


@dataclass(frozen=True)
class Arm:
    """All runs of one arm and its endpoints: the languages, then macro_cer and worst_cer."""

    runs: tuple[Run, ...]
    endpoints: dict[str, Endpoint]

    @property
    def repeated_seeds(self) -> dict[int, list[int]]:
        """seed -> replicates, for each seed that more than one replicate used."""
        users: dict[int, list[int]] = {}
        for run in self.runs:
            if run.seed is not None:
                users.setdefault(run.seed, []).append(run.replicate)
        return {seed: ids for seed, ids in users.items() if len(ids) > 1}


def gather(
    scores: Sequence[RunScore], languages: Sequence[str], divergence_cer: float, worst: str
) -> dict[str, Arm]:
    """Order run-level scores: arm -> Arm, in the order in which the arms first occur.

    languages: the planned ones; a replicate without a row for one of them lacks it ('missing').
    divergence_cer: percent. worst: max_per_replicate, or the language fixed as the worst one.
    macro_cer is the unweighted mean over the planned languages, within a replicate; a replicate
    that lacks any language has neither macro_cer nor worst_cer.
    Raises InputError for a repeated (arm, replicate, language), an unknown status, a negative CER
    and two seeds for one run.
    """
    cells: dict[str, dict[int, dict[str, RunScore]]] = {}
    for score in scores:
        where = f"arm={score.arm}, replicate={score.replicate}, language={score.language}"
        if score.status not in STATUSES:
            raise InputError(f"{where}: status={score.status}; use one of {', '.join(STATUSES)}")
        if score.cer is not None and score.cer < 0:
            raise InputError(f"{where}: cer={score.cer} is negative; CER is a percentage")
        run = cells.setdefault(score.arm, {}).setdefault(score.replicate, {})
        if score.language in run:
            raise InputError(f"{where} occurs twice; keep one row, one run is one replicate")
        run[score.language] = score
    return {
        arm: _arm(arm, replicates, languages, divergence_cer, worst)
        for arm, replicates in cells.items()
    }


def _arm(
    name: str,
    replicates: dict[int, dict[str, RunScore]],
    languages: Sequence[str],
    divergence_cer: float,
    worst: str,
) -> Arm:
    runs = tuple(
        _run(name, replicate, replicates[replicate], languages, divergence_cer)
        for replicate in sorted(replicates)
    )
    endpoints = {language: _language(runs, language) for language in languages}
    endpoints[MACRO] = _whole(runs, lambda run: sum(run.cer.values()) / len(run.cer))
    if worst == "max_per_replicate":
        named = {run.replicate: max(run.cer, key=run.cer.get) for run in runs if not run.lost}
        endpoints[WORST] = _whole(runs, lambda run: max(run.cer.values()), named)
    else:
        endpoints[WORST] = endpoints[worst]
    return Arm(runs, endpoints)


def _run(
    arm: str,
    replicate: int,
    rows: dict[str, RunScore],
    languages: Sequence[str],
    divergence_cer: float,
) -> Run:
    seeds = sorted({row.seed for row in rows.values() if row.seed is not None})
    if len(seeds) > 1:
        raise InputError(
            f"arm={arm}, replicate={replicate} has the seeds {', '.join(map(str, seeds))}; "
            "one run has one seed"
        )
    cer: dict[str, float] = {}
    lost: dict[str, str] = {}
    diverged: list[str] = []
    for language in languages:
        row = rows.get(language)
        if row is None or row.status in ("failed", "missing"):
            lost[language] = "missing" if row is None else row.status
        elif row.cer is None:
            lost[language] = "diverged" if row.status == "diverged" else "missing"
        elif not math.isfinite(row.cer):
            lost[language] = "diverged"
        else:
            cer[language] = float(row.cer)
            if row.status == "diverged" or row.cer >= divergence_cer:
                diverged.append(language)
        if lost.get(language) == "diverged":
            diverged.append(language)
    return Run(replicate, seeds[0] if seeds else None, cer, lost, tuple(diverged))


def _language(runs: Sequence[Run], language: str) -> Endpoint:
    return Endpoint(
        scores={run.replicate: run.cer[language] for run in runs if language in run.cer},
        lost={
            run.replicate: (run.lost[language], (language,)) for run in runs if language in run.lost
        },
        diverged=tuple(run.replicate for run in runs if language in run.diverged),
        worst={},
    )


def _whole(runs: Sequence[Run], reduce, worst: dict[int, str] | None = None) -> Endpoint:
    lost = {}
    for run in runs:
        if run.lost:
            states = run.lost.values()
            status = next(s for s in ("diverged", "failed", "missing") if s in states)
            lost[run.replicate] = (status, tuple(run.lost))
    return Endpoint(
        scores={run.replicate: reduce(run) for run in runs if not run.lost},
        lost=lost,
        diverged=tuple(run.replicate for run in runs if run.diverged),
        worst=worst or {},
    )
