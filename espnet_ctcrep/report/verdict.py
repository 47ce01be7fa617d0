"""The verdict on one comparison, and the sentence that gives its reason."""

from dataclasses import dataclass

from espnet_ctcrep.report.numbers import interval, level, p_equals, points, signed
from espnet_ctcrep.stats.equivalence import Tost
from espnet_ctcrep.stats.welch import Welch

__all__ = ["POWER", "VERDICTS", "Judged", "judge", "not_estimable"]

VERDICTS = ("better", "worse", "equivalent", "inconclusive", "not_estimable")
POWER = 0.8


@dataclass(frozen=True)
class Judged:
    """A comparison that could be tested, with what its family makes of it.

    p_adjusted: Holm's. ci_adjusted: the simultaneous interval at confidence_adjusted.
    size: number of comparisons in the family. equivalence: None without a smallest gain.
    n_required: runs an arm for a difference of the size seen, at the family's level; None if
    more than the search allows.
    """

    welch: Welch
    alpha: float
    size: int
    p_adjusted: float
    ci_adjusted: tuple[float, float]
    confidence_adjusted: float
    equivalence: Tost | None
    n_required: int | None


def judge(judged: Judged, decimals: int) -> tuple[str, str]:
    """Verdict and reason of a tested comparison (CER: negative differences are better).

    better, worse: the simultaneous interval excludes 0. equivalent: both one-sided tests at
    ±smallest gain reject at alpha / size. Otherwise inconclusive.
    """
    margin = judged.equivalence
    low, high = judged.ci_adjusted
    family = judged.size > 1
    name = f"the simultaneous {level(judged.confidence_adjusted)} CI" if family else "the interval"
    span = f" {interval(judged.ci_adjusted, decimals)}" if family else ""
    if high < 0 or low > 0:
        verdict, side = ("better", "below") if high < 0 else ("worse", "above")
        why = f"{name}{span} lies {side} 0"
        if margin and verdict == "better":
            size = points(margin.margin, decimals)
            why += (
                f" and below -{size}: the gain exceeds the smallest gain of {size} points"
                if high < -margin.margin
                else f", but not below -{size}: a gain of {size} points or more is not shown"
            )
    elif margin and margin.p <= judged.alpha / judged.size:
        verdict = "equivalent"
        why = (
            f"within ±{points(margin.margin, decimals)} points "
            f"({p_equals('two one-sided tests, p', margin.p)})"
        )
    else:
        verdict, why = "inconclusive", _runs_needed(judged)
        if judged.p_adjusted <= judged.alpha:
            why = f"Holm's test rejects, but {name}{span} includes 0; {why}"
    return verdict, f"{_head(judged, decimals)}; {verdict}: {why}"


def not_estimable(diff: float | None, why: str, decimals: int) -> tuple[str, str]:
    """Verdict and reason where there is no test."""
    head = "" if diff is None else f"difference {signed(diff, decimals)} points; "
    return "not_estimable", f"{head}{why}"


def _head(judged: Judged, decimals: int) -> str:
    result = judged.welch
    head = (
        f"difference {signed(result.diff, decimals)} points, {level(result.confidence)} CI "
        f"{interval(result.ci, decimals)}, {p_equals('Welch p', result.p)}"
    )
    if judged.size > 1:
        head += f" ({p_equals('Holm p', judged.p_adjusted)} over {judged.size})"
    return head


def _runs_needed(judged: Judged) -> str:
    power = f"{100 * POWER:.0f}% power"
    at = " at the adjusted level" if judged.size > 1 else ""
    if judged.welch.diff == 0:
        return "the means are equal"
    if judged.n_required is None:
        return f"more than 10000 runs an arm would be needed for a difference of this size{at}"
    return (
        f"{judged.n_required} runs an arm would be needed to detect a difference of this size "
        f"with {power}{at}"
    )
