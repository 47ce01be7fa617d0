"""The report in a terminal: one table a comparison, the reasons under it."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from espnet_ctcrep.report.lines import DIRECTION, endpoint_name, ledger_line, verdict_name
from espnet_ctcrep.report.numbers import interval, level, mean_sd, p_value, signed

__all__ = ["render"]

# Below this a row takes two lines: nothing is cut or dropped to make it fit.
WIDE = 120
STYLES = {"better": "bold green", "worse": "bold red", "equivalent": "bold cyan"}


def render(report: dict, console: Console) -> None:
    """Print `report` (the content of report.json) to `console`."""
    console.print(Text(report["title"], style="bold"))
    console.print(Text("; ".join([report["label"], *report["label_reasons"]])))
    console.print(Text(ledger_line(report)))
    console.print(Text(DIRECTION))
    for candidate in report["candidates"]:
        rows = [c for c in report["comparisons"] if c["candidate"] == candidate]
        console.print()
        console.print(Text(f"{candidate} against {report['baseline']}", style="bold"))
        console.print(_table(rows, report, wide=console.width >= WIDE))
        console.print()
        for row in rows:
            _explain(row, console)
    if report["notes"]:
        console.print()
    for note in report["notes"]:
        console.print(Text(f"note: {note}"))


def _table(rows: list[dict], report: dict, wide: bool) -> Table:
    confidence = f"{level(1 - report['alpha'])} CI"
    groups = [
        ["endpoint"],
        ["baseline mean ± SD (n)", "candidate mean ± SD (n)"],
        ["difference", confidence],
        ["p", "p Holm"],
        ["verdict"],
    ]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for group in groups:
        numeric = group not in (["endpoint"], ["verdict"])
        for header in group if wide else ["\n".join(group)]:
            table.add_column(header, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        cells = [[Text(c) for c in group] for group in _cells(row, report["decimals"])]
        cells[-1][0].stylize(STYLES.get(row["verdict"], ""))
        first = row["endpoint"] == "macro_cer"
        if first:
            table.add_section()
        table.add_row(
            *([c for group in cells for c in group] if wide else map(Text("\n").join, cells))
        )
    return table


def _cells(row: dict, decimals: int) -> list[list[str]]:
    arms = zip(row["mean"], row["sd"], row["n"], strict=True)
    return [
        [endpoint_name(row["endpoint"])],
        [mean_sd(mean, sd, n, decimals) for mean, sd, n in arms],
        [signed(row["diff"], decimals), interval(row["ci"], decimals)],
        [p_value(row["p"]), p_value(row["p_adjusted"])],
        [verdict_name(row["verdict"])],
    ]


def _explain(row: dict, console: Console) -> None:
    console.print(Text(f"{endpoint_name(row['endpoint'])}: {row['reason']}"))
    for note in row["notes"]:
        console.print(Text(f"  {note}", style="dim"))
