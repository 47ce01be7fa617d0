"""The hash of the data follows texts and audio, and not where they lie."""

import pytest

from espnet_ctcrep.plans.data import data_hash
from espnet_ctcrep.utils.errors import InputError


@pytest.fixture
def data(tmp_path):
    """data(where, {utt: (text, audio)}) -> a Kaldi data directory."""

    def make(where, utterances):
        root = tmp_path / f"it's {where}"
        root.mkdir()
        for utt, (_, audio) in utterances.items():
            (root / f"{utt}.wav").write_bytes(audio)
        (root / "text").write_text("".join(f"{u} {t}\n" for u, (t, _) in utterances.items()))
        (root / "wav.scp").write_text("".join(f"{u} {root / u}.wav\n" for u in utterances))
        return root

    return make


SAME = {"a": ("A", b"1"), "b": ("B", b"2")}


def test_the_same_data_elsewhere_and_in_another_order_has_the_same_hash(data):
    one, other = data("one", SAME), data("other", dict(reversed(SAME.items())))
    assert data_hash([one]) == data_hash([other])


@pytest.mark.parametrize("b", [("X", b"2"), ("B", b"3")], ids=["text", "audio"])
def test_another_text_or_audio_has_another_hash(data, b):
    assert data_hash([data("one", SAME)]) != data_hash([data("other", {**SAME, "b": b})])


def test_what_belongs_to_which_set_matters(data):
    a, b = data("a", {"a": SAME["a"]}), data("b", {"b": SAME["b"]})
    assert len({data_hash(dirs) for dirs in ([a, b], [b, a], [data("both", SAME)])}) == 3


def test_audio_that_is_not_there_and_utterances_without_text_are_named(data):
    root = data("one", SAME)
    (root / "a.wav").unlink()
    with pytest.raises(InputError, match=r"cannot read audio .*a\.wav: No such file"):
        data_hash([root])
    (root / "a.wav").touch()
    (root / "text").write_text("a A\n")
    with pytest.raises(InputError, match="text lacks the utterance b"):
        data_hash([root])
