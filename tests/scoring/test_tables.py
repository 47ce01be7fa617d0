"""Tables of scores: what is accepted, and what is said of a table that is wrong."""

import pytest

from espnet_ctcrep.scoring.cer import UtteranceScore
from espnet_ctcrep.scoring.tables import (
    RunScore,
    read_scores,
    read_utterances,
    write_scores,
    write_utterances,
)
from espnet_ctcrep.utils.errors import InputError

HEADER = "arm,replicate,language,edits,chars,status\n"


@pytest.fixture
def table(tmp_path):
    """table(text) -> path of a CSV, in a directory whose name has a space and quotes."""

    def write(text: str | bytes):
        path = tmp_path / 'it\'s a "dir"' / "my scores.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_scores_written_are_the_scores_read(table):
    rows = [
        RunScore("baseline", 0, "jpn", 1874, 9120, seed=3141592653),
        RunScore('an "arm", with comma', 1, "jpn", 0, 12),
        RunScore("baseline", 1, "jpn", status="missing"),
    ]
    path = table("")
    write_scores(path, rows)
    assert read_scores(path) == rows
    assert rows[0].cer == 100 * 1874 / 9120


def test_a_rate_without_counts_is_kept_to_the_last_bit_even_where_it_is_low(table):
    rows = [RunScore("a", 0, "eng", cer=1 / 3), RunScore("a", 0, "jpn", cer=0.7)]
    path = table("")
    write_scores(path, rows)
    assert read_scores(path) == rows


def test_other_columns_any_order_bom_and_crlf_are_accepted(table):
    text = "\ufefflanguage,note,arm,chars,edits,status,replicate\r\njpn,x,A,10,12,ok,3\r\n\r\n"
    assert read_scores(table(text)) == [RunScore("A", 3, "jpn", 12, 10)]


def test_cer_may_stand_for_counts_and_exceed_100(table):
    text = "arm,replicate,language,cer,status,seed\nA,0,jpn,177.5,ok,7\nA,1,jpn,,diverged,\n"
    assert read_scores(table(text)) == [
        RunScore("A", 0, "jpn", cer=177.5, seed=7),
        RunScore("A", 1, "jpn", status="diverged"),
    ]


def test_cer_stands_where_edits_are_given_without_characters(table):
    text = "arm,replicate,language,edits,cer,status\nA,0,jpn,12,60.0,ok\n"
    assert read_scores(table(text)) == [RunScore("A", 0, "jpn", cer=60.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: no column arm; the columns are arm,replicate,"),
        ("arm,replicate,language,edits,status\n", ":1: no column chars; "),
        ("arm,replicate,language,cer\n", ":1: no column status; "),
        (HEADER, " has no line of scores; add one"),
        (HEADER + "A,0,jpn,x,10,ok\n", ":2: edits='x'; give a whole number"),
        (HEADER + "A,0,jpn,,10,ok\n", ":2: edits=''; give a whole number"),
        (HEADER + "A,0,jpn,1.5,10,ok\n", ":2: edits='1.5'; give a whole number"),
        (HEADER + "A,0,jpn,-1,10,ok\n", ":2: edits='-1'; give 0 or more"),
        (HEADER + "A,0,jpn,1,0,ok\n", ":2: chars='0'; give the characters"),
        (HEADER + ",0,jpn,1,10,ok\n", ":2: arm=''; fill it in"),
        (HEADER + "A,0,jpn,1,10,okay\n", ":2: status='okay'; use ok"),
        (HEADER + "A,0,jpn,1,10,zzz\n", ":2: status='zzz'; use one of ok, failed, missing, "),
        (HEADER + "A,0,jpn,1,10\n", ":2: 5 fields where the header has 6; "),
        (
            HEADER + "A,0,jpn,1,10,ok\n\nA,0,jpn,2,10,ok\n",
            ":4: arm A, replicate 0, language jpn stands in line 2 too; ",
        ),
        ("arm,replicate,language,cer,status\nA,0,jpn,nan,ok\n", ":2: cer='nan'; give a CER in"),
        ("arm,replicate,language,cer,status\nA,0,jpn,,ok\n", ":2: cer=''; give a number"),
        (
            "arm,replicate,language,cer,status\nA,0,jpn,0.9,ok\nA,1,jpn,1.2,ok\n",
            ": every cer is under 1.5, which looks like fractions; give percent",
        ),
    ],
)
def test_a_wrong_table_is_refused_with_file_line_and_remedy(table, text, message):
    path = table(text)
    with pytest.raises(InputError) as caught:
        read_scores(path)
    assert f"{path}{message}" in str(caught.value)


def test_bytes_that_are_not_utf8_and_missing_files_are_named(table):
    path = table(HEADER.encode() + b"\xff,0,jpn,1,10,ok\n")
    with pytest.raises(InputError, match="is not UTF-8"):
        read_scores(path)
    path.unlink()
    with pytest.raises(InputError, match=r"cannot read .*my scores\.csv: No such file"):
        read_scores(path)


def test_an_unknown_status_cannot_be_made():
    with pytest.raises(ValueError, match="status='fine' is none of"):
        RunScore("A", 0, "jpn", status="fine")


def test_utterances_written_are_the_utterances_read(table):
    scores = [UtteranceScore("u,1", "jpn", 3, 2), UtteranceScore("u2", "eng", 0, 0)]
    path = table("")
    write_utterances(path, "A", 4, scores)
    assert read_utterances(path) == {("A", 4): scores}


def test_utterances_may_not_repeat_or_lack_a_column(table):
    header = "arm,replicate,language,utt_id,edits,chars\n"
    with pytest.raises(InputError, match=r":3: utterance u of A/r0 stands in line 2 too"):
        read_utterances(table(header + "A,0,jpn,u,1,2\nA,0,jpn,u,1,2\n"))
    with pytest.raises(InputError, match=r":1: no column utt_id; the columns are arm,replicate"):
        read_utterances(table(HEADER))
    with pytest.raises(InputError, match=r":2: chars='two'; give a whole number"):
        read_utterances(table(header + "A,0,jpn,u,1,two\n"))
