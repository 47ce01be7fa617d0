"""The report as one self-contained HTML file: no scripts, nothing fetched."""

from espnet_ctcrep.report import figures
from espnet_ctcrep.report.html_tables import (
    arms_table,
    comparison_table,
    divergence_table,
    paired_table,
    planning_table,
    runs_table,
)
from espnet_ctcrep.report.lines import (
    DECIDED,
    DIRECTION,
    endpoint_name,
    ledger_line,
    verdict_name,
)
from espnet_ctcrep.report.markup import inline_svg, text
from espnet_ctcrep.report.numbers import interval, level, points, signed
from espnet_ctcrep.report.style import PAGE_STYLE

__all__ = ["html"]


def html(report: dict) -> str:
    """The whole page; `report` is the content of report.json."""
    sections = [
        _header(report),
        _findings(report),
        _differences(report),
        _runs_seen(report),
        _secondary(report),
        _run_list(report),
        _method(report),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(report['title'])}</title>\n<style>\n{PAGE_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _header(report: dict) -> str:
    reasons = "; ".join(report["label_reasons"])
    label = text(report["label"]) + (f" <span>({text(reasons)})</span>" if reasons else "")
    return (
        f'<header>\n<p class="label">{label}</p>\n<h1>{text(report["title"])}</h1>\n'
        f'<p class="facts">{text(ledger_line(report).capitalize())}</p>\n'
        f'<p class="facts">{text(DIRECTION)}</p>\n</header>'
    )


def _findings(report: dict) -> str:
    found = ["<section>", "<h2>Primary endpoints</h2>"]
    for row in report["comparisons"]:
        if row["primary"]:
            kind = "finding decided" if row["verdict"] in DECIDED else "finding"
            what = f"{endpoint_name(row['endpoint'])}, {row['candidate']}"
            verdict = verdict_name(row["verdict"])
            found.append(
                f'<div class="{kind}"><p class="what">{text(what)}: {text(verdict)}</p>'
                f"<p>{text(_sentence(row['reason']))}</p></div>"
            )
    found += [f"<p>{text(_sentence(note))}</p>" for note in report["notes"]]
    return "\n".join([*found, "</section>"])


def _differences(report: dict) -> str:
    margin = report["smallest_gain"]
    sizes = {f["name"]: f for f in report["families"]}
    caption = (
        f"Difference in mean CER (candidate − baseline) with its "
        f"{level(1 - report['alpha'])} interval, thick, and the simultaneous interval of its "
        f"family, thin ({_family(sizes['languages'])}; {_family(sizes['primary'])}). "
        "Diamonds: primary endpoints. An arrow: the interval goes on."
    )
    if margin:
        caption += f" Grey band: the smallest gain worth having, ±{margin:g} points."
    parts = ["<section>", "<h2>Differences</h2>"]
    parts.append(_figure("forest", figures.forest, report, _forest_words(report), caption))
    for candidate in report["candidates"]:
        rows = [c for c in report["comparisons"] if c["candidate"] == candidate]
        parts += [comparison_table(rows, report), _reasons(rows)]
    return "\n".join([*parts, "</section>"])


def _family(family: dict) -> str:
    return f"{family['name']}: {level(family['confidence_adjusted'])}"


def _figure(name: str, draw, report: dict, words: str, caption: str) -> str:
    wide, narrow = (
        inline_svg(figures.svg(draw(report, variant == "narrow")), f"{name}-{variant}", words, v)
        for variant, v in (("wide", "wide"), ("narrow", "narrow"))
    )
    return f"<figure>\n{wide}\n{narrow}\n<figcaption>{text(caption)}</figcaption>\n</figure>"


def _forest_words(report: dict) -> str:
    d = report["decimals"]
    said = [
        f"{endpoint_name(c['endpoint'])}, {c['candidate']}: {signed(c['diff'], d)} "
        f"{interval(c['ci'], d)}, {verdict_name(c['verdict'])}"
        for c in report["comparisons"]
    ]
    return f"Forest plot of CER differences. {'; '.join(said)}."


def _reasons(rows: list[dict]) -> str:
    items = []
    for row in rows:
        notes = "".join(f' <span class="note">{text(_stop(n))}</span>' for n in row["notes"])
        name = text(endpoint_name(row["endpoint"]))
        items.append(f"<li><b>{name}</b>: {text(_stop(row['reason']))}{notes}</li>")
    return '<ul class="reasons">\n' + "\n".join(items) + "\n</ul>"


def _runs_seen(report: dict) -> str:
    caption = (
        "Every run: CER in percent, each panel on its own scale; the bar is the mean of the arm "
        f"with its {level(1 - report['alpha'])} interval. Hollow: diverged (CER of "
        f"{report['divergence_cer']:g}% or more); such runs stay in the comparison."
    )
    figure = _figure("seeds", figures.seeds, report, _seeds_words(report), caption)
    return f"<section>\n<h2>Every run</h2>\n{figure}\n{arms_table(report)}\n</section>"


def _seeds_words(report: dict) -> str:
    d = report["decimals"]
    said = [
        f"{arm}, {endpoint_name(endpoint)}: {', '.join(points(cer, d) for cer in e['values'])}"
        for arm, entries in report["arms"].items()
        for endpoint, e in entries.items()
    ]
    return f"CER of every run. {'; '.join(said)}."


def _secondary(report: dict) -> str:
    tables = [planning_table(report), paired_table(report), divergence_table(report)]
    return "\n".join(
        ["<section>", "<h2>Planning and secondary views</h2>", *filter(None, tables), "</section>"]
    )


def _run_list(report: dict) -> str:
    return f"<section>\n<h2>Runs and seeds</h2>\n{runs_table(report)}\n</section>"


def _method(report: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report["software"].items())
    return (
        f"<section>\n<h2>Methods</h2>\n<p>{text(report['methods'])}</p>\n"
        f'<p class="facts">{text(versions)}</p>\n</section>'
    )


def _sentence(words: str) -> str:
    return _stop(words[:1].upper() + words[1:])


def _stop(words: str) -> str:
    return words if words.endswith((".", "?")) else f"{words}."
