"""Every way to compute the loss means the same as PyTorch's in float64, edge cases included."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from ctc_cases import (
    CASES,
    EVERY,
    NOT_A_NUMBER,
    OURS,
    PYTORCHS,
    WITHOUT_SUPPORT,
    Case,
    assert_close,
    case,
    compute,
    random_log_probs,
    random_targets,
    run,
    run_from_file,
    tolerance,
)

from espnet_ctcrep.ctc import CTCLoss, ctc_loss

DTYPES = (torch.float64, torch.float32)


def check(way: str, example: Case, dtype: torch.dtype) -> None:
    reference = compute("pytorch", example)
    native = compute("pytorch", example, dtype)
    got = run(way, example, dtype)
    allowed = tolerance(reference.losses, native.losses, reference.losses)
    assert_close(got.losses, reference.losses, allowed)
    allowed = tolerance(reference.grad, native.grad, reference.losses)
    assert_close(got.grad, reference.grad, allowed)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("example", "way"),
    [(c, way) for c in CASES for way in EVERY if way not in c.too_slow_for],
    ids=str,
)
def test_losses_and_gradients_are_those_of_pytorch_in_float64(example, way, dtype):
    check(way, example, dtype)


def test_fused_kernels_hold_for_hundreds_of_labels():
    """Row 16: more states than a warp, and than a block of threads, has lanes."""
    labels = random_targets(1, 300, 5)
    check("fused", case("300 labels", 16, (24, 1, 5), labels, [24], [18]), torch.float32)
    wide = case("140 labels", 16, (150, 1, 4), random_targets(1, 140, 4), [150], [110])
    check("fused", wide, torch.float32)


@pytest.mark.parametrize("way", EVERY)
@pytest.mark.parametrize("example", [c for c in CASES if c.row in (1, 5)], ids=str)
def test_an_impossible_alignment_is_infinite_or_exactly_zero(example, way):
    """Rows 1 and 5: the loss inf and NaN in all classes of live frames; or zeros, all of them."""
    got = run(way, example)
    needed = [4, 3, 5] if example.row == 1 else [0, 3, 3]
    for b, (frames, least) in enumerate(zip(example.input_lengths, needed, strict=True)):
        live, padded = got.grad[:frames, b], got.grad[frames:, b]
        assert torch.all(padded == 0)
        if frames >= least:
            assert got.losses[b].isfinite() and live.isfinite().all()
        elif example.zero_infinity:
            assert got.losses[b] == 0 and torch.all(live == 0)
        else:
            assert got.losses[b] == torch.inf and live.isnan().all()


@pytest.mark.parametrize("way", EVERY)
def test_padded_frames_have_exactly_zero_gradient_and_are_not_read(way):
    """Row 14, and row 25: nothing depends on memory that nobody wrote."""
    ragged = next(c for c in CASES if c.name == "ragged lengths")
    junk = next(c for c in CASES if c.name == "NaN in the padded frames")
    clean, poisoned = run(way, ragged), run(way, junk)
    for b, frames in enumerate(ragged.input_lengths):
        assert torch.all(poisoned.grad[frames:, b] == 0)
    if way != "shuffled":  # which differs from itself
        assert torch.equal(clean.losses, poisoned.losses)
        assert torch.equal(clean.grad, poisoned.grad)


@pytest.mark.parametrize("way", ["deterministic", "aten", "aten64", "shuffled"])
def test_uninitialised_memory_is_not_read(way):
    """Row 25: torch.empty filled with NaN changes nothing."""
    example = next(c for c in CASES if c.name == "ragged lengths")
    before = run(way, example)
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3).isnan().all(), "torch.empty is not poisoned: this test shows nothing"
        after = run(way, example)
    finally:
        torch.use_deterministic_algorithms(False)
    assert torch.equal(before.losses, after.losses)
    assert torch.allclose(before.grad, after.grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("way", OURS)
@pytest.mark.parametrize("example", WITHOUT_SUPPORT, ids=str)
def test_a_class_of_probability_zero_gets_a_finite_gradient(example, way):
    """Row 18: PyTorch's is NaN in such a cell; the right one is 0 minus an occupancy of 0."""
    reference = compute("pytorch", example)
    impossible = example.log_probs == -torch.inf
    assert torch.equal(reference.grad.isnan(), impossible), "PyTorch's NaN is not where it was"
    got = run(way, example)
    assert_close(got.losses, reference.losses, 1e-13)
    assert_close(got.grad, reference.grad.masked_fill(impossible, 0.0), 1e-12)


@pytest.mark.parametrize("way", PYTORCHS)
def test_pytorchs_own_kernels_keep_their_nan_at_probability_zero(way):
    example = WITHOUT_SUPPORT[0]
    assert torch.equal(run(way, example).grad.isnan(), example.log_probs == -torch.inf)


@pytest.mark.parametrize("way", EVERY)
@pytest.mark.parametrize("example", NOT_A_NUMBER, ids=str)
def test_a_frame_of_nan_is_shown_and_stays_in_its_utterance(example, way):
    """Row 19: zero_infinity once turned the NaN into a loss of 0, hidden from everybody."""
    got = run(way, example)
    others = run(way, next(c for c in CASES if c.name == "ragged lengths"))
    assert got.losses.isnan().tolist() == [False, True, False]
    assert got.grad[:7, 1].isnan().all() and torch.all(got.grad[7:, 1] == 0)
    for b in (0, 2):
        assert got.losses[b] == others.losses[b]
        assert torch.allclose(got.grad[:, b], others.grad[:, b], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("way", EVERY)
def test_nan_in_a_class_outside_the_target_stays_in_its_cell(way):
    ragged = next(c for c in CASES if c.name == "ragged lengths")
    log_probs = ragged.log_probs.clone()
    log_probs[2, 0, 5] = torch.nan
    got = run(way, replace(ragged, log_probs=log_probs))
    assert got.losses.isfinite().all()
    assert got.grad.isnan().nonzero().tolist() == [[2, 0, 5]]


# Closed forms need no other implementation.


@pytest.mark.parametrize("way", EVERY)
def test_as_many_frames_as_labels_leave_one_alignment(way):
    log_probs = random_log_probs(5, 2, 6)
    targets = torch.tensor([[1, 2, 3, 4, 5], [2, 1, 4, 3, 0]])
    got = run(way, Case("diagonal", 0, log_probs, targets, [5, 4], [5, 4]))
    one_hot = F.one_hot(targets, 6).transpose(0, 1)
    expected = -(log_probs * one_hot).sum(2)
    assert_close(got.losses, torch.stack([expected[:, 0].sum(), expected[:4, 1].sum()]), 1e-14)
    grad = (log_probs.exp() - one_hot) * torch.tensor([0.5, 1.5])[:, None]
    grad[4:, 1] = 0
    assert_close(got.grad, grad, 1e-14)
    assert torch.all(got.grad[4:, 1] == 0)


@pytest.mark.parametrize("way", EVERY)
def test_repeats_at_the_least_length_leave_one_alignment_with_a_blank_between(way):
    log_probs = random_log_probs(5, 1, 4)
    got = run(way, Case("a-a-a", 2, log_probs, torch.tensor([[3, 3, 3]]), [5], [3]))
    path = torch.tensor([3, 0, 3, 0, 3])
    assert_close(got.losses, -log_probs[torch.arange(5), 0, path].sum()[None], 1e-14)
    grad = (log_probs.exp() - F.one_hot(path, 4)[:, None]) * 0.5
    assert_close(got.grad, grad, 1e-14)


@pytest.mark.parametrize("way", EVERY)
def test_an_empty_target_is_all_blanks(way):
    """Row 4: loss 0 for it was the answer of more than one implementation."""
    log_probs = random_log_probs(6, 1, 4)
    got = run(way, Case("empty", 4, log_probs, torch.zeros(1, 0).long(), [6], [0]))
    assert_close(got.losses, -log_probs[:, :, 0].sum(0), 1e-14)


BACKENDS_HERE = ("builtin", "native", "cpu", "deterministic", "shuffled")
EXAMPLE = {
    "targets": torch.tensor([[1, 2, 1], [3, 3, 0]]),
    "input_lengths": [8, 7],
    "target_lengths": [3, 2],
}


@pytest.mark.parametrize("backend", BACKENDS_HERE)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_reductions_are_bit_for_bit_pytorchs(backend, reduction, zero_infinity):
    """Row 15, and the division by at least 1 of row 4."""
    log_probs = random_log_probs(8, 2, 5).float()
    example = EXAMPLE | {"target_lengths": [3, 0]}
    expected = F.ctc_loss(log_probs, **example, reduction=reduction, zero_infinity=zero_infinity)
    got = ctc_loss(
        log_probs, **example, reduction=reduction, zero_infinity=zero_infinity, backend=backend
    )
    assert torch.equal(got, expected)
    module = CTCLoss(reduction=reduction, zero_infinity=zero_infinity, backend=backend)
    assert torch.equal(module(log_probs, **example), expected)


@pytest.mark.parametrize("backend", BACKENDS_HERE)
def test_the_gradient_scales_with_the_gradient_from_above(backend):
    """Row 15: per-utterance weights, a factor, an expanded gradient."""
    log_probs = random_log_probs(8, 2, 5).requires_grad_()

    def gradient(scaled):
        losses = ctc_loss(log_probs, **EXAMPLE, reduction="none", backend=backend)
        return torch.autograd.grad(scaled(losses), log_probs)[0]

    plain = gradient(lambda losses: losses.sum())
    assert torch.allclose(gradient(lambda losses: 2 * losses.sum()), 2 * plain, rtol=1e-12)
    weighted = gradient(lambda losses: (losses * torch.tensor([3.0, 0.0])).sum())
    assert torch.allclose(weighted[:, 0], 3 * plain[:, 0], rtol=1e-12)
    assert torch.all(weighted[:, 1] == 0)


@pytest.mark.parametrize("backend", BACKENDS_HERE)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(backend, dtype):
    """Row 13: PyTorch has no such kernel; the gradient comes back in the input's type."""
    half = random_log_probs(8, 2, 5).to(dtype).requires_grad_()
    single = half.detach().float().requires_grad_()
    losses = ctc_loss(half, **EXAMPLE, reduction="none", backend=backend)
    expected = ctc_loss(single, **EXAMPLE, reduction="none", backend=backend)
    assert losses.dtype == torch.float32 and torch.equal(losses, expected)
    (grad,) = torch.autograd.grad(losses.sum(), half)
    (expected,) = torch.autograd.grad(expected.sum(), single)
    assert grad.dtype == dtype
    assert torch.allclose(grad.float(), expected, atol=torch.finfo(dtype).eps)


@pytest.mark.parametrize("backend", BACKENDS_HERE)
def test_an_input_without_gradient_gives_a_loss_without_one(backend):
    log_probs = random_log_probs(8, 2, 5)
    losses = ctc_loss(log_probs, **EXAMPLE, reduction="none", backend=backend)
    assert not losses.requires_grad
    expected = F.ctc_loss(log_probs, **EXAMPLE, reduction="none")
    assert_close(losses, expected, 1e-13)


@pytest.mark.parametrize("backend", BACKENDS_HERE)
def test_a_second_derivative_is_refused(backend):
    """Row 21: also of a loss whose gradient from above is a constant."""
    log_probs = random_log_probs(8, 2, 5).requires_grad_()
    for factor in (1.0, log_probs.sum()):
        loss = factor * ctc_loss(log_probs, **EXAMPLE, backend=backend)
        (grad,) = torch.autograd.grad(loss, log_probs, create_graph=True)
        with pytest.raises(RuntimeError, match=r"once, not twice|is not implemented"):
            grad.sum().backward()


@pytest.mark.parametrize("way", EVERY)
def test_strides_are_taken_as_they_come(way):
    """Row 24: (B, T, V) transposed, V first, and every second frame of something longer."""
    contiguous = random_log_probs(8, 2, 5).contiguous()
    wide = torch.zeros(16, 2, 5, dtype=torch.float64)
    wide[::2] = contiguous
    layouts = {
        "as (B, T, V)": contiguous.transpose(0, 1).contiguous().transpose(0, 1),
        "as (V, B, T)": contiguous.permute(2, 1, 0).contiguous().permute(2, 1, 0),
        "every second": wide[::2],
    }
    base = Case("plain", 24, contiguous, **EXAMPLE)
    expected = run(way, base)
    for name, log_probs in layouts.items():
        assert not log_probs.is_contiguous(), name
        got = run(way, replace(base, log_probs=log_probs))
        assert torch.allclose(got.losses, expected.losses, rtol=1e-13), name
        assert torch.allclose(got.grad, expected.grad, rtol=1e-12, atol=1e-14), name


@pytest.mark.parametrize("way", ["aten", "aten64", "deterministic"])
def test_neither_input_nor_saved_tensors_are_changed(way):
    example = next(c for c in CASES if c.name == "aa, abab, one label")
    log_probs = example.log_probs.float().requires_grad_()
    before = log_probs.detach().clone()
    losses = ctc_loss(
        log_probs, example.targets.clamp(min=1), example.input_lengths, example.target_lengths,
        reduction="none",
    )  # fmt: skip
    first, second = (
        torch.autograd.grad(losses.sum(), log_probs, retain_graph=True)[0] for _ in range(2)
    )
    assert torch.equal(first, second) and torch.equal(log_probs, before)


@pytest.mark.parametrize("way", ["deterministic", "aten", "fused"])
def test_offsets_past_32_bits_reach_their_numbers(way, tmp_path):
    """Row 22: frames 2**30 numbers apart, in a file with holes of which few pages exist."""
    frames, apart = 6, 2**30
    numbers = random_log_probs(frames, 2, 5).float()
    path = tmp_path / "numbers"
    with path.open("wb") as f:
        for t in range(frames):
            f.seek(4 * apart * t)
            f.write(numbers[t].contiguous().numpy().tobytes())
    layout = (path, (frames, 2, 5), (apart, 5, 1))
    lengths = {"targets": torch.tensor([[1, 2, 1], [3, 3, 0]]), "input_lengths": [6, 5]}
    example = Case("far apart", 22, numbers.double(), **lengths, target_lengths=[3, 2])
    expected = run(way, example, torch.float32)
    got = run_from_file(way, example, layout)
    assert torch.equal(got.losses, expected.losses)
    assert torch.allclose(got.grad, expected.grad, rtol=1e-5, atol=1e-7)
