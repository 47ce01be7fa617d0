"""The methods paragraph of a report, ready to paste."""

from espnet_ctcrep.report.numbers import level, percent

__all__ = ["methods"]


def methods(report: dict) -> str:
    """Say in prose how the report's figures were computed, from its own settings."""
    sizes = {family["name"]: family["size"] for family in report["families"]}
    languages = sizes["languages"]
    parts = [
        f"CER is {report['cer_definition']}.",
        "Each run (one training with its own seed) is one observation.",
        "Means were compared by Welch's two-sided t test with Satterthwaite's degrees of freedom "
        f"at alpha = {report['alpha']:g}; intervals hold at {level(1 - report['alpha'])}.",
        "The two primary endpoints (macro-average and worst-language CER) form one family and the "
        f"{languages} {'language forms' if languages == 1 else 'languages form'} another; within "
        "each, p values were adjusted by Holm's method and intervals by Bonferroni's, counting "
        "every planned endpoint. Verdicts rest on the adjusted intervals.",
        f"Runs at or above {report['divergence_cer']:g}% CER count as diverged and stay in the "
        "comparison; their rate has a Clopper-Pearson interval.",
        f"Detectable differences and numbers of runs are for {percent(report['power'])} power, by "
        "the noncentral t distribution with each arm's own SD.",
    ]
    if report["smallest_gain"]:
        parts.append(
            f"Equivalence within {report['smallest_gain']:g} points was tested by two one-sided "
            "Welch tests at the adjusted alpha."
        )
    if len(report["candidates"]) > 1:
        parts.append("Each candidate was compared with the baseline in families of its own.")
    return " ".join(parts)
