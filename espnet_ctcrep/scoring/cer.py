"""Edits and characters per utterance, CER per language, in three public definitions."""

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jiwer

from espnet_ctcrep.scoring.sclite import count_sclite_edits
from espnet_ctcrep.utils.errors import InputError

__all__ = ["DEFINITIONS", "LanguageScore", "UtteranceScore", "pool", "score_utterances"]

DEFINITIONS = {
    "pooled": "fewest edits over characters of all utterances of a language; spaces and case "
    "count; the language token at the start is removed together with its space",
    "asr_sh": "as ESPnet 202611's asr.sh: pooled, aligned by sclite; every [token] and doubled "
    "spaces are removed; the case of A to Z does not count",
    "ml_superb2": "as ML-SUPERB 2.0's score.py: first five characters and punctuation removed, "
    "upper case, spaces removed for cmn jpn tha yue; mean of the utterances' CERs",
}
TOKEN = re.compile(r"\[[^\[\]\s]+\]")
# sclite without -s folds single bytes, so letters of one byte only
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
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
    if definition == "asr_sh":
        # The tokenizer of 202611 merges the spaces that a removed token leaves; 202511 kept them.
        return " ".join(TOKEN.sub("", " ".join(text.split())).split()).translate(ASCII_LOWER)
    token = TOKEN.match(text)
    return text[token.end() :].removeprefix(" ") if token else text


def count_edits(ref: str, hyp: str, definition: str = "pooled") -> int:
    """Edits in characters; without a reference every character is an insertion.

    The fewest (Levenshtein), or for `asr_sh` those of sclite's alignment.
    """
    if definition == "asr_sh":
        return count_sclite_edits(ref, hyp)
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

    Characters are Unicode code points. Upper and lower case differ, except as a definition says
    otherwise. An empty hypothesis deletes the whole reference; against an empty reference every
    character of the hypothesis is an edit, over no characters.

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
        scores.append(UtteranceScore(utt, language, count_edits(one, other, definition), len(one)))
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
