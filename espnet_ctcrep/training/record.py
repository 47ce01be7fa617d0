"""The record of a training run, `run.json`: what was asked for, with what, from which seeds."""

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from espnet_ctcrep.determinism.streams import Streams
from espnet_ctcrep.training.ctc import CTCChoice
from espnet_ctcrep.utils.errors import InputError
from espnet_ctcrep.utils.files import write_text

__all__ = ["write_record"]

PACKAGES = ("espnet-ctcrep", "espnet", "espnet-s3prl", "torch", "transformers", "numpy")
# What may differ between the start of a run and its continuation: where it runs, what it logs.
FREE = (
    "config",
    "dist_",
    "local_rank",
    "log_",
    "max_epoch",
    "ngpu",
    "output_dir",
    "resume",
    "wandb_",
)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _settled(args: dict[str, Any]) -> dict[str, Any]:
    """The options that decide the result, as JSON would give them back."""
    kept = {k: v for k, v in args.items() if not k.startswith(FREE)}
    return json.loads(json.dumps(kept, sort_keys=True, default=str))


def write_record(
    output_dir: Path, args: dict[str, Any], choice: CTCChoice, streams: Streams
) -> None:
    """Write `run.json` at the start of a run; refuse to continue one that was set up otherwise.

    ESPnet resumes from `checkpoint.pth` without a word even if the config has changed since.

    Args:
        output_dir: the run's directory.
        args: ESPnet's resolved options, `ctc_conf` as the user wrote it.
        choice: the CTC backend.
        streams: seeds of the run.

    Raises:
        InputError: a checkpoint is there that other options made.
    """
    path = output_dir / "run.json"
    options = {**_settled(args), "streams": vars(streams)}
    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()
    if (output_dir / "checkpoint.pth").exists() and path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["config_sha256"] != digest:
            old = before["options"]
            changed = sorted(k for k in {*old, *options} if old.get(k) != options.get(k))
            raise InputError(
                f"{output_dir} holds a run that began with other options ({', '.join(changed)}); "
                "give this one another directory, or restore the options"
            )
    record = {
        "schema": 1,
        "config_sha256": digest,
        "ctc": {"ctc_type": choice.ctc_type, **choice.options},
        "streams": vars(streams),
        "versions": {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}},
        "machine": {"processor": platform.machine(), "system": platform.system()},
        "options": options,
    }
    write_text(path, json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
