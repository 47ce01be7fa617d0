"""Replicates have independent seeds that do not depend on how many there are."""

import numpy as np
import pytest

from espnet_ctcrep.determinism.streams import Streams, spawn_streams
from espnet_ctcrep.utils.errors import InputError


def test_seeds_are_those_of_numpys_own_spawning():
    children = np.random.SeedSequence(20261201).spawn(4)
    expected = [int(s.generate_state(1)[0]) >> 1 for s in children[3].spawn(3)]
    assert spawn_streams(20261201, 3) == Streams(*expected)


def test_seeds_of_a_plan_never_change():
    assert spawn_streams(20261201, 0) == Streams(init=227878628, data=1062012985, noise=1283828506)


def test_no_two_replicates_come_within_a_thousand_epochs_of_each_other():
    # ESPnet uses seed + epoch: nearer seeds would share epochs.
    for stream in ("init", "data", "noise"):
        seeds = sorted(getattr(spawn_streams(20261201, k), stream) for k in range(100))
        assert min(np.diff(seeds)) > 1000


def test_no_seed_of_a_stream_is_drawn_twice_in_a_thousand_replicates():
    for stream in ("init", "data", "noise"):
        assert len({getattr(spawn_streams(20261201, k), stream) for k in range(1000)}) == 1000


def test_streams_of_a_replicate_differ():
    for k in range(1000):
        assert len(set(vars(spawn_streams(20261201, k)).values())) == 3


def test_seeds_fit_torch_numpy_and_espnets_epochs():
    for k in range(200):
        for seed in vars(spawn_streams(7, k)).values():
            assert 0 <= seed < 2**31


def test_another_root_seed_gives_other_seeds():
    assert spawn_streams(1, 0) != spawn_streams(2, 0)


@pytest.mark.parametrize(("root_seed", "replicate"), [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused(root_seed, replicate):
    with pytest.raises(InputError, match="is negative; give 0 or more"):
        spawn_streams(root_seed, replicate)
