"""What one arm's scores look like: centre, spread, and the rule for 'no spread at all'."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from espnet_ctcrep.utils.errors import InputError

__all__ = [
    "ArmSummary",
    "as_scores",
    "check_confidence",
    "is_constant",
    "mean_interval",
    "sd_interval",
    "summarise",
]

# Means of equal decimals differ in the last bits; a spread of this size is dust, not variance.
DUST = 1e-9


@dataclass(frozen=True)
class ArmSummary:
    """One arm, in the unit of the scores (CER: percent).

    n: number of scores.
    mean, median, minimum, maximum: None when n is 0.
    sd: sample SD (divisor n - 1), exactly 0 for constant scores; None when n < 2.
    iqm: mean of the middle half (25% trimmed from each end; trims nothing below n = 4).
    """

    n: int
    mean: float | None
    sd: float | None
    minimum: float | None
    maximum: float | None
    median: float | None
    iqm: float | None


def as_scores(values: Iterable[float]) -> np.ndarray:
    """Return `values` as float64, shape (n,); n may be 0, values may be NaN or infinite.

    Raises InputError if they are not one-dimensional numbers.
    """
    try:
        scores = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    except (TypeError, ValueError) as e:
        raise InputError(f"scores={values!r} are not numbers; give one number a run") from e
    if scores.ndim != 1:
        raise InputError(f"scores have shape {scores.shape}; give one number a run, shape (n,)")
    return scores


def check_confidence(confidence: float) -> None:
    """Raise InputError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence} is outside (0, 1); 0.95 is usual")


def is_constant(scores: np.ndarray) -> bool:
    """Whether the spread, max - min, is below 1e-9 * max(1, largest |score|).

    scores: finite, shape (n,), n >= 1. Without this rule ten times .04 against thirty times .04
    gives p = 1e-4, from rounding alone.
    """
    return bool(np.ptp(scores) < DUST * max(1.0, float(np.abs(scores).max())))


def summarise(values: Iterable[float]) -> ArmSummary:
    """Summarise finite scores, shape (n,). Raises InputError for a NaN or infinite score."""
    scores = as_scores(values)
    if not np.isfinite(scores).all():
        raise InputError(f"scores={scores.tolist()} are not all finite; take those runs out first")
    n = len(scores)
    if n == 0:
        return ArmSummary(0, None, None, None, None, None, None)
    sd = None if n < 2 else 0.0 if is_constant(scores) else float(scores.std(ddof=1))
    return ArmSummary(
        n=n,
        mean=float(scores.mean()),
        sd=sd,
        minimum=float(scores.min()),
        maximum=float(scores.max()),
        median=float(np.median(scores)),
        iqm=float(stats.trim_mean(scores, 0.25)),
    )


def mean_interval(
    mean: float, sd: float, n: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Interval of one arm's mean: mean ± t(n - 1) · sd / sqrt(n).

    None when n < 2 or sd is 0 (no spread gives no interval, not one of width zero).
    """
    check_confidence(confidence)
    if n < 2 or sd <= 0:
        return None
    half = float(stats.t.isf((1 - confidence) / 2, n - 1)) * sd / n**0.5
    return mean - half, mean + half


def sd_interval(sd: float, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Interval of a normal sample's SD: sd · sqrt((n - 1) / chi2 quantiles), n - 1 df.

    At n = 5 it runs from 0.60 to 2.87 times the SD. None when n < 2 or sd is 0.
    """
    check_confidence(confidence)
    if n < 2 or sd <= 0:
        return None
    tail = (1 - confidence) / 2
    upper, lower = stats.chi2.ppf([tail, 1 - tail], n - 1)
    return float(sd * ((n - 1) / lower) ** 0.5), float(sd * ((n - 1) / upper) ** 0.5)
