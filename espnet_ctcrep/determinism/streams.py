"""Seed streams: independent seeds for what a run draws at random."""

from dataclasses import dataclass

import numpy as np

from espnet_ctcrep.utils.errors import InputError

__all__ = ["Streams", "spawn_streams"]


@dataclass(frozen=True)
class Streams:
    """Seeds of one run. Two runs with equal seeds are repeats, not two samples.

    Attributes:
        init: new parameters.
        data: the order of batches.
        noise: dropout, SpecAug, layer drop and masking.
    """

    init: int
    data: int
    noise: int


def spawn_streams(root_seed: int, replicate: int) -> Streams:
    """The seeds of one replicate, the same in every arm of a plan.

    ESPnet seeds each epoch with seed + epoch, so runs with the seeds 0, 1, 2 share their streams
    shifted by an epoch. Spawned 31-bit seeds lie far apart, and they depend on the root seed and
    the replicate's number alone: a plan that grows keeps the replicates that it has.

    Args:
        root_seed: the plan's, at least 0.
        replicate: number of the replicate, from 0.

    Raises:
        InputError: a negative number.
    """
    for name, value in (("root_seed", root_seed), ("replicate", replicate)):
        if value < 0:
            raise InputError(f"{name}={value} is negative; give 0 or more")
    # The key (replicate, stream) is what SeedSequence(root_seed).spawn() twice would give.
    seeds = (
        np.random.SeedSequence(root_seed, spawn_key=(replicate, stream)).generate_state(1)[0]
        for stream in range(3)
    )
    return Streams(*(int(seed) >> 1 for seed in seeds))
