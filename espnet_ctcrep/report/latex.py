"""The comparisons as a LaTeX table (booktabs), with a caption that says how to read it."""

import re

from espnet_ctcrep.report.lines import endpoint_name, verdict_name
from espnet_ctcrep.report.numbers import interval, level, mean_sd, p_value, percent, signed

__all__ = ["latex"]

ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
ESCAPES |= {c: f"\\{c}" for c in "&%$#_{}"}


def latex(report: dict) -> str:
    """A table environment for `\\usepackage{booktabs}`; one block a candidate.

    A difference is bold only where the simultaneous interval excludes 0. A dagger marks a report
    that is not confirmatory.
    """
    d = report["decimals"]
    dagger = "" if report["label"] == "confirmatory" else r"$^\dagger$"
    confidence = _tex(f"{level(1 - report['alpha'])} CI")
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_caption(report, dagger)}}}",
        "\\begin{tabular}{lrrrrrrl}",
        "\\toprule",
    ]
    for i, candidate in enumerate(report["candidates"]):
        lines += ["\\midrule"] if i else []
        names = f"{_tex(report['baseline'])} & {_tex(candidate)}"
        lines.append(
            f"endpoint & {names} & difference & {confidence} & $p$ & $p_\\mathrm{{Holm}}$ & "
            f"verdict{dagger} \\\\"
        )
        lines.append("\\midrule")
        for c in (c for c in report["comparisons"] if c["candidate"] == candidate):
            if c["endpoint"] == "macro_cer":
                lines.append("\\addlinespace")
            arms = zip(c["mean"], c["sd"], c["n"], strict=True)
            difference = _math(signed(c["diff"], d))
            adjusted = c["ci_adjusted"]
            if adjusted and (adjusted[0] > 0 or adjusted[1] < 0):
                difference = f"\\textbf{{{difference.replace('$', '')}}}".replace("{-", "{$-$")
            cells = [
                _tex(endpoint_name(c["endpoint"])),
                *(mean_sd(m, sd, n, d).replace("±", "$\\pm$") for m, sd, n in arms),
                difference,
                _math(interval(c["ci"], d)),
                _math(p_value(c["p"])),
                _math(p_value(c["p_adjusted"])),
                verdict_name(c["verdict"]),
            ]
            lines.append(" & ".join(cells).replace("–", "--") + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", "\\end{table}"]) + "\n"


def _caption(report: dict, dagger: str) -> str:
    sizes = {family["name"]: family["size"] for family in report["families"]}
    diverged = report["ledger"]["diverged"]
    words = (
        "CER in percent (lower is better), mean ± SD (number of runs); difference = candidate "
        f"minus baseline, negative is better. Welch's t test, alpha = {report['alpha']:g}; p "
        f"adjusted by Holm's method over {sizes['languages']} "
        f"language{'' if sizes['languages'] == 1 else 's'} and over {sizes['primary']} primary "
        "endpoints. Bold: the simultaneous interval excludes 0. Diverged runs (CER at least "
        f"{percent(report['divergence_cer'] / 100)}) are included: {diverged}."
    )
    caption = _tex(words).replace("±", "$\\pm$").replace("alpha =", "$\\alpha$ =")
    return caption + (f" {dagger}{_tex(report['label'].capitalize())} analysis." if dagger else "")


def _math(number: str) -> str:
    """Numbers with signs set as mathematics, so that a hyphen is a minus."""
    return re.sub(r"[-+<]?\d*\.\d+|[-+]\d+", lambda found: f"${found.group()}$", number)


def _tex(words: str) -> str:
    return "".join(ESCAPES.get(c, c) for c in words)
