#!/usr/bin/env python3
"""Speak the demo corpus: short sentences in six languages, in ML-SUPERB's own tree."""

import argparse
import ctypes
import json
import random
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile
from data_prep import normalise
from demo_words import LANGUAGES, DemoLanguage
from scipy.signal import resample_poly

from espnet_ctcrep.utils.errors import InputError

RATE = 16000
# espeak-ng's breathy variants (f2, f3, f5, whisper) add noise that differs from process to process.
VARIANTS = ("m1", "m3", "f1", "f4")
README = """Synthetic speech, made by local/make_demo_corpus.py with the speech engine espeak-ng
(GPL-3.0-or-later, from the Python package espeakng-loader). Sentences are random words of small
vocabularies; they mean nothing and serve to try the recipe out. The directories are laid out as
ML-SUPERB's are.
"""


@dataclass(frozen=True)
class Options:
    """What decides every byte of the corpus; kept beside it in `.completed`."""

    train: int
    dev: int
    test: int
    seed: int
    languages: tuple[str, ...]


class Speaker:
    """espeak-ng in this process: text in, samples out."""

    RATE_PARAMETER, PITCH_PARAMETER = 1, 3  # espeak_PARAMETER in speak_lib.h
    UTF8 = 1

    def __init__(self):
        try:
            import espeakng_loader
        except ImportError as e:
            raise InputError(
                "the package espeakng-loader is missing; pip install 'espnet_ctcrep[demo]'"
            ) from e
        self.lib = ctypes.CDLL(espeakng_loader.get_library_path())
        data = str(espeakng_loader.get_data_path()).encode()
        # AUDIO_OUTPUT_SYNCHRONOUS: samples come to the callback before espeak_Synth returns.
        self.rate = self.lib.espeak_Initialize(2, 0, data, 0)
        if self.rate <= 0:
            raise InputError(f"espeak-ng did not start from {data.decode()}; reinstall the package")
        self.samples: list[np.ndarray] = []
        signature = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
        )
        self.callback = signature(self._collect)  # kept: the library holds no reference
        self.lib.espeak_SetSynthCallback(self.callback)

    def _collect(self, wave, count, _events) -> int:
        if wave and count > 0:
            self.samples.append(np.ctypeslib.as_array(wave, shape=(count,)).copy())
        return 0

    def speak(self, text: str, voice: str, rate: int, pitch: int) -> np.ndarray:
        """Samples at 16 kHz, int16, shape (samples,)."""
        if self.lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise InputError(f"espeak-ng has no voice {voice}; reinstall espeakng-loader")
        self.lib.espeak_SetParameter(self.RATE_PARAMETER, rate, 0)
        self.lib.espeak_SetParameter(self.PITCH_PARAMETER, pitch, 0)
        self.samples.clear()
        data = text.encode() + b"\0"
        self.lib.espeak_Synth(data, len(data), 0, 0, 0, self.UTF8, None, None)
        self.lib.espeak_Synchronize()
        wave = np.concatenate(self.samples).astype(np.float64)
        resampled = resample_poly(wave, RATE, self.rate)
        return np.clip(np.round(resampled), -32768, 32767).astype(np.int16)


def sentences(language: DemoLanguage, count: int, rng: random.Random) -> list[str]:
    """`count` sentences of two or three words, no two alike after normalisation."""
    found: dict[str, str] = {}
    while len(found) < count:
        words = rng.sample(language.words, rng.choice((2, 3)))
        text = language.joiner.join(words)
        found.setdefault(normalise(text), text)
    return list(found.values())


def make_language(root: Path, code: str, options: Options, speaker: Speaker) -> dict[str, float]:
    """Speak one language into `root`; return minutes per split."""
    language = LANGUAGES[code]
    directory = root / language.dataset / code
    (directory / "wav").mkdir(parents=True)
    rng = random.Random(f"{options.seed} {code}")
    sizes = {"train": options.train, "dev": options.dev, "test": options.test}
    texts = iter(sentences(language, sum(sizes.values()), rng))
    number, minutes = 0, {}
    for split, size in sizes.items():
        lines, samples = [], 0
        for _ in range(size):
            number += 1
            utt_id, text = f"{language.dataset}_{code}_{number:06d}", next(texts)
            voice = f"{language.voice}+{rng.choice(VARIANTS)}"
            wave = speaker.speak(text, voice, rng.randint(180, 200), rng.randint(40, 60))
            soundfile.write(directory / "wav" / f"{utt_id}.wav", wave, RATE, subtype="PCM_16")
            lines.append(f"{utt_id}\t{utt_id}\t{text}\n")
            samples += len(wave)
        minutes[split] = samples / RATE / 60
        if split == "train":
            (directory / "transcript_1h_train.txt").write_text("".join(lines), encoding="utf-8")
            lines = lines[: max(1, size // 6)]
        name = f"transcript_10min_{split}.txt"
        (directory / name).write_text("".join(lines), encoding="utf-8")
    return minutes


def make(out: Path, options: Options) -> None:
    """Make the corpus in `out`, whole or not at all; a second call with the same options rests."""
    record = json.dumps(asdict(options), sort_keys=True) + "\n"
    marker = out / ".completed"
    if marker.exists():
        if marker.read_text(encoding="utf-8") == record:
            print(f"{out} is there already")
            return
        raise InputError(f"{out} was made with other options; remove it or give another --out")
    if out.exists():
        raise InputError(f"{out} exists but is no demo corpus; give another --out")
    speaker = Speaker()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as tmp:
        root = Path(tmp) / "corpus"
        for code in options.languages:
            minutes = make_language(root, code, options, speaker)
            spoken = ", ".join(f"{split} {m:.1f} min" for split, m in minutes.items())
            print(f"{code}: {options.train}+{options.dev}+{options.test} sentences, {spoken}")
        (root / "README.txt").write_text(README, encoding="utf-8")
        (root / ".completed").write_text(record, encoding="utf-8")
        shutil.move(root, out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="root of the tree to make")
    parser.add_argument("--train", type=int, default=240, help="training sentences a language")
    parser.add_argument("--dev", type=int, default=12, help="development sentences a language")
    parser.add_argument("--test", type=int, default=24, help="test sentences a language")
    parser.add_argument("--seed", type=int, default=6, help="same seed, same bytes")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="codes, with commas")
    args = parser.parse_args()
    languages = tuple(args.languages.split(","))
    try:
        for code in languages:
            if code not in LANGUAGES:
                raise InputError(f"--languages: {code!r} is unknown; use {','.join(LANGUAGES)}")
        if min(args.train, args.dev, args.test) < 1:
            raise InputError("--train, --dev and --test must be 1 or more")
        make(args.out, Options(args.train, args.dev, args.test, args.seed, languages))
    except InputError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
