#!/usr/bin/env python3
"""Kaldi data directories from ML-SUPERB's tree: chosen languages, one corpus each."""

import argparse
import re
import string
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import soundfile

from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

MAX_SECONDS = 20.0  # on train and dev, as in ML-SUPERB; test keeps everything
PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Utterance:
    """One line of a transcript whose audio was looked at."""

    utt_id: str
    text: str
    wav: Path
    language: str
    seconds: float
    source: str  # file:line of the transcript


def normalise(text: str) -> str:
    """ML-SUPERB's normalisation: bracketed spans and ASCII punctuation dropped, upper case.

    Its pattern for brackets is greedy: all from the first `[` to the last `]` goes, unless a
    parenthesis stands between.
    """
    return re.sub(r"\[[^()]*\]", "", text).translate(PUNCTUATION).upper().strip()


def split_line(line: str) -> tuple[str, str]:
    """Split a transcript line into utterance id and text, which may be empty.

    The tree has lines with three fields, the second of which is ignored, and lines with two.
    A second field counts as the ignored one if it repeats the id or if TABs separate all
    three; everything else belongs to the text, so no first word is ever lost.
    """
    fields = line.split("\t")
    if len(fields) >= 3:
        return fields[0].strip(), " ".join(fields[2:]).strip()
    utt_id, _, rest = line.replace("\t", " ").strip().partition(" ")
    first, _, after = rest.strip().partition(" ")
    return utt_id, (after if first == utt_id else rest).strip()


def read_transcript(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield `file:line`, utterance id and raw text of each line that is not blank."""
    try:
        raw = path.read_bytes()
    except OSError as e:
        raise InputError(f"cannot read {path}: {e.strerror}; is it ML-SUPERB's tree?") from e
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            decoded = line.decode("utf-8")
        except UnicodeDecodeError as e:
            raise InputError(f"{path}:{number} is not UTF-8; convert the file") from e
        if decoded.strip():
            yield (f"{path}:{number}", *split_line(decoded.rstrip("\r")))


def audio_seconds(wav: Path, source: str, fs: int) -> float:
    """Duration by the file's header; the file is not decoded."""
    try:
        info = soundfile.info(wav)
    except (OSError, soundfile.LibsndfileError) as e:
        reason = "is missing" if not wav.exists() else f"cannot be read ({e})"
        raise InputError(f"{source}: audio {wav} {reason}; restore the file") from e
    if info.samplerate != fs:
        raise InputError(f"{source}: {wav} has {info.samplerate} Hz; resample it to {fs} Hz")
    if info.channels != 1:
        raise InputError(f"{source}: {wav} has {info.channels} channels; make it mono")
    if info.frames == 0:
        raise InputError(f"{source}: {wav} holds no sample; restore the file")
    return info.frames / fs


def read_split(
    transcript: Path, language: str, lid: bool, max_seconds: float | None, fs: int
) -> tuple[list[Utterance], Counter]:
    """Utterances of one language's split, and how many lines were skipped for which reason."""
    kept, skipped = [], Counter()
    for source, utt_id, raw in read_transcript(transcript):
        text = normalise(raw)
        if not text:
            skipped["no text"] += 1
            continue
        wav = (transcript.parent / "wav" / f"{utt_id}.wav").absolute()
        seconds = audio_seconds(wav, source, fs)
        if max_seconds is not None and seconds > max_seconds:
            skipped[f"over {max_seconds:g} s"] += 1
            continue
        text = f"[{language}] {text}" if lid else text
        kept.append(Utterance(utt_id, text, wav, language, seconds, source))
    if not kept:
        raise InputError(f"{transcript} has no usable utterance; check the file")
    return kept, skipped


def write_directory(target: Path, utterances: list[Utterance]) -> None:
    """Write one Kaldi data directory, sorted in the C locale; replaced whole or not at all."""
    ordered = sorted(utterances, key=lambda u: u.utt_id.encode())
    tables = {
        "wav.scp": [f"{u.utt_id} {u.wav}" for u in ordered],
        "text": [f"{u.utt_id} {u.text}" for u in ordered],
        # each utterance is its own speaker, as in ML-SUPERB
        "utt2spk": [f"{u.utt_id} {u.utt_id}" for u in ordered],
        "spk2utt": [f"{u.utt_id} {u.utt_id}" for u in ordered],
        "utt2lang": [f"{u.utt_id} {u.language}" for u in ordered],
        "utt2category": [f"{u.utt_id} {u.language}" for u in ordered],
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as tmp:
        made = Path(tmp) / "made"
        made.mkdir()
        for name, lines in tables.items():
            (made / name).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
        if target.exists():
            target.rename(Path(tmp) / "old")
        made.rename(target)


def parse_languages(text: str) -> list[tuple[str, str]]:
    """`eng:voxforge,jpn:fleurs` as pairs of language and dataset."""
    pairs = []
    for item in text.replace(",", " ").split():
        language, _, dataset = item.partition(":")
        if not language or not dataset:
            raise InputError(f"--languages has {item!r}; write language:dataset, e.g. eng:voxforge")
        pairs.append((language, dataset))
    if not pairs:
        raise InputError("--languages is empty; write language:dataset, e.g. eng:voxforge")
    if len({language for language, _ in pairs}) < len(pairs):
        raise InputError(f"--languages names a language twice: {text}; keep one")
    return pairs


def language_directory(root: Path, language: str, dataset: str) -> Path:
    """The directory of a language, or an error that lists what is there."""
    found = root / dataset / language
    if found.is_dir():
        return found
    if not root.is_dir():
        raise InputError(f"{root} is not there; give the root of ML-SUPERB's tree with --mlsuperb")
    above = root / dataset if (root / dataset).is_dir() else root
    names = sorted(p.name for p in above.iterdir() if p.is_dir())
    raise InputError(f"{found} is not there; {above} has {', '.join(names) or 'no directory'}")


def count_table(counts: list[tuple[str, str, int, float, Counter]]) -> str:
    """A table of what was kept and skipped, per language and split."""
    lines = [f"{'language':10}{'set':8}{'utterances':>11}{'minutes':>9}  skipped"]
    for language, split, kept, minutes, skipped in counts:
        why = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items())) or "none"
        lines.append(f"{language:10}{split:8}{kept:11d}{minutes:9.1f}  {why}")
    return "\n".join(lines) + "\n"


def prepare(args: argparse.Namespace) -> str:
    """Read everything, check it, then write the three directories; return the table of counts."""
    languages = parse_languages(args.languages)
    splits = {
        "train": (args.train_set, f"transcript_{args.duration}_train.txt", args.max_seconds),
        "dev": (args.valid_set, "transcript_10min_dev.txt", args.max_seconds),
        "test": (args.test_sets, "transcript_10min_test.txt", None),
    }
    utterances: dict[str, list[Utterance]] = {split: [] for split in splits}
    counts = []
    for language, dataset in languages:
        directory = language_directory(args.mlsuperb, language, dataset)
        for split, (_, name, limit) in splits.items():
            kept, skipped = read_split(directory / name, language, args.lid, limit, args.fs)
            utterances[split] += kept
            minutes = sum(u.seconds for u in kept) / 60
            counts.append((language, split, len(kept), minutes, skipped))
    seen: dict[str, str] = {}
    for u in (u for split in utterances.values() for u in split):
        if u.utt_id in seen:
            raise InputError(
                f"{u.source}: the id {u.utt_id} stands in {seen[u.utt_id]} too; "
                "an utterance belongs to one set: remove one of the lines"
            )
        seen[u.utt_id] = u.source
    for split, (target, _, _) in splits.items():
        write_directory(args.data / target, utterances[split])
    tokens = sorted(f"[{language}]" for language, _ in languages) if args.lid else []
    write_text(args.nlsyms_txt, "".join(f"{t}\n" for t in tokens))
    table = count_table(counts)
    write_text(args.nlsyms_txt.with_name("counts.txt"), table)
    return table


def boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text == "true"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mlsuperb", type=Path, required=True, help="root of ML-SUPERB's tree")
    parser.add_argument("--duration", choices=("1h", "10min"), default="1h", help="of training")
    parser.add_argument("--languages", required=True, help="eng:voxforge,jpn:fleurs,…")
    parser.add_argument("--lid", type=boolean, default=True, help="language token in the text")
    parser.add_argument("--data", type=Path, default=Path("data"), help="where sets are written")
    parser.add_argument("--train_set", required=True, help="name of the training set")
    parser.add_argument("--valid_set", required=True, help="name of the development set")
    parser.add_argument("--test_sets", required=True, help="name of the test set")
    parser.add_argument("--nlsyms_txt", type=Path, required=True, help="gets the language tokens; counts.txt goes beside it")
    parser.add_argument("--fs", type=int, default=16000, help="rate that the audio must have, Hz")
    parser.add_argument("--max_seconds", type=float, default=MAX_SECONDS, help="train and dev")
    args = parser.parse_args()
    try:
        print(prepare(args), end="")
    except InputError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
