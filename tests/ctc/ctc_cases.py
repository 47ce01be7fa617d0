"""Inputs on which CTC implementations have failed before, and ways to run each of ours on them."""

import io
import multiprocessing
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from espnet_ctcrep.ctc import ctc_loss
from espnet_ctcrep.ctc.arguments import check_arguments
from espnet_ctcrep.ctc.aten import aten_losses
from espnet_ctcrep.ctc.shuffled import shuffled_losses

# What is run on every case: four backends as a user gets them on the CPU, and what they would get
# on CUDA, given CPU tensors here (`fused` in Triton's interpreter).
PYTORCHS = ("builtin", "native", "cpu")
OURS = ("deterministic", "aten", "aten64", "shuffled", "fused")
EVERY = PYTORCHS + OURS


@dataclass(frozen=True)
class Case:
    """One batch. `row` is the row of the list of known CTC faults (docs/backends.md)."""

    name: str
    row: int
    log_probs: Tensor  # (T, B, V) float64
    targets: Tensor
    input_lengths: list[int]
    target_lengths: list[int]
    blank: int = 0
    zero_infinity: bool = False
    too_slow_for: tuple[str, ...] = ()
    grad_losses: Tensor | None = None  # (B,)

    @property
    def weights(self) -> Tensor:
        """(B,) gradient of each loss: no two alike, unless given."""
        if self.grad_losses is not None:
            return self.grad_losses
        return torch.linspace(0.5, 1.5, self.log_probs.size(1), dtype=torch.float64)

    def __str__(self) -> str:
        return f"row {self.row}: {self.name}"


@dataclass(frozen=True)
class Result:
    """What a loss function made of a case."""

    losses: Tensor  # (B,)
    grad: Tensor  # (T, B, V)


def _losses(way: str, log_probs: Tensor, case: Case) -> Tensor:
    arguments = (case.targets.to(log_probs.device), case.input_lengths, case.target_lengths)
    if way == "pytorch":
        return F.ctc_loss(log_probs, *arguments, case.blank, "none", case.zero_infinity)
    if way in (*PYTORCHS, "deterministic"):
        return ctc_loss(log_probs, *arguments, case.blank, "none", case.zero_infinity, backend=way)
    batch = check_arguments(log_probs, *arguments, case.blank)
    if way == "shuffled":
        return shuffled_losses(log_probs, batch, case.zero_infinity, None)
    if way == "fused":
        from espnet_ctcrep.ctc.fused import fused_losses

        return fused_losses(log_probs, batch, case.zero_infinity)
    recursion = torch.float64 if way == "aten64" else None
    return aten_losses(log_probs, batch, case.zero_infinity, recursion)


def compute(way: str, case: Case, dtype: torch.dtype = torch.float64, device="cpu") -> Result:
    """Losses and gradient in this process, where the kernels are whatever Triton makes of them."""
    return compute_from(way, case, case.log_probs.to(device, dtype))  # keeps the strides


def compute_from(way: str, case: Case, log_probs: Tensor) -> Result:
    """`compute` with other log_probs than the case's own."""
    log_probs = log_probs.detach().requires_grad_()
    losses = _losses(way, log_probs, case)
    (grad,) = torch.autograd.grad(losses, log_probs, case.weights.to(losses))
    return Result(losses.detach().cpu(), grad.cpu())


def run(way: str, case: Case, dtype: torch.dtype = torch.float64) -> Result:
    """`compute` on the CPU; the Triton kernels in a process where they are interpreted."""
    return _run(compute, way, case, dtype)


def run_from_file(way: str, case: Case, layout: tuple[Path, tuple, tuple]) -> Result:
    """`run` on float32 log_probs that lie in a file: its path, then shape and strides."""
    return _run(_compute_from_file, way, case, layout)


def _compute_from_file(way: str, case: Case, layout: tuple[Path, tuple, tuple]) -> Result:
    path, shape, strides = layout
    numbers = torch.from_file(str(path), shared=True, size=path.stat().st_size // 4)
    return compute_from(way, case, numbers.as_strided(shape, strides))


def _run(function: Callable[..., Result], way: str, case: Case, argument) -> Result:
    if way != "fused":
        return function(way, case, argument)
    data = io.BytesIO()
    torch.save((vars(case), argument), data)
    answer = interpreter().submit(_interpreted, function, data.getvalue()).result()
    return Result(*torch.load(io.BytesIO(answer)))


@cache
def interpreter() -> ProcessPoolExecutor:
    """One process with TRITON_INTERPRET set before Triton is imported, as it must be."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_start_interpreter)


def _start_interpreter() -> None:
    os.environ["TRITON_INTERPRET"] = "1"
    warnings.simplefilter("ignore")  # numpy's, about log(0)
    torch.set_num_threads(1)


def _interpreted(function: Callable[..., Result], data: bytes) -> bytes:
    fields, argument = torch.load(io.BytesIO(data), weights_only=False)
    result = function("fused", Case(**fields), argument)
    answer = io.BytesIO()
    torch.save((result.losses, result.grad), answer)
    return answer.getvalue()


def random_log_probs(frames: int, size: int, classes: int, scale: float = 1.0, seed=0) -> Tensor:
    """(T, B, V) float64, a transposed (B, T, V) as an encoder hands it over."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(size, frames, classes, dtype=torch.float64, generator=generator)
    # Through float32, so that a float32 run starts from the very same numbers.
    return (scale * logits).log_softmax(2).float().double().transpose(0, 1)


def random_targets(size: int, longest: int, classes: int, seed=0) -> Tensor:
    """(B, S) labels without the blank 0; few classes, so that most labels are repeated."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(1, classes, (size, longest), generator=generator)


def case(name, row, shape, targets, input_lengths, target_lengths, *, scale=1.0, **options) -> Case:
    log_probs = random_log_probs(*shape, scale=scale, seed=row)
    return Case(
        name, row, log_probs, torch.as_tensor(targets), input_lengths, target_lengths, **options
    )


def poisoned(base: Case, name: str, row: int, cells: dict[tuple, float], **changes) -> Case:
    """The case with some log_probs replaced."""
    log_probs = base.log_probs.clone()
    for where, value in cells.items():
        log_probs[where] = value
    return replace(base, name=name, row=row, log_probs=log_probs, **changes)


_RAGGED = case("ragged lengths", 14, (12, 3, 6), random_targets(3, 4, 4), [12, 7, 9], [4, 2, 3])
_SHORT = [[3, 3, 2], [1, 2, 1], [2, 2, 2]]  # need 4, 3 and 5 frames

CASES = (
    case("longer than the input", 1, (4, 3, 5), _SHORT, [4, 4, 4], [3, 3, 3]),
    case(
        "longer than the input, zeroed", 1, (4, 3, 5), _SHORT, [4, 4, 4], [3, 3, 3],
        zero_infinity=True,
    ),
    case("just long enough", 2, (5, 3, 5), _SHORT, [4, 3, 5], [3, 3, 3]),
    case("one empty target", 4, (8, 3, 5), _SHORT, [8, 6, 8], [3, 0, 2]),
    case("only empty targets", 4, (8, 2, 5), torch.zeros(2, 0).long(), [8, 6], [0, 0]),
    case("only empty targets, concatenated", 4, (8, 2, 5), torch.zeros(0).long(), [8, 6], [0, 0]),
    case("no frames", 5, (6, 3, 5), _SHORT, [0, 6, 0], [0, 3, 2]),
    case("no frames, zeroed", 5, (6, 3, 5), _SHORT, [0, 6, 0], [0, 3, 2], zero_infinity=True),
    case("aa, abab, one label", 9, (16, 3, 5), [[2, 2, 0, 0], [1, 3, 1, 3], [4, 4, 4, 4]],
         [16, 15, 16], [2, 4, 4]),
    case("junk in the padding", 10, (10, 2, 5), [[1, 2, 1], [3, -1, 10**9]], [10, 9], [3, 1]),
    case("concatenated", 10, (10, 2, 5), [1, 2, 1, 3], [10, 9], [3, 1]),
    case("blank in the middle", 12, (10, 2, 5), [[1, 3, 3], [0, 4, 0]], [10, 9], [3, 3], blank=2),
    case("blank last", 12, (10, 2, 5), [[1, 3, 3], [0, 1, 0]], [10, 9], [3, 3], blank=4),
    _RAGGED,
    case("one frame", 14, (1, 2, 4), [[2], [3]], [1, 1], [1, 0]),
    case("batch of one", 14, (9, 1, 5), [[1, 2, 2]], [9], [3]),
    poisoned(_RAGGED, "NaN in the padded frames", 14,
             {(slice(7, None), 1): torch.nan, (slice(9, None), 2): torch.nan}),
    case("peaked", 17, (20, 2, 9), random_targets(2, 6, 4), [20, 18], [6, 5], scale=60.0),
    case("peaked, thousands of classes", 17, (6, 2, 3000), random_targets(2, 3, 4), [6, 6], [3, 2],
         scale=30.0),
    case("257 labels", 16, (300, 1, 5), random_targets(1, 257, 5), [300], [200],
         too_slow_for=("fused",)),
    case("1030 labels", 16, (1500, 1, 5), random_targets(1, 1030, 5), [1500], [1030],
         too_slow_for=("fused",)),
)  # fmt: skip

# Impossible classes and frames that are not numbers: PyTorch is no reference for all of these.
WITHOUT_SUPPORT = tuple(
    poisoned(_RAGGED, name, 18, {(5, 0, label): -torch.inf, (2, 2, label): -torch.inf})
    for name, label in (
        ("-inf at a label", int(_RAGGED.targets[0, 1])),
        ("-inf at another class", 5),
        ("-inf at the blank", 0),
    )
)  # fmt: skip
NOT_A_NUMBER = tuple(
    poisoned(
        _RAGGED,
        f"NaN in a live frame, zero_infinity={zeroed}",
        19,
        {(3, 1, slice(None)): torch.nan},
        zero_infinity=zeroed,
    )
    for zeroed in (False, True)
)


def tolerance(reference: Tensor, native: Tensor, losses: Tensor) -> float:
    """How far a result may be from the float64 one: twice what PyTorch's own is, plus rounding.

    Rounding each log-probability moves a loss, and the log of each occupancy, by at most the
    rounding unit times the loss, so that is what the data's own precision allows.
    """
    finite = torch.isfinite(reference)
    own = (native.double() - reference)[finite].abs().max().item() if finite.any() else 0.0
    size = losses[torch.isfinite(losses)].abs().max().item() if losses.isfinite().any() else 0.0
    return 2 * own + torch.finfo(native.dtype).eps * (size + 1)


def assert_close(got: Tensor, reference: Tensor, allowed: float) -> float:
    """Same cells infinite and NaN, the others within `allowed`; the largest difference."""
    assert torch.equal(got.isnan(), reference.isnan()), "NaN in other cells than expected"
    assert torch.equal(got.isinf(), reference.isinf()), "inf in other cells than expected"
    finite = reference.isfinite()
    error = (got.double() - reference)[finite].abs().max().item() if finite.any() else 0.0
    assert error <= allowed, f"error {error:.2e}, allowed {allowed:.2e}"
    return error
