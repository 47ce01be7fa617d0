"""What must hold for any batch: the sum over alignments, gradients, permutations, padding."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from ctc_cases import (
    EVERY,
    Case,
    Result,
    compute,
    random_log_probs,
    random_targets,
    run,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.autograd.gradcheck import GradcheckError

from espnet_ctcrep.ctc import ctc_loss
from espnet_ctcrep.ctc.arguments import check_arguments
from espnet_ctcrep.ctc.aten import aten_losses

FIXED = ("builtin", "native", "cpu", "deterministic", "aten", "aten64", "fused")

# Seeds and sizes come from hypothesis; the interpreter gets few of them, being a thousand times
# slower than a GPU.
FEW = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
FEWER = settings(FEW, max_examples=6)


@st.composite
def batches(draw, most_frames=5, most_labels=3) -> Case:
    """A batch of any shape within the limits, targets impossible to align included."""
    frames, classes = draw(st.integers(1, most_frames)), draw(st.integers(2, 4))
    utterances = draw(st.integers(1, 3))
    blank = draw(st.integers(0, classes - 1))
    labels = st.sampled_from([c for c in range(classes) if c != blank])
    targets = [
        draw(st.lists(labels, min_size=most_labels, max_size=most_labels))
        for _ in range(utterances)
    ]
    input_lengths = [draw(st.integers(0, frames)) for _ in range(utterances)]
    target_lengths = [draw(st.integers(0, most_labels)) for _ in range(utterances)]
    log_probs = random_log_probs(frames, utterances, classes, seed=draw(st.integers(0, 2**31)))
    log_probs = log_probs.log_softmax(2)  # adds up to 1 in float64 too
    return Case("drawn", 0, log_probs, torch.tensor(targets), input_lengths, target_lengths, blank)


def enumerated(case: Case, b: int) -> float:
    """-log of the summed probability of all V**T paths that collapse to the target."""
    frames, labels = case.input_lengths[b], case.targets[b, : case.target_lengths[b]].tolist()
    log_probs = case.log_probs[:, b].tolist()
    total = 0.0
    for path in product(range(case.log_probs.size(2)), repeat=frames):
        kept = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
        if [c for c in kept if c != case.blank] == labels:
            total += math.exp(sum(log_probs[t][c] for t, c in enumerate(path)))
    return -math.log(total) if total > 0 else math.inf


def check_enumeration(way: str, case: Case) -> None:
    losses = run(way, case).losses.tolist()
    expected = [enumerated(case, b) for b in range(len(losses))]
    assert losses == pytest.approx(expected, rel=1e-12, abs=1e-12)


@FEW
@given(batches())
def test_the_loss_is_the_sum_over_all_alignments(case):
    for way in EVERY:
        if way != "fused":
            check_enumeration(way, case)


@FEWER
@given(batches())
def test_the_fused_loss_is_the_sum_over_all_alignments(case):
    check_enumeration("fused", case)


def check_sums_and_padding(way: str, case: Case) -> None:
    got = run(way, case)
    possible = got.losses.isfinite()
    sums = got.grad.sum(2)[:, possible]
    # The gradient with respect to logits: probabilities minus occupancies, both adding up to 1.
    assert torch.allclose(sums, torch.zeros_like(sums), atol=1e-12)
    for b, frames in enumerate(case.input_lengths):
        assert torch.all(got.grad[frames:, b] == 0)


@FEW
@given(batches(most_frames=12, most_labels=5))
def test_the_gradient_adds_up_to_zero_at_each_frame(case):
    for way in EVERY:
        if way != "fused":
            check_sums_and_padding(way, case)


@FEWER
@given(batches(most_frames=6, most_labels=3))
def test_the_fused_gradient_adds_up_to_zero_at_each_frame(case):
    check_sums_and_padding("fused", case)


def batch_with_repeats() -> Case:
    log_probs = random_log_probs(24, 4, 9)
    return Case("repeats", 0, log_probs, random_targets(4, 8, 4), [24, 20, 22, 9], [8, 6, 0, 8])


def assert_same_bits(got, expected) -> None:
    """Equal as bit patterns, so that NaN equals NaN."""
    for a, b in ((got.losses, expected.losses), (got.grad, expected.grad)):
        assert a.dtype == b.dtype == torch.float32
        assert torch.equal(a.contiguous().view(torch.int32), b.contiguous().view(torch.int32))


@pytest.mark.parametrize("way", FIXED)
def test_permuting_the_batch_permutes_the_bits(way):
    case = batch_with_repeats()
    order = [2, 0, 3, 1]
    permuted = replace(
        case,
        log_probs=case.log_probs[:, order],
        targets=case.targets[order],
        input_lengths=[case.input_lengths[b] for b in order],
        target_lengths=[case.target_lengths[b] for b in order],
        grad_losses=case.weights[order],
    )
    expected, got = run(way, case, torch.float32), run(way, permuted, torch.float32)
    assert_same_bits(got, Result(expected.losses[order], expected.grad[:, order]))


@pytest.mark.parametrize("way", FIXED)
def test_padding_with_junk_changes_no_bit(way):
    case = batch_with_repeats()
    junk = torch.full((7, 4, 9), torch.nan, dtype=torch.float64)
    longer = replace(
        case,
        log_probs=torch.cat([case.log_probs, junk]),
        targets=torch.cat([case.targets, torch.full((4, 20), -1)], 1),
    )
    expected, got = run(way, case, torch.float32), run(way, longer, torch.float32)
    assert torch.all(got.grad[24:] == 0)
    assert_same_bits(Result(got.losses, got.grad[:24]), expected)


@pytest.mark.parametrize("way", [way for way in FIXED if way != "fused"])
def test_company_in_the_batch_changes_no_bit(way):
    """Alone, with longer inputs, with longer targets: the same bits for the same utterance.

    Not promised for the fused kernels on a GPU, where the longest target fixes the block size.
    """
    case = batch_with_repeats()
    together = run(way, case, torch.float32)
    for b in range(4):
        alone = replace(
            case,
            log_probs=case.log_probs[: case.input_lengths[b], b : b + 1],
            targets=case.targets[b : b + 1, : case.target_lengths[b]],
            input_lengths=[case.input_lengths[b]],
            target_lengths=[case.target_lengths[b]],
            grad_losses=case.weights[b : b + 1],
        )
        frames = slice(0, case.input_lengths[b])
        expected = Result(together.losses[b : b + 1], together.grad[frames, b : b + 1])
        assert_same_bits(run(way, alone, torch.float32), expected)


@pytest.mark.parametrize("way", FIXED)
def test_repeating_gives_the_same_bits(way):
    """Labels that occur several times, without which nothing could differ."""
    case = batch_with_repeats()
    first = run(way, case, torch.float32)
    for _ in range(2 if way == "fused" else 20):
        assert_same_bits(run(way, case, torch.float32), first)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_changes_no_bit(threads):
    case = batch_with_repeats()
    first = run("deterministic", case, torch.float32)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert_same_bits(run("deterministic", case, torch.float32), first)
        assert_same_bits(run("aten", case, torch.float32), run("aten", case, torch.float32))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("backend", ["builtin", "native", "cpu", "deterministic", "shuffled"])
def test_the_gradient_through_log_softmax_is_the_numerical_one(backend):
    logits = torch.randn(
        6, 2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()
    arguments = (torch.tensor([[1, 1, 2], [3, 1, 3]]), [6, 5], [3, 3])

    def loss(x):
        return ctc_loss(x.log_softmax(2), *arguments, reduction="none", backend=backend)

    # Not repeatable to the last bit in `shuffled`, hence the tolerance of the second backward.
    assert torch.autograd.gradcheck(loss, (logits,), nondet_tol=1e-12)


@pytest.mark.parametrize("recursion", [None, torch.float64])
def test_the_gradient_of_the_forward_kernels_is_the_numerical_one(recursion):
    logits = torch.randn(
        6, 2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()

    def loss(x):
        log_probs = x.log_softmax(2)
        targets = torch.tensor([[1, 1, 2], [3, 1, 3]])
        batch = check_arguments(log_probs, targets, [6, 5], [3, 3], 0)
        return aten_losses(log_probs, batch, False, recursion)

    assert torch.autograd.gradcheck(loss, (logits,))


def test_with_respect_to_log_probs_the_gradient_is_not_the_numerical_one():
    """Row 20: by design, as in PyTorch; the difference vanishes in log_softmax."""
    log_probs = random_log_probs(6, 2, 5).requires_grad_()
    arguments = (torch.tensor([[1, 1, 2], [3, 1, 3]]), [6, 5], [3, 3])
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda x: ctc_loss(x, *arguments, reduction="none"), (log_probs,))


def test_a_recursion_in_float64_makes_a_float32_gradient_far_more_accurate():
    """Random logits are the hard case: losses in the thousands."""
    log_probs = random_log_probs(400, 2, 60, scale=3.0)
    case = Case("long", 0, log_probs, random_targets(2, 60, 60), [400, 380], [60, 50])
    reference = compute("pytorch", case)

    def error(way):
        return (compute(way, case, torch.float32).grad - reference.grad).abs().max().item()

    assert error("aten64") < 1e-6 < 1e-5 < error("pytorch")
    assert error("aten") <= 2 * error("pytorch")
