"""A hash of what a plan trains and tests on: utterance ids, texts and audio."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import read_table

__all__ = ["data_hash"]


def data_hash(data_dirs: Sequence[Path]) -> str:
    """SHA-256 over `text` and the bytes of all audio of Kaldi data directories, in order.

    Paths do not enter, so the same data in another place has the same hash.

    Raises:
        InputError: a table or an audio file that cannot be read, or audio without a text.
    """
    digest = hashlib.sha256()
    for data_dir in data_dirs:
        text = read_table(Path(data_dir) / "text")
        for utt, path in sorted(read_table(Path(data_dir) / "wav.scp").items()):
            if utt not in text:
                raise InputError(f"{data_dir}/text lacks the utterance {utt}; prepare data again")
            try:
                audio = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError as e:
                raise InputError(f"cannot read audio {path}: {e.strerror}; run stage 3") from e
            digest.update(f"{utt}\t{text[utt]}\t{audio}\n".encode())
        digest.update(b"\n")
    return digest.hexdigest()
