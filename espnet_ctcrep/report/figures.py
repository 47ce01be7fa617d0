"""The two figures of a report: differences with intervals, and every run."""

import io
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from espnet_ctcrep.report.lines import DECIDED, endpoint_name, verdict_name
from espnet_ctcrep.report.numbers import interval, level, minus, p_value, signed

__all__ = ["INK", "MUTED", "PALETTE", "PAPER", "RULE", "forest", "png", "seeds", "svg"]

# Colours that a page may replace by its own, so each stands for one thing only.
INK, MUTED, RULE, PAPER = "#1b1b1e", "#62656a", "#d5d6d8", "#fefefe"
# Okabe & Ito: blue, vermilion, green, purple, orange, sky; told apart by shape as well.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
SHAPES = ("o", "s", "^", "D", "v", "P")
WIDE, NARROW = 7.4, 3.9  # inches
STYLE = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 8.5,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",  # text stays text: searchable, and sharp in any size
    "svg.hashsalt": "espnet_ctcrep",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}


def svg(figure: Figure) -> str:
    """The figure as SVG, the same text for the same figure."""
    out = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def png(figure: Figure) -> bytes:
    """The figure as PNG at 200 dots an inch, the same bytes for the same figure."""
    out = io.BytesIO()
    with rc_context(STYLE):
        figure.savefig(out, format="png", dpi=200, metadata={"Software": None})
    return out.getvalue()


def forest(report: dict, narrow: bool = False) -> Figure:
    """Difference, interval and verdict of every endpoint; one panel a candidate."""
    with rc_context(STYLE):
        return _forest(report, narrow)


def seeds(report: dict, narrow: bool = False) -> Figure:
    """Every run of every arm, with mean and interval; one panel an endpoint."""
    with rc_context(STYLE):
        return _seeds(report, narrow)


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _forest(report: dict, narrow: bool) -> Figure:
    candidates, endpoints = report["candidates"], list(report["endpoints"])
    pitch = 0.42 if narrow else 0.3
    panel = pitch * (len(endpoints) + 0.6) + 0.95
    figure = _figure(NARROW if narrow else WIDE, panel * len(candidates))
    limit = _limit(report)
    name = max(len(endpoint_name(endpoint)) for endpoint in endpoints)
    left, right = (0.04, 0.96) if narrow else (0.03 + 0.0105 * max(name, 9), 0.47)
    for i, candidate in enumerate(candidates):
        rows = [c for c in report["comparisons"] if c["candidate"] == candidate]
        bottom = 1 - (i + 1) / len(candidates) + 0.55 / (panel * len(candidates))
        height = (panel - 0.95) / (panel * len(candidates))
        ax = figure.add_axes((left, bottom, right - left, height))
        _forest_panel(ax, rows, report, limit, narrow)
    return figure


def _limit(report: dict) -> float:
    """Half the width of the axis; one interval far wider than the others is cut by an arrow."""
    reach = [max(map(abs, c["ci_adjusted"])) for c in report["comparisons"] if c["ci_adjusted"]]
    centre = [abs(c["diff"]) for c in report["comparisons"] if c["diff"] is not None]
    usual = sorted(reach)[len(reach) // 2] if reach else 0.0
    widest = min(max(reach, default=0.0), 4 * usual)
    return 1.08 * max([widest, *(1.15 * c for c in centre), report["smallest_gain"] or 0.0]) or 1.0


def _forest_panel(ax, rows: Sequence[dict], report: dict, limit: float, narrow: bool) -> None:
    decimals, margin = report["decimals"], report["smallest_gain"]
    colour = PALETTE[(1 + report["candidates"].index(rows[0]["candidate"])) % len(PALETTE)]
    first = next(i for i, row in enumerate(rows) if row["primary"])
    places = [i + (0.5 if i >= first else 0.0) for i in range(len(rows))]
    ax.set_xlim(-limit, limit)
    ax.set_ylim(places[-1] + 0.6, -0.65)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    ax.locator_params(axis="x", nbins=5 if narrow else 7)
    if margin:
        ax.axvspan(-margin, margin, color=RULE, alpha=0.55, linewidth=0, zorder=0)
    ax.axvline(0, color=MUTED, linewidth=0.9, zorder=1)
    ax.axhline(places[first] - 0.75, color=RULE, linewidth=0.8, zorder=1)
    # Columns in parts of the figure's width, which the panel's own axis does not know.
    left, right = ax.get_position().x0, ax.get_position().x1
    columns = {"name": 0.01, "text": 0.495, "n": 0.75, "p": 0.81, "verdict": 0.852}
    at = {key: (x - left) / (right - left) for key, x in columns.items()}
    if not narrow:
        confidence = f"difference [{level(1 - report['alpha'])} CI]"
        for key, word, align in (
            ("text", confidence, "left"),
            ("n", "n", "center"),
            ("p", "p", "center"),
            ("verdict", "verdict", "left"),
        ):
            ax.text(at[key], 1.0, word, transform=ax.transAxes, ha=align, color=MUTED)
    blank = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}  # over the zero line
    for y, row in zip(places, rows, strict=True):
        _forest_row(ax, y, row, limit, colour)
        weight = "bold" if row["verdict"] in DECIDED else "normal"
        name, verdict = endpoint_name(row["endpoint"]), verdict_name(row["verdict"])
        figures = minus(f"{signed(row['diff'], decimals)} {interval(row['ci'], decimals)}")
        n = "/".join(map(str, row["n"]))
        side = ax.get_yaxis_transform()
        if narrow:
            line = {"y": y - 0.3, "transform": side, "va": "center", "bbox": blank}
            ax.text(0, s=name, weight="bold", **line)
            ax.text(0.27, s=figures, **line)
            ax.text(1, s=verdict, ha="right", weight=weight, **line)
        else:
            ax.text(at["name"], y, name, transform=side, va="center")
            ax.text(at["text"], y, figures, transform=side, va="center")
            ax.text(at["n"], y, n, transform=side, va="center", ha="center")
            ax.text(at["p"], y, p_value(row["p"]), transform=side, va="center", ha="center")
            ax.text(at["verdict"], y, verdict, transform=side, va="center", weight=weight)
    ax.set_title(
        f"{rows[0]['candidate']} against {rows[0]['baseline']}",
        loc="left",
        x=0 if narrow else at["name"],
        fontsize=9.5,
        weight="bold",
        pad=16,
    )
    for x, word, align in (
        (0, "← better", "left"),
        (0.5, "CER points", "center"),
        (1, "worse →", "right"),
    ):
        ax.annotate(
            word,
            (x, 0),
            (0, -27),
            xycoords="axes fraction",
            textcoords="offset points",
            ha=align,
            color=MUTED,
        )


def _forest_row(ax, y: float, row: dict, limit: float, colour: str) -> None:
    y += 0.06
    if row["ci"] is None:
        if row["diff"] is not None:
            ax.plot(row["diff"], y, "o", mfc="none", mec=MUTED, ms=5, zorder=3)
        return
    for ends, width in ((row["ci_adjusted"], 0.9), (row["ci"], 2.6)):
        low, high = max(ends[0], -limit), min(ends[1], limit)
        ax.plot([low, high], [y, y], color=colour, lw=width, solid_capstyle="butt", zorder=2)
        for end, cut, mark in ((ends[0], -limit, "<"), (ends[1], limit, ">")):
            if abs(end) > limit and end * cut > 0:
                ax.plot(cut, y, mark, color=colour, ms=5, clip_on=False, zorder=3)
    ax.plot(row["diff"], y, "D" if row["primary"] else "o", color=colour, mec=PAPER, ms=6, zorder=4)


def _seeds(report: dict, narrow: bool) -> Figure:
    endpoints, arms = list(report["endpoints"]), list(report["arms"])
    across = min(2 if narrow else 4, len(endpoints))
    down = -(-len(endpoints) // across)
    # Names of arms are long: they stand in one key, and the panels carry marks alone.
    longest = max(map(len, arms))
    columns = (2 if longest < 16 else 1) if narrow else max(1, min(6, 80 // (longest + 8)))
    head = 0.12 + 0.19 * -(-(len(arms) + 2) // columns)
    height = 1.72 * down + head + 0.1
    figure = _figure(NARROW if narrow else WIDE, height)
    grid = figure.add_gridspec(
        down,
        across,
        left=0.15 if narrow else 0.085,
        right=0.985,
        bottom=0.14 / height,
        top=1 - (head + 0.25) / height,
        wspace=0.45 if narrow else 0.42,
        hspace=0.36,
    )
    for i, endpoint in enumerate(endpoints):
        ax = figure.add_subplot(grid[divmod(i, across)])
        _seeds_panel(ax, endpoint, report)
        if i % across == 0:
            ax.set_ylabel("CER, %", color=MUTED)
    _key(figure, arms, report, columns)
    return figure


def _seeds_panel(ax, endpoint: str, report: dict) -> None:
    primary = endpoint in ("macro_cer", "worst_cer")
    ax.set_title(
        endpoint_name(endpoint), loc="left", fontsize=9, weight="bold" if primary else "normal"
    )
    ax.set_xticks([])
    ax.set_xlim(-0.55, len(report["arms"]) - 0.3)
    ax.locator_params(axis="y", nbins=5)
    ax.margins(y=0.12)
    ax.spines["bottom"].set_color(RULE)
    ax.grid(axis="y", color=RULE, linewidth=0.5, zorder=0)
    ax.set_axisbelow(True)
    entries = [arm[endpoint] for arm in report["arms"].values()]
    drawn = [x for entry in entries for x in (*entry["values"], *(entry["mean_ci"] or ()))]
    # Marks nearer than their own height, a twentieth of the panel, go side by side.
    close = 0.05 * (max(drawn) - min(drawn)) if drawn else 0.0
    for i, entry in enumerate(entries):
        colour = PALETTE[i % len(PALETTE)]
        for place, cer, hollow in _places(entry, close):
            ax.plot(
                i - 0.12 + place,
                cer,
                SHAPES[i % len(SHAPES)],
                ms=4.6,
                mfc=PAPER if hollow else colour,
                mec=colour,
                mew=1.1 if hollow else 0.4,
                alpha=1 if hollow else 0.85,
                zorder=3,
            )
        if entry["mean"] is None:
            ax.text(i, 0.5, "no CER", transform=ax.get_xaxis_transform(), ha="center", color=MUTED)
            continue
        if entry["mean_ci"]:
            ax.plot([i + 0.33] * 2, entry["mean_ci"], color=colour, lw=1.8, zorder=2)
        ax.plot([i + 0.24, i + 0.42], [entry["mean"]] * 2, color=colour, lw=1.8, zorder=2)
    if not drawn:
        ax.set_yticks([])


def _places(entry: dict, close: float) -> list[tuple[float, float, bool]]:
    """(sideways place, CER, diverged) of each run; runs with close scores stand side by side."""
    runs = sorted(zip(entry["values"], entry["replicates"], strict=True))
    groups: list[list[tuple[float, int]]] = []
    for run in runs:
        if groups and run[0] - groups[-1][-1][0] <= close:
            groups[-1].append(run)
        else:
            groups.append([run])
    placed = []
    for group in groups:
        step = min(0.12, 0.5 / len(group))
        middle = (len(group) - 1) / 2
        # From the middle outwards, right and left in turn: sorted scores would make a slope.
        order = sorted(range(len(group)), key=lambda k: (abs(k - middle), -k))
        for k, (cer, replicate) in zip(order, group, strict=True):
            placed.append((step * (k - middle), cer, replicate in entry["diverged_replicates"]))
    return placed


def _key(figure: Figure, arms: Sequence[str], report: dict, columns: int) -> None:
    marks = [
        Line2D([], [], ls="", marker=SHAPES[i % 6], color=PALETTE[i % 6], ms=5, label=name)
        for i, name in enumerate(arms)
    ]
    if any(e["diverged"]["k"] for arm in report["arms"].values() for e in arm.values()):
        marks.append(
            Line2D([], [], ls="", marker="o", mfc="none", mec=MUTED, ms=5, label="diverged")
        )
    bar = f"mean, {level(1 - report['alpha'])} CI"
    marks.append(Line2D([], [], color=MUTED, lw=1.8, label=bar))
    figure.legend(
        handles=marks,
        loc="upper left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        handletextpad=0.3,
        columnspacing=1.4,
        handlelength=1.4,
        borderaxespad=0.2,
    )
