"""Equivalence within a margin: two one-sided Welch tests."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from espnet_ctcrep.stats.welch import Welch
from espnet_ctcrep.utils.errors import InputError

__all__ = ["Tost", "tost"]


@dataclass(frozen=True)
class Tost:
    """Two one-sided tests at ±margin (unit of the scores).

    p_above: p of the test that the difference is above -margin.
    p_below: p of the test that the difference is below +margin.
    p: the larger of the two; at most alpha says 'within ±margin', and then the 1 - 2 alpha
    interval lies inside.
    """

    margin: float
    p_above: float
    p_below: float
    p: float


def tost(result: Welch, margin: float) -> Tost | None:
    """Test that |true difference| < margin (Schuirmann 1987) from Welch's se and df.

    None where `result` has no test. Raises InputError unless margin is finite and above 0.
    """
    if not (np.isfinite(margin) and margin > 0):
        raise InputError(f"margin={margin}: give a difference above 0, in the unit of the scores")
    if result.se is None:
        return None
    above = float(stats.t.sf((result.diff + margin) / result.se, result.df))
    below = float(stats.t.cdf((result.diff - margin) / result.se, result.df))
    return Tost(margin, above, below, max(above, below))
