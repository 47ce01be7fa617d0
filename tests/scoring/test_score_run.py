"""Scoring one run: Kaldi texts in, two tables out."""

import pytest

from espnet_ctcrep.scoring.run import score_run
from espnet_ctcrep.scoring.tables import RunScore, read_scores, read_utterances
from espnet_ctcrep.utils.errors import InputError


@pytest.fixture
def files(tmp_path):
    """Reference, hypothesis and languages of three utterances, in a quoted directory."""
    root = tmp_path / "it's a run"
    root.mkdir()
    ref, hyp, utt2lang = root / "text", root / "hyp", root / "utt2lang"
    ref.write_text("a [eng] HELLO\nb [jpn] あいう\nc [jpn] え\n")
    hyp.write_text("a [eng] HELO\nb\nc [jpn] え\n")
    utt2lang.write_text("a eng\nb jpn\nc jpn\n")
    return ref, hyp, utt2lang


def test_both_tables_are_written_and_say_the_same(files, tmp_path):
    out = tmp_path / "out dir"
    rows = score_run(*files, "arm", 2, 77, out)
    assert rows == [
        RunScore("arm", 2, "eng", 1, 5, seed=77),
        RunScore("arm", 2, "jpn", 3, 4, seed=77),
    ]
    assert read_scores(out / "scores.csv") == rows
    (utterances,) = read_utterances(out / "utterances.csv").values()
    assert [(u.utt_id, u.edits, u.chars) for u in utterances] == [
        ("a", 1, 5),
        ("b", 3, 3),
        ("c", 0, 1),
    ]


def test_a_mean_of_utterances_is_written_as_a_rate(files, tmp_path):
    rows = score_run(*files, "arm", 0, None, tmp_path, "ml_superb2")
    assert [(r.language, r.edits, r.cer) for r in rows] == [("eng", None, 20.0), ("jpn", None, 50)]
    assert read_scores(tmp_path / "scores.csv") == rows


def test_a_missing_hypothesis_names_the_files_and_writes_nothing(files, tmp_path):
    ref, hyp, _ = files
    hyp.write_text("a [eng] HELO\nc え\n")
    out = tmp_path / "out"
    with pytest.raises(InputError) as caught:
        score_run(*files, "arm", 0, None, out)
    assert str(caught.value).startswith(
        f"{hyp} against {ref}: 1 references without a hypothesis (first: b); "
    )
    assert not out.exists()
