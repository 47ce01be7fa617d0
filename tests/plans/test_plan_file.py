"""A plan file: what it gives, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from espnet_ctcrep.plans.plan import Arm, Plan, content_hash, load_plan, plan_from_dict
from espnet_ctcrep.utils.errors import InputError

CONF = Path(__file__).parents[2] / "conf" / "plans"
CONFIGS = {"baseline": "optim: adam\n", "half-lr": "optim: sgd\n"}


def test_every_key_of_a_plan_is_read(plan):
    assert plan == Plan(
        name="two_arms",
        root_seed=20261201,
        replicates=3,
        arms={
            "baseline": Arm("conf/a.yaml"),
            "half-lr": Arm("conf/b.yaml", "--optim_conf lr=0.001"),
        },
        baseline="baseline",
        languages=("eng", "jpn"),
        test_set="test_1h",
        primary=("macro_cer", "worst_cer"),
        worst="max_per_replicate",
        alpha=0.05,
        smallest_gain=None,
        divergence_cer_at_least=90.0,
    )


def test_a_plan_survives_json(plan):
    assert plan_from_dict(plan.as_dict()) == plan


def test_what_may_be_left_out_has_the_usual_values(plan_file):
    text = plan_file().read_text()
    path = plan_file((text[text.index("endpoints:") :], ""))
    plan = load_plan(path)
    assert (plan.alpha, plan.smallest_gain, plan.divergence_cer_at_least) == (0.05, None, 100.0)
    assert (plan.primary, plan.worst) == (("macro_cer", "worst_cer"), "max_per_replicate")


def test_the_worst_language_may_be_fixed_by_name(plan_file):
    assert load_plan(plan_file(("max_per_replicate", "jpn"))).worst == "jpn"


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda p: p.name)
def test_the_plans_that_come_with_the_project_load(path):
    assert load_plan(path).name == path.stem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replicates: 3", "replicates: 0", ":3: replicates=0; give a whole number, 1 or more"),
        ("replicates: 3", "replicates: 2.5", ":3: replicates=2.5; give a whole number"),
        ("replicates: 3", "replicates: yes", ":3: replicates=True; give a whole number"),
        ("replicates: 3\n", "", ":1: replicates is missing; give a whole number"),
        ("replicates: 3", "replicate: 3", ":3: unknown key replicate; did you mean replicates?"),
        ("replicates: 3", "qwerty: 3", ":3: unknown key qwerty; known: name, root_seed, "),
        ("alpha: 0.05", "name: b", ":13: name stands there twice (first in line 1); keep one"),
        ("root_seed: 20261201", "root_seed: -1", ":2: root_seed=-1; give a whole number, 0 or"),
        ("name: two_arms", "name: two arms", ":1: name='two arms'; give a name of letters"),
        ("name: two_arms", "name: ../up", ":1: name='../up'; give a name of letters"),
        ("name: two_arms", "name: 12", ":1: name=12; give a name of letters"),
        ("name: two_arms", "name: 2026-13-01", ":1: name='2026-13-01'; give a name of letters"),
        ("half-lr:", "half lr:", ":6: arms.half lr='half lr'; give a name of letters"),
        ("    config: conf/b.yaml\n", "", ":7: arms.half-lr.config is missing; give the train"),
        ("    config:", "    confg:", ":7: unknown key arms.half-lr.confg; did you mean config?"),
        ("{config: conf/a.yaml}", "conf/a.yaml", ":5: arms.baseline must be keys with values"),
        ("--optim_conf lr=0.001", "[a, b]", ":8: arms.half-lr.asr_args=['a', 'b']; give one s"),
        ("baseline: baseline", "baseline: base", ":9: baseline='base'; give one of the arms b"),
        ("[eng, jpn]", "[]", ":10: languages=[]; give a list of language codes"),
        ("[eng, jpn]", "[eng, eng]", ":10: languages='eng'; give a list of language codes, none"),
        ("[eng, jpn]", "eng", ":10: languages='eng'; give a list"),
        ("test_set: test_1h", "test_set: ../a", ":11: test_set='../a'; give a name of letters"),
        ("[macro_cer, worst_cer]", "[wer]", ":12: endpoints.primary='wer'; give a list of mac"),
        ("max_per_replicate", "max", ":12: endpoints.worst='max'; give max_per_replicate or o"),
        ("max_per_replicate", "deu", ":12: endpoints.worst='deu'; give max_per_replicate or o"),
        ("alpha: 0.05", "alpha: 1", ":13: alpha=1; give a number between 0 and 1"),
        ("alpha: 0.05", "alpha: 5%", ":13: alpha='5%'; give a number between 0 and 1"),
        ("alpha: 0.05", "alpha: .nan", ":13: alpha=nan; give a number between 0 and 1"),
        ("smallest_gain: null", "smallest_gain: 0", ":14: smallest_gain=0; give CER points abo"),
        ("smallest_gain: null", "smallest_gain: .inf", ":14: smallest_gain=inf; give CER poin"),
        ("at_least: 90.0", "at_least: -1", ":15: divergence.cer_at_least=-1; give a CER in pe"),
        ("at_least: 90.0", "at_least: .inf", ":15: divergence.cer_at_least=inf; give a CER in"),
        ("[eng, jpn]", "[eng, jpn", ":11: not YAML ("),
        ("alpha: 0.05", "alpha: !made_up 3", ":13: alpha='3'; give a number between 0 and 1"),
    ],
)
def test_a_wrong_plan_is_refused_with_line_key_and_remedy(plan_file, old, new, message):
    path = plan_file((old, new))
    with pytest.raises(InputError) as caught:
        load_plan(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_one_arm_is_nothing_to_compare(plan_file):
    text = plan_file().read_text()
    arm = text[text.index("  half-lr:") : text.index("baseline: baseline")]
    with pytest.raises(InputError, match=r"arms=\['baseline'\]; give two arms or more"):
        load_plan(plan_file((arm, "")))


def test_files_that_hold_no_plan_are_named(tmp_path):
    path = tmp_path / "plan.yaml"
    with pytest.raises(InputError, match=r"cannot read the plan .*plan\.yaml: No such file"):
        load_plan(path)
    path.write_text("")
    with pytest.raises(InputError, match=r"plan\.yaml is empty"):
        load_plan(path)
    path.write_text("- a\n- b\n")
    with pytest.raises(InputError, match=r"plan\.yaml:1: the plan must be keys with values"):
        load_plan(path)
    path.write_bytes(b"name: \xff\n")
    with pytest.raises(InputError, match=r"plan\.yaml is not UTF-8"):
        load_plan(path)


def test_the_content_hash_follows_the_plan_and_the_configs_and_nothing_else(plan, plan_file):
    same = content_hash(load_plan(plan_file(("alpha: 0.05", "alpha: 0.050 # a note"))), CONFIGS)
    assert content_hash(plan, CONFIGS) == same
    other = load_plan(plan_file(("replicates: 3", "replicates: 4")))
    assert content_hash(other, CONFIGS) != same
    assert content_hash(plan, {**CONFIGS, "half-lr": "optim: adamw\n"}) != same
