"""The tables of the HTML report."""

from espnet_ctcrep.report.gather import PRIMARY
from espnet_ctcrep.report.lines import DECIDED, endpoint_name, verdict_name
from espnet_ctcrep.report.markup import Column, table
from espnet_ctcrep.report.numbers import (
    NOTHING,
    count,
    interval,
    level,
    mean_sd,
    p_value,
    percent,
    points,
    signed,
)

__all__ = [
    "arms_table",
    "comparison_table",
    "divergence_table",
    "paired_table",
    "planning_table",
    "runs_table",
]

MOST_LANGUAGES = 8


def comparison_table(rows: list[dict], report: dict) -> str:
    """One candidate on every endpoint."""
    d = report["decimals"]
    baseline, candidate = rows[0]["baseline"], rows[0]["candidate"]
    columns: list[Column] = [
        ("endpoint", True),
        (baseline, False),
        (candidate, False),
        ("difference", False),
        (f"{level(1 - report['alpha'])} CI", False),
        ("simultaneous CI", False),
        ("p", False),
        ("p Holm", False),
        ("verdict", True),
    ]
    body = []
    for row in rows:
        arms = zip(row["mean"], row["sd"], row["n"], strict=True)
        body.append(
            [
                endpoint_name(row["endpoint"]),
                *(mean_sd(mean, sd, n, d) for mean, sd, n in arms),
                signed(row["diff"], d),
                interval(row["ci"], d),
                interval(row["ci_adjusted"], d),
                p_value(row["p"]),
                p_value(row["p_adjusted"]),
                verdict_name(row["verdict"]),
            ]
        )
    return table(
        f"{candidate} against {baseline}: mean ± SD (number of runs) of CER in percent; Welch's t "
        "test; p and intervals adjusted within the languages and within the two primary endpoints.",
        columns,
        body,
        _rules([row["endpoint"] for row in rows]),
        [(i, 8) for i, row in enumerate(rows) if row["verdict"] in DECIDED],
    )


def arms_table(report: dict) -> str:
    """Spread and divergence of each arm on each endpoint."""
    d = report["decimals"]
    columns: list[Column] = [
        ("arm, endpoint", True),
        ("n", False),
        ("mean", False),
        ("SD", False),
        ("CI of the SD", False),
        ("median", False),
        ("least", False),
        ("most", False),
        ("diverged", False),
        ("CI of the rate", False),
    ]
    body = []
    for arm, entries in report["arms"].items():
        for endpoint, e in entries.items():
            body.append(
                [
                    f"{arm}, {endpoint_name(endpoint)}",
                    str(e["n"]),
                    points(e["mean"], d),
                    points(e["sd"], d),
                    _span(e["sd_ci"], lambda x: points(x, d)),
                    *(points(e[key], d) for key in ("median", "min", "max")),
                    f"{e['diverged']['k']} of {e['diverged']['n']}",
                    _span(e["diverged"]["ci"], percent),
                ]
            )
    names = [endpoint for entries in report["arms"].values() for endpoint in entries]
    return table(
        "Each arm on each endpoint, CER in percent. A run that lacks a language has no macro and "
        "no worst CER.",
        columns,
        body,
        _rules(names),
    )


def planning_table(report: dict) -> str:
    """What these runs can detect, and how many runs would be needed."""
    d, gain = report["decimals"], report["smallest_gain"]
    columns: list[Column] = [
        ("candidate, endpoint", True),
        ("detectable", False),
        ("detectable, adjusted", False),
        ("runs for this difference", False),
        ("runs, adjusted", False),
    ]
    if gain:
        columns += [(f"runs for {gain:g} points", False), ("at the SD's upper limit", False)]
    body = []
    for c in report["comparisons"]:
        row = [
            f"{c['candidate']}, {endpoint_name(c['endpoint'])}",
            points(c["mde"], d),
            points(c["mde_adjusted"], d),
            _runs(c, c["n_required"]),
            _runs(c, c["n_required_adjusted"]),
        ]
        if gain:
            needed = c["n_required_for_gain"] or {}
            row += [_runs(c, needed.get(key)) for key in ("at_sd", "at_upper_sd")]
        body.append(row)
    return table(
        f"Smallest difference (CER points) that these runs detect with {percent(report['power'])} "
        "power, and runs an arm for the difference seen: for planning, not evidence.",
        columns,
        body,
    )


def paired_table(report: dict) -> str:
    """P(candidate better), and the paired view."""
    d = report["decimals"]
    columns: list[Column] = [
        ("candidate, endpoint", True),
        ("P(candidate better)", False),
        ("CI", False),
        ("pairs", False),
        ("paired difference", False),
        ("paired CI", False),
        ("paired p", False),
        ("correlation", False),
        ("CI of r", False),
    ]
    body = []
    for c in report["comparisons"]:
        better, pair = c["p_better"] or {}, c["paired"] or {}
        body.append(
            [
                f"{c['candidate']}, {endpoint_name(c['endpoint'])}",
                points(better.get("estimate"), 3),
                _span(better.get("ci"), lambda x: points(x, 3)),
                str(pair.get("n", NOTHING)),
                signed(pair.get("diff"), d),
                interval(pair.get("ci"), d),
                p_value(pair.get("p")),
                points(pair.get("correlation"), 2),
                _span(pair.get("correlation_ci"), lambda x: points(x, 2)),
            ]
        )
    return table(
        "Secondary: chance that a candidate run beats a baseline run (ties half), and runs paired "
        "by replicate. The verdicts use neither.",
        columns,
        body,
    )


def divergence_table(report: dict) -> str:
    """Divergence rates and the comparison without diverged runs; empty if none diverged."""
    d = report["decimals"]
    columns: list[Column] = [
        ("candidate, endpoint", True),
        ("baseline diverged", False),
        ("candidate diverged", False),
        ("Fisher p", False),
        ("difference, converged only", False),
        ("CI", False),
        ("p", False),
    ]
    body = []
    for c in report["comparisons"]:
        if only := c["converged_only"]:
            rates = [c["divergence"][arm] for arm in ("baseline", "candidate")]
            body.append(
                [
                    f"{c['candidate']}, {endpoint_name(c['endpoint'])}",
                    *(f"{rate['k']} of {rate['n']}" for rate in rates),
                    p_value(c["divergence"]["fisher_p"]),
                    signed(only["diff"], d),
                    interval(only["ci"], d),
                    p_value(only["p"]),
                ]
            )
    caption = (
        "Diverged runs, and the comparison without them: conditional on convergence, secondary."
    )
    return table(caption, columns, body) if body else ""


def runs_table(report: dict) -> str:
    """Every run with its seed, its state and its CER: by language, while those fit a page."""
    d, languages = report["decimals"], report["languages"]
    by_language = len(languages) <= MOST_LANGUAGES
    names = languages if by_language else list(PRIMARY)
    columns: list[Column] = [("arm, replicate", True), ("seed", False), ("state", True)]
    columns += [(endpoint_name(name), False) for name in names]
    columns += [] if by_language else [("languages without CER", True)]
    body = []
    for run in report["runs"]:
        seed = NOTHING if run["seed"] is None else str(run["seed"])
        row = [f"{run['arm']}, {run['replicate']}", seed, run["status"]]
        if by_language:
            row += [
                points(run["cer"][name], d) if name in run["cer"] else run["lost"][name]
                for name in names
            ]
        else:
            for name in names:
                entry = report["arms"][run["arm"]][name]
                found = dict(zip(entry["replicates"], entry["values"], strict=True))
                row.append(points(found.get(run["replicate"]), d))
            row.append(", ".join(run["lost"]) or NOTHING)
        body.append(row)
    missing = sum(bool(run["lost"]) for run in report["runs"])
    caption = f"All {count(len(body), 'run')}, CER in percent; {missing} without some language."
    return table(caption, columns, body)


def _rules(endpoints: list[str]) -> list[tuple[int, str]]:
    """Lines of a table that begin the primary endpoints, or the next arm."""
    first = [i for i, e in enumerate(endpoints) if i and e == endpoints[0]]
    marks = [(i, "primary-start") for i, e in enumerate(endpoints) if e == "macro_cer"]
    return marks + [(i, "arm-start") for i in first]


def _runs(comparison: dict, n: int | None) -> str:
    return str(n) if n else NOTHING if comparison["mde"] is None else "> 10000"


def _span(ends: list[float] | None, form) -> str:
    return NOTHING if ends is None else f"{form(ends[0])} to {form(ends[1])}"
