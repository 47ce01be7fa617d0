"""Edits equal those of NIST's sclite, the last one included."""

import random

import pytest

from espnet_ctcrep.scoring.cer import count_edits, score_utterances
from espnet_ctcrep.scoring.sclite import count_sclite_edits

ALPHABETS = {
    "two letters": "AB",
    "spaces": "ABCDE ",
    "Latin": "ABCDEFGHIJKLMNOPQRSTUVWXYZ ",
    "Hebrew": "אבגדהוזחטי ",
    "Japanese": "あいうえお日本語",
}
REAL = [
    ("THE CAT SAT ON THE MAT", "THE CAT SAT ON MAT"),
    ("שלום לכולם", "שלומ לכולמ"),
    ("今日は良い天気です", "今日わ良い天気です"),
    ("ПРИВЕТ МИР", ""),
    ("HOLA", "HOLA HOLA HOLA HOLA"),
    ("A", "B"),
    ("A", ""),
    ("STRASSE", "STRAẞE"),
]


def tokens(text: str) -> list[str]:
    return ["<space>" if c == " " else c for c in text]


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_the_worst_texts_have_the_edits_that_sclite_counts(alphabet, sclite_edits):
    rng = random.Random(20261201)
    pairs = []
    for _ in range(150):
        ref, hyp = ("".join(rng.choices(alphabet, k=rng.randint(n, 40))) for n in (1, 0))
        pairs.append((f"A{ref}", hyp))  # a reference of spaces alone is no reference to sclite
    theirs = sclite_edits([(tokens(r), tokens(h)) for r, h in pairs])
    assert [count_sclite_edits(r, h) for r, h in pairs] == theirs


def test_real_texts_have_the_edits_that_sclite_counts(sclite_edits):
    theirs = sclite_edits([(tokens(r), tokens(h)) for r, h in REAL])
    assert [count_sclite_edits(r, h) for r, h in REAL] == theirs
    assert [count_edits(r, h) for r, h in REAL] == theirs


def test_sclite_can_count_more_than_the_fewest_edits(sclite_edits):
    assert sclite_edits([(tokens("ABCDE"), tokens("XYZAB"))]) == [6]
    assert count_sclite_edits("ABCDE", "XYZAB") == 6
    assert count_edits("ABCDE", "XYZAB") == 5


def test_texts_with_few_errors_have_the_fewest_edits_in_both(sclite_edits):
    rng = random.Random(7)
    pairs = []
    for _ in range(150):
        ref = "".join(rng.choices(ALPHABETS["Latin"], k=60))
        hyp = "".join(rng.choice(["", "AB", "Z"]) if rng.random() < 0.1 else c for c in ref)
        pairs.append((f"A{ref}", hyp))
    theirs = sclite_edits([(tokens(r), tokens(h)) for r, h in pairs])
    assert sum(theirs) > 500
    assert [count_edits(r, h) for r, h in pairs] == theirs


TEXTS = {
    "tag right": ("[eng] HELLO THERE", "[eng] HELO THERE"),
    "tag wrong": ("[eng] HELLO THERE", "[deu] HELLO THERE"),
    "no tag in the hypothesis": ("[eng] HELLO THERE", "HELLO THERE"),
    "tags inside": ("[jpn] あいう", "[jpn] あ[spa]い [rus] う"),
    "tag without space": ("[heb] שלום", "[heb]שלום"),
    "spaces doubled and at the end": ("[rus] ДА  НЕТ ", "[rus]  ДА НЕТ"),
    "case": ("[eng] Straße", "[eng] sTRASSE"),
    "case beyond one byte": ("[rus] Да", "[rus] да"),
    "empty": ("[spa] SI", ""),
    "tag alone": ("[spa] SI", "[spa]"),
}


def test_definition_asr_sh_is_espnets_tokenizer_and_sclite(char_tokens, sclite_edits):
    pairs = [(char_tokens(ref), char_tokens(hyp)) for ref, hyp in TEXTS.values()]
    scores = score_utterances(
        {name: ref for name, (ref, _) in TEXTS.items()},
        {name: hyp for name, (_, hyp) in TEXTS.items()},
        dict.fromkeys(TEXTS, "any"),
        "asr_sh",
    )
    assert [s.edits for s in scores] == sclite_edits(pairs)
    assert [s.chars for s in scores] == [len(ref) for ref, _ in pairs]
