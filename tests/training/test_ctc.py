"""Every backend inside ESPnet's CTC module and in its hybrid models."""

import pytest
import yaml

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]

ON_CPU = ["native", "cpu", "deterministic", "shuffled"]


def modules(backend, options=None):
    """ESPnet's CTC as it builds it, and the same with a backend of ours."""
    import copy

    import torch
    from espnet2.asr.ctc import CTC

    from espnet_ctcrep.training.ctc import put_backend, take_ctc_choice

    conf = {"ctc_type": backend, **(options or {})}
    choice, stock_conf = take_ctc_choice(conf, "cpu")
    torch.manual_seed(1)
    stock = CTC(odim=9, encoder_output_size=6, **stock_conf)
    ours = copy.deepcopy(stock)
    put_backend(ours, choice)
    return stock, ours


def batch():
    """Ragged, with repeated labels, and one utterance that no alignment fits."""
    import torch

    torch.manual_seed(2)
    hidden = torch.randn(3, 12, 6)
    labels = torch.tensor([[3, 3, 4, 3, 5], [1, 2, 1, -1, -1], [7, 7, 7, 7, 7]])
    return hidden, torch.tensor([12, 7, 4]), labels, torch.tensor([5, 3, 5])


@pytest.mark.parametrize("backend", ON_CPU)
def test_loss_and_gradient_are_those_of_espnets_builtin(backend):
    import torch

    results = []
    for module in modules(backend):
        hidden, lengths, labels, label_lengths = batch()
        hidden.requires_grad_(True)
        loss = module(hidden, lengths, labels, label_lengths)
        loss.backward()
        results.append((loss.detach(), hidden.grad, module.ctc_lo.weight.grad))
    for stock, ours in zip(*results, strict=True):
        torch.testing.assert_close(ours, stock, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ON_CPU)
def test_the_state_dict_stays_espnets(backend):
    stock, ours = modules(backend)
    assert list(stock.state_dict()) == list(ours.state_dict()) == ["ctc_lo.weight", "ctc_lo.bias"]


@pytest.mark.parametrize("backend", ["builtin", *ON_CPU])
def test_forced_alignment_keeps_working(backend):
    import torch

    _, ours = modules(backend)
    hidden, lengths, labels, label_lengths = batch()
    alignment, scores = ours.forced_align(
        hidden[:1], lengths[:1], labels[:1].to(torch.int32), label_lengths[:1]
    )
    kept = [
        int(a)
        for i, a in enumerate(alignment[0])
        if a != 0 and (i == 0 or a != alignment[0][i - 1])
    ]
    assert kept == labels[0].tolist()
    assert scores.shape == (1, 12)


@pytest.mark.parametrize("ctc_type", ["builtin2", "gtnctc", "brctc"])
def test_espnets_other_types_are_passed_on_untouched(ctc_type):
    from espnet_ctcrep.training.ctc import take_ctc_choice

    conf = {"ctc_type": ctc_type, "dropout_rate": 0.1}
    choice, stock = take_ctc_choice(conf, "cpu")
    assert choice.is_stock
    assert stock == conf


def test_a_hybrid_model_with_intermediate_ctc_trains_the_same_with_the_same_kernel(tiny):
    import torch

    config = yaml.safe_load((tiny.root / "config.yaml").read_text())
    config["encoder_conf"] |= {"num_blocks": 2, "interctc_layer_idx": [1]}
    config["model_conf"] |= {"ctc_weight": 0.3, "interctc_weight": 0.5}
    config |= {"decoder": "transformer", "decoder_conf": {"num_blocks": 1, "linear_units": 16}}
    config |= {"max_epoch": 1, "specaug": None}
    (tiny.root / "hybrid.yaml").write_text(yaml.safe_dump(config))
    weights = {}
    for backend in ("builtin", "deterministic"):
        name = f"exp/hybrid_{backend}"
        done = tiny.train(name, "--config", "hybrid.yaml", "--ctc_conf", f"ctc_type={backend}")
        assert done.returncode == 0, done.stderr[-3000:]
        assert "loss_interctc_layer1" in done.stderr
        weights[backend] = torch.load(tiny.root / name / "1epoch.pth", weights_only=True)
    one, other = weights.values()
    assert any(k.startswith("decoder.") for k in one)
    assert all(torch.equal(one[k], other[k]) for k in one)
