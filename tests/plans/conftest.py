"""A plan in a directory whose name has a space and quotes, and runs with made-up scores."""

from pathlib import Path

import pytest

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.plans.lock import freeze
from espnet_ctcrep.plans.plan import Plan, load_plan
from espnet_ctcrep.plans.runs import Run, ledger_path, planned_runs
from espnet_ctcrep.scoring.tables import RunScore, write_scores

PLAN = """\
name: two_arms
root_seed: 20261201
replicates: 3
arms:
  baseline: {config: conf/a.yaml}
  half-lr:
    config: conf/b.yaml
    asr_args: --optim_conf lr=0.001
baseline: baseline
languages: [eng, jpn]
test_set: test_1h
endpoints: {primary: [macro_cer, worst_cer], worst: max_per_replicate}
alpha: 0.05
smallest_gain: null
divergence: {cer_at_least: 90.0}
"""


@pytest.fixture
def root(tmp_path) -> Path:
    """Where a recipe would be: configs of two arms."""
    root = tmp_path / 'it\'s a "recipe"'
    (root / "conf").mkdir(parents=True)
    (root / "conf" / "a.yaml").write_text("optim: adam\n")
    (root / "conf" / "b.yaml").write_text("optim: sgd\n")
    return root


@pytest.fixture
def plan_file(root):
    """plan_file([(old, new)]) -> path of the plan, with a text replaced."""

    def write(*changes: tuple[str, str]) -> Path:
        text = PLAN
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = root / "my plan.yaml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def plan(plan_file) -> Plan:
    return load_plan(plan_file())


@pytest.fixture
def plan_dir(root) -> Path:
    return root / "exp" / "two_arms"


@pytest.fixture
def frozen(plan, plan_dir, root) -> list[Run]:
    """The runs of the plan, frozen in `plan_dir`."""
    freeze(plan, plan_dir, root, "data")
    return planned_runs(plan, plan_dir)


@pytest.fixture
def finish(plan_dir):
    """finish(run, cer) launches and scores a run: `cer` edits of 100 characters a language."""

    def do(run: Run, cer: int = 20, launched: bool = True) -> None:
        if launched:
            ledger.append(ledger_path(plan_dir), "launched", run.arm, run.replicate)
        rows = [
            RunScore(run.arm, run.replicate, language, cer + i, 100, seed=run.streams.init)
            for i, language in enumerate(("eng", "jpn"))
        ]
        write_scores(run.dir / "scores.csv", rows)
        event = "diverged" if cer + 1 >= 90 else "finished"
        recorded = {row.language: row.cer for row in rows}
        ledger.append(ledger_path(plan_dir), event, run.arm, run.replicate, cer=recorded)

    return do
