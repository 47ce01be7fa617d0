"""NIST's sclite, and texts of the kinds that it and we must agree on."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def find_sclite() -> str | None:
    debian = Path("/usr/lib/sctk/bin/sclite")
    return shutil.which("sclite") or (str(debian) if debian.exists() else None)


@pytest.fixture
def sclite_edits(tmp_path):
    """sclite_edits([(ref tokens, hyp tokens)]) -> edits of each pair, by sclite itself."""
    program = find_sclite()
    if program is None:
        pytest.skip("no sclite on PATH or in /usr/lib/sctk/bin; apt-get install sctk")

    def run(pairs: list[tuple[list[str], list[str]]]) -> list[int]:
        for side, name in enumerate(("ref.trn", "hyp.trn")):
            lines = (f"{' '.join(p[side])}\t(u{i}-u{i})\n" for i, p in enumerate(pairs))
            (tmp_path / name).write_text("".join(lines), encoding="utf-8")
        options = "-r ref.trn trn -h hyp.trn trn -i rm -o pra stdout"
        done = subprocess.run(
            [program, *options.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        ids = re.findall(r"^id: \(u(\d+)-u\d+\)", done.stdout, re.M)
        counts = re.findall(r"^Scores: \(#C #S #D #I\) \d+ (\d+) (\d+) (\d+)", done.stdout, re.M)
        edits = {int(i): sum(map(int, c)) for i, c in zip(ids, counts, strict=True)}
        assert sorted(edits) == list(range(len(pairs)))
        return [edits[i] for i in range(len(pairs))]

    return run


@pytest.fixture
def char_tokens():
    """char_tokens(text) -> what asr.sh's tokenize_text makes of it, by ESPnet itself."""
    module = pytest.importorskip("espnet2.text.char_tokenizer", reason="ESPnet is not installed")
    tokenizer = module.CharTokenizer(
        non_linguistic_symbols=["[eng]", "[deu]", "[heb]", "[jpn]", "[rus]", "[spa]"],
        remove_non_linguistic_symbols=True,
    )
    # tokenize_text splits the line at white space and joins it again before it counts characters.
    return lambda text: tokenizer.text2tokens(" ".join(text.split()))
