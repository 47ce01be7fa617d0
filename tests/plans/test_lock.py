"""A plan is fixed once; what differs from it is said."""

import json
from datetime import UTC, datetime

import pytest

from espnet_ctcrep.plans.lock import freeze, lock_time, read_lock
from espnet_ctcrep.plans.plan import load_plan
from espnet_ctcrep.utils.errors import InputError


def test_a_frozen_plan_is_the_plan_that_is_read(plan, plan_dir, root):
    before = datetime.now(UTC).replace(microsecond=0)
    path = freeze(plan, plan_dir, root, "abc")
    assert read_lock(plan_dir) == plan
    assert before <= datetime.fromisoformat(lock_time(plan_dir)) <= datetime.now(UTC)
    lock = json.loads(path.read_text())
    assert lock["data"] == "abc"
    assert set(lock["configs"]) == {"baseline", "half-lr"}
    assert lock["versions"]["espnet-ctcrep"]


@pytest.mark.parametrize("data", ["abc", None])
def test_freezing_the_same_again_changes_nothing(plan, plan_dir, root, data):
    path = freeze(plan, plan_dir, root, "abc")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert freeze(plan, plan_dir, root, data) == path
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_another_plan_of_the_same_name_is_refused_with_the_differences(
    plan, plan_file, plan_dir, root
):
    path = freeze(plan, plan_dir, root, None)
    before = path.read_bytes()
    other = load_plan(plan_file(("replicates: 3", "replicates: 9"), ("alpha: 0.05", "alpha: 0.1")))
    with pytest.raises(InputError) as caught:
        freeze(other, plan_dir, root, None)
    assert "(plan.alpha: 0.05 -> 0.1; plan.replicates: 3 -> 9); give the new" in str(caught.value)
    assert path.read_bytes() == before


def test_a_config_or_data_that_changed_since_is_refused(plan, plan_dir, root):
    freeze(plan, plan_dir, root, "abc")
    with pytest.raises(InputError, match=r"\(data: abc -> def\)"):
        freeze(plan, plan_dir, root, "def")
    (root / "conf" / "b.yaml").write_text("optim: adamw\n")
    with pytest.raises(InputError, match=r"\(configs\.half-lr: \w{64} -> \w{64}\)"):
        freeze(plan, plan_dir, root, "abc")


def test_a_missing_config_is_named_and_nothing_is_frozen(plan, plan_dir, root):
    (root / "conf" / "b.yaml").unlink()
    with pytest.raises(InputError, match=r"arms\.half-lr\.config: cannot read .*b\.yaml: No such"):
        freeze(plan, plan_dir, root, None)
    assert not plan_dir.exists()


def test_a_lock_edited_by_hand_is_noticed(plan, plan_dir, root):
    path = freeze(plan, plan_dir, root, None)
    path.write_text(path.read_text().replace('"replicates": 3', '"replicates": 2'))
    for use in (read_lock, lock_time, lambda d: freeze(plan, d, root, None)):
        with pytest.raises(InputError, match="was changed by hand after it was frozen"):
            use(plan_dir)


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[]", "was changed by hand")])
def test_a_lock_that_is_none_is_named(plan_dir, text, message):
    with pytest.raises(InputError, match=r"cannot read .*plan\.lock\.json: No such file"):
        read_lock(plan_dir)
    plan_dir.mkdir(parents=True)
    (plan_dir / "plan.lock.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_lock(plan_dir)
