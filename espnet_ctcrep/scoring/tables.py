"""Tables of scores, `scores.csv` and `utterances.csv`, from this or any other toolkit."""

import csv
import difflib
import io
import math
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from espnet_ctcrep.scoring.cer import UtteranceScore
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

__all__ = [
    "STATUSES",
    "RunScore",
    "read_scores",
    "read_utterances",
    "write_scores",
    "write_utterances",
]

UTTERANCE_COLUMNS = ["arm", "replicate", "language", "utt_id", "edits", "chars"]
STATUSES = ("ok", "failed", "missing", "diverged")


@dataclass(frozen=True)
class RunScore:
    """One row: a run's CER on one language.

    Attributes:
        arm: name of the arm.
        replicate: number of the replicate.
        language: language, or whatever the test set is split by.
        edits: edits of all utterances, if counted.
        chars: characters of all references, if counted.
        cer: in percent, may exceed 100; None where there is no score.
        status: ok, failed, missing or diverged.
        seed: the run's seed, if known.
    """

    arm: str
    replicate: int
    language: str
    edits: int | None = None
    chars: int | None = None
    cer: float | None = None
    status: str = "ok"
    seed: int | None = None

    def __post_init__(self):
        if self.status not in STATUSES:
            raise ValueError(f"status={self.status!r} is none of {STATUSES}")
        if self.cer is None and self.edits is not None and self.chars:
            object.__setattr__(self, "cer", 100 * self.edits / self.chars)


def _csv_text(header: list[str], rows: Iterable[list]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if v is None else v for v in row] for row in rows)
    return buffer.getvalue()


def write_scores(path: Path, rows: Iterable[RunScore]) -> None:
    """Write run-level scores, whole or not at all.

    The columns are edits and chars, or `cer_percent` where a rate is not the ratio of counts.
    """
    rows = list(rows)
    counted = all(r.cer is None or r.edits is not None for r in rows)
    values = ["edits", "chars"] if counted else ["cer"]
    fields = ["arm", "replicate", "language", *values, "status", "seed"]
    header = ["cer_percent" if name == "cer" else name for name in fields]
    write_text(path, _csv_text(header, ([getattr(r, name) for name in fields] for r in rows)))


def write_utterances(
    path: Path, arm: str, replicate: int, scores: Iterable[UtteranceScore]
) -> None:
    """Write utterance-level counts of one run, whole or not at all."""
    rows = ([arm, replicate, s.language, s.utt_id, s.edits, s.chars] for s in scores)
    write_text(path, _csv_text(UTTERANCE_COLUMNS, rows))


@dataclass(frozen=True)
class Row:
    """A line of a CSV with what is needed to say what is wrong with it."""

    path: Path
    line: int
    values: dict[str, str]

    def error(self, column: str, remedy: str) -> InputError:
        value = self.values.get(column, "")
        return InputError(f"{self.path}:{self.line}: {column}={value!r}; {remedy}")

    def text(self, column: str) -> str:
        if not self.values[column]:
            raise self.error(column, "fill it in")
        return self.values[column]

    def whole(self, column: str) -> int:
        try:
            value = int(self.values[column])
        except ValueError:
            raise self.error(column, "give a whole number") from None
        if value < 0:
            raise self.error(column, "give 0 or more")
        return value

    def number(self, column: str) -> float:
        try:
            value = float(self.values[column])
        except ValueError:
            raise self.error(column, "give a number") from None
        if not math.isfinite(value) or value < 0:
            raise self.error(column, "give a CER in percent; a run without one has status diverged")
        return value


def _rows(path: Path, needed: Callable[[list[str]], list[str]], example: str) -> Iterator[Row]:
    """Lines of a CSV; `needed` gives the columns that a header must have."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise InputError(f"cannot read {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not UTF-8; convert the file") from e
    reader = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip() for name in next(reader, [])]
    for name in needed(header):
        if name not in header:
            raise InputError(f"{path}:1: no column {name}; the columns are {example}")
    for cells in reader:
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise InputError(
                f"{path}:{reader.line_num}: {len(cells)} fields where the header has {len(header)};"
                " correct the line"
            )
        values = {k: v.strip() for k, v in zip(header, cells, strict=True)}
        yield Row(path, reader.line_num, values)


def _rate_column(header: Container[str]) -> str | None:
    return next((name for name in ("cer_percent", "cer") if name in header), None)


def _score_columns(header: list[str]) -> list[str]:
    rate = _rate_column(header)
    return ["arm", "replicate", "language", "status", *([rate] if rate else ["edits", "chars"])]


def _score(row: Row) -> RunScore:
    status = row.text("status")
    if status not in STATUSES:
        near = difflib.get_close_matches(status, STATUSES, 1)
        raise row.error("status", f"use {near[0]}" if near else f"use one of {', '.join(STATUSES)}")
    edits = chars = cer = None
    rate = _rate_column(row.values)
    # A run that failed may have no numbers; one that is ok must have them.
    counted = bool(row.values.get("edits") and "chars" in row.values)
    if counted or (rate is None and status == "ok"):
        edits, chars = row.whole("edits"), row.whole("chars")
        if chars == 0:
            raise row.error("chars", "give the characters of the references, 1 or more")
    elif rate and (row.values[rate] or status == "ok"):
        cer = row.number(rate)
    seed = row.whole("seed") if row.values.get("seed") else None
    return RunScore(
        row.text("arm"),
        row.whole("replicate"),
        row.text("language"),
        edits,
        chars,
        cer,
        status,
        seed,
    )


def read_scores(path: Path) -> list[RunScore]:
    """Read run-level scores; further columns are ignored.

    Rates in a column `cer` that all lie under 1.5 are refused as fractions; `cer_percent` says
    that they are percent.

    Raises:
        InputError: names file, line, column, value and what to do.
    """
    path = Path(path)
    scores: list[RunScore] = []
    seen: dict[tuple, int] = {}
    example = "arm,replicate,language,edits,chars,status[,seed], or cer for edits,chars"
    named_cer = False
    for row in _rows(path, _score_columns, example):
        named_cer = _rate_column(row.values) == "cer"
        score = _score(row)
        key = (score.arm, score.replicate, score.language)
        if key in seen:
            raise InputError(
                f"{path}:{row.line}: arm {score.arm}, replicate {score.replicate}, language"
                f" {score.language} stands in line {seen[key]} too; a run has one score a"
                " language: keep one line"
            )
        seen[key] = row.line
        scores.append(score)
    if not scores:
        raise InputError(f"{path} has no line of scores; add one per run and language")
    rates = [s.cer for s in scores if s.cer is not None and s.edits is None]
    if named_cer and rates and 0 < max(rates) < 1.5:
        raise InputError(
            f"{path}: every cer is under 1.5, which looks like fractions; give percent"
            " (in a column named cer_percent if they are so low)"
        )
    return scores


def read_utterances(path: Path) -> dict[tuple[str, int], list[UtteranceScore]]:
    """Read utterance-level counts: (arm, replicate) -> its utterances, in the file's order.

    Raises:
        InputError: names file, line, column, value and what to do.
    """
    path = Path(path)
    runs: dict[tuple[str, int], list[UtteranceScore]] = {}
    seen: dict[tuple, int] = {}
    for row in _rows(path, lambda _: UTTERANCE_COLUMNS, ",".join(UTTERANCE_COLUMNS)):
        run, utt = (row.text("arm"), row.whole("replicate")), row.text("utt_id")
        if (run, utt) in seen:
            raise InputError(
                f"{path}:{row.line}: utterance {utt} of {run[0]}/r{run[1]} stands in line"
                f" {seen[run, utt]} too; keep one line"
            )
        seen[run, utt] = row.line
        score = UtteranceScore(utt, row.text("language"), row.whole("edits"), row.whole("chars"))
        runs.setdefault(run, []).append(score)
    return runs
