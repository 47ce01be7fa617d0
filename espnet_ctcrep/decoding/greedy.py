"""Greedy CTC decoding in batches: the best label of each frame, repeats and blanks removed."""

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import humanfriendly
import numpy as np
import soundfile
import torch
from espnet2.asr.espnet_model import ESPnetASRModel
from espnet2.tasks.asr import ASRTask
from espnet2.text.build_tokenizer import build_tokenizer
from espnet2.text.token_id_converter import TokenIDConverter

from espnet_ctcrep.utils.errors import InputError

__all__ = ["GreedyDecoder", "collapse", "read_audio"]

# S3PRL pads anything shorter than this (0.05 s), so such an utterance goes alone.
SHORTEST_IN_BATCH = 800


def collapse(labels: Sequence[int], blank: int = 0) -> list[int]:
    """Remove repeats, then blanks (Graves et al. 2006, section 3.1)."""
    path = np.asarray(labels)
    if path.size == 0:
        return []
    first = np.concatenate(([True], path[1:] != path[:-1]))
    return path[first & (path != blank)].tolist()


def audio_frames(path: str) -> int:
    """Samples of an audio file by its header."""
    try:
        return soundfile.info(path).frames
    except (OSError, soundfile.LibsndfileError) as e:
        raise InputError(f"cannot read audio {path}: {e}; restore the file") from e


def read_audio(path: str, sampling_rate: int) -> np.ndarray:
    """Read one mono file as float32 in [-1, 1], shape (samples,)."""
    try:
        wave, rate = soundfile.read(path, dtype="float32")
    except (OSError, soundfile.LibsndfileError) as e:
        raise InputError(f"cannot read audio {path}: {e}; restore the file") from e
    if rate != sampling_rate:
        raise InputError(f"{path} has {rate} Hz; the model takes {sampling_rate} Hz: resample it")
    if wave.ndim != 1:
        raise InputError(f"{path} has {wave.shape[1]} channels; make it mono")
    return wave


@dataclass(frozen=True)
class Timing:
    """What was decoded in how long; audio in seconds."""

    utterances: int
    audio_seconds: float
    seconds: float


class GreedyDecoder:
    """A trained ESPnet CTC model that turns batches of audio into text.

    The frontend, nearly all of the work with a model of MMS's size, runs on padded batches;
    what follows runs on single utterances, because ESPnet's subsampling masks let a padded
    utterance see up to two frames more than the same utterance alone. Hypotheses therefore do
    not depend on the batch (but for labels whose scores are equal up to float rounding).
    """

    def __init__(self, config: Path, model_file: Path, device: str = "cpu"):
        for path in (config, model_file):
            if not Path(path).is_file():
                raise InputError(f"{path} is missing; train the run first (stage 11)")
        model, args = ASRTask.build_model_from_file(str(config), str(model_file), device)
        if not isinstance(model, ESPnetASRModel) or model.ctc is None:
            raise InputError(
                f"{config} is not a model with CTC; greedy decoding needs ctc_weight > 0"
            )
        self.device = device
        self.frontend = model.eval().frontend
        # The same model without its frontend: ESPnet then takes features where it took audio.
        self.tail = copy.copy(model)
        self.tail._modules = {**model._modules, "frontend": None}
        rate = args.frontend_conf.get("fs", 16000)  # an integer, or `16k`
        self.sampling_rate = humanfriendly.parse_size(rate) if isinstance(rate, str) else rate
        self.converter = TokenIDConverter(token_list=args.token_list)
        self.tokenizer = build_tokenizer(token_type=args.token_type, bpemodel=args.bpemodel)

    def _frames(self, samples: int) -> int | None:
        """Frames that a wav2vec 2.0 in the frontend computes from so many samples."""
        count = getattr(
            getattr(getattr(self.frontend, "upstream", None), "upstream", None), "model", None
        )
        count = getattr(count, "_get_feat_extract_output_lengths", None)
        return None if count is None else int(count(samples))

    def _features(self, waves: list[np.ndarray]) -> Iterator[torch.Tensor]:
        """Features (1, frames, dim) of each utterance, as the utterance alone would give them."""
        lengths = torch.tensor([len(w) for w in waves])
        speech = torch.zeros(len(waves), int(lengths.max()))
        for row, wave in zip(speech, waves, strict=True):
            row[: len(wave)] = torch.from_numpy(wave)
        features, feature_lengths = self.frontend(speech.to(self.device), lengths.to(self.device))
        for i, wave in enumerate(waves):
            one = features[i : i + 1, : int(feature_lengths[i])].clone()
            computed = self._frames(len(wave))
            if computed is not None and computed < one.size(1):
                # S3PRL repeats the last computed frame up to one frame for each 320 samples
                # begun; in a padded batch the model's output on padding stands there instead.
                one[:, computed:] = one[:, computed - 1 : computed]
            yield one

    @torch.inference_mode()
    def decode(self, waves: list[np.ndarray]) -> list[str]:
        """Text of each utterance; `waves` holds float32 arrays of shape (samples,)."""
        alone = self.frontend is None or self._frames(16000) is None
        if len(waves) > 1 and (alone or min(map(len, waves)) < SHORTEST_IN_BATCH):
            return [self.decode([wave])[0] for wave in waves]
        texts = []
        if self.frontend is None:
            raise InputError("the model takes features, not audio; use --decoder espnet")
        for features in self._features(waves):
            lengths = torch.tensor([features.size(1)], device=features.device)
            encoded, encoded_lengths = self.tail.encode(features, lengths)
            if isinstance(encoded, tuple):  # with the outputs of intermediate CTC layers
                encoded = encoded[0]
            labels = self.tail.ctc.argmax(encoded)[0, : int(encoded_lengths[0])]
            tokens = self.converter.ids2tokens(collapse(labels.cpu().numpy()))
            texts.append(self.tokenizer.tokens2text(tokens))
        return texts

    def decode_table(
        self, wav_scp: dict[str, str], batch_size: int = 8
    ) -> tuple[dict[str, str], Timing]:
        """Decode a Kaldi table of audio files in batches of similar length.

        Args:
            wav_scp: utterance id -> path.
            batch_size: utterances in a batch; no effect on the result.

        Returns:
            Utterance id -> text in the table's order, and what it took without loading.
        """
        started = time.perf_counter()
        frames = {utt: audio_frames(path) for utt, path in wav_scp.items()}
        by_length = sorted(wav_scp, key=lambda utt: (-frames[utt], utt))
        texts: dict[str, str] = {}
        for at in range(0, len(by_length), batch_size):
            batch = by_length[at : at + batch_size]
            waves = [read_audio(wav_scp[utt], self.sampling_rate) for utt in batch]
            texts.update(zip(batch, self.decode(waves), strict=True))
        seconds = time.perf_counter() - started
        audio = sum(frames.values()) / self.sampling_rate
        return {utt: texts[utt] for utt in wav_scp}, Timing(len(texts), audio, seconds)
