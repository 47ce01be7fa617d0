"""Pieces of an HTML page: escaped text, tables that stack on a narrow screen, inline SVG."""

import re
from collections.abc import Sequence
from html import escape

from espnet_ctcrep.report.figures import INK, MUTED, PALETTE, PAPER, RULE
from espnet_ctcrep.report.numbers import minus

__all__ = ["Column", "inline_svg", "table", "text"]

# (header, True for words, False for numbers)
Column = tuple[str, bool]


def text(words: str) -> str:
    """Escaped text with true minus signs."""
    return escape(minus(words))


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    marked: Sequence[tuple[int, str]] = (),
    bold: Sequence[tuple[int, int]] = (),
) -> str:
    """A table whose first column heads its rows.

    marked: (row, class) pairs; bold: (row, column) of cells that are decided.
    """
    classes = dict(marked)
    head = "".join(
        f'<th scope="col"{" class=words" if words else ""}>{_breakable(name)}</th>'
        for name, words in columns
    )
    body = []
    for i, row in enumerate(rows):
        cells = [f'<th scope="row" class=words>{text(row[0])}</th>']
        for j, cell in enumerate(row[1:], 1):
            name, words = columns[j]
            kind = ("words" if words else "number") + (" decided" if (i, j) in bold else "")
            cells.append(f'<td class="{kind}" data-label="{text(name)}">{text(cell)}</td>')
        mark = f' class="{classes[i]}"' if i in classes else ""
        body.append(f"<tr{mark}>{''.join(cells)}</tr>")
    rows_html = "\n".join(body)
    return (
        f"<table>\n<caption>{text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows_html}\n</tbody>\n</table>"
    )


def _breakable(name: str) -> str:
    """Names of arms are long words: they may break after an underscore."""
    return text(name).replace("_", "_<wbr>")


def inline_svg(svg: str, prefix: str, title: str, variant: str) -> str:
    """SVG text made part of a page: the page's colours, ids of its own, a title to be read out.

    prefix: put before every id, so that several figures can share a page. variant: its class.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    head, body = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]+"', head).group()
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(?:xlink:)?href="#', f'href="#{prefix}-', body)
    body = body.replace("url(#", f"url(#{prefix}-")
    names = {INK: "ink", MUTED: "muted", RULE: "rule", PAPER: "paper"}
    names |= {colour: f"c{i}" for i, colour in enumerate(PALETTE)}
    for colour, name in names.items():
        body = body.replace(colour, f"var(--{name})")
    return (
        f'<svg class="{variant}" {box} role="img" aria-labelledby="{prefix}-title">'
        f'<title id="{prefix}-title">{text(title)}</title>{body}'
    )
