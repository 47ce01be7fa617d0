"""The paired view: runs of two arms that share a replicate id."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from espnet_ctcrep.stats.arms import as_scores, check_confidence, is_constant, mean_interval
from espnet_ctcrep.stats.rates import wilson
from espnet_ctcrep.utils.errors import InputError

__all__ = ["Paired", "correlation_interval", "paired"]


@dataclass(frozen=True)
class Paired:
    """Candidate minus baseline within pairs, in the unit of the scores.

    n: pairs; diff, sd: mean and SD of the differences; df: n - 1.
    t, p, ci: None when there is no test, and `reason` says why.
    correlation: Pearson's r of the two arms; None below 3 pairs (it is always ±1 then) and
    without spread. correlation_ci: Fisher's interval; None below 4 pairs.
    wins: pairs with the lower candidate score, ties as halves; wins_ci: Wilson, as fractions.
    """

    n: int
    diff: float | None
    sd: float | None
    df: int | None
    t: float | None
    p: float | None
    ci: tuple[float, float] | None
    correlation: float | None
    correlation_ci: tuple[float, float] | None
    wins: float
    wins_ci: tuple[float, float] | None
    confidence: float
    reason: str | None


def correlation_interval(r: float, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Fisher's interval of a correlation: tanh(atanh r ± z / sqrt(n - 3)).

    None when n < 4, where it does not exist, and for |r| = 1.
    """
    check_confidence(confidence)
    if n < 4 or abs(r) >= 1:
        return None
    half = float(stats.norm.isf((1 - confidence) / 2)) / (n - 3) ** 0.5
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def paired(
    baseline: Mapping[Hashable, float],
    candidate: Mapping[Hashable, float],
    confidence: float = 0.95,
) -> Paired:
    """Paired t test of scores by id; the order of the ids has no influence.

    baseline, candidate: id -> score, the same ids in both. Pairs are taken by id, never by place.
    Raises InputError for ids that are not the same in both arms and for scores that are not
    finite.
    """
    check_confidence(confidence)
    if baseline.keys() != candidate.keys():
        alone = sorted(map(str, baseline.keys() ^ candidate.keys()))
        raise InputError(f"ids in one arm only: {', '.join(alone)}; pairs need both runs")
    ids = list(baseline)
    a = as_scores(baseline[i] for i in ids)
    b = as_scores(candidate[i] for i in ids)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("a score is not finite; take that pair out of both arms first")
    n = len(ids)
    d = b - a
    wins = float((d < 0).sum() + (d == 0).sum() / 2)
    diff = float(d.mean()) if n else None
    # Differences of large scores carry the scores' rounding, so the scores set the scale of dust.
    scale = max(1.0, float(np.abs(np.concatenate((a, b))).max())) if n else 1.0
    still = n > 0 and is_constant(d / scale)
    sd = None if n < 2 else 0.0 if still else float(d.std(ddof=1))
    t = p = ci = None
    reason = None
    if n < 2:
        reason = f"{n} pair{'' if n == 1 else 's'}: a test needs at least 2"
    elif still:
        reason = "the same difference in every pair: check for copied or deterministic runs"
    else:
        t = diff / (sd / n**0.5)
        p = float(2 * stats.t.sf(abs(t), n - 1))
        ci = mean_interval(diff, sd, n, confidence)
    r = None
    if n >= 3 and not is_constant(a) and not is_constant(b):
        r = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
    return Paired(
        n=n,
        diff=diff,
        sd=sd,
        df=n - 1 if n >= 2 else None,
        t=t,
        p=p,
        ci=ci,
        correlation=r,
        correlation_ci=None if r is None else correlation_interval(r, n, confidence),
        wins=wins,
        wins_ci=wilson(wins, n, confidence),
        confidence=confidence,
        reason=reason,
    )
