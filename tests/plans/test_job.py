"""A job owns its run, and the ledger has a line for what became of it."""

import fcntl
import sys

import pytest

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.job import run_job
from espnet_ctcrep.plans.runs import done_marker, ledger_path
from espnet_ctcrep.utils.errors import InputError


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_job_that_succeeds_leaves_its_marker(frozen, plan_dir):
    run = frozen[3]
    assert run_job(plan_dir, run, "train", "", python("pass")) == 0
    (entry,) = ledger.read(ledger_path(plan_dir))
    assert (entry.event, entry.arm, entry.replicate) == ("launched", "half-lr", 1)
    assert entry.fields == {"streams": vars(run.streams)}
    assert done_marker(run, "train", "").exists()


def test_a_job_that_fails_is_recorded_with_its_status_and_leaves_no_marker(frozen, plan_dir):
    run = frozen[0]
    assert run_job(plan_dir, run, "train", "", python("raise SystemExit(7)")) == 7
    entries = ledger.read(ledger_path(plan_dir))
    assert [e.event for e in entries] == ["launched", "failed"]
    assert entries[1].fields == {"step": "train", "exit_status": 7}
    assert not done_marker(run, "train", "").exists()


def test_a_job_with_a_checkpoint_resumes(frozen, plan_dir):
    run = frozen[0]
    run.dir.mkdir(parents=True)
    (run.dir / "checkpoint.pth").touch()
    run_job(plan_dir, run, "train", "", python("pass"))
    assert [e.event for e in ledger.read(ledger_path(plan_dir))] == ["resumed"]


def test_a_second_process_on_the_same_run_is_refused_and_writes_nothing(frozen, plan_dir):
    run = frozen[0]
    run.dir.mkdir(parents=True)
    with (run.dir / ".owner").open("a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is working on"):
            run_job(plan_dir, run, "train", "", python("pass"))
    assert ledger.read(ledger_path(plan_dir)) == []
