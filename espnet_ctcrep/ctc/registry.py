"""The table of backends: what each one is, and where it can run."""

import importlib.util
from dataclasses import dataclass

import torch

from espnet_ctcrep.ctc.arguments import check_choice
from espnet_ctcrep.utils.errors import InputError

__all__ = [
    "BACKENDS",
    "DETERMINISTIC_IMPLS",
    "Backend",
    "check_available",
    "check_options",
    "get_backend",
]

ANY_DEVICE = ("any",)
DETERMINISTIC_IMPLS = ("aten", "aten64", "triton")


@dataclass(frozen=True)
class Backend:
    """One way to compute the loss.

    Attributes:
        name: what `ctc_type` and `backend` say
        summary: one line for lists and error messages
        devices: device types on which it runs, or ("any",)
        fixed_order: device types on which the same input gives the same bits in every run
        notice: what a person must be told at every start; empty for most
    """

    name: str
    summary: str
    devices: tuple[str, ...]
    fixed_order: tuple[str, ...]
    notice: str = ""

    def __post_init__(self) -> None:
        if not self.devices:
            raise ValueError(f"backend {self.name!r} has no devices")


_TABLE = (
    Backend(
        "deterministic",
        "sums in a fixed order, on CUDA from PyTorch's forward kernels or fused Triton kernels",
        ("cpu", "cuda"),
        fixed_order=("cpu", "cuda"),
    ),
    Backend(
        "builtin",
        "PyTorch's own choice between cuDNN and its native kernels",
        ANY_DEVICE,
        fixed_order=("cpu",),
    ),
    Backend(
        "native",
        "PyTorch's native kernels; on CUDA the gradient is summed with atomics",
        ANY_DEVICE,
        fixed_order=("cpu",),
    ),
    Backend(
        "cudnn",
        "cuDNN's CTC with its deterministic algorithm, or an error",
        ("cuda",),
        fixed_order=("cuda",),
    ),
    Backend(
        "cpu",
        "PyTorch's CPU kernel for tensors of any device, moved there and back",
        ANY_DEVICE,
        fixed_order=("cpu", "cuda"),
    ),
    Backend(
        "shuffled",
        "the same gradient, summed in a random order",
        ("cpu", "cuda"),
        fixed_order=(),
        notice=(
            "CTC backend 'shuffled' sums the gradient in a random order on purpose; "
            "use it to measure how far runs drift apart, never for a result"
        ),
    ),
)

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in _TABLE}


def get_backend(name: str) -> Backend:
    """The backend of this name; InputError with the list of names if there is none."""
    check_choice("backend", name, tuple(BACKENDS))
    return BACKENDS[name]


def check_available(name: str, device_type: str, deterministic_impl: str = "aten") -> None:
    """Raise InputError if this backend cannot run on this type of device ("cpu", "cuda").

    Looks at the installation only, so that a configuration is refused before any data is loaded.
    """
    backend = get_backend(name)
    check_choice("deterministic_impl", deterministic_impl, DETERMINISTIC_IMPLS)
    if backend.devices != ANY_DEVICE and device_type not in backend.devices:
        others = [b.name for b in _TABLE if device_type in b.devices or b.devices == ANY_DEVICE]
        raise InputError(
            f"backend={name!r} runs on {' and '.join(backend.devices)}, not on {device_type}; "
            f"use one of {', '.join(others)}"
        )
    if name == "cudnn" and (torch.version.hip or not torch.backends.cudnn.is_available()):
        raise InputError(
            "backend='cudnn' needs a PyTorch built with cuDNN, and this one is not; "
            "use backend='deterministic'"
        )
    needs_triton = name == "deterministic" and deterministic_impl == "triton"
    if needs_triton and device_type != "cpu" and importlib.util.find_spec("triton") is None:
        raise InputError(
            "deterministic_impl='triton' needs the package triton, which is not installed; "
            "install triton or use deterministic_impl='aten'"
        )


def check_options(backend: str, deterministic_impl: str, shuffle_seed: int | None) -> None:
    """Raise InputError for an unknown name or an option that the backend would not look at."""
    get_backend(backend)
    check_choice("deterministic_impl", deterministic_impl, DETERMINISTIC_IMPLS)
    if deterministic_impl != "aten" and backend != "deterministic":
        raise InputError(
            f"deterministic_impl={deterministic_impl!r} has no effect with backend={backend!r}; "
            "remove it or use backend='deterministic'"
        )
    if shuffle_seed is None:
        return
    if backend != "shuffled":
        raise InputError(
            f"shuffle_seed={shuffle_seed!r} has no effect with backend={backend!r}; "
            "remove it or use backend='shuffled'"
        )
    if isinstance(shuffle_seed, bool) or not isinstance(shuffle_seed, int) or shuffle_seed < 0:
        raise InputError(
            f"shuffle_seed={shuffle_seed!r} is not a seed; use an integer of at least 0"
        )
