"""The command line says in one sentence what is wrong, and exits with 2."""

import subprocess
import sys

import pytest

GOOD = "arm,replicate,language,edits,chars,status\n" + "".join(
    f"{arm},{k},{lang},{edits + k * k},1000,ok\n"
    for arm, edits in (("A", 300), ("B", 250))
    for k in range(3)
    for lang in ("eng", "jpn")
)


def ctcrep(*argv, cwd):
    return subprocess.run(
        [sys.executable, "-m", "espnet_ctcrep.cli", *argv],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def report(tmp_path, text=GOOD, *options):
    (tmp_path / "scores.csv").write_text(text)
    options = options or ("--baseline", "A", "--candidate", "B", "--out", "out")
    return ctcrep("report", "--scores", "scores.csv", *options, cwd=tmp_path)


def test_a_table_of_scores_becomes_a_report(tmp_path):
    done = report(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"report: {tmp_path / 'out/report.html'}"
    assert "exploratory" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("edits", "edit"), "scores.csv:1: no column edits"),
        (GOOD.replace("B,1,eng,251", "B,1,eng,many"), "scores.csv:10: edits='many'"),
        (GOOD + "A,0,eng,1,2,ok\n", "scores.csv:14: "),
        (GOOD.replace("B,2,jpn,254,1000,ok", "B,2,jpn,254,1000,okay"), "scores.csv:13: status="),
        ("", "scores.csv:1: no column arm"),
    ],
)
def test_a_wrong_table_is_named_by_line_and_writes_nothing(tmp_path, text, message):
    done = report(tmp_path, text)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_arm_that_is_not_there_is_named_with_those_that_are(tmp_path):
    done = report(tmp_path, GOOD, "--baseline", "A", "--candidate", "C", "--out", "out")
    assert done.returncode == 2
    assert done.stderr == "error: scores.csv has no arm C; its arms are A, B\n"


def test_half_a_request_says_what_is_missing(tmp_path):
    assert ctcrep("report", cwd=tmp_path).stderr == (
        "error: give either --plan exp/<plan> or --scores FILE.csv\n"
    )
    done = report(tmp_path, GOOD, "--baseline", "A")
    assert done.stderr == "error: --scores needs --baseline ARM, --candidate ARM and --out DIR\n"


def test_a_single_run_is_scored_from_kaldi_files(tmp_path):
    (tmp_path / "ref").write_text("u1 [eng] ONE TWO\nu2 [jpn] あい\n")
    (tmp_path / "hyp").write_text("u1 [eng] ONE TO\nu2 \n")
    (tmp_path / "utt2lang").write_text("u1 eng\nu2 jpn\n")
    files = ("--ref", "ref", "--hyp", "hyp", "--utt2lang", "utt2lang", "--out", "out")
    done = ctcrep("score", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "eng: CER 14.29% (1 edits, 7 characters)",
        "jpn: CER 100.00% (2 edits, 2 characters)",
    ]
    assert (tmp_path / "out/scores.csv").exists()


def test_a_missing_hypothesis_file_is_named(tmp_path):
    for name in ("ref", "utt2lang"):
        (tmp_path / name).write_text("u1 x\n")
    files = ("--ref", "ref", "--hyp", "hyp", "--utt2lang", "utt2lang", "--out", "out")
    done = ctcrep("score", *files, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot read hyp: No such file or directory" in done.stderr
    assert not (tmp_path / "out").exists()
