"""Welch's comparison of two independent arms: difference, interval, two-sided p."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from espnet_ctcrep.stats.arms import as_scores, check_confidence, is_constant, summarise

__all__ = ["Welch", "satterthwaite", "welch"]


@dataclass(frozen=True)
class Welch:
    """Candidate minus baseline, in the unit of the scores; pairs are (baseline, candidate).

    n, mean, sd: as in `ArmSummary`, of the finite scores.
    diff: difference of the means; None if an arm has no finite score.
    se, df, t, p, ci: None when there is no test, and then `reason` says why.
    confidence: level of `ci`.
    flag: something the reader of a valid test must know, else None.
    """

    n: tuple[int, int]
    mean: tuple[float | None, float | None]
    sd: tuple[float | None, float | None]
    diff: float | None
    se: float | None
    df: float | None
    t: float | None
    p: float | None
    ci: tuple[float, float] | None
    confidence: float
    reason: str | None
    flag: str | None

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """diff ± t((1 + confidence) / 2, df) · se, or None where there is no test."""
        check_confidence(confidence)
        if self.se is None:
            return None
        half = float(stats.t.isf((1 - confidence) / 2, self.df)) * self.se
        return self.diff - half, self.diff + half


def satterthwaite(
    sd_baseline: float, sd_candidate: float, n_baseline: float, n_candidate: float
) -> tuple[float, float]:
    """Standard error of the difference and its degrees of freedom (not rounded).

    se² = v_A + v_B with v = sd² / n; df = se⁴ / Σ v² / (n - 1) (Satterthwaite 1946, Welch 1947).
    At least one SD is positive and each n is above 1.
    """
    se = float(np.hypot(sd_baseline / n_baseline**0.5, sd_candidate / n_candidate**0.5))
    share = (sd_baseline / n_baseline**0.5 / se) ** 2
    df = 1 / (share**2 / (n_baseline - 1) + (1 - share) ** 2 / (n_candidate - 1))
    return se, float(df)


def welch(baseline: Iterable[float], candidate: Iterable[float], confidence: float = 0.95) -> Welch:
    """Compare the means of two independent arms without assuming equal variances (Welch 1947).

    baseline, candidate: one score a run, shapes (n_A,) and (n_B,), any sizes.
    There is no test, and `reason` says why, with fewer than two runs in an arm, with a score that
    is NaN or infinite (it is never left out silently), and when neither arm has any spread.
    Raises InputError for scores that are not one-dimensional and confidence outside (0, 1).
    """
    check_confidence(confidence)
    arms = {"baseline": as_scores(baseline), "candidate": as_scores(candidate)}
    finite = {name: scores[np.isfinite(scores)] for name, scores in arms.items()}
    a, b = (summarise(scores) for scores in finite.values())
    lost = [
        f"{len(arms[name]) - len(finite[name])} of {len(arms[name])} {name} scores"
        for name in arms
        if len(finite[name]) < len(arms[name])
    ]
    diff = None if lost or 0 in (a.n, b.n) else b.mean - a.mean
    reason = flag = se = df = None
    if lost:
        reason = f"{' and '.join(lost)} not finite"
    elif 0 in (a.n, b.n):
        empty = [name for name, scores in arms.items() if not len(scores)]
        reason = f"no scores in the {' and the '.join(empty)}"
    elif a.n == 1 and b.n == 1:
        reason = "one run each: no test"
    elif 1 in (a.n, b.n):
        single = "baseline" if a.n == 1 else "candidate"
        reason = f"one run in the {single}: a test needs at least 2 runs an arm"
    elif a.sd == 0 and b.sd == 0:
        if is_constant(np.concatenate(list(finite.values()))):
            reason = "identical scores: check for copied or deterministic runs"
        else:
            reason = "no spread within either arm: check for copied or deterministic runs"
    else:
        se, df = satterthwaite(a.sd, b.sd, a.n, b.n)
        if 0 in (a.sd, b.sd):
            still = "baseline" if a.sd == 0 else "candidate"
            flag = f"all {still} scores are identical: the test rests on the other arm's spread"
    result = Welch(
        n=(a.n, b.n),
        mean=(a.mean, b.mean),
        sd=(a.sd, b.sd),
        diff=diff,
        se=se,
        df=df,
        t=None if se is None else diff / se,
        p=None if se is None else float(2 * stats.t.sf(abs(diff / se), df)),
        ci=None,
        confidence=confidence,
        reason=reason,
        flag=flag,
    )
    return replace(result, ci=result.interval(confidence))
