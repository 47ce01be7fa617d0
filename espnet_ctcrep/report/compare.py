"""One candidate against the baseline on every endpoint: tests, families, secondary views."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from espnet_ctcrep.report.gather import PRIMARY, Arm, Endpoint
from espnet_ctcrep.report.numbers import count
from espnet_ctcrep.report.verdict import POWER, Judged, judge, not_estimable
from espnet_ctcrep.stats.arms import sd_interval
from espnet_ctcrep.stats.effect import effect_size
from espnet_ctcrep.stats.equivalence import tost
from espnet_ctcrep.stats.families import holm, simultaneous_confidence
from espnet_ctcrep.stats.paired import paired
from espnet_ctcrep.stats.power import required_n, smallest_detectable
from espnet_ctcrep.stats.rates import clopper_pearson, fisher
from espnet_ctcrep.stats.superiority import p_better
from espnet_ctcrep.stats.welch import Welch, welch

__all__ = ["Tested", "Versus", "divergence_rate", "judgements", "tests"]


@dataclass(frozen=True)
class Versus:
    """Who is compared and at which level; smallest_gain in CER points."""

    baseline: str
    candidate: str
    alpha: float
    smallest_gain: float | None
    repeats: bool


@dataclass(frozen=True)
class Tested:
    """Welch's comparison of one endpoint; `why_not` is None where it may be used."""

    endpoint: str
    arms: tuple[Endpoint, Endpoint]
    welch: Welch
    why_not: str | None


def divergence_rate(endpoint: Endpoint) -> dict:
    """k of n runs that diverged, runs without any CER for other reasons left out of n."""
    k = len(endpoint.diverged)
    n = len(endpoint.scores) + len(endpoint.unscored_divergence)
    return {"k": k, "n": n, "ci": clopper_pearson(k, n)}


def tests(baseline: Arm, candidate: Arm, versus: Versus) -> list[Tested]:
    """Welch's comparison of each endpoint, with the reason where it must not be used."""
    repeated = _repeats(baseline, candidate, versus)
    found = []
    for name, a in baseline.endpoints.items():
        b = candidate.endpoints[name]
        result = welch(a.scores.values(), b.scores.values(), 1 - versus.alpha)
        why_not = repeated or _unscored((a, b), versus) or result.reason or _copied(a, b)
        found.append(Tested(name, (a, b), result, why_not))
    return found


def judgements(
    tested: Sequence[Tested], arms: tuple[Arm, Arm], versus: Versus, decimals: int
) -> list[dict]:
    """The comparisons as they stand in report.json, in the order of `tested`."""
    families = {
        "languages": [t for t in tested if t.endpoint not in PRIMARY],
        "primary": [t for t in tested if t.endpoint in PRIMARY],
    }
    found = {}
    for family, members in families.items():
        p_values = [None if t.why_not else t.welch.p for t in members]
        for test, p_adjusted in zip(members, holm(p_values), strict=True):
            found[test.endpoint] = _comparison(
                test, arms, versus, family, len(members), p_adjusted, decimals
            )
    return [found[t.endpoint] for t in tested]


def _comparison(
    test: Tested,
    arms: tuple[Arm, Arm],
    versus: Versus,
    family: str,
    size: int,
    p_adjusted: float | None,
    decimals: int,
) -> dict:
    result, usable = test.welch, test.why_not is None
    confidence = simultaneous_confidence(versus.alpha, size)
    # The mean of the runs that happened to end well is not the mean of the arm.
    hidden = [bool(endpoint.unscored_divergence) for endpoint in test.arms]
    diff = None if any(hidden) else result.diff
    entry = {
        "endpoint": test.endpoint,
        "primary": family == "primary",
        "family": family,
        "family_size": size,
        "baseline": versus.baseline,
        "candidate": versus.candidate,
        "n": list(result.n),
        "mean": [None if h else m for h, m in zip(hidden, result.mean, strict=True)],
        "sd": [None if h else s for h, s in zip(hidden, result.sd, strict=True)],
        "diff": diff,
        "se": result.se if usable else None,
        "df": result.df if usable else None,
        "t": result.t if usable else None,
        "p": result.p if usable else None,
        "p_adjusted": p_adjusted,
        "confidence": result.confidence,
        "ci": result.ci if usable else None,
        "confidence_adjusted": confidence,
        "ci_adjusted": result.interval(confidence) if usable else None,
        **_planning(result, versus, size, usable),
        "divergence": _divergence(test),
        "converged_only": _converged_only(test, versus),
    }
    if usable:
        a, b = test.arms
        better = p_better(a.scores.values(), b.scores.values(), result.confidence)
        margin = tost(result, versus.smallest_gain) if versus.smallest_gain else None
        entry["p_better"] = asdict(better)
        entry["effect"] = asdict(effect_size(result))
        entry["equivalence"] = asdict(margin) if margin else None
        entry["paired"], entry["paired_reason"] = _paired(test, arms, result.confidence)
        verdict, reason = judge(
            Judged(
                welch=result,
                alpha=versus.alpha,
                size=size,
                p_adjusted=p_adjusted,
                ci_adjusted=entry["ci_adjusted"],
                confidence_adjusted=confidence,
                equivalence=margin,
                n_required=entry["n_required_adjusted"],
            ),
            decimals,
        )
    else:
        entry |= dict.fromkeys(("p_better", "effect", "equivalence", "paired"))
        entry["paired_reason"] = "the comparison is not estimable"
        verdict, reason = not_estimable(diff, test.why_not, decimals)
    return entry | {"verdict": verdict, "reason": reason, "notes": _notes(test, versus)}


def _planning(result: Welch, versus: Versus, size: int, usable: bool) -> dict:
    """Detectable difference and runs needed, at alpha and at the family's alpha / size.

    At the difference seen these are for planning the next experiment; they are no evidence.
    """
    keys = ("mde", "mde_adjusted", "n_required", "n_required_adjusted", "n_required_for_gain")
    if not usable:
        return dict.fromkeys(keys)
    adjusted = versus.alpha / size
    gain = None
    if versus.smallest_gain:
        upper = [
            (sd_interval(sd, n, 1 - versus.alpha) or (0.0, 0.0))[1]
            for sd, n in zip(result.sd, result.n, strict=True)
        ]
        gain = {
            "gain": versus.smallest_gain,
            "at_sd": required_n(versus.smallest_gain, *result.sd, adjusted, POWER),
            "at_upper_sd": required_n(versus.smallest_gain, *upper, adjusted, POWER),
        }
    return {
        "mde": smallest_detectable(*result.sd, *result.n, versus.alpha, POWER),
        "mde_adjusted": smallest_detectable(*result.sd, *result.n, adjusted, POWER),
        "n_required": required_n(result.diff, *result.sd, versus.alpha, POWER),
        "n_required_adjusted": required_n(result.diff, *result.sd, adjusted, POWER),
        "n_required_for_gain": gain,
    }


def _repeats(baseline: Arm, candidate: Arm, versus: Versus) -> str | None:
    if versus.repeats:
        return "the runs repeat one seed: repeats are not a sample of seeds"
    for name, arm in ((versus.baseline, baseline), (versus.candidate, candidate)):
        for seed, replicates in arm.repeated_seeds.items():
            ids = ", ".join(map(str, replicates))
            return (
                f"replicates {ids} of {name} share seed {seed}: repeats are not a sample of seeds"
            )
    return None


def _unscored(arms: tuple[Endpoint, Endpoint], versus: Versus) -> str | None:
    parts = []
    for name, endpoint in zip((versus.baseline, versus.candidate), arms, strict=True):
        if gone := endpoint.unscored_divergence:
            n = len(endpoint.scores) + len(gone)
            parts.append(f"{len(gone)} of {count(n, f'{name} run')} diverged without a CER")
    if not parts:
        return None
    return f"{' and '.join(parts)}: the mean of all runs does not exist"


def _copied(a: Endpoint, b: Endpoint) -> str | None:
    if len(a.scores) > 1 and a.scores == b.scores:
        return "identical scores in every replicate: check for copied or deterministic runs"
    return None


def _divergence(test: Tested) -> dict:
    a, b = (divergence_rate(endpoint) for endpoint in test.arms)
    return {"baseline": a, "candidate": b, "fisher_p": fisher(a["k"], a["n"], b["k"], b["n"])}


def _converged_only(test: Tested, versus: Versus) -> dict | None:
    """Welch among the runs that did not diverge; None if none diverged."""
    if not any(endpoint.diverged for endpoint in test.arms):
        return None
    kept = [
        [cer for replicate, cer in endpoint.scores.items() if replicate not in endpoint.diverged]
        for endpoint in test.arms
    ]
    result = welch(*kept, 1 - versus.alpha)
    return {
        "label": "secondary, conditional on convergence: diverged runs left out",
        "n": list(result.n),
        "mean": list(result.mean),
        "sd": list(result.sd),
        "diff": result.diff,
        "p": None if versus.repeats else result.p,
        "ci": None if versus.repeats else result.ci,
        "reason": result.reason,
    }


def _paired(test: Tested, arms: tuple[Arm, Arm], confidence: float) -> tuple[dict | None, str]:
    a, b = test.arms
    if a.scores.keys() != b.scores.keys():
        return None, "the arms do not have the same replicates"
    seeds = [{run.replicate: run.seed for run in arm.runs} for arm in arms]
    both = [(seeds[0][i], seeds[1][i]) for i in a.scores]
    if any(None not in pair and pair[0] != pair[1] for pair in both):
        return None, "the seeds of the replicates differ between the arms"
    given = all(None not in pair for pair in both)
    view = asdict(paired(a.scores, b.scores, confidence))
    view |= {
        "label": "secondary: pairs by replicate; the verdict does not use it",
        "seeds": "equal" if given else "not all given",
    }
    return view, None


def _notes(test: Tested, versus: Versus) -> list[str]:
    notes = [test.welch.flag] if test.welch.flag and not test.why_not else []
    for name, endpoint in zip((versus.baseline, versus.candidate), test.arms, strict=True):
        total = len(endpoint.scores) + len(endpoint.lost)
        for replicate, (status, languages) in endpoint.lost.items():
            notes.append(
                f"{name}, replicate {replicate}: no {', '.join(languages)} CER ({status}), "
                f"so {len(endpoint.scores)} of {count(total, 'run')} in {test.endpoint}"
            )
        if kept := [r for r in endpoint.diverged if r in endpoint.scores]:
            ids = ", ".join(map(str, kept))
            notes.append(
                f"{name}: {len(kept)} of {count(total, 'run')} diverged (replicate {ids}) "
                "and stays in the comparison"
            )
    return notes
