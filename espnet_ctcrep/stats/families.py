"""Several comparisons that are judged together: Holm's p values, simultaneous intervals."""

import math
from collections.abc import Sequence

from espnet_ctcrep.utils.errors import InputError

__all__ = ["holm", "simultaneous_confidence"]


def holm(p_values: Sequence[float | None], size: int | None = None) -> list[float | None]:
    """Holm's step-down adjustment (Holm 1979), valid under any dependence.

    p_values: in any order; None or NaN marks a planned comparison that could not be tested. It
    stays None in its own place and the others are adjusted as if its p were 1.
    size: number of planned comparisons, len(p_values) unless given. A language whose runs failed
    still counts, or losing runs would make the other results look better.
    Sorted p_(1) <= …: adjusted p_(i) = max over j <= i of min(1, (size - j + 1) p_(j)).
    Raises InputError for a p outside [0, 1] and a size below the number of comparisons.
    """
    size = len(p_values) if size is None else size
    if size < len(p_values):
        raise InputError(f"size={size} is below the {len(p_values)} p values; count every one")
    tested = [(p, i) for i, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    if any(not 0 <= p <= 1 for p, _ in tested):
        raise InputError(f"p values {list(p_values)} are not all in [0, 1]; check their source")
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(sorted(tested)):
        largest = max(largest, min(1.0, (size - rank) * p))
        adjusted[i] = largest
    return adjusted


def simultaneous_confidence(alpha: float, size: int) -> float:
    """Level of each of `size` intervals that all hold together at 1 - alpha (Bonferroni).

    Raises InputError for alpha outside (0, 1) or size below 1.
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha={alpha} is outside (0, 1); 0.05 is usual")
    if size < 1:
        raise InputError(f"size={size}: a family holds at least one comparison")
    return 1 - alpha / size
