"""Edits, characters and CER under each definition."""

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espnet_ctcrep.scoring.cer import count_edits, pool, score_utterances
from espnet_ctcrep.utils.errors import InputError


def levenshtein(ref: str, hyp: str) -> int:
    """The textbook recurrence."""
    row = list(range(len(hyp) + 1))
    for i, r in enumerate(ref, 1):
        diagonal, row[0] = row[0], i
        for j, h in enumerate(hyp, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (r != h))
    return row[-1]


def score(ref, hyp, language="eng", definition="pooled"):
    (one,) = score_utterances({"u": ref}, {"u": hyp}, {"u": language}, definition)
    return one.edits, one.chars


texts = st.text(alphabet="AB אあ\u0301\u3000", max_size=12)


@given(texts, texts)
def test_edits_are_the_levenshtein_distance(ref, hyp):
    assert count_edits(ref, hyp) == levenshtein(ref, hyp)


def test_one_character_and_empty_lines_are_counted():
    assert score("A", "B") == (1, 1)
    assert score("A", "") == (1, 1)
    assert score("", "AB") == (2, 0)
    assert score("", "") == (0, 0)


def test_spaces_count_wherever_they_stand():
    assert score("A B", "AB") == (1, 3)
    assert score("A", " A ") == (2, 1)


def test_characters_are_code_points():
    assert score("e\u0301", "\u00e9") == (2, 2)
    assert score("𠮷野", "吉野") == (1, 2)


def test_case_counts_in_pooled():
    assert score("ABC", "abc") == (3, 3)


@pytest.mark.parametrize("hyp", ["[eng] HELLO", "[deu] HELLO", "HELLO", "[eng]HELLO"])
def test_the_language_token_goes_with_its_space_right_or_wrong(hyp):
    assert score("[eng] HELLO", hyp) == (0, 5)


def test_only_the_first_token_and_one_space_go():
    assert score("[eng] A", "[eng]  A") == (1, 1)
    assert score("[eng] A", "[eng] [eng] A") == (6, 1)
    assert score("[eng] A", "A [eng]") == (6, 1)
    assert score("[not a token] A", "[not a token] A") == (0, 15)


def test_ml_superb2_is_a_mean_of_utterances_without_punctuation_and_case():
    refs = {"a": "[jpn] あ い。", "b": "[jpn] う", "c": "[jpn] 。"}
    hyps = {"a": "[jpn] あえ", "b": "[eng] う、", "c": "[jpn] あ"}
    scores = score_utterances(refs, hyps, dict.fromkeys(refs, "jpn"), "ml_superb2")
    assert [(s.edits, s.chars) for s in scores] == [(1, 2), (0, 1), (1, 0)]
    assert pool(scores, "ml_superb2")["jpn"].cer == pytest.approx((50 + 0) / 2)


def test_ml_superb2_cuts_five_characters_whatever_they_are():
    assert score("[eng] HELLO", "HELLO", definition="ml_superb2") == (5, 5)
    assert score("[eng] it's", "[eng] ITS", definition="ml_superb2") == (0, 3)


def test_ml_superb2_keeps_spaces_of_languages_that_write_them():
    assert score("[eng] A B", "[eng] AB", definition="ml_superb2") == (1, 3)
    assert score("[cmn] A B", "[cmn] AB", "cmn", "ml_superb2") == (0, 2)


def test_a_languages_cer_is_of_the_corpus_not_a_mean_of_utterances():
    # jiwer#59: one short utterance all wrong, one long one right
    refs = {"a": "A", "b": "BBBBB"}
    hyps = {"a": "X", "b": "BBBBB"}
    pooled = pool(score_utterances(refs, hyps, dict.fromkeys(refs, "eng")))["eng"]
    assert pooled.cer == pytest.approx(100 * jiwer.cer([*refs.values()], [*hyps.values()]))
    assert pooled.cer == pytest.approx(16.667, abs=1e-3)
    assert (pooled.edits, pooled.chars, pooled.utterances) == (1, 6, 2)


def test_cer_can_exceed_100_percent():
    assert pool(score_utterances({"a": "AB"}, {"a": "CDEFG"}, {"a": "jpn"}))["jpn"].cer == 250


def test_languages_are_apart_and_sorted():
    refs = {"a": "AB", "b": "CD", "c": "EF"}
    languages = {"a": "spa", "b": "eng", "c": "spa"}
    pooled = pool(score_utterances(refs, {"a": "AX", "b": "CD", "c": "XX"}, languages))
    assert [(s.language, s.edits, s.chars) for s in pooled.values()] == [
        ("eng", 0, 2),
        ("spa", 3, 4),
    ]


REFS = {"a": "A", "b": "B", "c": "C"}


@pytest.mark.parametrize(
    ("hyps", "languages", "message"),
    [
        ({"b": "B"}, REFS, r"^2 references without a hypothesis \(first: a\); "),
        ({**REFS, "x": "X"}, REFS, r"^1 hypotheses without a reference \(first: x\); "),
        (REFS, {"a": "eng"}, r"^2 references without a language \(first: b\); "),
    ],
)
def test_ids_that_do_not_match_are_counted_and_the_first_named(hyps, languages, message):
    with pytest.raises(InputError, match=message):
        score_utterances(REFS, hyps, languages)


def test_an_unknown_definition_is_refused_with_the_list():
    with pytest.raises(InputError, match=r"definition='wer' is unknown; use one of .*'pooled'"):
        score_utterances(REFS, REFS, REFS, "wer")


def test_a_language_without_characters_has_no_cer():
    with pytest.raises(InputError, match="language eng has no character to score"):
        pool(score_utterances({"a": ""}, {"a": "A"}, {"a": "eng"}))
