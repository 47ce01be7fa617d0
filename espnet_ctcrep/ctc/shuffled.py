"""The right gradient with its sums in a random order: what atomics do, on any machine."""

import hashlib
import secrets

import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch
from espnet_ctcrep.ctc.aten import ordered_sums, reordered_losses
from espnet_ctcrep.ctc.columns import Columns

__all__ = ["shuffled_losses"]


def shuffled_losses(
    log_probs: Tensor, batch: Batch, zero_infinity: bool, shuffle_seed: int | None
) -> Tensor:
    """(B,) losses whose gradient adds the occurrences of each label in a random order.

    Every frame draws its own order, from the system's entropy at each backward or, with a seed,
    from the seed and the losses: a resumed run then repeats itself, and steps still differ.
    Labels that occur once have nothing to reorder. PyTorch's global random state is not used.
    """

    def label_sums(labels: Tensor, losses: Tensor, columns: Columns) -> Tensor:
        seed = secrets.randbits(63)
        if shuffle_seed is not None:
            seed = _seed_of(shuffle_seed, losses)
        generator = torch.Generator(labels.device).manual_seed(seed)
        # Sorting by column plus a fraction shuffles within the columns and keeps them together.
        # Fractions stay under a half, so that rounding cannot carry one into the next column.
        fraction = torch.rand(labels.shape, generator=generator, device=labels.device) / 2
        order = (columns.ids[:, None] + fraction).argsort(2)
        return ordered_sums(labels.gather(2, order), columns.slots())

    return reordered_losses(log_probs, batch, zero_infinity, None, label_sums)


def _seed_of(shuffle_seed: int, losses: Tensor) -> int:
    """63 bits that depend on every bit of both."""
    data = f"{shuffle_seed} ".encode() + losses.cpu().numpy().tobytes()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") >> 1
