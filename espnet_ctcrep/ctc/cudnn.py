"""cuDNN's CTC loss: its conditions stated one by one, its unwritten cells made defined."""

from dataclasses import dataclass

import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch
from espnet_ctcrep.ctc.once import differentiable_once
from espnet_ctcrep.utils.errors import InputError

__all__ = ["Request", "check_conditions", "cudnn_losses", "defined_results"]

LONGEST_TARGET = 255


@dataclass(frozen=True)
class Request:
    """What cuDNN is asked to do, as far as its conditions go."""

    device_type: str
    dtype: torch.dtype
    blank: int
    input_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    enabled: bool  # torch.backends.cudnn.enabled


def check_conditions(request: Request) -> None:
    """Raise InputError for the first condition of cuDNN's that is not met.

    The conditions are those of PyTorch's own dispatch (aten/src/ATen/native/cudnn/LossCTC.cpp),
    less the ones on integer types and layout, which `cudnn_losses` provides itself.
    """

    def refuse(what: str, remedy: str = "use backend='deterministic'") -> None:
        raise InputError(f"backend='cudnn' cannot compute this batch: {what}; {remedy}")

    if request.device_type != "cuda":
        refuse(f"log_probs is on {request.device_type}")
    if not request.enabled:
        refuse("torch.backends.cudnn.enabled is False", "set it to True or use another backend")
    if request.dtype != torch.float32:
        refuse(f"log_probs has type {request.dtype}", "give float32 or use another backend")
    if request.blank != 0:
        refuse(f"blank={request.blank}", "make class 0 the blank or use another backend")
    pairs = zip(request.input_lengths, request.target_lengths, strict=True)
    for i, (frames, labels) in enumerate(pairs):
        if labels > LONGEST_TARGET:
            refuse(f"target_lengths[{i}]={labels} is over {LONGEST_TARGET}")
        if labels > frames:
            refuse(f"target_lengths[{i}]={labels} exceeds input_lengths[{i}]={frames}")
        if frames == 0:
            refuse(f"input_lengths[{i}]=0")


def defined_results(
    losses: Tensor,  # [B]
    grad: Tensor,  # [T, B, V]
    batch: Batch,
    zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    """cuDNN's losses and gradient with the cells set that it leaves as they were.

    It writes neither frames past an input length nor utterances whose target cannot be aligned;
    these get 0, and inf and NaN (0 with zero_infinity), as from every other backend.
    """
    device = losses.device
    n_frames = torch.tensor(batch.input_lengths, device=device)
    live = torch.arange(grad.size(0), device=device)[:, None] < n_frames  # (T, B)
    impossible = torch.tensor(batch.required_frames, device=device) > n_frames
    losses = torch.where(impossible, 0.0 if zero_infinity else torch.inf, losses)
    filler = torch.where(live & impossible, 0.0 if zero_infinity else torch.nan, 0.0)
    keep = live & ~impossible
    return losses, torch.where(keep[:, :, None], grad, filler[:, :, None].to(grad.dtype))


class _CudnnCTC(torch.autograd.Function):
    @staticmethod
    def forward(ctx, log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
        used = torch.arange(batch.targets.size(1)) < torch.tensor(batch.target_lengths)[:, None]
        # Everything goes to log_probs' device: PyTorch moves the lengths itself only in part.
        targets = batch.targets[used].to(log_probs.device, torch.int32)
        n_frames, n_labels = (
            torch.tensor(lengths, dtype=torch.int32, device=log_probs.device)
            for lengths in (batch.input_lengths, batch.target_lengths)
        )
        deterministic = True  # the algorithm; PyTorch's own dispatch asks for no other
        losses, grad = torch.ops.aten._cudnn_ctc_loss(
            log_probs, targets, n_frames, n_labels, batch.blank, deterministic, False
        )
        losses, grad = defined_results(losses, grad, batch, zero_infinity)
        ctx.save_for_backward(log_probs, grad)
        return losses

    @staticmethod
    @differentiable_once
    def backward(ctx, grad_losses: Tensor) -> tuple[Tensor, None, None]:
        _, grad = ctx.saved_tensors
        # A NaN from above must not spread to padded frames, where the gradient is zero by meaning.
        return torch.where(grad == 0, grad, grad * grad_losses[:, None]), None, None


def cudnn_losses(log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
    """(B,) losses from cuDNN for (T, B, V) float32 log_probs on CUDA, or InputError.

    cuDNN applies a softmax of its own to log_probs, which changes nothing if they are normalised,
    and computes the gradient in the forward call.
    """
    check_conditions(
        Request(
            device_type=log_probs.device.type,
            dtype=log_probs.dtype,
            blank=batch.blank,
            input_lengths=batch.input_lengths,
            target_lengths=batch.target_lengths,
            enabled=torch.backends.cudnn.enabled,
        )
    )
    return _CudnnCTC.apply(log_probs, batch, zero_infinity)
