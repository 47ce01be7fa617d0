"""Training through the launcher: seeds decide everything, and the result is stock ESPnet's."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]

SEEDS = {"init": "11", "data": "22", "noise": "33"}


def seeds(**changed: str) -> list[str]:
    return [x for k, v in {**SEEDS, **changed}.items() for x in (f"--{k}_seed", v)]


@pytest.fixture(scope="module")
def runs(tiny):
    """One run, its repeat, the same with another seed in each stream, and other backends."""
    wanted = {
        "one": seeds(),
        "repeat": seeds(),
        "init": seeds(init="12"),
        "data": seeds(data="23"),
        "noise": seeds(noise="34"),
        "builtin": [*seeds(), "--ctc_conf", "ctc_type=builtin"],
        "cpu": [*seeds(), "--ctc_conf", "ctc_type=cpu"],
        "shuffled": [*seeds(), "--ctc_conf", "ctc_type=shuffled", "--ctc_conf", "shuffle_seed=5"],
    }
    with ThreadPoolExecutor(2) as pool:
        done = dict(
            zip(
                wanted,
                pool.map(lambda item: tiny.train(f"exp/{item[0]}", *item[1]), wanted.items()),
                strict=True,
            )
        )
    for name, process in done.items():
        assert process.returncode == 0, f"{name}: {process.stderr[-3000:]}"
    return tiny.root / "exp"


def weights(run_dir, name="valid.loss.ave.pth"):
    import torch

    return torch.load(run_dir / name, map_location="cpu", weights_only=True)


def equal_bits(one, other) -> bool:
    import torch

    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def test_two_runs_of_one_replicate_have_equal_weights_to_the_last_bit(runs):
    assert equal_bits(weights(runs / "one"), weights(runs / "repeat"))


@pytest.mark.parametrize("stream", ["init", "data", "noise"])
def test_another_seed_in_any_stream_gives_other_weights(runs, stream):
    assert not equal_bits(weights(runs / "one"), weights(runs / stream))


@pytest.mark.parametrize("backend", ["builtin", "cpu"])
def test_backends_of_the_same_kernel_give_the_same_weights(runs, backend):
    assert equal_bits(weights(runs / "one"), weights(runs / backend))


def test_another_order_of_summation_moves_the_weights_a_little(runs):
    import torch

    one, shuffled = weights(runs / "one"), weights(runs / "shuffled")
    assert not equal_bits(one, shuffled)
    assert all(torch.allclose(one[k].float(), shuffled[k].float(), atol=0.02) for k in one)


def test_the_run_is_recorded_and_its_config_is_stock(runs):
    record = json.loads((runs / "shuffled/run.json").read_text())
    assert record["ctc"] == {"ctc_type": "shuffled", "shuffle_seed": 5}
    assert record["streams"] == {"init": 11, "data": 22, "noise": 33}
    assert record["versions"]["espnet"]
    config = yaml.safe_load((runs / "shuffled/config.yaml").read_text())
    assert config["ctc_conf"]["ctc_type"] == "builtin"
    assert "shuffle_seed" not in config["ctc_conf"]
    assert not [key for key in config if key.endswith("_seed")]


def test_stock_espnet_loads_the_run_and_computes_the_same_loss(runs, monkeypatch, tiny):
    import torch
    from espnet2.tasks.asr import ASRTask

    monkeypatch.chdir(tiny.root)
    model, _ = ASRTask.build_model_from_file(
        str(runs / "one/config.yaml"), str(runs / "one/valid.loss.ave.pth"), "cpu"
    )
    assert type(model.ctc.ctc_loss) is torch.nn.CTCLoss


def test_without_streams_the_seed_is_espnets_own(tiny, runs):
    """--seed alone trains as stock ESPnet does, bit for bit."""
    ours = tiny.train("exp/seed", "--seed", "5", "--ctc_conf", "ctc_type=builtin")
    assert ours.returncode == 0, ours.stderr[-3000:]
    code = "import sys; from espnet2.bin.asr_train import main; main(sys.argv[1:])"
    stock = tiny.launch(
        *("-c", code, *tiny.options("exp/stock")),
        *("--seed", "5", "--ctc_conf", "ctc_type=builtin"),
    )
    assert stock.returncode == 0, stock.stderr[-3000:]
    root = tiny.root / "exp"
    assert equal_bits(weights(root / "seed"), weights(root / "stock"))
    configs = [(root / name / "config.yaml").read_text() for name in ("seed", "stock")]
    assert configs[0].replace("exp/seed", "exp/stock") == configs[1]


def test_a_run_is_not_continued_with_other_options(tiny, runs):
    done = tiny.train("exp/one", *seeds(), "--optim_conf", "lr=0.1")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "error: exp/one holds a run that began with other options (optim_conf); "
        "give this one another directory, or restore the options"
    )


def test_a_run_goes_on_for_more_epochs(tiny, runs):
    done = tiny.train("exp/repeat", *seeds(), "--max_epoch", "3")
    assert done.returncode == 0, done.stderr[-3000:]
    assert (runs / "repeat/3epoch.pth").exists()


def test_an_upstream_with_layer_drop_trains_without_it(tiny, runs):
    """S3PRL stops where transformers 5 drops a layer; half of the layers would be here."""
    config = yaml.safe_load((tiny.root / "config.yaml").read_text())
    config["frontend_conf"]["frontend_conf"]["path_or_url"] += "_layerdrop"
    (tiny.root / "layerdrop.yaml").write_text(yaml.safe_dump(config))
    done = tiny.train("exp/layerdrop", "--config", "layerdrop.yaml", "--max_epoch", "1")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "layerdrop=0.5 of frontend.upstream.upstream.model is set to 0" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ctc_type=determinstic"], "ctc_conf.ctc_type='determinstic' is unknown; use one of ["),
        (["ctc_type=cudnn"], "runs on cuda, not on cpu; use one of"),
        (["zero_infinty=true"], "ctc_conf.zero_infinty is not an option of CTC; use one of ["),
        (["shuffle_seed=3"], "shuffle_seed"),
    ],
)
def test_mistakes_in_ctc_conf_stop_before_data_is_read(tiny, options, message):
    conf = [x for option in options for x in ("--ctc_conf", option)]
    done = tiny.train("exp/wrong", *conf, "--train_shape_file", "no/such/file")
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert not (tiny.root / "exp/wrong/run.json").exists()
