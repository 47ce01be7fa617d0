"""The scores of one run: from Kaldi text files to its two tables."""

from pathlib import Path

from espnet_ctcrep.scoring.cer import pool, score_utterances
from espnet_ctcrep.scoring.tables import RunScore, write_scores, write_utterances
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import read_table

__all__ = ["score_run"]


def score_run(
    ref: Path,
    hyp: Path,
    utt2lang: Path,
    arm: str,
    replicate: int,
    seed: int | None,
    out: Path,
    definition: str = "pooled",
) -> list[RunScore]:
    """Score one run and write `scores.csv` and `utterances.csv` into `out`.

    Args:
        ref: Kaldi text of the references.
        hyp: Kaldi text of the hypotheses.
        utt2lang: Kaldi table, utterance id -> language.
        arm: name of the arm.
        replicate: number of the replicate.
        seed: the run's seed, if known.
        out: directory of the tables.
        definition: one of `scoring.cer.DEFINITIONS`.

    Returns:
        One row a language, sorted by language.

    Raises:
        InputError: a file that cannot be read, or ids that do not match.
    """
    try:
        scores = score_utterances(
            read_table(ref), read_table(hyp), read_table(utt2lang), definition
        )
    except InputError as e:
        raise InputError(f"{hyp} against {ref}: {e}") from e
    rows = []
    for language, s in pool(scores, definition).items():
        counted = definition != "ml_superb2"  # a mean of rates is no ratio of counts
        rows.append(
            RunScore(
                arm,
                replicate,
                language,
                s.edits if counted else None,
                s.chars if counted else None,
                None if counted else s.cer,
                seed=seed,
            )
        )
    # scores.csv last: where it is, both are
    write_utterances(out / "utterances.csv", arm, replicate, scores)
    write_scores(out / "scores.csv", rows)
    return rows
