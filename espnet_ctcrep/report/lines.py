"""The lines that every form of the report opens with, and the words for its endpoints."""

from espnet_ctcrep.report.numbers import NOTHING

__all__ = ["DECIDED", "DIRECTION", "endpoint_name", "ledger_line", "verdict_name"]

DIRECTION = "CER in percent, lower is better; difference = candidate − baseline, negative is better"
DECIDED = ("better", "worse", "equivalent")


def ledger_line(report: dict) -> str:
    """Runs planned, finished, diverged, failed, missing and unplanned."""
    counts = ", ".join(
        f"{NOTHING if n is None else n} {name}" for name, n in report["ledger"].items()
    )
    reason = report["ledger_reason"]
    return f"runs: {counts}" + (f" ({reason})" if reason else "")


def endpoint_name(endpoint: str) -> str:
    """The endpoint as a row is called."""
    return {"macro_cer": "macro CER", "worst_cer": "worst CER"}.get(endpoint, endpoint)


def verdict_name(verdict: str) -> str:
    """The verdict in words."""
    return verdict.replace("_", " ")
