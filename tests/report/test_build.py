"""From scores to report.json: figures, families, and everything that must not be claimed."""

import json
import math
import random
from dataclasses import replace

import pytest

from espnet_ctcrep.report.build import ReportSpec, build_report
from espnet_ctcrep.scoring.tables import RunScore
from espnet_ctcrep.stats.families import holm
from espnet_ctcrep.utils.errors import InputError

A_AGAINST_B = ReportSpec("A and B", baseline="A", candidates=("B",))


def built(scores, spec=A_AGAINST_B):
    report = build_report(scores, spec)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    return report


def of(report, endpoint, candidate=None):
    [found] = [
        c
        for c in report["comparisons"]
        if c["endpoint"] == endpoint and candidate in (None, c["candidate"])
    ]
    return found


NO_TEST = ("se", "df", "t", "p", "p_adjusted", "ci", "ci_adjusted", "mde", "n_required", "paired")


def untested(comparison):
    return comparison["verdict"] == "not_estimable" and not any(comparison[k] for k in NO_TEST)


def test_worked_example_as_error_rates(worked):
    report = built(worked)
    c = of(report, "jpn")
    assert c["n"] == [5, 5]
    assert c["mean"] == pytest.approx([18.8, 18.2])
    assert c["sd"] == pytest.approx([0.494975, 0.902774], abs=5e-7)
    assert c["diff"] == pytest.approx(-0.6)
    assert (c["se"], c["df"], c["t"]) == pytest.approx((0.4604346, 6.2055920, -1.3031167))
    assert c["p"] == c["p_adjusted"] == pytest.approx(0.2387961, abs=5e-8)
    assert c["ci"] == c["ci_adjusted"] == pytest.approx([-1.7176565, 0.5176565], abs=5e-8)
    assert c["n_required"] == 25
    assert c["p_better"]["estimate"] == pytest.approx(0.72)
    assert c["p_better"]["ci"] == pytest.approx([0.194, 0.965], abs=5e-4)
    assert c["effect"]["g"] == pytest.approx(-0.7444056, abs=5e-8)
    assert c["verdict"] == "inconclusive"
    assert c["reason"] == (
        "difference -0.6 points, 95% CI [-1.7, +0.5], Welch p = .24; inconclusive: 25 runs an arm "
        "would be needed to detect a difference of this size with 80% power"
    )
    pair = c["paired"]
    assert (pair["p"], pair["correlation"]) == pytest.approx((0.0596557, 0.8895601), abs=5e-8)
    assert pair["label"].startswith("secondary")
    assert report["arms"]["A"]["jpn"]["sd"] == c["sd"][0]  # divisor n - 1 everywhere


def test_primaries_are_a_family_of_their_own(worked):
    report = built(worked)
    assert [f["size"] for f in report["families"]] == [1, 2]
    macro = of(report, "macro_cer")
    assert macro["diff"] == of(report, "jpn")["diff"]
    assert macro["p_adjusted"] == pytest.approx(2 * macro["p"])
    assert macro["confidence_adjusted"] == pytest.approx(0.975)
    assert macro["n_required"] == 25 < macro["n_required_adjusted"]


def test_order_of_the_rows_changes_nothing(six, spec_of_six):
    shuffled = six.copy()
    random.Random(1).shuffle(shuffled)
    assert build_report(shuffled, spec_of_six) == build_report(six, spec_of_six)


def test_pairs_are_taken_by_replicate_and_not_by_place(arms):
    table = {"A": {"jpn": [10.0, 20.0, 31.0]}, "B": {"jpn": [9.0, 19.5, 29.0]}}
    rows = sorted(arms(table), key=lambda r: (r.arm, -r.replicate if r.arm == "B" else r.replicate))
    pair = of(built(rows), "jpn")["paired"]
    assert pair["diff"] == pytest.approx(-3.5 / 3)
    assert pair["wins"] == 3
    other = [replace(r, replicate=r.replicate + 1) if r.arm == "B" else r for r in rows]
    c = of(built(other), "jpn")
    assert c["paired"] is None
    assert "same replicates" in c["paired_reason"]


def test_pairs_need_equal_seeds(arms):
    table = {"A": {"jpn": [10.0, 20.0, 31.0]}, "B": {"jpn": [9.0, 19.5, 29.0]}}
    rows = arms(table, seeds=[5, 6, 7])
    assert of(built(rows), "jpn")["paired"]["seeds"] == "equal"
    other = [replace(r, seed=r.seed + 10) if r.arm == "B" else r for r in rows]
    c = of(built(other), "jpn")
    assert c["paired"] is None
    assert "seeds" in c["paired_reason"]
    assert c["p"] is not None


def test_two_rows_for_one_run_are_refused(arms):
    rows = arms({"A": {"jpn": [10.0, 20.0]}, "B": {"jpn": [9.0, 19.5]}})
    with pytest.raises(InputError, match="arm=B, replicate=1, language=jpn occurs twice"):
        build_report([*rows, rows[-1]], A_AGAINST_B)


def test_one_run_each_is_a_difference_and_no_test(arms):
    report = built(arms({"A": {"jpn": [20.0]}, "B": {"jpn": [18.5]}}))
    c = of(report, "jpn")
    assert untested(c)
    assert c["diff"] == -1.5
    assert c["reason"] == "difference -1.5 points; one run each: no test"
    assert report["arms"]["A"]["jpn"]["reason"] == "one run: no SD"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([20.0] * 3, [20.0] * 3, "identical scores"),
        ([20.0] * 3, [18.0] * 3, "no spread within either arm"),
        ([0.1 + 0.2] * 2, [0.3] * 2, "identical scores"),
        ([20.0, 21.0, 22.5], [20.0, 21.0, 22.5], "identical scores in every replicate"),
        ([20.0], [18.0, 19.0], "one run in the A: a test needs at least 2"),
        (["failed", "failed"], [18.0, 19.0], "no scores in the A"),
    ],
)
def test_scores_that_allow_no_test_get_no_verdict(arms, a, b, reason):
    c = of(built(arms({"A": {"jpn": a}, "B": {"jpn": b}})), "jpn")
    assert untested(c)
    assert reason.replace("the A", "the baseline") in c["reason"]


def test_one_constant_arm_is_compared_and_flagged(arms):
    c = of(built(arms({"A": {"jpn": [19.0, 20.0, 22.0]}, "B": {"jpn": [18.0] * 3}})), "jpn")
    assert c["df"] == pytest.approx(2)
    assert any("all candidate scores are identical" in note for note in c["notes"])


@pytest.mark.parametrize("lost", [math.nan, math.inf, "diverged"])
def test_a_diverged_run_without_a_score_leaves_no_headline_of_the_survivors(arms, lost):
    b = [20.6, 20.61, 20.62, 20.6, lost]
    report = built(arms({"A": {"jpn": [21.0, 21.3, 20.9, 21.1, 21.2]}, "B": {"jpn": b}}))
    c = of(report, "jpn")
    assert untested(c)
    assert "1 of 5 B runs diverged without a CER" in c["reason"]
    assert c["mean"][1] is c["sd"][1] is c["diff"] is None
    assert c["divergence"]["candidate"]["ci"] == pytest.approx([0.00505, 0.7164], abs=5e-5)
    conditional = c["converged_only"]
    assert conditional["n"] == [5, 4]
    assert conditional["diff"] < 0
    assert "conditional" in conditional["label"]
    assert report["ledger"]["diverged"] == 1
    assert report["arms"]["B"]["jpn"]["sd"] == pytest.approx(0.00957, abs=5e-6)
    assert "diverged run has no CER" in report["arms"]["B"]["jpn"]["reason"]


def test_a_diverged_run_with_a_score_stays_in(arms):
    a, b = [60.0, 61.0, 62.0, 62.0, 177.0], [60.0, 61.0, 62.0, 63.0, 64.0]
    report = built(arms({"A": {"jpn": a}, "B": {"jpn": b}}))
    c = of(report, "jpn")
    assert c["n"] == [5, 5]
    assert c["mean"][0] == pytest.approx(84.4)
    assert c["p"] == pytest.approx(0.388, abs=5e-4)
    assert c["divergence"]["fisher_p"] == 1
    assert c["converged_only"]["n"] == [4, 5]
    assert report["arms"]["A"]["jpn"]["median"] == 62
    assert any("1 of 5 runs diverged (replicate 4) and stays" in note for note in c["notes"])


def test_a_run_without_one_language_has_no_macro_and_no_worst(arms):
    table = {
        "A": {"eng": [20.0, 21.0, 22.0], "jpn": [60.0, 61.0, 63.0]},
        "B": {"eng": [19.0, 20.0, 22.5], "jpn": [58.0, "failed", 60.0]},
    }
    report = built(arms(table))
    macro = of(report, "macro_cer")
    assert macro["n"] == [3, 2]
    assert macro["mean"] == pytest.approx([(40 + 41 + 42.5) / 3, (38.5 + 41.25) / 2])
    assert of(report, "worst_cer")["n"] == [3, 2]
    assert of(report, "eng")["n"] == [3, 3]
    assert "B, replicate 1: no jpn CER (failed), so 2 of 3 runs in macro_cer" in macro["notes"]
    assert report["arms"]["A"]["worst_cer"]["worst_language"] == ["jpn"] * 3


def test_worst_language_may_be_named_beforehand(arms):
    table = {arm: {"eng": [20.0, 21.0], "jpn": [60.0, 61.0]} for arm in "AB"}
    table["B"]["eng"] = [90.0, 91.5]
    rows = arms(table)
    spec = replace(A_AGAINST_B, worst="jpn")
    assert built(rows, spec)["arms"]["B"]["worst_cer"]["values"] == [60, 61]
    assert built(rows)["arms"]["B"]["worst_cer"]["values"] == [90, 91.5]
    with pytest.raises(InputError, match="worst=rus"):
        build_report(rows, replace(A_AGAINST_B, worst="rus"))


def test_a_planned_language_that_failed_everywhere_still_counts_in_the_family(arms):
    rng = random.Random(5)
    table = {arm: {"eng": [20 + rng.gauss(0, 1) for _ in range(4)]} for arm in "AB"}
    spec = replace(A_AGAINST_B, languages=("eng", "jpn", "heb"))
    report = built(arms(table), spec)
    eng = of(report, "eng")
    assert eng["p_adjusted"] == pytest.approx(min(1, 3 * eng["p"]))
    assert eng["confidence_adjusted"] == pytest.approx(1 - 0.05 / 3)
    assert untested(of(report, "jpn"))
    assert untested(of(report, "macro_cer"))


def test_runs_of_one_seed_are_repeats_and_not_replicates(arms):
    table = {"A": {"jpn": [20.0, 24.0, 39.0]}, "B": {"jpn": [21.0, 21.1, 21.2]}}
    c = of(built(arms(table, seeds=[42, 42, 42])), "jpn")
    assert untested(c)
    assert "replicates 0, 1, 2 of A share seed 42" in c["reason"]
    assert c["diff"] is not None
    said = of(built(arms(table), replace(A_AGAINST_B, repeats=True)), "jpn")
    assert untested(said)
    assert "repeat" in said["reason"]


@pytest.mark.parametrize(
    ("shift", "verdict", "words"),
    [
        (-3.0, "better", "the gain exceeds the smallest gain of 1.0 points"),
        (-1.1, "better", "a gain of 1.0 points or more is not shown"),
        (3.0, "worse", "lies above 0"),
        (0.05, "equivalent", "within ±1.0 points"),
        (-0.8, "inconclusive", "runs an arm would be needed"),
    ],
)
def test_verdicts_with_a_smallest_gain(arms, shift, verdict, words):
    a = [20.0, 20.3, 19.6, 20.5, 19.8, 20.1]
    wide = 3.0 if verdict == "inconclusive" else 1.0
    b = [20 + wide * (x - 20) + shift for x in reversed(a)]
    c = of(
        built(arms({"A": {"jpn": a}, "B": {"jpn": b}}), replace(A_AGAINST_B, smallest_gain=1.0)),
        "jpn",
    )
    assert c["verdict"] == verdict
    assert words in c["reason"]
    assert c["equivalence"]["margin"] == 1.0


def test_verdict_rests_on_the_simultaneous_interval(arms):
    rng = random.Random(8)
    table = {"A": {}, "B": {}}
    for i, language in enumerate(("a", "b", "c", "d", "e", "f")):
        table["A"][language] = [20 + rng.gauss(0, 1) for _ in range(8)]
        table["B"][language] = [20 - (1.3 if i == 0 else 0) + rng.gauss(0, 1) for _ in range(8)]
    report = built(arms(table))
    rows = [c for c in report["comparisons"] if c["family"] == "languages"]
    assert [c["p_adjusted"] for c in rows] == pytest.approx(holm([c["p"] for c in rows]))
    for c in report["comparisons"]:
        low, high = c["ci_adjusted"]
        assert low < c["ci"][0] < c["ci"][1] < high
        assert c["verdict"] == ("better" if high < 0 else "worse" if low > 0 else "inconclusive")
    assert any(c["p"] < 0.05 and c["verdict"] == "inconclusive" for c in report["comparisons"])


def test_equivalence_is_judged_at_the_adjusted_level(arms):
    a, b = [20.0, 20.3, 19.6, 20.5, 19.8], [20.3, 20.6, 19.9, 20.8, 20.1]
    spec = replace(A_AGAINST_B, smallest_gain=0.8)
    alone = of(built(arms({"A": {"jpn": a}, "B": {"jpn": b}}), spec), "jpn")
    assert 0.05 / 6 < alone["equivalence"]["p"] < 0.05
    assert alone["verdict"] == "equivalent"
    six = built(
        arms({"A": {"jpn": a}, "B": {"jpn": b}}),
        replace(spec, languages=("jpn", "eng", "deu", "heb", "rus", "spa")),
    )
    assert of(six, "jpn")["verdict"] == "inconclusive"


def test_each_candidate_is_compared_with_the_baseline(arms):
    rng = random.Random(2)
    table = {arm: {"jpn": [20 + rng.gauss(0, 1) for _ in range(3)]} for arm in "ABCD"}
    report = built(arms(table), replace(A_AGAINST_B, candidates=("C", "B")))
    assert [(c["candidate"], c["baseline"]) for c in report["comparisons"][::3]] == [
        ("C", "A"),
        ("B", "A"),
    ]
    assert "2 candidates" in report["families"][0]["note"]
    assert any("not compared here: D" in note for note in report["notes"])


def test_seeds_and_lost_runs_are_listed(six, spec_of_six):
    report = built(six, spec_of_six)
    assert len(report["runs"]) == 10
    assert {run["seed"] for run in report["runs"]} == set(range(7000, 7005))
    [lost] = [run for run in report["runs"] if run["lost"]]
    assert (lost["arm"], lost["replicate"], lost["lost"]) == ("ctc_dro", 4, {"heb": "failed"})
    assert {run["status"] for run in report["runs"]} == {"ok", "diverged", "failed"}


def test_a_broken_ledger_takes_the_confirmatory_label_away(six, spec_of_six):
    assert built(six, spec_of_six)["label"] == "confirmatory"
    broken = replace(spec_of_six, ledger=spec_of_six.ledger | {"unplanned": 1})
    report = built(six, broken)
    assert report["label"] == "exploratory"
    assert any("unplanned=1" in reason for reason in report["label_reasons"])
    assert built(six, replace(spec_of_six, ledger=None))["label"] == "exploratory"


def test_scores_that_look_like_fractions_are_pointed_out(arms):
    table = {"A": {"jpn": [0.20, 0.21]}, "B": {"jpn": [0.19, 0.22]}}
    assert any("fractions" in note for note in built(arms(table))["notes"])


def test_small_spreads_get_the_decimals_to_be_seen(arms):
    table = {"A": {"jpn": [2.31, 2.33, 2.35]}, "B": {"jpn": [2.30, 2.32, 2.36]}}
    assert built(arms(table))["decimals"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": ()}, "candidates is empty"),
        ({"candidates": ("A",)}, "baseline=A is also a candidate"),
        ({"candidates": ("B", "B")}, "twice"),
        ({"alpha": 5}, "alpha=5"),
        ({"smallest_gain": -1.0}, r"smallest_gain=-1\.0"),
        ({"smallest_gain": math.nan}, "smallest_gain=nan"),
        ({"label": "proven"}, "label=proven"),
        ({"languages": ()}, "languages is empty"),
        ({"ledger": {"planned": 3}}, "ledger has"),
        ({"divergence_cer": 0}, "divergence_cer=0"),
    ],
)
def test_wrong_terms_are_named(change, message):
    with pytest.raises(InputError, match=message):
        replace(A_AGAINST_B, **change)


def test_wrong_scores_are_named(arms):
    rows = arms({"A": {"jpn": [20.0, 21.0]}, "B": {"jpn": [20.0, 22.0]}}, seeds=[1, 2])
    with pytest.raises(InputError, match="arm=C is not in the scores; they hold A, B"):
        build_report(rows, replace(A_AGAINST_B, candidates=("C",)))
    with pytest.raises(InputError, match=r"cer=-1\.0 is negative"):
        build_report([*rows, RunScore("B", 2, "jpn", cer=-1.0)], A_AGAINST_B)
    with pytest.raises(InputError, match="has the seeds 1, 9"):
        build_report([*rows, RunScore("A", 0, "eng", cer=1.0, seed=9)], A_AGAINST_B)
    with pytest.raises(InputError, match="name of an endpoint"):
        build_report([*rows, RunScore("A", 0, "macro_cer", cer=1.0, seed=1)], A_AGAINST_B)
