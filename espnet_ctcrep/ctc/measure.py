"""Speed, memory, error and bit-stability of the CTC backends, side by side in one process."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from espnet_ctcrep.ctc.loss import ctc_loss
from espnet_ctcrep.utils.errors import InputError

__all__ = ["WAYS", "Measurement", "Problem", "Size", "make_problem", "measure", "ways_on"]

# Every way to compute the loss that a user can ask for, by the name that tables show.
WAYS: dict[str, dict[str, str]] = {
    "native": {"backend": "native"},
    "deterministic": {"backend": "deterministic"},
    "builtin": {"backend": "builtin"},
    "cudnn": {"backend": "cudnn"},
    "cpu": {"backend": "cpu"},
    "deterministic (aten)": {"backend": "deterministic"},
    "deterministic (aten64)": {"backend": "deterministic", "deterministic_impl": "aten64"},
    "deterministic (triton)": {"backend": "deterministic", "deterministic_impl": "triton"},
    "shuffled": {"backend": "shuffled"},
}
BASELINE = "native"
DIFFERENT_LABELS = 60  # about an alphabet: targets repeat their labels, as text does


@dataclass(frozen=True)
class Size:
    """The shape of a batch: T frames, B utterances, V classes, targets of up to S labels."""

    frames: int
    utterances: int
    classes: int
    labels: int

    def __str__(self) -> str:
        return f"T={self.frames} B={self.utterances} V={self.classes} S={self.labels}"


@dataclass(frozen=True)
class Problem:
    """A batch on a device, with the loss and gradient that float64 gives."""

    size: Size
    log_probs: Tensor  # (T, B, V) float32, a transposed (B, T, V) as from an encoder
    targets: Tensor  # (B, S)
    input_lengths: Tensor  # (B,) on the device
    target_lengths: Tensor  # (B,) on the device
    losses: Tensor  # (B,) float64 on the CPU
    grad: Tensor  # (T, B, V) float64 on the CPU


@dataclass(frozen=True)
class Measurement:
    """One backend at one size; None for what was not measured, with the reason in `failure`.

    Attributes:
        way: name in WAYS
        seconds: median of a forward and backward call
        ratio: seconds over those of `native` in the same process
        equal_bits: whether all repeats gave the same losses and gradients
        repeats: how many there were
        extra_bytes: peak memory allocated beside the input, gradient included; CUDA only
        loss_error: largest absolute difference from float64, in nats
        grad_error: largest absolute difference from float64
        failure: the error message if it cannot run
    """

    way: str
    seconds: float | None = None
    ratio: float | None = None
    equal_bits: bool | None = None
    repeats: int | None = None
    extra_bytes: int | None = None
    loss_error: float | None = None
    grad_error: float | None = None
    failure: str | None = None


def ways_on(device_type: str) -> list[str]:
    """The names in WAYS that differ from each other on a device."""
    if device_type == "cpu":
        return ["native", "builtin", "cpu", "deterministic", "shuffled"]
    return [way for way in WAYS if way != "deterministic"]


def make_problem(size: Size, device: str, seed: int = 0) -> Problem:
    """A random batch with lengths from 80% to 100% of the size, and repeated labels."""
    generator = torch.Generator().manual_seed(seed)
    shape = (size.utterances, size.frames, size.classes)
    log_probs = torch.randn(shape, generator=generator).log_softmax(2).transpose(0, 1)
    most = min(size.classes, DIFFERENT_LABELS + 1)
    targets = torch.randint(1, most, (size.utterances, size.labels), generator=generator)
    share = torch.linspace(1.0, 0.8, size.utterances)
    input_lengths = (share * size.frames).long()
    target_lengths = (share * size.labels).long().clamp_min(1)
    exact = log_probs.double().requires_grad_()
    losses = F.ctc_loss(exact, targets, input_lengths, target_lengths, reduction="none")
    (grad,) = torch.autograd.grad(losses.sum(), exact)
    return Problem(
        size=size,
        log_probs=log_probs.to(device),
        targets=targets.to(device),
        input_lengths=input_lengths.to(device),
        target_lengths=target_lengths.to(device),
        losses=losses.detach(),
        grad=grad,
    )


def measure(
    problem: Problem, ways: Iterable[str], rounds: int, repeats: int, seconds_for_repeats: float
) -> list[Measurement]:
    """Measure each way on one problem.

    Times: `rounds` of all ways, in alternating order, after one call of each. Bit-stability: up to
    `repeats` calls, but no more than `seconds_for_repeats` each.
    """
    callables, failures = {}, {}
    for way in ways:
        callables[way] = _callable(problem, way)
        try:
            callables[way]()
        except (InputError, RuntimeError) as e:
            failures[way] = str(e).splitlines()[0]
            del callables[way]
    times = _alternated(callables, rounds, problem.log_probs.device)
    measurements = []
    for way in ways:
        if way in failures:
            measurements.append(Measurement(way, failure=failures[way]))
            continue
        losses, grad = callables[way]()
        equal, done = _equal_bits(callables[way], losses, grad, repeats, seconds_for_repeats)
        ratio = times[way] / times[BASELINE] if BASELINE in times else None
        measurements.append(
            Measurement(
                way,
                seconds=times[way],
                ratio=ratio,
                equal_bits=equal,
                repeats=done,
                extra_bytes=_extra_bytes(callables[way], problem.log_probs.device),
                loss_error=(losses.cpu().double() - problem.losses).abs().max().item(),
                grad_error=_largest_difference(grad, problem.grad),
            )
        )
    return measurements


def _callable(problem: Problem, way: str) -> Callable[[], tuple[Tensor, Tensor]]:
    log_probs = problem.log_probs.detach().requires_grad_()
    arguments = (problem.targets, problem.input_lengths, problem.target_lengths)

    def call() -> tuple[Tensor, Tensor]:
        losses = ctc_loss(log_probs, *arguments, reduction="none", **WAYS[way])
        (grad,) = torch.autograd.grad(losses.sum(), log_probs)
        return losses.detach(), grad

    return call


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _alternated(
    callables: dict[str, Callable], rounds: int, device: torch.device
) -> dict[str, float]:
    """Median seconds of each; what runs first in one round runs last in the next."""
    seconds = {way: [] for way in callables}
    order = list(callables)
    for _ in range(rounds):
        for way in order:
            _synchronize(device)
            start = time.perf_counter()
            callables[way]()
            _synchronize(device)
            seconds[way].append(time.perf_counter() - start)
        order.reverse()
    return {way: statistics.median(values) for way, values in seconds.items()}


def _equal_bits(
    call: Callable, losses: Tensor, grad: Tensor, repeats: int, seconds: float
) -> tuple[bool, int]:
    """Whether repeats equal the first result, and how many were made."""
    end = time.perf_counter() + seconds
    for done in range(1, repeats + 1):
        again = call()
        if not (torch.equal(again[0], losses) and torch.equal(again[1], grad)):
            return False, done
        if time.perf_counter() > end:
            return True, done
    return True, repeats


def _extra_bytes(call: Callable, device: torch.device) -> int | None:
    if device.type != "cuda":
        return None
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    call()
    return torch.cuda.max_memory_allocated(device) - before


def _largest_difference(grad: Tensor, reference: Tensor) -> float:
    """Frame by frame in float64, so that no copy of a large gradient is needed."""
    rows = zip(grad, reference, strict=True)
    return max((row.cpu().double() - expected).abs().max().item() for row, expected in rows)
