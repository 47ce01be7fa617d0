"""The comparisons as CSV: one row a comparison, full precision, empty where there is nothing."""

import csv
import io

__all__ = ["HEADER", "comparisons_csv"]

HEADER = [
    "candidate",
    "baseline",
    "endpoint",
    "family",
    "family_size",
    "n_baseline",
    "n_candidate",
    "mean_baseline_percent",
    "mean_candidate_percent",
    "sd_baseline",
    "sd_candidate",
    "diff",
    "se",
    "df",
    "t",
    "p",
    "p_holm",
    "ci_low",
    "ci_high",
    "ci_adjusted_low",
    "ci_adjusted_high",
    "mde",
    "n_required",
    "p_better",
    "diverged_baseline",
    "diverged_candidate",
    "verdict",
    "reason",
]


def comparisons_csv(report: dict) -> str:
    """CER and differences in percent points; diff is candidate minus baseline."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for c in report["comparisons"]:
        none = (None, None)
        rates = [c["divergence"][arm]["k"] for arm in ("baseline", "candidate")]
        writer.writerow(
            [
                *(c[key] for key in ("candidate", "baseline", "endpoint", "family", "family_size")),
                *c["n"],
                *c["mean"],
                *c["sd"],
                *(c[key] for key in ("diff", "se", "df", "t", "p", "p_adjusted")),
                *(c["ci"] or none),
                *(c["ci_adjusted"] or none),
                c["mde"],
                c["n_required"],
                (c["p_better"] or {}).get("estimate"),
                *rates,
                c["verdict"],
                c["reason"],
            ]
        )
    return out.getvalue()
