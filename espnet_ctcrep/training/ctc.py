"""Which CTC loss a model gets: ESPnet's own types, or one of our backends behind its CTC."""

import inspect
from dataclasses import dataclass
from typing import Any

from espnet2.asr.ctc import CTC

from espnet_ctcrep.ctc import BACKENDS, CTCLoss, check_available, check_options
from espnet_ctcrep.utils.errors import InputError

__all__ = ["CTCChoice", "put_backend", "take_ctc_choice"]

# Types that ESPnet builds by itself; `builtin` is in both lists and then stays ESPnet's.
STOCK_TYPES = ("builtin", "builtin2", "gtnctc", "brctc")
OUR_OPTIONS = ("deterministic_impl", "shuffle_seed")


@dataclass(frozen=True)
class CTCChoice:
    """What `ctc_conf` asked for: the type by name, and the options of ours that go with it."""

    ctc_type: str
    options: dict[str, Any]

    @property
    def is_stock(self) -> bool:
        return self.ctc_type in STOCK_TYPES


def take_ctc_choice(ctc_conf: dict[str, Any], device: str) -> tuple[CTCChoice, dict[str, Any]]:
    """Split `ctc_conf` into our choice and the configuration that stock ESPnet understands.

    Args:
        ctc_conf: as written in the config; left unchanged.
        device: `cpu` or `cuda`, where the loss will be computed.

    Returns:
        The choice, and ESPnet's part: `ctc_type` is `builtin` where a backend of ours is chosen,
        so that every backend starts from the same weights, draw for draw.

    Raises:
        InputError: unknown type, option or a backend that cannot run on this device.
    """
    ctc_type = ctc_conf.get("ctc_type", "builtin")
    known = sorted({*STOCK_TYPES, *BACKENDS})
    if ctc_type not in known:
        raise InputError(f"ctc_conf.ctc_type={ctc_type!r} is unknown; use one of {known}")
    options = {k: ctc_conf[k] for k in OUR_OPTIONS if k in ctc_conf}
    stock = {k: v for k, v in ctc_conf.items() if k not in OUR_OPTIONS}
    accepted = set(inspect.signature(CTC).parameters) - {"odim", "encoder_output_size"}
    for key in stock:
        if key not in accepted:
            names = sorted({*accepted, *OUR_OPTIONS})
            raise InputError(f"ctc_conf.{key} is not an option of CTC; use one of {names}")
    choice = CTCChoice(ctc_type, options)
    if choice.is_stock:
        if options:
            raise InputError(
                f"ctc_conf.{next(iter(options))} has no meaning for ctc_type={ctc_type}; remove it"
            )
        return choice, stock
    impl = options.get("deterministic_impl", "aten")
    check_options(ctc_type, impl, options.get("shuffle_seed"))
    check_available(ctc_type, device, impl)
    return choice, {**stock, "ctc_type": "builtin"}


def put_backend(ctc: CTC, choice: CTCChoice) -> None:
    """Replace the loss inside ESPnet's CTC module, built as `builtin`, by the chosen backend.

    The projection, the average over the batch and everything else stay ESPnet's, and the loss
    holds no parameter, so the state dict is that of a stock model.
    """
    if not choice.is_stock:
        ctc.ctc_loss = CTCLoss(
            reduction="none",
            zero_infinity=ctc.ctc_loss.zero_infinity,
            backend=choice.ctc_type,
            **choice.options,
        )
