"""The arguments of a CTC loss, checked on the host and brought into one form."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import torch
from torch import Tensor

from espnet_ctcrep.utils.errors import InputError

__all__ = ["Batch", "Lengths", "check_arguments", "check_choice"]

Lengths = Tensor | Sequence[int] | int


@dataclass(frozen=True)
class Batch:
    """Targets and lengths of B utterances, known to be sound; log_probs stay where they are."""

    targets: Tensor  # (B, L) int64 on the CPU, L the longest target, blank where a target has ended
    input_lengths: tuple[int, ...]  # frames of each utterance
    target_lengths: tuple[int, ...]  # labels of each utterance
    blank: int
    # What the caller gave: PyTorch's dispatch looks at types, devices and the number of dimensions.
    given: tuple[Tensor, Tensor | list[int], Tensor | list[int]]

    @property
    def required_frames(self) -> tuple[int, ...]:
        """The fewest frames that can hold each target: one a label and a blank between repeats."""
        rows = (row[:n] for row, n in zip(self.targets, self.target_lengths, strict=True))
        return tuple(len(y) + int((y[1:] == y[:-1]).sum()) for y in rows)


def check_choice(argument: str, value: str, valid: Sequence[str]) -> None:
    """Raise InputError with the list of valid names unless `value` is one of them."""
    if value not in valid:
        raise InputError(f"{argument}={value!r} is unknown; use one of {', '.join(valid)}")


def check_arguments(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
) -> Batch:
    """Check everything that a kernel would otherwise meet as a wrong address.

    `log_probs` is (T, B, V), `targets` (B, S) padded or (sum of target_lengths,) concatenated, on
    any device and of any integer type, the lengths B integers as a tensor or a sequence. Raises
    InputError that names argument, index and value. What stands in a target's padding is not read.
    """
    frames, size, classes = _check_log_probs(log_probs)
    if not _is_integer(blank) or not 0 <= blank < classes:
        raise InputError(f"blank={blank!r} is not a class of log_probs; use 0 to {classes - 1}")
    n_frames = _lengths("input_lengths", input_lengths, size)
    n_labels = _lengths("target_lengths", target_lengths, size)
    for i, n in enumerate(n_frames):
        if n > frames:
            raise InputError(
                f"input_lengths[{i}]={n} exceeds the {frames} frames of log_probs; "
                "give lengths after the encoder's subsampling"
            )
    padded = _padded_targets(targets, n_labels, size, classes, blank)
    return Batch(
        targets=padded,
        input_lengths=n_frames,
        target_lengths=n_labels,
        blank=int(blank),
        given=(targets, _as_given(input_lengths, n_frames), _as_given(target_lengths, n_labels)),
    )


def _check_log_probs(log_probs: Tensor) -> torch.Size:
    if not isinstance(log_probs, Tensor):
        raise InputError(f"log_probs is a {type(log_probs).__name__}; give a (T, B, V) tensor")
    if log_probs.dim() != 3:
        raise InputError(f"log_probs has shape {tuple(log_probs.shape)}; give (T, B, V) or (T, V)")
    if not log_probs.is_floating_point():
        raise InputError(f"log_probs has type {log_probs.dtype}; give floating-point numbers")
    for name, n in zip("TBV", log_probs.shape, strict=True):
        if n == 0:
            raise InputError(
                f"log_probs has {name}=0 in shape {tuple(log_probs.shape)}; "
                "give at least one frame, one utterance and one class"
            )
    return log_probs.shape


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_integer_tensor(value: Tensor) -> bool:
    return not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)


def _lengths(name: str, value: Lengths, size: int) -> tuple[int, ...]:
    """B lengths as Python integers: one transfer if they are on a device."""
    if isinstance(value, Tensor):
        if not _is_integer_tensor(value):
            raise InputError(f"{name} has type {value.dtype}; give integers")
        if value.dim() > 1:
            raise InputError(f"{name} has shape {tuple(value.shape)}; give ({size},)")
        lengths = value.reshape(-1).tolist()
    else:
        lengths = [value] if _is_integer(value) else list(value)
        for i, n in enumerate(lengths):
            if not _is_integer(n) and not (isinstance(n, Tensor) and _is_integer_tensor(n)):
                raise InputError(f"{name}[{i}]={n!r} is not an integer; give integers")
    if len(lengths) != size:
        raise InputError(f"{name} has {len(lengths)} entries for {size} utterances; give {size}")
    for i, n in enumerate(lengths):
        if n < 0:
            raise InputError(f"{name}[{i}]={int(n)} is negative; give lengths of at least 0")
    return tuple(int(n) for n in lengths)


def _as_given(value: Lengths, lengths: tuple[int, ...]) -> Tensor | list[int]:
    return value if isinstance(value, Tensor) and value.dim() == 1 else list(lengths)


def _padded_targets(
    targets: Tensor, n_labels: tuple[int, ...], size: int, classes: int, blank: int
) -> Tensor:
    """(B, L) int64 on the CPU with blank as padding; one transfer if they are on a device."""
    if not isinstance(targets, Tensor):
        raise InputError(f"targets is a {type(targets).__name__}; give a tensor of labels")
    if not _is_integer_tensor(targets):
        raise InputError(f"targets has type {targets.dtype}; give integer labels")
    concatenated = targets.dim() == 1
    if not concatenated and (targets.dim() != 2 or targets.size(0) != size):
        raise InputError(
            f"targets has shape {tuple(targets.shape)}; "
            f"give ({size}, S) padded or (sum of target_lengths,) concatenated"
        )
    if concatenated and targets.numel() != sum(n_labels):
        raise InputError(
            f"targets has {targets.numel()} labels but target_lengths add up to {sum(n_labels)}; "
            "give one label for each counted one"
        )
    longest = max(n_labels)
    if not concatenated and longest > targets.size(1):
        i = n_labels.index(longest)
        raise InputError(
            f"target_lengths[{i}]={longest} exceeds the {targets.size(1)} columns of targets; "
            "give padded targets at least as wide as the longest"
        )
    labels = targets.detach().to(device="cpu", dtype=torch.int64)
    used = torch.arange(longest) < torch.tensor(n_labels)[:, None]  # (B, L)
    padded = torch.full((size, longest), blank)
    padded[used] = labels if concatenated else labels[:, :longest][used]
    for bad, fault in (
        ((padded < 0) | (padded >= classes), f"is not a label; use 0 to {classes - 1}"),
        (used & (padded == blank), "is the blank; remove blanks from the targets"),
    ):
        if bad.any():
            b, i = (int(k) for k in bad.nonzero()[0])
            where = sum(n_labels[:b]) + i if concatenated else f"{b},{i}"
            raise InputError(f"targets[{where}]={int(padded[b, i])} {fault}")
    return padded
