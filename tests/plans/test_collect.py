"""What a plan came to: a row for every planned score, honest counts, an earned label."""

import pytest

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.collect import collect
from espnet_ctcrep.plans.lock import freeze
from espnet_ctcrep.plans.plan import load_plan
from espnet_ctcrep.plans.runs import ledger_path, planned_runs
from espnet_ctcrep.scoring.tables import read_scores, write_scores
from espnet_ctcrep.utils.errors import InputError


@pytest.fixture
def note(plan_dir):
    """note(event, run) adds a line to the ledger."""

    def do(event, run, **fields):
        ledger.append(ledger_path(plan_dir), event, run.arm, run.replicate, **fields)

    return do


@pytest.fixture
def finished(frozen, finish):
    """The runs of the plan, all finished."""
    for k, run in enumerate(frozen):
        finish(run, 20 + k)
    return frozen


def test_a_plan_run_as_it_was_fixed_is_confirmatory(finished, plan, plan_dir):
    result = collect(plan_dir)
    assert (result.label, result.reasons) == ("confirmatory", [])
    assert result.plan == plan
    assert result.counts == {
        "planned": 6,
        "finished": 6,
        "diverged": 0,
        "failed": 0,
        "missing": 0,
        "unplanned": 0,
    }
    assert [s for run in finished for s in read_scores(run.dir / "scores.csv")] == result.scores
    assert result.scores[3].seed == finished[1].streams.init


def test_every_planned_score_has_a_row_and_those_not_there_say_why(frozen, finish, note, plan_dir):
    finish(frozen[0])
    note("launched", frozen[1])
    note("launched", frozen[2])
    note("failed", frozen[2], step="train", exit_status=1)
    result = collect(plan_dir)
    statuses = {(s.arm, s.replicate, s.language): s.status for s in result.scores}
    assert len(result.scores) == len(statuses) == 3 * 2 * 2
    assert statuses["baseline", 0, "jpn"] == "ok"
    assert statuses["half-lr", 0, "jpn"] == "missing"
    assert statuses["baseline", 1, "eng"] == "failed"
    assert result.counts["finished"] == 1
    assert (result.counts["failed"], result.counts["missing"]) == (1, 4)
    assert all(s.cer is None for s in result.scores if s.status != "ok")
    assert result.label == "exploratory"
    assert result.reasons == ["1 planned runs are failed", "4 planned runs are missing"]


def test_runs_diverge_by_the_plans_rule_and_keep_their_scores(frozen, finish, plan_dir):
    for run in frozen[1:]:
        finish(run)
    finish(frozen[0], 89)  # eng 89, jpn 90: the rule is 90 or more
    result = collect(plan_dir)
    assert [(s.language, s.cer, s.status) for s in result.scores[:2]] == [
        ("eng", 89.0, "ok"),
        ("jpn", 90.0, "diverged"),
    ]
    assert (result.counts["finished"], result.counts["diverged"]) == (6, 1)
    assert result.label == "confirmatory"


def test_fewer_than_three_replicates_are_a_pilot(plan_file, plan_dir, root, finish):
    plan = load_plan(plan_file(("replicates: 3", "replicates: 2")))
    freeze(plan, plan_dir, root, None)
    for run in planned_runs(plan, plan_dir):
        finish(run)
    result = collect(plan_dir)
    assert result.label == "pilot"
    assert result.reasons == ["2 replicates an arm are planned; fewer than 3 are a pilot"]


def test_runs_that_were_not_planned_are_counted(finished, plan_dir):
    (plan_dir / "half-lr" / "r7").mkdir(parents=True)
    (plan_dir / "jobs" / "results").mkdir(parents=True)
    ledger.append(ledger_path(plan_dir), "launched", "other", 0)
    result = collect(plan_dir)
    assert result.counts["unplanned"] == 2
    assert (result.label, result.reasons) == ("exploratory", ["2 runs were not planned"])


def test_a_run_launched_before_the_freeze_is_no_confirmation(
    plan, plan_dir, root, finish, monkeypatch
):
    runs = planned_runs(plan, plan_dir)

    class Earlier(ledger.datetime):
        @classmethod
        def now(cls, zone):
            return cls(2026, 1, 1, tzinfo=zone)

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "datetime", Earlier)
        finish(runs[0])
    freeze(plan, plan_dir, root, None)
    for run in runs[1:]:
        finish(run)
    result = collect(plan_dir)
    assert result.label == "exploratory"
    assert result.reasons == ["1 runs were launched before the plan was frozen"]


def test_scores_that_no_launch_made_are_no_confirmation(frozen, finish, plan_dir):
    for run in frozen:
        finish(run, launched=run is not frozen[3])
    result = collect(plan_dir)
    assert result.reasons == ["1 runs were scored but never launched by the plan"]


def test_scores_without_a_line_in_the_ledger_do_not_count(finished, plan_dir):
    ledger_path(plan_dir).unlink()
    result = collect(plan_dir)
    assert result.counts["missing"] == 6
    assert all(s.cer is None for s in result.scores)


def test_a_score_changed_after_it_was_made_is_told(finished, plan_dir):
    path = finished[4].dir / "scores.csv"
    text = path.read_text()
    assert ",25,100," in text
    path.write_text(text.replace(",25,100,", ",15,100,"))
    result = collect(plan_dir)
    assert result.label == "exploratory"
    assert result.reasons == ["scores.csv of 1 runs is not what the ledger recorded"]


def test_a_run_that_failed_and_was_started_again_is_still_the_planned_one(
    frozen, finish, note, plan_dir
):
    note("launched", frozen[0])
    note("failed", frozen[0], step="train", exit_status=137)
    note("launched", frozen[1])
    note("resumed", frozen[1])
    for run in frozen:
        finish(run)
    result = collect(plan_dir)
    assert (result.label, result.counts["failed"]) == ("confirmatory", 0)


def test_a_run_launched_again_after_its_score_was_seen_is_told(finished, finish, plan_dir):
    finish(finished[0], 5)
    result = collect(plan_dir)
    assert result.label == "exploratory"
    assert result.reasons == [
        "1 runs were launched again after they had been scored",
        "1 runs were scored more than once, with another text or definition",
    ]


def test_a_repaired_ledger_still_counts(finished, plan_dir):
    with ledger_path(plan_dir).open("ab") as f:
        f.write(b'{"seq": 13')
    with pytest.raises(InputError, match="half written"):
        collect(plan_dir)
    ledger.repair(ledger_path(plan_dir))
    assert collect(plan_dir).label == "confirmatory"


def test_a_changed_ledger_or_lock_gives_no_report(finished, plan_dir):
    path = ledger_path(plan_dir)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"finished"', b'"diverged"', 1))
    with pytest.raises(InputError, match=r"ledger\.jsonl:2: the ledger was changed here"):
        collect(plan_dir)
    path.write_bytes(raw)
    lock = plan_dir / "plan.lock.json"
    lock.write_text(lock.read_text().replace("0.05", "0.1"))
    with pytest.raises(InputError, match="was changed by hand"):
        collect(plan_dir)


def test_scores_of_another_run_are_refused(finished, plan_dir):
    write_scores(finished[0].dir / "scores.csv", read_scores(finished[2].dir / "scores.csv"))
    with pytest.raises(InputError, match=r"r0/scores\.csv is of baseline/r1; score again"):
        collect(plan_dir)
