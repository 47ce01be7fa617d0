"""Edits and characters per utterance, CER per language, in three public definitions."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jiwer

from espnet_ctcrep.utils.errors import InputError

__all__ = ["DEFINITIONS", "LanguageScore", "UtteranceScore", "pool", "score_utterances"]

DEFINITIONS = {
    "pooled": "edits over characters of all utterances of a language; spaces count; the language "
    "token is removed together with its space",
    "asr_sh": "as ESPnet's asr.sh: pooled; the language token is removed, but the space behind it "
    "stays and counts",
    "ml_superb2": "as ML-SUPERB 2.0's score.py: first five characters and punctuation removed, "
    "upper case, spaces removed for cmn jpn tha yue; mean of the utterances' CERs",
}
TOKEN = re.compile(r"^\[[^\[\]\s]+\]")
UNSPACED = ("cmn", "jpn", "tha", "yue")


@dataclass(frozen=True)
class UtteranceScore:
    """One utterance.

    Attributes:
        utt_id: its id.
        language: its language.
        edits: substitutions, deletions and insertions of the best alignment.
        chars: characters (Unicode code points) of the reference.
    """

    utt_id: str
    language: str
    edits: int
    chars: int


@dataclass(frozen=True)
class LanguageScore:
    """One language: sums over its utterances, and CER in percent (lower is better)."""

    language: str
    edits: int
    chars: int
    cer: float
    utterances: int


def clean(text: str, language: str, definition: str) -> str:
    """What of a text is compared under a definition."""
    if definition == "ml_superb2":
        text = "".join(c for c in text[5:] if not unicodedata.category(c).startswith("P"))
        text = text.upper().strip()
        return re.sub(r"\s", "", text) if language in UNSPACED else text
    without = TOKEN.sub("", text, count=1)
    if definition == "asr_sh":
        return without
    return without.removeprefix(" ") if without is not text else text


def count_edits(ref: str, hyp: str) -> int:
    """Levenshtein distance in characters; without a reference every character is an insertion."""
    if not ref:
        return len(hyp)
    out = jiwer.process_characters(
        ref,
        hyp,
        # jiwer strips text by default; here spaces count wherever they stand.
        reference_transform=jiwer.ReduceToListOfListOfChars(),
        hypothesis_transform=jiwer.ReduceToListOfListOfChars(),
    )
    return out.substitutions + out.deletions + out.insertions


def score_utterances(
    refs: Mapping[str, str],
    hyps: Mapping[str, str],
    utt2lang: Mapping[str, str],
    definition: str = "pooled",
) -> list[UtteranceScore]:
    """Compare hypotheses with references, utterance by utterance, in the references' order.

    Upper and lower case differ. An empty hypothesis deletes the whole reference.

    Args:
        refs: utterance id -> reference text, with or without language token.
        hyps: utterance id -> hypothesis; the same ids.
        utt2lang: utterance id -> language.
        definition: one of `DEFINITIONS`.

    Raises:
        InputError: ids that do not match, an utterance without language, an unknown definition.
    """
    if definition not in DEFINITIONS:
        raise InputError(f"definition={definition!r} is unknown; use one of {list(DEFINITIONS)}")
    for what, ids, others in (
        ("references without a hypothesis", refs, hyps),
        ("hypotheses without a reference", hyps, refs),
        ("references without a language", refs, utt2lang),
    ):
        missing = [utt for utt in ids if utt not in others]
        if missing:
            raise InputError(
                f"{len(missing)} {what} (first: {missing[0]}); score the set that was decoded"
            )
    scores = []
    for utt, ref in refs.items():
        language = utt2lang[utt]
        one, other = (clean(text, language, definition) for text in (ref, hyps[utt]))
        scores.append(UtteranceScore(utt, language, count_edits(one, other), len(one)))
    return scores


def pool(scores: Iterable[UtteranceScore], definition: str = "pooled") -> dict[str, LanguageScore]:
    """CER of each language in percent: language -> score, sorted by language.

    Raises:
        InputError: a language whose references have no character.
    """
    by_language: dict[str, list[UtteranceScore]] = {}
    for score in scores:
        by_language.setdefault(score.language, []).append(score)
    pooled = {}
    for language, rows in sorted(by_language.items()):
        edits, chars = sum(s.edits for s in rows), sum(s.chars for s in rows)
        if chars == 0:
            raise InputError(f"language {language} has no character to score; check the references")
        if definition == "ml_superb2":
            rates = [100 * s.edits / s.chars for s in rows if s.chars]
            cer = sum(rates) / len(rates)
        else:
            cer = 100 * edits / chars
        pooled[language] = LanguageScore(language, edits, chars, cer, len(rows))
    return pooled
