"""Planning the number of runs: power of Welch's test, runs needed, difference detectable."""

import numpy as np
from scipy import optimize, stats

from espnet_ctcrep.stats.welch import satterthwaite
from espnet_ctcrep.utils.errors import InputError

__all__ = ["required_n", "smallest_detectable", "welch_power"]

MOST_RUNS = 10_000


def _check(sds: tuple[float, float], alpha: float, power: float | None = None) -> None:
    if not all(np.isfinite(sd) and sd >= 0 for sd in sds) or max(sds) <= 0:
        raise InputError(f"SDs={sds}: give finite SDs, at least one of them above 0")
    if not 0 < alpha < 1:
        raise InputError(f"alpha={alpha} is outside (0, 1); 0.05 is usual")
    if power is not None and not alpha < power < 1:
        raise InputError(f"power={power} is not between alpha={alpha} and 1; 0.8 is usual")


def welch_power(
    diff: float,
    sd_baseline: float,
    sd_candidate: float,
    n_baseline: float,
    n_candidate: float,
    alpha: float = 0.05,
) -> float:
    """Probability that Welch's two-sided test rejects at `alpha` when the true difference is diff.

    Noncentral t with noncentrality |diff| / se and Satterthwaite's df at the given SDs, both
    tails: P(T > t_c) + P(T < -t_c). diff and SDs in one unit; n may be fractional, above 1.
    Raises InputError for SDs that are all zero or not finite, n at or below 1, and alpha outside
    (0, 1).
    """
    _check((sd_baseline, sd_candidate), alpha)
    if min(n_baseline, n_candidate) <= 1:
        raise InputError(f"n={n_baseline}, {n_candidate}: a test needs at least 2 runs an arm")
    se, df = satterthwaite(sd_baseline, sd_candidate, n_baseline, n_candidate)
    critical = stats.t.isf(alpha / 2, df)
    shift = abs(diff) / se
    with np.errstate(all="ignore"):
        near = stats.nct.sf(critical, df, shift)
        # scipy gives NaN here when the tail is too small to compute: it is zero then.
        far = np.nan_to_num(stats.nct.cdf(-critical, df, shift), nan=0.0)
    return float(np.clip(near + far, 0, 1))


def required_n(
    diff: float,
    sd_baseline: float,
    sd_candidate: float,
    alpha: float = 0.05,
    power: float = 0.8,
    cap: int = MOST_RUNS,
) -> int | None:
    """Smallest number of runs an arm (equal in both) that reaches `power`; at least 2.

    None when no number up to `cap` does, and for a difference of zero, which no number can show.
    Units and errors as in `welch_power`; power must lie between alpha and 1.
    """
    _check((sd_baseline, sd_candidate), alpha, power)

    def reaches(n: int) -> bool:
        return welch_power(diff, sd_baseline, sd_candidate, n, n, alpha) >= power

    if diff == 0 or not reaches(cap):
        return None
    below, enough = 1, 2
    while not reaches(enough):
        below, enough = enough, min(2 * enough, cap)
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if reaches(middle) else (middle, enough)
    return enough


def smallest_detectable(
    sd_baseline: float,
    sd_candidate: float,
    n_baseline: int,
    n_candidate: int,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Smallest true |difference| that these runs detect with `power`, in the unit of the SDs.

    Units and errors as in `welch_power`; power must lie between alpha and 1.
    """
    _check((sd_baseline, sd_candidate), alpha, power)

    def excess(diff: float) -> float:
        args = (sd_baseline, sd_candidate, n_baseline, n_candidate, alpha)
        return welch_power(diff, *args) - power

    if min(n_baseline, n_candidate) < 2:
        raise InputError(f"n={n_baseline}, {n_candidate}: a test needs at least 2 runs an arm")
    se, _ = satterthwaite(sd_baseline, sd_candidate, n_baseline, n_candidate)
    upper = se
    while excess(upper) < 0:
        upper *= 2
    return float(optimize.brentq(excess, 0.0, upper, xtol=1e-12 * se, rtol=1e-12))
