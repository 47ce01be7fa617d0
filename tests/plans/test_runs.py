"""Where the runs of a plan are, in which order, and how far each has come."""

from dataclasses import replace

import pytest

from espnet_ctcrep.determinism.streams import spawn_streams
from espnet_ctcrep.plans.runs import Progress, done_marker, find_run, planned_runs, progress
from espnet_ctcrep.utils.errors import InputError

# As espnet2/train/trainer.py writes them: without an estimate in the epoch that it starts with.
LOG = """\
# python3 -m espnet_ctcrep -m espnet2.bin.asr_train --max_epoch 40
[host] 2026-12-01 06:00:00,000 (trainer:334) INFO: 6/40epoch started
[host] 2026-12-01 06:00:07,000 (trainer:463) INFO: 6epoch results: [train] loss=1.2
[host] 2026-12-01 06:00:08,000 (trainer:322) INFO: 7/40epoch started. Estimated time to finish: \
3 minutes and 2.1 seconds
"""


def test_a_replicate_of_every_arm_comes_before_the_next_replicate(plan, plan_dir):
    names = [run.name for run in planned_runs(plan, plan_dir)]
    assert names == [f"{arm}/r{k}" for k in range(3) for arm in ("baseline", "half-lr")]


def test_arms_share_the_seeds_of_a_replicate_and_each_run_has_its_directory(plan, plan_dir):
    runs = planned_runs(plan, plan_dir)
    assert [run.streams for run in runs[:2]] == [spawn_streams(20261201, 0)] * 2
    assert runs[2].streams == spawn_streams(20261201, 1) != runs[0].streams
    assert runs[3].dir == plan_dir / "half-lr" / "r1"


def test_a_plan_that_grows_keeps_its_runs(plan, plan_dir):
    longer = planned_runs(replace(plan, replicates=5), plan_dir)
    assert longer[:6] == planned_runs(plan, plan_dir)


def test_a_run_that_is_not_planned_is_refused_with_what_is(plan, plan_dir):
    assert find_run(plan, plan_dir, "half-lr", 2) == planned_runs(plan, plan_dir)[-1]
    for arm, k in (("half-lr", 3), ("other", 0)):
        with pytest.raises(InputError, match=f"no run {arm}/r{k}; its arms are baseline, half-lr"):
            find_run(plan, plan_dir, arm, k)


def test_markers_of_steps_and_test_sets_are_apart(plan, plan_dir):
    run = planned_runs(plan, plan_dir)[0]
    markers = {
        done_marker(run, "train", ""),
        done_marker(run, "decode", "decode_greedy/test_1h"),
        done_marker(run, "decode", "decode_greedy/other"),
    }
    assert len(markers) == 3
    assert all(run.dir in marker.parents for marker in markers)


def test_progress_is_the_last_epoch_that_espnet_started(plan, plan_dir):
    run = planned_runs(plan, plan_dir)[0]
    assert progress(run) is None
    run.dir.mkdir(parents=True)
    (run.dir / "train.log").write_text("# started\n")
    assert progress(run) is None
    (run.dir / "train.log").write_bytes(LOG.encode() + b"\xff half a line")
    assert progress(run) == Progress(7, 40)
