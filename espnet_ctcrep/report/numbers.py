"""How numbers look in a report: points, intervals, p values, levels."""

import re
from collections.abc import Sequence

__all__ = [
    "NOTHING",
    "count",
    "interval",
    "level",
    "mean_sd",
    "minus",
    "p_equals",
    "p_value",
    "percent",
    "points",
    "signed",
]

NOTHING = "–"


def points(x: float | None, decimals: int) -> str:
    """A CER or a difference without a forced sign."""
    return NOTHING if x is None else f"{x:.{decimals}f}"


def signed(x: float | None, decimals: int) -> str:
    """A difference, always with its sign; exactly zero has none."""
    return points(x, decimals) if not x else f"{x:+.{decimals}f}"


def interval(ends: Sequence[float] | None, decimals: int) -> str:
    """An interval of a difference: [-0.5, +1.7]."""
    if ends is None:
        return NOTHING
    return f"[{signed(ends[0], decimals)}, {signed(ends[1], decimals)}]"


def p_value(p: float | None) -> str:
    """Two significant digits without the leading zero; <.001 below that."""
    if p is None:
        return NOTHING
    if p < 0.001:
        return "<.001"
    places = 2 if p >= 0.0995 else 3 if p >= 0.00995 else 4
    return f"{p:.{places}f}".removeprefix("0")


def p_equals(name: str, p: float) -> str:
    """`name = .24` or `name < .001`."""
    text = p_value(p)
    return f"{name} < {text[1:]}" if text.startswith("<") else f"{name} = {text}"


def level(confidence: float) -> str:
    """95% or 99.17%: four significant digits."""
    return f"{100 * confidence:.4g}%"


def percent(fraction: float) -> str:
    """A rate as whole percent."""
    return f"{100 * fraction:.0f}%"


def mean_sd(mean: float | None, sd: float | None, n: int, decimals: int) -> str:
    """mean ± SD (n); the SD is absent where there is none."""
    spread = "" if sd is None or mean is None else f" ± {points(sd, decimals)}"
    return f"{points(mean, decimals)}{spread} ({n})"


def count(n: int, noun: str) -> str:
    """1 run, 2 runs."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def minus(text: str) -> str:
    """`text` with true minus signs before its numbers, for places that are read by eye."""
    return re.sub(r"(?<![\w.])-(?=\.?\d)", "−", text)
