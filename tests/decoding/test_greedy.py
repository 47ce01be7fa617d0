"""The greedy decoder agrees with stock ESPnet, whatever the batch."""

import pytest

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def untrained(tiny):
    """A model with random weights, whose best labels change from frame to frame."""
    done = tiny.train("exp/untrained", "--dry_run", "true")
    assert done.returncode == 0, done.stderr[-3000:]
    import torch
    from espnet2.tasks.asr import ASRTask

    config = tiny.root / "exp/untrained/config.yaml"
    torch.manual_seed(3)
    model, _ = ASRTask.build_model_from_file(str(config), None, "cpu")
    with torch.no_grad():  # spread the scores, so that labels other than one win
        model.ctc.ctc_lo.weight.normal_(0, 5)
    weights = tiny.root / "exp/untrained/random.pth"
    torch.save(model.state_dict(), weights)
    return config, weights


@pytest.fixture(scope="module")
def table(tiny):
    from espnet_ctcrep.utils.files import read_table

    return read_table(tiny.root / "wav.scp")


@pytest.fixture(scope="module")
def stock_texts(untrained, table):
    """Each utterance alone through stock ESPnet's encoder; collapsed by hand."""
    import itertools

    import soundfile
    import torch
    from espnet2.tasks.asr import ASRTask

    model, args = ASRTask.build_model_from_file(*map(str, untrained), "cpu")
    model.eval()
    texts = {}
    for utt, path in table.items():
        speech = torch.from_numpy(soundfile.read(path, dtype="float32")[0])[None]
        with torch.inference_mode():
            encoded, lengths = model.encode(speech, torch.tensor([speech.size(1)]))
            best = model.ctc.argmax(encoded)[0, : int(lengths[0])].tolist()
        labels = [label for label, _ in itertools.groupby(best) if label != 0]
        texts[utt] = "".join(args.token_list[i] for i in labels).replace("<space>", " ")
    return texts


@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_text_equals_stock_espnets_for_every_batch_size(untrained, table, stock_texts, batch_size):
    from espnet_ctcrep.decoding.greedy import GreedyDecoder

    texts, timing = GreedyDecoder(*untrained).decode_table(table, batch_size)
    assert len(set("".join(texts.values()))) > 3, "the model says too little to compare"
    assert texts == stock_texts
    assert list(texts) == list(table)
    assert timing.utterances == 8


def test_without_its_corrections_a_batch_would_change_the_text(untrained, table, stock_texts):
    """The control: plain padded batches through ESPnet's model differ from single utterances."""
    import soundfile
    import torch
    from espnet2.tasks.asr import ASRTask

    from espnet_ctcrep.decoding.greedy import collapse

    model, args = ASRTask.build_model_from_file(*map(str, untrained), "cpu")
    model.eval()
    waves = [torch.from_numpy(soundfile.read(p, dtype="float32")[0]) for p in table.values()]
    padded = torch.nn.utils.rnn.pad_sequence(waves, batch_first=True)
    with torch.inference_mode():
        encoded, lengths = model.encode(padded, torch.tensor([len(w) for w in waves]))
        best = model.ctc.argmax(encoded)
    texts = {
        utt: "".join(args.token_list[i] for i in collapse(row[:n].numpy())).replace("<space>", " ")
        for utt, row, n in zip(table, best, lengths.tolist(), strict=True)
    }
    assert texts != stock_texts


def ctcrep_decode(tiny, untrained, *options):
    config, weights = untrained
    command = ["decode", "--config", str(config), "--model", str(weights), *options]
    return tiny.launch("-m", "espnet_ctcrep.cli", *command)


def test_the_command_writes_espnets_layout(tiny, untrained, stock_texts):
    done = ctcrep_decode(tiny, untrained, "--wav-scp", "wav.scp", "--out", "decode/test")
    assert done.returncode == 0, done.stderr
    written = (tiny.root / "decode/test/text").read_text()
    assert written == "".join(f"{utt} {text}\n" for utt, text in stock_texts.items())


def test_audio_that_is_missing_is_named(tiny, untrained):
    (tiny.root / "bad.scp").write_text("utt0 /no/such.wav\n")
    done = ctcrep_decode(tiny, untrained, "--wav-scp", "bad.scp", "--out", "decode/bad")
    assert done.returncode == 2
    assert "/no/such.wav" in done.stderr.splitlines()[-1]
    assert not (tiny.root / "decode/bad/text").exists()


def test_an_untrained_run_is_named(tiny):
    done = tiny.launch(
        *("-m", "espnet_ctcrep.cli", "decode", "--config", "no/config.yaml", "--model", "x.pth"),
        *("--wav-scp", "wav.scp", "--out", "decode/none"),
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "error: no/config.yaml is missing; train the run"
    )
