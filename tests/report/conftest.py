"""Scores that the reports are checked on."""

import random

import pytest

from espnet_ctcrep.report.build import ReportSpec
from espnet_ctcrep.scoring.tables import RunScore, read_scores

LANGUAGES = ("eng", "deu", "heb", "jpn", "rus", "spa")


@pytest.fixture
def arms():
    """arms({"A": {"jpn": [..]}}) -> RunScores; a score may be None, or a status."""

    def make(table, seeds=None):
        rows = []
        for arm, languages in table.items():
            for language, scores in languages.items():
                for k, cer in enumerate(scores):
                    status = cer if isinstance(cer, str) else "ok"
                    value = None if isinstance(cer, str) else cer
                    seed = seeds[k] if seeds else None
                    rows.append(RunScore(arm, k, language, None, None, value, status, seed))
        return rows

    return make


@pytest.fixture
def worked(tmp_path):
    """The published worked example, 100 minus accuracy, read from a CSV."""
    accuracies = {"A": [81.2, 80.6, 81.9, 80.9, 81.4], "B": [82.3, 81.0, 82.8, 80.7, 82.2]}
    lines = ["arm,replicate,language,edits,chars,status,seed"]
    for arm, scores in accuracies.items():
        lines += [
            f"{arm},{k},jpn,{round(1000 - 10 * x)},1000,ok,{100 + k}" for k, x in enumerate(scores)
        ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_scores(path)


@pytest.fixture
def six():
    """Six languages, five runs an arm, one diverged run and one failed language."""
    rng = random.Random(3)
    rows = []
    for arm, gain in (("baseline", 0.0), ("ctc_dro", 1.5)):
        for k in range(5):
            for i, language in enumerate(LANGUAGES):
                edits = round(91.2 * (20 + 6 * i - gain * i + rng.gauss(0, 0.6)))
                status = "ok"
                if (arm, k, language) == ("baseline", 3, "jpn"):
                    edits = 16_142  # 177%
                if (arm, k, language) == ("ctc_dro", 4, "heb"):
                    edits, status = None, "failed"
                rows.append(RunScore(arm, k, language, edits, 9120, status=status, seed=7000 + k))
    return rows


@pytest.fixture
def spec_of_six():
    return ReportSpec(
        title="Six <languages> & a_b 100%",
        baseline="baseline",
        candidates=("ctc_dro",),
        languages=LANGUAGES,
        smallest_gain=1.0,
        label="confirmatory",
        ledger={
            "planned": 10,
            "finished": 9,
            "diverged": 1,
            "failed": 1,
            "missing": 0,
            "unplanned": 0,
        },
    )
