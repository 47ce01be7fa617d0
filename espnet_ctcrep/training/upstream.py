"""What an upstream behind S3PRL needs before it can be built from a seed and trained."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["keep_seed", "switch_off_layerdrop"]


@contextmanager
def keep_seed() -> Iterator[None]:
    """Let S3PRL build an upstream without resetting torch's random state.

    S3PRL tries a new upstream out on pseudo audio, for which it calls `torch.manual_seed(0)`.
    ESPnet builds all else after that, so in stock ESPnet the new layers on an S3PRL upstream
    start from the same weights whatever `--seed` says.
    """
    from s3prl.nn import upstream

    stock = upstream.get_pseudo_wavs

    def get_pseudo_wavs(*args, **kwargs):
        with torch.random.fork_rng(devices=[]):
            return stock(*args, **kwargs)

    upstream.get_pseudo_wavs = get_pseudo_wavs
    try:
        yield
    finally:
        upstream.get_pseudo_wavs = stock


def switch_off_layerdrop(model: torch.nn.Module) -> None:
    """Set the layer drop of the model's upstreams to 0, and say so.

    Since transformers 5 a layer that is dropped returns no hidden state, so S3PRL, which wants
    one of each layer, stops at the first batch with a dropped layer. S3PRL switches layer drop
    off in its own wav2vec 2.0 as well.
    """
    for name, module in model.named_modules():
        config = getattr(module, "config", None)
        if getattr(config, "layerdrop", 0.0):
            logging.warning(
                f"layerdrop={config.layerdrop} of {name} is set to 0: S3PRL needs the output of "
                "every layer, which transformers 5 does not give for a dropped one"
            )
            config.layerdrop = 0.0
