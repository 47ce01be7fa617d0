"""Standardised difference of two arms."""

from dataclasses import dataclass

from espnet_ctcrep.stats.welch import Welch

__all__ = ["Effect", "effect_size"]


@dataclass(frozen=True)
class Effect:
    """Signed difference in SDs: d as it is, g corrected for small samples."""

    d: float
    g: float


def effect_size(result: Welch) -> Effect | None:
    """d = diff / sqrt((sd_A² + sd_B²) / 2) and Hedges' g = d · (1 - 3 / (4 (n_A + n_B - 2) - 1)).

    No unit; the sign is that of candidate minus baseline. None where `result` has no test.
    """
    if result.se is None:
        return None
    sd_a, sd_b = result.sd
    d = result.diff / ((sd_a**2 + sd_b**2) / 2) ** 0.5
    return Effect(d, d * (1 - 3 / (4 * (sum(result.n) - 2) - 1)))
