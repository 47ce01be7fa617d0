"""From nothing to a report through run.sh, on ESPnet's own asr.sh and audio files."""

import csv
import json
import re

import pytest

pytestmark = pytest.mark.recipe


@pytest.fixture(scope="module")
def finished(recipe):
    """The recipe after all stages of a small plan, and what they printed."""
    done = recipe.run()
    assert done.returncode == 0, done.stdout
    return recipe, done.stdout


def test_a_stage_says_what_it_lacks(recipe):
    # before `finished`, in a recipe where nothing has run: pytest keeps the order of a file
    for stage, lacking in ((3, "data/demo_train_1h/text"), (12, "plan.lock.json")):
        done = recipe.run("--stage", str(stage))
        assert done.returncode == 2
        assert re.search(
            rf"^error: stage {stage} needs .*{lacking}, which stage \d+ makes; run with --stage",
            done.stdout,
            re.MULTILINE,
        ), done.stdout


def test_it_ends_with_a_report_of_every_run(finished):
    recipe, output = finished
    report = json.loads((recipe.directory / "exp/small/report/report.json").read_text())
    assert report["ledger"] == {
        "planned": 4,
        "finished": 4,
        "diverged": report["ledger"]["diverged"],  # two iterations teach nothing
        "failed": 0,
        "missing": 0,
        "unplanned": 0,
    }
    assert report["label"] == "pilot"  # two replicates
    endpoints = [c["endpoint"] for c in report["comparisons"]]
    assert {"eng", "heb", "jpn", "macro_cer", "worst_cer"} == set(endpoints)
    assert "lower is better" in output
    assert f"report: {recipe.directory / 'exp/small/report/report.html'}" in output
    assert "train: 4 of 4 runs done" in output


def test_every_number_traces_to_a_ledger_line(finished):
    recipe, _ = finished
    plan_dir = recipe.directory / "exp/small"
    lines = [json.loads(x) for x in (plan_dir / "ledger.jsonl").read_text().splitlines()]
    ends = [x for x in lines if x["event"] in ("finished", "diverged")]
    assert len(ends) == 4
    for end in ends:
        run_dir = plan_dir / end["arm"] / f"r{end['replicate']}"
        with (run_dir / "scores.csv").open(newline="") as f:
            for row in csv.DictReader(f):
                cer = 100 * int(row["edits"]) / int(row["chars"])
                assert end["fields"]["cer"][row["language"]] == cer
        with (run_dir / "utterances.csv").open(newline="") as f:
            assert sum(1 for _ in csv.DictReader(f)) == 12


def test_replicates_share_seeds_between_arms_and_differ_within(finished):
    recipe, _ = finished
    plan_dir = recipe.directory / "exp/small"
    streams = {
        (arm, k): json.loads((plan_dir / arm / f"r{k}/run.json").read_text())["streams"]
        for arm in ("baseline", "half_lr")
        for k in (0, 1)
    }
    assert streams["baseline", 0] == streams["half_lr", 0]
    assert not set(streams["baseline", 0].values()) & set(streams["baseline", 1].values())


def test_config_and_weights_are_stock_espnets(finished):
    """Stock asr_inference decodes the run; what it says is compared in tests/decoding."""
    recipe, _ = finished
    run_dir = recipe.directory / "exp/small/baseline/r0"
    config = (run_dir / "config.yaml").read_text()
    assert "ctc_type: builtin" in config
    assert "noise_seed" not in config
    wav_scp = recipe.directory / "dump/raw/demo_test_1h/wav.scp"
    done = recipe.call(
        *("python3", "-m", "espnet2.bin.asr_inference", "--config", "conf/decode_asr.yaml"),
        *("--ngpu", "0", "--output_dir", "exp/stock"),
        *("--data_path_and_name_and_type", f"{wav_scp},speech,sound"),
        *("--asr_train_config", f"{run_dir}/config.yaml"),
        *("--asr_model_file", f"{run_dir}/valid.loss.ave.pth"),
    )
    assert done.returncode == 0, done.stdout
    stock = (recipe.directory / "exp/stock/1best_recog/text").read_text().splitlines()
    ours = (run_dir / "decode_greedy/demo_test_1h/text").read_text().splitlines()
    assert len(ours) == 12
    assert [x.split(" ")[0] for x in stock] == [x.split(" ")[0] for x in ours]


def test_a_second_call_does_nothing_twice(finished):
    recipe, _ = finished
    plan_dir = recipe.directory / "exp/small"
    before = {p: p.stat().st_mtime_ns for p in plan_dir.glob("*/r*/*") if p.is_file()}
    ledger = (plan_dir / "ledger.jsonl").read_bytes()
    report = (plan_dir / "report/report.json").read_bytes()
    done = recipe.run()
    assert done.returncode == 0, done.stdout
    assert "train: all 4 runs are done" in done.stdout
    assert "decode: all 4 runs are done" in done.stdout
    assert {p: p.stat().st_mtime_ns for p in plan_dir.glob("*/r*/*") if p.is_file()} == before
    assert (plan_dir / "ledger.jsonl").read_bytes() == ledger
    assert (plan_dir / "report/report.json").read_bytes() == report


def test_a_changed_plan_is_refused_and_the_difference_named(finished):
    recipe, _ = finished
    plan = (recipe.directory / "conf/small.yaml").read_text()
    (recipe.directory / "conf/grown.yaml").write_text(
        plan.replace("replicates: 2", "replicates: 3")
    )
    done = recipe.run("--stage", "11", plan="conf/grown.yaml")
    assert done.returncode == 2
    assert "plan.replicates: 2 -> 3" in done.stdout


def test_a_plan_for_other_data_is_refused(recipe):
    done = recipe.run("--duration", "10min")
    assert done.returncode == 2
    assert "scores demo_test_1h, but these options make demo_test_10min" in done.stdout


def test_real_corpus_that_is_not_there_is_named(recipe):
    plan = (recipe.directory / "conf/small.yaml").read_text()
    (recipe.directory / "conf/real.yaml").write_text(plan.replace("demo_test_1h", "test_1h"))
    done = recipe.run("--corpus", "ml_superb", "--stop_stage", "1", plan="conf/real.yaml")
    assert done.returncode == 2
    assert "pass ./run.sh --mlsuperb DIR" in done.stdout
