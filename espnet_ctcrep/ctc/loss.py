"""The CTC loss with a choice of backend: torch's signature, as a function and as a module."""

import logging

import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch, Lengths, check_arguments, check_choice
from espnet_ctcrep.ctc.aten import aten_losses
from espnet_ctcrep.ctc.cpu_kernel import cpu_kernel_losses
from espnet_ctcrep.ctc.cudnn import cudnn_losses
from espnet_ctcrep.ctc.registry import check_available, check_options, get_backend
from espnet_ctcrep.ctc.shuffled import shuffled_losses
from espnet_ctcrep.ctc.stock import builtin_losses, native_losses

__all__ = ["REDUCTIONS", "CTCLoss", "ctc_loss"]

REDUCTIONS = ("none", "mean", "sum")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
    *,
    backend: str = "deterministic",
    deterministic_impl: str = "aten",
    shuffle_seed: int | None = None,
) -> Tensor:
    """Connectionist temporal classification loss (Graves et al., 2006), in nats.

    -log of the summed probability of all alignments that give the target. As in PyTorch, the
    gradient is the one with respect to the logits: exp(log_probs) minus the occupancy of each
    class, exactly zero in padded frames; pass it through log_softmax.

    Args:
        log_probs: (T, B, V) or (T, V), log-probabilities with any strides; float16 and bfloat16
            are computed in float32, and so is their loss
        targets: (B, S) padded or (sum of target_lengths,) concatenated labels, any integer type
        input_lengths: (B,) frames of each utterance, a tensor on any device or a sequence
        target_lengths: (B,) labels of each utterance, likewise
        blank: class of the blank
        reduction: "none" | "mean" (each loss divided by its target length, at least 1, then
            averaged) | "sum"
        zero_infinity: replace an infinite loss (target longer than the frames allow) and its
            gradient by zero; without it the loss is inf and the gradient NaN in all live frames
        backend: a name in BACKENDS
        deterministic_impl: "aten", "aten64" (recursion in float64) or "triton"; for
            backend="deterministic" on CUDA
        shuffle_seed: for backend="shuffled": repeat one random order instead of a new one each time

    Returns:
        (B,) losses (a scalar for (T, V)), or their reduction.

    Raises:
        InputError: an argument is wrong, or the backend cannot run with it.
    """
    check_choice("reduction", reduction, REDUCTIONS)
    check_options(backend, deterministic_impl, shuffle_seed)
    single = isinstance(log_probs, Tensor) and log_probs.dim() == 2
    if single:
        log_probs = log_probs[:, None]
    batch = check_arguments(log_probs, targets, input_lengths, target_lengths, blank)
    check_available(backend, log_probs.device.type, deterministic_impl)
    losses = _losses(log_probs, batch, zero_infinity, backend, deterministic_impl, shuffle_seed)
    return _reduce(losses, batch, reduction, single)


def _losses(
    log_probs: Tensor,
    batch: Batch,
    zero_infinity: bool,
    backend: str,
    deterministic_impl: str,
    shuffle_seed: int | None,
) -> Tensor:
    """(B,) losses by the named backend, on the device of log_probs."""
    device = log_probs.device
    if backend == "cpu":
        log_probs = log_probs.cpu()  # before the cast below: half as many bytes to move
    if log_probs.dtype in (torch.float16, torch.bfloat16):
        log_probs = log_probs.float()
    if backend == "builtin":
        return builtin_losses(log_probs, batch, zero_infinity)
    if backend in ("native", "cpu"):
        return native_losses(log_probs, batch, zero_infinity).to(device)
    if backend == "cudnn":
        return cudnn_losses(log_probs, batch, zero_infinity)
    if backend == "shuffled":
        return shuffled_losses(log_probs, batch, zero_infinity, shuffle_seed)
    if device.type == "cpu":
        return cpu_kernel_losses(log_probs, batch, zero_infinity)
    if deterministic_impl == "triton":
        # Imported here because PyTorch comes without Triton on some platforms.
        from espnet_ctcrep.ctc.fused import fused_losses

        return fused_losses(log_probs, batch, zero_infinity)
    recursion = torch.float64 if deterministic_impl == "aten64" else None
    return aten_losses(log_probs, batch, zero_infinity, recursion)


def _reduce(losses: Tensor, batch: Batch, reduction: str, single: bool) -> Tensor:
    if reduction == "none":
        return losses[0] if single else losses
    if reduction == "sum":
        return losses.sum()
    labels = torch.tensor(batch.target_lengths, dtype=losses.dtype, device=losses.device)
    return (losses / labels.clamp_min(1)).mean()


class CTCLoss(torch.nn.Module):
    """`ctc_loss` as a module without parameters; its notice, if any, is logged when it is made."""

    def __init__(
        self,
        blank: int = 0,
        reduction: str = "mean",
        zero_infinity: bool = False,
        *,
        backend: str = "deterministic",
        deterministic_impl: str = "aten",
        shuffle_seed: int | None = None,
    ) -> None:
        super().__init__()
        check_choice("reduction", reduction, REDUCTIONS)
        check_options(backend, deterministic_impl, shuffle_seed)
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity
        self.backend, self.deterministic_impl = backend, deterministic_impl
        self.shuffle_seed = shuffle_seed
        notice = get_backend(backend).notice
        if notice:
            logging.getLogger(__name__).warning(notice)

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths
    ) -> Tensor:
        """The loss of (T, B, V) log_probs; see `ctc_loss`."""
        return ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
            backend=self.backend,
            deterministic_impl=self.deterministic_impl,
            shuffle_seed=self.shuffle_seed,
        )

    def extra_repr(self) -> str:
        return f"backend={self.backend}, blank={self.blank}, reduction={self.reduction}"
