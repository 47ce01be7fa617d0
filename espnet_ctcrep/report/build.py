"""The content of report.json from run-level scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from espnet_ctcrep import __version__
from espnet_ctcrep.report.compare import Versus, divergence_rate, judgements, tests
from espnet_ctcrep.report.gather import MACRO, PRIMARY, WORST, Arm, Endpoint, gather
from espnet_ctcrep.report.methods import methods
from espnet_ctcrep.report.verdict import POWER
from espnet_ctcrep.scoring.tables import RunScore
from espnet_ctcrep.stats.arms import mean_interval, sd_interval, summarise
from espnet_ctcrep.utils.errors import InputError

__all__ = ["SCHEMA", "ReportSpec", "build_report"]

SCHEMA = 1
LABELS = ("confirmatory", "exploratory", "pilot")
LEDGER = ("planned", "finished", "diverged", "failed", "missing", "unplanned")


@dataclass(frozen=True)
class ReportSpec:
    """What is compared and how it is judged.

    languages: the planned ones, None for all that the scores hold.
    smallest_gain, divergence_cer: CER points and CER in percent.
    worst: max_per_replicate, or the language that the plan names as the worst one.
    label: confirmatory, exploratory or pilot; label_reasons say why.
    ledger: number of runs planned, finished, diverged, failed, missing, unplanned; None without
    a plan.
    repeats: the runs of an arm repeat one seed, so that they are no sample of seeds.
    Raises InputError for an argument that makes no sense.
    """

    title: str
    baseline: str
    candidates: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    alpha: float = 0.05
    smallest_gain: float | None = None
    worst: str = "max_per_replicate"
    divergence_cer: float = 100.0
    label: str = "exploratory"
    label_reasons: tuple[str, ...] = ()
    ledger: dict[str, int] | None = None
    cer_definition: str = "100 · edits / reference characters, summed over the test set"
    repeats: bool = False

    def __post_init__(self) -> None:
        if not self.candidates:
            raise InputError("candidates is empty; name at least one arm beside the baseline")
        if self.baseline in self.candidates:
            raise InputError(f"baseline={self.baseline} is also a candidate; name another arm")
        for name, values in (("candidates", self.candidates), ("languages", self.languages or ())):
            if len(set(values)) < len(values):
                raise InputError(f"{name}={','.join(values)} holds a name twice; name each once")
        if self.languages is not None and not self.languages:
            raise InputError("languages is empty; name at least one, or leave it out for all")
        if not 0 < self.alpha < 0.5:
            raise InputError(f"alpha={self.alpha} is outside (0, 0.5); 0.05 is usual")
        if self.smallest_gain is not None and not 0 < self.smallest_gain < math.inf:
            raise InputError(f"smallest_gain={self.smallest_gain}: give CER points above 0")
        if not self.divergence_cer > 0:
            raise InputError(f"divergence_cer={self.divergence_cer}: give a CER above 0, percent")
        if self.label not in LABELS:
            raise InputError(f"label={self.label}; use one of {', '.join(LABELS)}")
        if self.ledger is not None and set(self.ledger) != set(LEDGER):
            raise InputError(f"ledger has {sorted(self.ledger)}; it needs {', '.join(LEDGER)}")


def build_report(scores: Sequence[RunScore], spec: ReportSpec) -> dict:
    """Build report.json's content, schema 1: plain dicts, lists, strings, numbers, None.

    CER in percent, lower is better; a difference is candidate minus baseline. What cannot be
    computed is None, with a reason beside it; no NaN, no infinity. The same scores in any order
    give the same report.
    Raises InputError for arms or a worst language that the scores do not hold, for repeated rows
    and for what `gather` refuses.
    """
    scores = sorted(scores, key=lambda s: (s.arm, s.replicate, s.language))
    languages = spec.languages or tuple(sorted({s.language for s in scores}))
    if clash := set(PRIMARY) & set(languages):
        raise InputError(f"language={min(clash)} is the name of an endpoint; rename the language")
    if spec.worst not in ("max_per_replicate", *languages):
        raise InputError(
            f"worst={spec.worst}; use max_per_replicate or one of {', '.join(languages)}"
        )
    found = gather(scores, languages, spec.divergence_cer, spec.worst)
    names = (spec.baseline, *spec.candidates)
    for name in names:
        if name not in found:
            raise InputError(f"arm={name} is not in the scores; they hold {', '.join(found)}")
    arms = {name: found[name] for name in names}

    tested = {}
    for name in spec.candidates:
        versus = Versus(spec.baseline, name, spec.alpha, spec.smallest_gain, spec.repeats)
        tested[versus] = tests(arms[spec.baseline], arms[name], versus)
    decimals = _decimals(arms)
    comparisons = [
        comparison
        for versus, members in tested.items()
        for comparison in judgements(
            members, (arms[versus.baseline], arms[versus.candidate]), versus, decimals
        )
    ]
    ledger = dict(spec.ledger) if spec.ledger else _ledger(arms)
    label, reasons = _label(spec, ledger)
    report = {
        "schema": SCHEMA,
        "title": spec.title,
        "label": label,
        "label_reasons": reasons,
        "ledger": ledger,
        "ledger_reason": None if spec.ledger else "no plan: counted from the scores",
        "unit": "CER in percent, lower is better",
        "direction": "difference = candidate - baseline, negative is better",
        "cer_definition": spec.cer_definition,
        "endpoints": {
            **dict.fromkeys(languages, "corpus CER of the language"),
            MACRO: "unweighted mean over the planned languages, within each replicate",
            WORST: "largest CER over the languages, within each replicate; run-to-run noise "
            "raises it above the CER of any one language"
            if spec.worst == "max_per_replicate"
            else f"CER of {spec.worst}, named as the worst language beforehand",
        },
        "baseline": spec.baseline,
        "candidates": list(spec.candidates),
        "languages": list(languages),
        "alpha": spec.alpha,
        "power": POWER,
        "smallest_gain": spec.smallest_gain,
        "worst": spec.worst,
        "divergence_cer": spec.divergence_cer,
        "repeats": spec.repeats,
        "decimals": decimals,
        "families": _families(spec, languages),
        "arms": {
            name: {
                endpoint: _summary(values, 1 - spec.alpha)
                for endpoint, values in arm.endpoints.items()
            }
            for name, arm in arms.items()
        },
        "comparisons": comparisons,
        "runs": [_run(name, run) for name, arm in arms.items() for run in arm.runs],
        "notes": _notes(scores, found, arms, languages),
        "software": {
            "espnet_ctcrep": __version__,
            **{name: metadata.version(name) for name in ("numpy", "scipy")},
        },
    }
    return _plain(report | {"methods": methods(report)})


def _decimals(arms: dict[str, Arm]) -> int:
    """Decimals of CER in text: as few, of 1 to 3, as give the smallest SD a digit."""
    found = [
        summarise(endpoint.scores.values()).sd
        for arm in arms.values()
        for endpoint in arm.endpoints.values()
    ]
    smallest = min((sd for sd in found if sd), default=1.0)
    return min(3, max(1, math.ceil(-math.log10(smallest))))


def _ledger(arms: dict[str, Arm]) -> dict[str, int | None]:
    states = [run.status for arm in arms.values() for run in arm.runs]
    return {
        "planned": None,
        "finished": sum(s in ("ok", "diverged") for s in states),
        **{name: states.count(name) for name in ("diverged", "failed", "missing")},
        "unplanned": None,
    }


def _label(spec: ReportSpec, ledger: dict[str, int | None]) -> tuple[str, list[str]]:
    """The label asked for, unless the ledger breaks it."""
    label, reasons = spec.label, list(spec.label_reasons)
    if label == "exploratory" and not reasons and spec.ledger is None:
        reasons = ["no plan was given"]
    if label == "confirmatory":
        broken = [f"{name}={ledger[name]}" for name in ("missing", "unplanned") if ledger[name]]
        if spec.ledger is None:
            broken.append("there is no ledger")
        if broken:
            label = "exploratory"
            reasons.append(f"not confirmatory: {', '.join(broken)}")
    return label, reasons


def _families(spec: ReportSpec, languages: Sequence[str]) -> list[dict]:
    note = None
    if len(spec.candidates) > 1:
        note = f"each of the {len(spec.candidates)} candidates has families of its own"
    members = {"languages": list(languages), "primary": list(PRIMARY)}
    return [
        {
            "name": name,
            "members": endpoints,
            "size": len(endpoints),
            "p": "Holm",
            "ci": "simultaneous (Bonferroni)",
            "confidence_adjusted": 1 - spec.alpha / len(endpoints),
            "note": note,
        }
        for name, endpoints in members.items()
    ]


def _summary(endpoint: Endpoint, confidence: float) -> dict:
    s = summarise(endpoint.scores.values())
    reason = None
    if s.n == 0:
        reason = "no run has a CER"
    elif s.n == 1:
        reason = "one run: no SD"
    elif s.sd == 0:
        reason = "identical scores: no interval"
    if endpoint.unscored_divergence:
        reason = "a diverged run has no CER: the figures are those of the other runs"
    return {
        "n": s.n,
        "mean": s.mean,
        "mean_ci": mean_interval(s.mean, s.sd, s.n, confidence) if s.sd else None,
        "sd": s.sd,
        "sd_ci": sd_interval(s.sd, s.n, confidence) if s.sd else None,
        "min": s.minimum,
        "max": s.maximum,
        "median": s.median,
        "iqm": s.iqm,
        "values": list(endpoint.scores.values()),
        "replicates": list(endpoint.scores),
        "diverged": divergence_rate(endpoint),
        "diverged_replicates": list(endpoint.diverged),
        "lost": [
            {"replicate": replicate, "status": status, "languages": list(languages)}
            for replicate, (status, languages) in endpoint.lost.items()
        ],
        "worst_language": list(endpoint.worst.values()),
        "reason": reason,
    }


def _run(arm: str, run) -> dict:
    return {
        "arm": arm,
        "replicate": run.replicate,
        "seed": run.seed,
        "status": run.status,
        "cer": run.cer,
        "lost": run.lost,
        "diverged": list(run.diverged),
    }


def _notes(
    scores: Sequence[RunScore],
    found: dict[str, Arm],
    arms: dict[str, Arm],
    languages: Sequence[str],
) -> list[str]:
    notes = []
    if other := [name for name in found if name not in arms]:
        notes.append(f"arms in the scores that are not compared here: {', '.join(other)}")
    if unplanned := sorted({s.language for s in scores} - set(languages)):
        notes.append(f"languages in the scores that are not planned: {', '.join(unplanned)}")
    values = [cer for arm in arms.values() for run in arm.runs for cer in run.cer.values()]
    if values and 0 < max(values) < 1.5:
        notes.append("every CER is below 1.5: are they fractions? the report takes them as percent")
    if not any(run.seed is not None for arm in arms.values() for run in arm.runs):
        notes.append("no seeds are given: runs are taken as independent replicates")
    return notes


def _plain(value):
    """Tuples as lists, so that the report equals what is read back from its JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
