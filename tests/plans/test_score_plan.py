"""Scoring a plan: every decoded run once, each with a line in the ledger."""

import pytest

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.collect import collect
from espnet_ctcrep.plans.runs import ledger_path
from espnet_ctcrep.plans.score import score_plan

DECODED = "decode_greedy/test_1h"


@pytest.fixture
def score(root, plan_dir):
    """score(definition) scores the plan -> (runs not decoded, lines said)."""
    (root / "text").write_text("a [eng] HELLO\nb [jpn] あい\n")
    (root / "utt2lang").write_text("a eng\nb jpn\n")

    def do(definition="pooled"):
        said: list[str] = []
        args = (root / "text", root / "utt2lang", DECODED, definition)
        return score_plan(plan_dir, *args, said.append), said

    return do


@pytest.fixture
def decode(plan_dir):
    """decode(run, text of jpn) launches a run and writes its hypotheses."""

    def do(run, jpn="あい"):
        ledger.append(ledger_path(plan_dir), "launched", run.arm, run.replicate)
        path = run.dir / DECODED / "text"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"a [eng] HELLO\nb [jpn] {jpn}\n")

    return do


def test_decoded_runs_are_scored_and_the_others_counted_and_named(frozen, score, decode, plan_dir):
    decode(frozen[0])
    decode(frozen[2], "いえおか")  # 4 edits of 2 characters: 200%
    missing, said = score()
    assert missing == 4
    assert said[0] == "baseline/r0: CER in percent: eng 0.0, jpn 0.0"
    assert said[1].startswith("half-lr/r0 is not decoded: ")
    entries = ledger.read(ledger_path(plan_dir))[2:]
    assert [(e.event, e.replicate, e.fields["cer"]) for e in entries] == [
        ("finished", 0, {"eng": 0.0, "jpn": 0.0}),
        ("diverged", 1, {"eng": 0.0, "jpn": 200.0}),
    ]
    counts = collect(plan_dir).counts
    assert (counts["finished"], counts["diverged"], counts["missing"]) == (2, 1, 4)


@pytest.mark.parametrize("definition", ["pooled", "asr_sh", "ml_superb2"])
def test_all_definitions_end_in_a_confirmatory_report(frozen, score, decode, definition, plan_dir):
    for run in frozen:
        decode(run, "あ")
    assert score(definition)[0] == 0
    result = collect(plan_dir)
    assert (result.label, result.reasons) == ("confirmatory", [])
    assert {s.cer for s in result.scores} == {0.0, 50.0}


def test_a_run_is_scored_again_only_where_its_text_changed(frozen, score, decode, plan_dir):
    decode(frozen[0])
    score()
    before = len(ledger.read(ledger_path(plan_dir)))
    score()
    assert len(ledger.read(ledger_path(plan_dir))) == before
    (frozen[0].dir / DECODED / "text").write_text("a [eng] HELLO\nb [jpn] え\n")
    score()
    assert [e.event for e in ledger.read(ledger_path(plan_dir))[before:]] == ["diverged"]
    assert "1 runs were scored more than once" in collect(plan_dir).reasons[-1]


def test_scoring_goes_on_after_a_writer_was_killed(frozen, score, decode, plan_dir):
    decode(frozen[0])
    with ledger_path(plan_dir).open("ab") as f:
        f.write(b'{"seq": 2, "ti')
    score()
    events = [e.event for e in ledger.read(ledger_path(plan_dir))]
    assert events == ["launched", "repaired", "finished"]
