"""A report written to a directory in every form."""

import json
from pathlib import Path

from espnet_ctcrep.report.csvtable import comparisons_csv
from espnet_ctcrep.report.latex import latex
from espnet_ctcrep.report.markdown import markdown
from espnet_ctcrep.utils.files import atomic_open, write_text

__all__ = ["write_report"]


def write_report(report: dict, out_dir: Path) -> dict[str, Path]:
    """Write report.json, .html, .md, comparisons.csv, table.tex and figures/{forest,seeds}.

    Returns name -> path: json, html, markdown, csv, latex, forest_svg, forest_png, seeds_svg,
    seeds_png. The same report gives the same bytes in every file.
    """
    # Drawing takes a second to import; a report in the terminal never needs it.
    from espnet_ctcrep.report import figures
    from espnet_ctcrep.report.html import html

    out_dir = Path(out_dir)
    texts = {
        "json": (
            "report.json",
            json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n",
        ),
        "html": ("report.html", html(report)),
        "markdown": ("report.md", markdown(report)),
        "csv": ("comparisons.csv", comparisons_csv(report)),
        "latex": ("table.tex", latex(report)),
    }
    written = {}
    for name, draw in (("forest", figures.forest), ("seeds", figures.seeds)):
        figure = draw(report)
        texts[f"{name}_svg"] = (f"figures/{name}.svg", figures.svg(figure))
        written[f"{name}_png"] = out_dir / "figures" / f"{name}.png"
        with atomic_open(written[f"{name}_png"], "wb") as f:
            f.write(figures.png(figure))
    for key, (name, content) in texts.items():
        written[key] = out_dir / name
        write_text(written[key], content)
    return written
