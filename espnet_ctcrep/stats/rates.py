"""Rates of few runs: exact intervals, and a comparison of two rates."""

from scipy import stats

from espnet_ctcrep.stats.arms import check_confidence
from espnet_ctcrep.utils.errors import InputError

__all__ = ["clopper_pearson", "fisher", "wilson"]


def _check(k: float, n: int) -> None:
    if not (n >= 0 and 0 <= k <= n):
        raise InputError(f"k={k} of n={n}: k must lie between 0 and n")


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Exact binomial interval of a rate k/n (Clopper & Pearson 1934), as fractions.

    1 of 5: .005 to .716; 0 of 5: 0 to .522. None when n is 0. Raises InputError if k is not in
    0..n.
    """
    check_confidence(confidence)
    _check(k, n)
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    lower = 0.0 if k == 0 else float(stats.beta.ppf(tail, k, n - k + 1))
    upper = 1.0 if k == n else float(stats.beta.isf(tail, k + 1, n - k))
    return lower, upper


def wilson(k: float, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Score interval of a rate k/n (Wilson 1927), as fractions; k may count ties as halves.

    None when n is 0. Raises InputError if k is not in 0..n.
    """
    check_confidence(confidence)
    _check(k, n)
    if n == 0:
        return None
    z = float(stats.norm.isf((1 - confidence) / 2))
    rate, shrink = k / n, 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z / shrink * (rate * (1 - rate) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def fisher(k_baseline: int, n_baseline: int, k_candidate: int, n_candidate: int) -> float | None:
    """Fisher's exact two-sided p for two rates; None if an arm has no runs."""
    _check(k_baseline, n_baseline)
    _check(k_candidate, n_candidate)
    if 0 in (n_baseline, n_candidate):
        return None
    table = [[k_baseline, n_baseline - k_baseline], [k_candidate, n_candidate - k_candidate]]
    return float(stats.fisher_exact(table).pvalue)
