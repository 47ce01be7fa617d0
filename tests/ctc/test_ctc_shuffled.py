"""The shuffled backend is right up to rounding, different each time, and repeatable on request."""

import pytest
import torch
from ctc_cases import random_log_probs, random_targets

from espnet_ctcrep.ctc import ctc_loss

ARGUMENTS = (random_targets(4, 24, 5), [160, 150, 140, 120], [24, 22, 20, 18])
WITHOUT_REPEATS = (torch.arange(1, 25).repeat(4, 1), [160, 150, 140, 120], [24, 22, 20, 18])


def gradient(backend: str, arguments=ARGUMENTS, **options) -> torch.Tensor:
    log_probs = random_log_probs(160, 4, 32).float().requires_grad_()
    losses = ctc_loss(log_probs, *arguments, reduction="none", backend=backend, **options)
    return torch.autograd.grad(losses.sum(), log_probs)[0]


def test_the_loss_is_the_deterministic_one_to_the_last_bit():
    log_probs = random_log_probs(160, 4, 32).float()
    expected = ctc_loss(log_probs, *ARGUMENTS, reduction="none")
    got = ctc_loss(log_probs, *ARGUMENTS, reduction="none", backend="shuffled")
    assert torch.equal(got, expected)


def test_two_calls_differ_in_bits_and_by_rounding_only():
    fixed, first, second = gradient("deterministic"), gradient("shuffled"), gradient("shuffled")
    assert torch.equal(gradient("deterministic"), fixed)
    assert not torch.equal(first, second)
    scale = first.abs().max()
    assert (first - second).abs().max() / scale < 1e-6
    # Against another formula for the occupancies the recursion's own rounding counts too.
    exact = gradient("cpu")
    assert (first - exact).abs().max() / scale < 2e-4


def test_it_differs_from_the_same_sums_in_ascending_order_by_rounding_only():
    """The forward kernels with either order, so that nothing but the order is compared."""
    from espnet_ctcrep.ctc.arguments import check_arguments
    from espnet_ctcrep.ctc.aten import aten_losses
    from espnet_ctcrep.ctc.shuffled import shuffled_losses

    log_probs = random_log_probs(160, 4, 32).float().requires_grad_()
    batch = check_arguments(log_probs, *ARGUMENTS, 0)
    ascending = torch.autograd.grad(aten_losses(log_probs, batch, False).sum(), log_probs)[0]
    shuffled = torch.autograd.grad(shuffled_losses(log_probs, batch, False, None).sum(), log_probs)[
        0
    ]
    assert not torch.equal(ascending, shuffled)
    assert (ascending - shuffled).abs().max() / ascending.abs().max() < 1e-5


def test_without_repeated_labels_there_is_nothing_to_shuffle():
    first, second = (gradient("shuffled", WITHOUT_REPEATS) for _ in range(2))
    assert torch.equal(first, second)


def test_a_seed_repeats_the_order_and_another_seed_does_not():
    first = gradient("shuffled", shuffle_seed=1)
    assert torch.equal(gradient("shuffled", shuffle_seed=1), first)
    assert not torch.equal(gradient("shuffled", shuffle_seed=2), first)
    assert not torch.equal(gradient("shuffled", shuffle_seed=1 + 2**32), first)


@pytest.mark.parametrize("seed", [None, 5])
def test_pytorchs_random_state_is_neither_read_nor_moved(seed):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = gradient("shuffled", shuffle_seed=seed)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(0)
    second = gradient("shuffled", shuffle_seed=seed)
    assert torch.equal(first, second) == (seed is not None)
