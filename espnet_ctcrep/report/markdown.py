"""The report as a short Markdown text, for a pull request."""

from espnet_ctcrep.report.lines import DECIDED, DIRECTION, endpoint_name, ledger_line, verdict_name
from espnet_ctcrep.report.numbers import interval, level, mean_sd, minus, p_value, signed

__all__ = ["markdown"]


def markdown(report: dict) -> str:
    """Title, label, ledger, one table a candidate with reasons under it; CER in percent."""
    lines = [f"## {_cell(report['title'])}", ""]
    lines += [f"**{'; '.join([report['label'], *report['label_reasons']])}** · "]
    lines[-1] += f"{ledger_line(report)}  "
    lines += [f"{DIRECTION}.", ""]
    for candidate in report["candidates"]:
        rows = [c for c in report["comparisons"] if c["candidate"] == candidate]
        lines += [*_table(rows, report), ""]
        lines += [f"- {endpoint_name(c['endpoint'])}: {minus(c['reason'])}" for c in rows]
        lines += [f"- {note}" for note in dict.fromkeys(n for c in rows for n in c["notes"])]
        lines.append("")
    lines += [f"- {note}" for note in report["notes"]]
    return "\n".join(lines).rstrip() + "\n"


def _table(rows: list[dict], report: dict) -> list[str]:
    d = report["decimals"]
    heads = ["endpoint", rows[0]["baseline"], rows[0]["candidate"], "difference"]
    heads += [f"{level(1 - report['alpha'])} CI", "p", "p Holm", "verdict"]
    lines = [_row(heads), "|:--" + "|--:" * 6 + "|:--|"]
    for c in rows:
        arms = zip(c["mean"], c["sd"], c["n"], strict=True)
        verdict = verdict_name(c["verdict"])
        decided = c["verdict"] in DECIDED
        lines.append(
            _row(
                [
                    endpoint_name(c["endpoint"]),
                    *(mean_sd(mean, sd, n, d) for mean, sd, n in arms),
                    minus(signed(c["diff"], d)),
                    minus(interval(c["ci"], d)),
                    p_value(c["p"]),
                    p_value(c["p_adjusted"]),
                    f"**{verdict}**" if decided else verdict,
                ]
            )
        )
    return lines


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_")
