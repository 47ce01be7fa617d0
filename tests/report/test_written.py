"""The files of a report: same bytes, self-contained, sound in every format."""

import csv
import hashlib
import json
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from espnet_ctcrep.report.build import ReportSpec, build_report
from espnet_ctcrep.report.write import write_report

NAMES = {
    "json": "report.json",
    "html": "report.html",
    "markdown": "report.md",
    "csv": "comparisons.csv",
    "latex": "table.tex",
    "forest_svg": "figures/forest.svg",
    "forest_png": "figures/forest.png",
    "seeds_svg": "figures/seeds.svg",
    "seeds_png": "figures/seeds.png",
}

AGAIN = """
import pickle, sys
from espnet_ctcrep.report.build import build_report
from espnet_ctcrep.report.write import write_report
scores, spec = pickle.load(open(sys.argv[1], "rb"))
write_report(build_report(scores, spec), sys.argv[2])
"""


@pytest.fixture
def files(six, spec_of_six, tmp_path):
    return write_report(build_report(six, spec_of_six), tmp_path / "a dir 'with' quotes")


def test_every_file_is_written_where_it_is_said(files, tmp_path):
    root = tmp_path / "a dir 'with' quotes"
    assert {k: str(p.relative_to(root)) for k, p in files.items()} == NAMES
    assert sorted(p for p in root.rglob("*") if p.is_file()) == sorted(files.values())
    assert files["forest_png"].read_bytes().startswith(b"\x89PNG")


def test_another_process_writes_the_same_bytes(files, six, spec_of_six, tmp_path):
    given = tmp_path / "given.pickle"
    given.write_bytes(pickle.dumps((list(reversed(six)), spec_of_six)))
    again = tmp_path / "again"
    command = [sys.executable, "-c", AGAIN, str(given), str(again)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "77", "MPLCONFIGDIR": str(tmp_path)})
    for key, path in files.items():
        other = (again / NAMES[key]).read_bytes()
        assert hashlib.sha256(other).digest() == hashlib.sha256(path.read_bytes()).digest(), key


def test_json_is_the_report_at_full_precision(files, six, spec_of_six):
    text = files["json"].read_text(encoding="utf-8")
    assert json.loads(text) == build_report(six, spec_of_six)
    assert not re.search(r"\b(NaN|Infinity)\b", text)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.titles = [], [], [], []
        self.open = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href"):
                self.links.append(value)
        self.open.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.titles.append(data)


@pytest.fixture
def page(files):
    page = Page()
    page.feed(files["html"].read_text(encoding="utf-8"))
    return page


def test_html_runs_no_script_and_fetches_nothing(files, page):
    text = files["html"].read_text(encoding="utf-8")
    assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"https?:|@import|url\((?!#)", text)
    assert "prefers-color-scheme: dark" in text


def test_html_figures_can_be_read_out_and_share_no_id(files, page, six, spec_of_six):
    figures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(figures) == 4
    for attributes in figures:
        assert attributes["role"] == "img"
        assert attributes["aria-labelledby"] in page.ids
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    clips = re.findall(r"url\(#([^)]+)\)", files["html"].read_text(encoding="utf-8"))
    assert clips
    assert set(clips) <= set(page.ids)
    jpn = next(c for c in build_report(six, spec_of_six)["comparisons"] if c["endpoint"] == "jpn")
    assert any(f"{abs(jpn['diff']):.1f}" in title for title in page.titles)


def test_html_escapes_what_it_is_given(files, page):
    text = files["html"].read_text(encoding="utf-8")
    assert "<h1>Six &lt;languages&gt; &amp; a_b 100%</h1>" in text
    assert "languages" not in {tag for tag, _ in page.tags}


def test_html_figures_take_the_colours_of_the_page(files):
    text = files["html"].read_text(encoding="utf-8")
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert not re.findall(r"#[0-9a-fA-F]{6}\b(?!-)", re.sub(r'(href=")?#[\w-]+-', "", drawn))
    assert "var(--ink)" in drawn


def test_standalone_svg_is_sound_and_dateless(files):
    for key in ("forest_svg", "seeds_svg"):
        root = ElementTree.parse(files[key]).getroot()
        assert root.tag.endswith("svg")
        assert "dc:date" not in files[key].read_text(encoding="utf-8")
        assert any(e.tag.endswith("text") for e in root.iter())


def test_csv_has_full_precision_and_empty_cells_for_nothing(files, six, spec_of_six):
    report = build_report(six, spec_of_six)
    with files["csv"].open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert [r["endpoint"] for r in rows] == [c["endpoint"] for c in report["comparisons"]]
    for row, c in zip(rows, report["comparisons"], strict=True):
        assert float(row["diff"]) == c["diff"]
        assert [float(row["ci_low"]), float(row["ci_high"])] == c["ci"]
        assert int(row["n_baseline"]) == c["n"][0]
        assert row["verdict"] == c["verdict"]


def test_latex_is_bold_only_where_the_simultaneous_interval_excludes_zero(files, six, spec_of_six):
    text = files["latex"].read_text(encoding="utf-8")
    report = build_report(six, spec_of_six)
    decided = [c for c in report["comparisons"] if c["ci_adjusted"][0] * c["ci_adjusted"][1] > 0]
    assert 0 < len(decided) == text.count("\\textbf{")
    body = re.sub(r"\\[&%$#_{}]", "", text)
    assert body.count("$") % 2 == 0
    assert not re.search(r"(?<!\\)[#]", text)
    assert "ctc\\_dro" in text
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert {row.count("&") for row in rows} == {7}


def test_markdown_table_has_a_row_an_endpoint_and_each_note_once(files):
    lines = files["markdown"].read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 8
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1
    notes = [line for line in lines if line.startswith("- ")]
    assert len(notes) == len(set(notes))


@pytest.mark.parametrize(
    "table",
    [
        {"A": {"x": [1.0]}, "B": {"x": [2.0]}},
        {"A": {"x": ["failed"]}, "B": {"x": ["missing"]}},
        {"A": {"x": [2.0, 2.0]}, "B": {"x": [2.0, "diverged"]}},
        {"A": {"x": [0.0, 0.0]}, "B": {"x": [0.0, 0.0]}},
    ],
)
def test_a_report_without_any_test_is_still_written(arms, table, tmp_path):
    report = build_report(arms(table), ReportSpec("t", "A", ("B",)))
    files = write_report(report, tmp_path)
    for key in ("html", "markdown", "latex", "csv"):
        assert not re.search(r"\b(nan|None|inf)\b", files[key].read_text(encoding="utf-8"))


def test_many_candidates_and_long_names_are_drawn(arms, tmp_path):
    names = [f"arm_with_a_rather_long_name_{i}" for i in range(8)]
    table = {name: {"x": [20.0 + i, 21.5 + i / 2, 22.0]} for i, name in enumerate(names)}
    spec = replace(ReportSpec("t", names[0], ("B",)), candidates=tuple(names[1:]))
    files = write_report(build_report(arms(table), spec), tmp_path)
    assert files["html"].read_text(encoding="utf-8").count("<svg") == 4


def test_many_languages_leave_the_list_of_runs_narrow(arms, tmp_path):
    languages = [f"l{i:03d}" for i in range(40)]
    table = {
        arm: {name: [20.0 + i, 21.5, 23.0] for name in languages} for i, arm in enumerate("AB")
    }
    table["B"]["l007"][2] = "failed"
    report = build_report(arms(table), ReportSpec("t", "A", ("B",)))
    text = write_report(report, tmp_path)["html"].read_text(encoding="utf-8")
    runs = text[text.index("Runs and seeds") : text.index("<h2>Methods")]
    assert runs.count('<th scope="col"') == 6
    assert "l007" in runs


def test_importing_the_report_needs_no_matplotlib():
    code = (
        "import sys, espnet_ctcrep.report, espnet_ctcrep.report.build, espnet_ctcrep.report.write,"
        " espnet_ctcrep.report.terminal; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
