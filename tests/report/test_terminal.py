"""The report in a terminal: nothing lost at 80 columns, every figure from report.json."""

import io
import re

import pytest
from rich.console import Console

from espnet_ctcrep.report.build import build_report
from espnet_ctcrep.report.numbers import minus, p_equals, p_value, signed
from espnet_ctcrep.report.terminal import render


def printed(report, width):
    out = io.StringIO()
    render(report, Console(file=out, width=width))
    return out.getvalue()


def rounded(report, c):
    """The numbers of one row in the order of the wide table."""
    d = report["decimals"]
    numbers = []
    for mean, sd, n in zip(c["mean"], c["sd"], c["n"], strict=True):
        numbers += [f"{mean:.{d}f}", f"{sd:.{d}f}", str(n)]
    numbers += [f"{c['diff']:+.{d}f}", *(f"{end:+.{d}f}" for end in c["ci"])]
    for p in (c["p"], c["p_adjusted"]):
        numbers.append(".001" if p < 0.001 else p_value(p))
    return numbers


NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")


@pytest.mark.parametrize("width", [80, 140])
def test_every_number_of_the_table_is_that_of_the_json(six, spec_of_six, width):
    report = build_report(six, spec_of_six)
    text = printed(report, width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("─")) + 1
    for c in report["comparisons"]:
        name = {"macro_cer": "macro CER", "worst_cer": "worst CER"}.get(
            c["endpoint"], c["endpoint"]
        )
        at = next(i for i, line in enumerate(lines[first:], first) if line.startswith(name + " "))
        row = " ".join(lines[at : at + (1 if width == 140 else 2)])
        assert c["verdict"] in row
        found = sorted(NUMBER.findall(row.removeprefix(name).replace(c["verdict"], "")))
        assert found == sorted(rounded(report, c))


def test_label_ledger_and_direction_come_first(six, spec_of_six):
    lines = printed(build_report(six, spec_of_six), 140).splitlines()
    assert lines[1] == "confirmatory"
    assert lines[2].startswith("runs: 10 planned, 9 finished, 1 diverged, 1 failed")
    assert lines[3] == (
        "CER in percent, lower is better; difference = candidate − baseline, negative is better"
    )


def test_reasons_stand_under_the_table(worked, arms):
    report = build_report(arms({"A": {"x": [1.0]}, "B": {"x": [2.0]}}), _spec())
    text = printed(report, 80)
    assert "x: difference +1.0 points; one run each: no test" in text
    assert "not estimable" in text
    assert "None" not in text
    assert "nan" not in text


def test_names_with_brackets_are_printed_as_they_are(arms):
    report = build_report(arms({"A": {"[red]x": [1.0, 2.0]}, "B": {"[red]x": [2.0, 3.5]}}), _spec())
    assert "[red]x" in printed(report, 140)


def _spec():
    from espnet_ctcrep.report.build import ReportSpec

    return ReportSpec("t", "A", ("B",))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.2387961, ".24"),
        (0.0596557, ".060"),
        (0.0996, ".10"),
        (0.00994, ".0099"),
        (0.00999, ".010"),
        (0.0009, "<.001"),
        (1.0, "1.00"),
        (0.999, "1.00"),
        (None, "–"),
    ],
)
def test_p_values_have_two_digits(p, text):
    assert p_value(p) == text


def test_signs():
    assert p_equals("Welch p", 0.0001) == "Welch p < .001"
    assert signed(0.0, 1) == "0.0"
    assert signed(2.04, 1) == "+2.0"
    assert minus("-0.6 [-1.7, +0.5] ctc-2, arm -x, p = -.5") == (
        "−0.6 [−1.7, +0.5] ctc-2, arm -x, p = −.5"
    )
